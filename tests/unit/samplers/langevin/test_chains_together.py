"""Chains that share a thread share its passes over the records; draws are as if each had made its own."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core

CHAINS = 5


@pytest.fixture(params=_core.available_isas())
def isa(request):
    before = _core.isa()
    assert _core.use_isa(request.param)
    yield request.param
    _core.use_isa(before)


def arrays(n, columns, seed=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, columns)) / np.sqrt(columns), rng.integers(0, 2, n).astype(float)


def draws(model, data, threads, count=CHAINS):
    """With as many threads as chains every chain steps alone, because so few records are not shared."""
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=6, draws=count))
    post = plan.run(data, seed=9, threads=threads, progress=False)
    return np.concatenate([values.reshape(count, -1) for values in post.draws.values()], axis=1)


def assert_alone_and_together_agree(model, data):
    alone = draws(model, data, CHAINS)
    for threads in (1, 2):
        np.testing.assert_array_equal(draws(model, data, threads), alone)
    assert len(np.unique(alone, axis=0)) == CHAINS


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("columns", [1, 3, 4, 10, 21, 65, 129])
def test_draws_do_not_depend_on_who_shares_a_pass(isa, columns, storage):
    x, y = arrays(137, columns)
    data = dp.Data(x, y, row_norm=1.0, storage=storage)
    assert_alone_and_together_agree(dp.LogisticRegression(intercept=columns != 4), data)


@pytest.mark.parametrize("numbers", [1, 5, 9])
def test_draws_from_codes_do_not_depend_on_who_shares_a_pass(isa, numbers):
    rng = np.random.default_rng(numbers)
    levels, blocks = 20, 5
    codes = rng.integers(0, levels + 1, (137, blocks))  # the last level has no column
    hot = np.concatenate([(codes[:, [b]] == np.arange(levels)) for b in range(blocks)], axis=1)
    x = np.concatenate([rng.integers(-8, 9, (137, numbers)) / 8, hot], axis=1)
    columns = [list(range(numbers + b * levels, numbers + (b + 1) * levels)) for b in range(blocks)]
    data = dp.Data(x, rng.integers(0, 2, 137).astype(float), x_bounds=(-1.0, 1.0), one_hot=columns)
    assert data._coded is not None
    assert_alone_and_together_agree(dp.LogisticRegression(intercept=True), data)


def test_a_run_of_other_models_shares_the_cache_alone(isa):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 3))
    softmax = dp.SoftmaxRegression(classes=3, intercept=True)
    assert_alone_and_together_agree(softmax, dp.Data(x, rng.integers(0, 3, 600), row_norm=1.0))
    assert_alone_and_together_agree(dp.GaussianMean(sigma=0.7), dp.Data(x, row_norm=1.0))


def test_more_chains_than_one_pass_serves(isa):
    x, y = arrays(70, 4)
    data = dp.Data(x, y, row_norm=1.0)
    together, alone = (draws(dp.LogisticRegression(), data, threads, count=35) for threads in (1, 35))
    np.testing.assert_array_equal(together, alone)
