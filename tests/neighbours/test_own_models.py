"""A hostile record in a model of one's own: it changes its own contribution and nothing else."""

import warnings

import numpy as np
import own_logistic
import pytest

import pydpmc as dp
from pydpmc import _core

D, N = 3, 40
HOSTILE = 11  # the record whose code misbehaves


def rows():
    random = np.random.default_rng(1)
    made = random.normal(size=(N, D))
    made[:, 0] = np.clip(made[:, 0], -2.0, 2.0)
    return made, random.integers(0, 2, N).astype(float)


def grad(theta, record):
    return {"beta": (record["y"] - record["x"] @ theta["beta"])[:, None] * record["x"]}


def log_lik(theta, record):
    return -0.5 * (record["y"] - record["x"] @ theta["beta"]) ** 2


def raises(function):
    def call(theta, record):
        if (record["x"][:, 0] > 50.0).any():
            raise ValueError(f"a secret: {record['x'].max()}")
        return function(theta, record)

    return call


def warns(function):
    def call(theta, record):
        if (record["x"][:, 0] > 50.0).any():
            warnings.warn(f"a secret: {record['x'].max()}", stacklevel=1)
        np.log(record["x"][:, 0] - 60.0)  # numpy warns of a negative number
        return function(theta, record)

    return call


def stops(function):
    def call(theta, record):
        if (record["x"][:, 0] > 50.0).any():
            raise SystemExit(3)
        return function(theta, record)

    return call


def not_finite(function):
    def call(theta, record):
        made = function(theta, record)
        for part in made.values() if isinstance(made, dict) else [made]:
            part[record["x"][:, 0] > 50.0] = np.inf
        return made

    return call


def sums(wrap, x, y, microbatch=16, clip=1.0, loglik=log_lik, gradient=grad):
    """Return the noised sum of gradients of one step; the noise is that of the seed, the same for all calls."""
    model = dp.models.from_numpy(wrap(loglik), wrap(gradient), parameters={"beta": D}, microbatch=microbatch)
    data = dp.Data(x, y)
    plan = dp.plan(model, data.public, dp.SGLD(steps=2, step_size=1e-3, sampling="full", clip=clip), delta=1e-6)
    with model.silence():
        target = _core.Target(**model_arguments(model, data, microbatch))
        chains = _core.Chains(init=np.full((1, D), 0.2), draws=np.empty((1, 1, D)), warmup=0, thin=1, seed=1)
        run = plan.settings.start(_core, target, chains, data)
        return run.audit([0.2, -0.1, 0.3], 0, 1)[0]


def model_arguments(model, data, batch):
    from pydpmc.samplers.base import target_arguments

    return target_arguments(model, data, batch)


@pytest.mark.parametrize("wrap", [raises, warns, stops, not_finite])
@pytest.mark.parametrize("microbatch", [1, 4, 16, 64])
def test_a_record_that_fails_counts_as_zero_and_moves_no_other(wrap, microbatch, recwarn):
    x, y = rows()
    x[HOSTILE, 0] = 100.0
    void = x.copy()
    void[HOSTILE] = np.nan
    failing = sums(wrap, x, y, microbatch)
    expected = sums(lambda f: f, void, y, microbatch)
    if wrap is warns:  # a warning is no failure: the record counts, clipped
        expected = sums(lambda f: f, x, y, microbatch)
    assert np.array_equal(failing, expected)
    assert not [w for w in recwarn if "secret" in str(w.message) or "log" in str(w.message)]


@pytest.mark.parametrize("wrap", [raises, stops, not_finite])
def test_a_record_that_fails_changes_no_error_warning_or_shape_of_a_run(wrap, recwarn, capfd):
    x, y = rows()
    released = []
    for value in (0.5, 100.0):
        x[HOSTILE, 0] = value
        model = dp.models.from_numpy(wrap(log_lik), wrap(grad), parameters={"beta": D})
        data = dp.Data(x, y)
        sampler = dp.SGLD(steps=20, step_size=1e-3, sampling="full", clip=1.0)
        post = dp.sample(model, data, sampler, delta=1e-6, progress=False)
        released.append((post.draws["beta"].shape, post.guarantee.statement(1e-6), sorted(post.plan)))
    assert released[0] == released[1]
    assert not [w for w in recwarn if "secret" in str(w.message)]
    assert "secret" not in "".join(capfd.readouterr())


def test_one_record_moves_the_sum_by_at_most_the_clip_whatever_its_code_says():
    x, y = rows()
    for value in (0.0, 3.0, 100.0, -1e6):
        for wrap in (lambda f: f, raises, not_finite):
            hostile = x.copy()
            hostile[HOSTILE] = value
            without = x.copy()
            without[HOSTILE] = np.nan
            moved = np.linalg.norm(sums(wrap, hostile, y, clip=0.25) - sums(wrap, without, y, clip=0.25))
            assert moved <= 0.25 * (1 + 1e-9)


def test_contributions_do_not_depend_on_the_order_of_records():
    x, y = rows()
    order = np.random.default_rng(2).permutation(N)
    assert np.array_equal(sums(lambda f: f, x, y), sums(lambda f: f, x[order], y[order]))


@pytest.mark.parametrize("way", ["jax", "torch", "numpy"])
def test_rows_of_a_padded_microbatch_keep_their_bits_in_any_order(way):
    """The assumption on guarantees of these backends, seen on this machine for this model."""
    model = own_logistic.WAYS[way](D)
    x, y = rows()
    x = np.vstack([x, np.zeros((24, D))])
    y = np.concatenate([y, np.zeros(24)])
    public = dp.Data(x, y).public
    for function, shape in zip(model.code.functions(public), ((64,), (64, D)), strict=True):
        theta, order = np.array([0.3, -0.2, 0.1]), np.random.default_rng(3).permutation(64)
        together, shuffled, alone = (np.empty(shape) for _ in range(3))
        function(theta, x, y, together)
        function(theta, np.ascontiguousarray(x[order]), y[order].copy(), shuffled)
        assert np.array_equal(together[order], shuffled)
        for k in (0, 7, 39):
            one, label = np.zeros_like(x), np.zeros_like(y)
            one[k], label[k] = x[k], y[k]
            function(theta, one, label, alone)
            assert np.array_equal(alone[k], together[k])


def test_code_cannot_change_the_records():
    def writes(theta, record):
        record["x"][...] = 0.0
        return log_lik(theta, record)

    model = dp.models.from_numpy(writes, parameters={"beta": D})
    with pytest.raises(dp.errors.InvalidArgument, match="read-only"):
        dp.plan(model, dp.Data(*rows()).public, dp.Barker(steps=9, scale=0.1, clip=0.1), delta=1e-6)


def test_a_void_record_adds_nothing_even_if_the_code_would():
    def pulls(theta, record):
        return 0.1 * theta["beta"].sum() * np.ones(len(record["y"]))

    def pull(theta, record):
        return {"beta": np.full((len(record["y"]), D), 0.1)}

    x, y = rows()
    found = [sums(lambda f: f, x, y, loglik=pulls, gradient=pull)]
    x[HOSTILE] = np.nan
    found.append(sums(lambda f: f, x, y, loglik=pulls, gradient=pull))
    assert np.allclose(found[0] - found[1], 0.1, atol=1e-6)
