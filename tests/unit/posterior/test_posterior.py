"""Posterior: what it shows, and that no key, seed or record is in anything it holds."""

import gc
import sys

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.posterior.fields import description

SEED = 0x5EED5EED5EED5EED


@pytest.fixture
def data(rng):
    return dp.Data(rng.normal(size=(50, 2)), rng.integers(0, 2, 50), row_norm=1.0, columns=["age", "income"])


@pytest.fixture
def plan(data):
    return dp.plan(dp.LogisticRegression(intercept=True), data.public, dp.Barker(steps=80, scale=0.3), chains=2)


def everything_in(thing, seen=None):
    """Yield every object reachable through attributes, items and entries."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, type) or callable(thing):
        return
    seen.add(id(thing))
    yield thing
    if isinstance(thing, dict):
        parts = [*thing, *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        parts = list(thing)
    else:
        parts = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    for part in parts:
        yield from everything_in(part, seen)


def all_bytes(post, tmp_path):
    texts = [str(post), repr(post), repr(post.__dict__), post._repr_html_(), description(post)]
    arrays = [a.tobytes() for a in everything_in(post) if isinstance(a, np.ndarray)]
    files = []
    for suffix in ("npz", "nc"):
        post.save(tmp_path / f"post.{suffix}")
        files.append((tmp_path / f"post.{suffix}").read_bytes())
    return b"\0".join([*(t.encode() for t in texts), *arrays, *files])


def test_no_seed_and_no_key_is_in_what_leaves(plan, data, tmp_path):
    post = plan.run(data, seed=SEED, progress=False)
    haystack = all_bytes(post, tmp_path)
    key = _core.random.key_from_seed(SEED)
    needles = [key, key[:8], key[8:16], key[::-1][:8], SEED.to_bytes(8, "little"), SEED.to_bytes(8, "big")]
    needles += [str(SEED).encode(), hex(SEED)[2:].encode(), key.hex().encode()[:16]]
    for needle in needles:
        assert needle not in haystack
    numbers = [v for v in everything_in(post) if isinstance(v, (int, float))]
    assert SEED not in numbers
    assert str(post.plan["steps"]).encode() in haystack  # the search does find what is there


def test_no_record_is_in_what_leaves(plan, data, tmp_path):
    post = plan.run(data, progress=False)
    haystack = all_bytes(post, tmp_path)
    for value in data._rows[:, :2].ravel():
        assert value.tobytes() not in haystack
        assert repr(float(value)).encode() not in haystack


def test_no_reference_to_the_data_is_kept(plan, data):
    post = plan.run(data, progress=False)
    reachable = {id(thing) for thing in everything_in(post)}
    assert id(data) not in reachable
    assert id(data._rows) not in reachable
    arrays = [thing for thing in everything_in(post) if isinstance(thing, np.ndarray)]
    assert len(arrays) == 2
    assert not any(np.shares_memory(array, data._rows) for array in arrays)
    before = sys.getrefcount(data._rows)
    again = plan.run(data, progress=False)
    gc.collect()
    after = sys.getrefcount(data._rows)
    assert after == before
    assert again.private


def test_draws_come_by_name_with_chain_first(plan, data):
    post = plan.run(data, warmup=0, progress=False)
    assert {name: values.shape for name, values in post.draws.items()} == {"intercept": (2, 80, 1), "beta": (2, 80, 2)}
    assert post.labels["beta"] == ("age", "income")
    assert list(post.summary()) == ["intercept", "beta[age]", "beta[income]"]


def test_acceptance_is_the_share_of_moves(plan, data):
    post = plan.run(data, warmup=0, progress=False)
    theta = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)
    moved = (np.diff(theta, axis=1, prepend=0.0) != 0).any(axis=2)
    np.testing.assert_allclose(post.acceptance, moved.mean(axis=1))


def test_print_shows_table_and_statement(plan, data):
    post = plan.run(data, progress=False)
    assert "beta[income]" in str(post)
    assert post.guarantee.statement() in str(post)
    assert "one record replaced" in str(post)
    assert repr(post) == "Posterior(intercept (2, 64, 1), beta (2, 64, 2); private)"
    assert "<table>" in post._repr_html_()


def test_the_plan_is_kept_as_plain_values(plan, data):
    post = plan.run(data, progress=False)
    assert post.plan["steps"] == 80
    assert post.plan["chains"] == 2
    for thing in everything_in(dict(post.plan)):
        assert isinstance(thing, (dict, list, str, int, float, bool, type(None)))
