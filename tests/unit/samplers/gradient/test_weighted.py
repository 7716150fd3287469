"""Weighted records by gradient samplers: what is charged, what neighbours move, and what the chains sample from."""

import dataclasses

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import UnsupportedEventError
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

SAMPLERS = [dp.SGLD, dp.SGHMC, dp.SGNHT, dp.SGFS, dp.DPVI]
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
HOSTILE = [0.0, 3.0, 50.0, -1.0, np.nan, np.inf, 1e300, 5e-324]
SEED = 3


def table(x, y, weights, **options):
    return dp.Data(x, y, row_norm=1.0, sample_weight=weights, max_weight=3.0, **options)


@pytest.mark.parametrize("kind", SAMPLERS)
def test_the_clip_is_that_of_a_record_of_the_largest_weight(kind):
    public = dp.Public(n=5000, columns=("a", "b"), has_target=True, row_norm=1.0)
    weighted = dataclasses.replace(public, max_weight=3.0)
    sampler = kind(steps=50)
    plans = [dp.plan(dp.LogisticRegression(), facts, sampler, **BUDGET) for facts in (public, weighted)]
    assert plans[1].settings.clip == pytest.approx(3.0 * plans[0].settings.clip)
    assert plans[1].settings.forecast(dp.LogisticRegression(), weighted, 1).clipped_at_most == 0.0
    multiplier = float(plans[1].settings.noise.min()) / plans[1].settings.clip  # the price is that of this clip
    priced = plans[1].settings._noise_multipliers()[0].min()
    assert priced == pytest.approx(multiplier * plans[1].settings.clip / plans[1].settings.sensitivity, rel=1e-9)
    assert plans[1].guarantee.epsilon(1e-6) <= 1.0


def noised(plan, data, theta):
    """Return a noised sum with frozen noise, so that differences are those of the sums."""
    dim = plan.settings.dim
    chains = _core.Chains(
        init=start_points(plan, plan.chains, 1), draws=np.empty((1, 1, dim)), warmup=0, thin=1, seed=SEED
    )
    return plan.settings.start(_core, core_target(plan, data), chains, data).audit(theta, 0, 1)[0]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("size", [1, 2], ids=["records", "groups"])
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_neighbours_move_the_sums_by_what_is_charged(storage, size, adjacency, rng):
    """Rows 0 to 3 are two units of up to two records, of which a table has one; the others are in both tables."""
    sampler, model = dp.SGLD(steps=1, sampling="full"), dp.LogisticRegression()
    farthest, rest = 0.0, [4, 5, 6]
    for trial in range(60):
        x, y = rng.normal(size=(7, 3)), rng.integers(0, 2, 7).astype(float)
        weights, theta = rng.choice(HOSTILE, 7), rng.normal(size=3) * 5
        if trial % 3 == 0:  # nearly the pair that attains the bound: opposite gradients of the largest weight
            x[:4], y[:4] = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]
            weights, theta = np.full(7, 50.0), np.array([0.0, 0.0, 0.0])
            x[[0, 1]] = [1.0, 0.0, 0.0] if trial % 6 else [0.6, 0.8, 0.0]
        there = [2, 3][:size] if adjacency == "replace" else []
        tables = [
            table(x[rows], y[rows], weights[rows], storage=storage, public_n=4, **owners(rows, size))
            for rows in ([*range(size), *rest], [*there, *rest])
        ]
        plan = dp.plan(model, tables[0].public, sampler, adjacency=adjacency, **BUDGET)
        moved = np.linalg.norm(np.subtract(*(noised(plan, data, theta.tolist()) for data in tables)))
        most = plan.settings.sensitivity * (2.0 if adjacency == "replace" else 1.0)
        assert moved <= most * (1.0 + 1e-9)
        farthest = max(farthest, moved / most)
    assert farthest > 0.49  # at theta = 0, where residuals are half of the largest


def owners(rows, size):
    """Return the group of each row: rows 0 to 3 belong to one person."""
    return {} if size == 1 else {"groups": [max(row, 3) for row in rows], "max_group_size": size}


@pytest.mark.parametrize("kind", [dp.SGLD, dp.SGHMC, dp.SGNHT, dp.DPVI])
def test_chains_sample_from_the_posterior_of_weighted_records(kind):
    """A coin of which ones were sampled three times as often: weights undo it."""
    x = np.r_[np.ones(900), np.zeros(300)]
    data = dp.Data(x, sample_weight=np.where(x == 1.0, 1.0, 3.0), max_weight=3.0)
    post = dp.sample(dp.BernoulliLogit(), data, kind(steps=4000), private=False, seed=SEED, progress=False)
    drawn = post.draws["theta"].ravel()
    # 900 of weight 1 against 300 of weight 3: log-odds 0 with the information of 1800 records
    assert abs(drawn.mean()) < 6.0 * np.sqrt(4.0 / 1800)
    assert drawn.std() == pytest.approx(np.sqrt(4.0 / 1800), rel=0.35)
    with pytest.raises(ValueError, match="draws of weighted records have no interval"):
        post.interval(0.9)


def test_weighted_records_in_cells_give_the_same_draws(rng):
    x, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300).astype(float)
    data = table(x, y, rng.uniform(0.0, 4.0, 300), storage="float32")
    for sampler in (dp.SGLD(steps=5, sampling="full"), dp.SGFS(steps=5)):
        plan = dp.plan(dp.LogisticRegression(), data.public, sampler, **BUDGET)
        draws = [
            plan.run(cut, seed=SEED, progress=False, anyway=True).draws["beta"] for cut in (data, data.in_cells(7))
        ]
        np.testing.assert_array_equal(*draws)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_own_models_and_batches_read_weights(one_by_one, rng):
    """A model of one's own beside the built-in one, on batches: the same integers, so the same draws."""
    x, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200).astype(float)

    def log_lik(theta, record):
        eta = record["x"] @ theta["beta"]
        return record["y"] * eta - np.logaddexp(0.0, eta)

    def grad(theta, record):
        residual = record["y"] - 1.0 / (1.0 + np.exp(-record["x"] @ theta["beta"]))
        return {"beta": residual[:, None] * record["x"]}

    weights = rng.uniform(0.0, 3.0, 200)
    data = table(x, y, weights)
    found = []
    own = dp.models.from_numpy(log_lik, grad, parameters={"beta": 3}, prior=dp.Normal(), record_by_record=one_by_one)
    sampler = dp.SGLD(steps=30, sampling="poisson", batch_size=40, clip=3.0, step_size=1e-3)
    for model in (dp.LogisticRegression(), own):
        plan = dp.plan(model, data.public, sampler)
        found.append(plan.run(data, seed=SEED, progress=False, anyway=True).draws["beta"].reshape(-1, 3))
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-9)
    plain = dp.Data(x, y, row_norm=1.0)
    other = dp.plan(dp.LogisticRegression(), plain.public, sampler).run(plain, seed=SEED, progress=False, anyway=True)
    assert not np.allclose(found[0], other.draws["beta"].reshape(-1, 3))


def test_a_network_takes_no_weights(rng):
    x, y = rng.uniform(size=(50, 4)), rng.integers(0, 2, 50).astype(float)
    data = dp.Data(x, y, x_bounds=(0, 1), y_bounds=(0, 1), sample_weight=np.ones(50), max_weight=1.0)
    net = dp.nn.Network([dp.nn.Dense(3), dp.nn.ReLU(), dp.nn.Dense(2)])
    with pytest.raises(UnsupportedEventError, match="sample_weight: the loops of a Network read no weights"):
        dp.plan(net, data.public, dp.SGLD(clip=1.0, step_size=1e-3), **BUDGET)
