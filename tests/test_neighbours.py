"""Neighbouring tables, replayed with the same noise: records change accept bits and nothing else."""

import warnings

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core, models


def make_data(model, rng, n=60, **options):
    x = rng.normal(size=(n, 1 if model.one_column else 3))
    if isinstance(model, dp.BernoulliLogit):
        x = rng.integers(0, 2, (n, 1)).astype(float)
    y = rng.integers(0, model.label_count or 4, n).astype(float) if model.needs_target else None
    return x, y, {"row_norm": 1.5} | ({"y_bounds": (0.0, 4.0)} if model.needs_target else {}) | options


def trace(plan, x, y, facts, seed):
    """All that an observer who sees no draws could notice."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        post = plan.run(dp.Data(x, y, on_invalid="drop", **facts), seed=seed, warmup=0, progress=False)
    shapes = {name: values.shape for name, values in post.draws.items()}
    # That the draws have not converged is said of the draws, which are paid for.
    told = [str(w.message) for w in caught if not issubclass(w.category, dp.errors.ConvergenceWarning)]
    return post, (shapes, told, post.plan, post.guarantee, len(post.acceptance))


EXTREME_ROWS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 1.0)


def changed_record(model, x, y, i, rng):
    """Return the table with record i replaced: by another, an extreme, a broken one or a duplicate."""
    x, y = x.copy(), None if y is None else y.copy()
    kind = rng.integers(4)
    if kind == 0:
        x[i] = x[i - 1]
    elif kind == 1 or isinstance(model, dp.BernoulliLogit):
        x[i] = (
            np.nan if kind == 2 else 1.0 - x[i] if isinstance(model, dp.BernoulliLogit) else rng.normal(size=x.shape[1])
        )
    else:
        x[i] = rng.choice(EXTREME_ROWS, x.shape[1])
    if y is not None and kind == 3:
        y[i] = np.nan if model.label_count else rng.choice(EXTREME_ROWS)
    return x, y


@pytest.mark.parametrize(
    "sampler", [dp.Barker(steps=40, scale=0.2), dp.Barker(steps=40, scale=0.005, batch_size=20)], ids=["full", "batch"]
)
@pytest.mark.parametrize("kind", models.ALL)
def test_replacing_a_record_changes_nothing_but_accept_bits(kind, sampler, rng):
    model = kind()
    x, y, facts = make_data(model, rng)
    plan = dp.plan(model, dp.Data(x, y, **facts).public, sampler)
    for seed in range(13):
        one, seen = trace(plan, x, y, facts, seed)
        other, seen_too = trace(plan, *changed_record(model, x, y, rng.integers(60), rng), facts, seed)
        assert seen == seen_too
        assert moves_agree(one, other)


@pytest.mark.parametrize("kind", models.ALL)
def test_adding_or_removing_a_record_changes_nothing_but_accept_bits(kind, rng):
    model = kind()
    for seed, n in enumerate([2, 3, 9, 17, 60] * 2):
        x, y, facts = make_data(model, rng, n)
        plan = dp.plan(model, dp.Data(x, y, **facts).public, dp.Barker(steps=40, scale=0.2), adjacency="add_remove")
        keep = np.delete(np.arange(n), rng.integers(n))
        x, y = changed_record(model, x, y, rng.integers(n), rng)
        one, seen = trace(plan, x, y, facts, seed)
        other, seen_too = trace(plan, x[keep], None if y is None else y[keep], facts, seed)
        assert seen == seen_too
        assert moves_agree(one, other)


def moves_agree(one, other):
    """Whether proposals are the same function of (key, step): where both chains moved, by the same vector."""
    a, b = (np.diff(np.concatenate([unconstrained(p)], axis=2), axis=1, prepend=0.0) for p in (one, other))
    both = (a != 0).any(axis=2) & (b != 0).any(axis=2)
    assert both.any()
    return np.allclose(a[both], b[both], rtol=1e-9, atol=1e-12)


def unconstrained(post):
    return np.concatenate([np.log(v) if name == "sigma" else v for name, v in post.draws.items()], axis=2)


@pytest.mark.parametrize("kind", models.ALL)
def test_the_distance_of_neighbours_is_within_what_is_charged(kind, rng):
    model, clip, bits = kind(), 0.01, 30
    x, y, facts = make_data(model, rng)
    for _ in range(60):
        i = rng.integers(60)
        tables = [dp.Data(*t, on_invalid="drop", **facts) for t in ((x, y), changed_record(model, x, y, i, rng))]
        current, proposal = rng.normal(size=(2, model.dim(tables[0].public)))
        sums = [ratio_sum(model, t._rows, t.public, current, proposal, clip, bits) for t in tables]
        fewer = ratio_sum(model, np.delete(tables[1]._rows, i, axis=0), tables[1].public, current, proposal, clip, bits)
        assert abs(sums[0] - sums[1]) <= 2 * 2**bits
        assert abs(sums[1] - fewer) <= 2**bits


def ratio_sum(model, rows, public, current, proposal, clip, bits):
    return _core.ratio_sum(
        rows=np.ascontiguousarray(rows),
        columns=public.width,
        has_target=public.has_target,
        model=model.core_name,
        intercept=model.has_intercept,
        constants=model.constants,
        current=current.tolist(),
        proposal=proposal.tolist(),
        clip=clip,
        bits=bits,
    )[0]


def test_records_that_say_nothing_leave_no_trace_under_add_remove(rng):
    x, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50).astype(float)
    sampler = dp.Barker(steps=300, scale=0.2)
    plan = dp.plan(dp.LogisticRegression(), dp.Data(x, y, row_norm=1.0).public, sampler, adjacency="add_remove")
    draws = []
    for more in (0, 1, 100_000):
        wide = np.concatenate([x, np.zeros((more, 2))]), np.concatenate([y, np.ones(more)])
        draws.append(plan.run(dp.Data(*wide, row_norm=1.0), seed=1, threads=2, progress=False).draws["beta"])
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])
