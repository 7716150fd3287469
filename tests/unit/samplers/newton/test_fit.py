"""The look at the fit: what it sums, what it costs, what it says of right and wrong models, and where it is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import BudgetError, InvalidArgument, PydpmcError
from pydpmc.samplers.newton.fit import GROUPS, SHARE, noise_of_fit
from pydpmc.samplers.newton.run import NewtonRun

N, COLUMNS = 8000, 3
SLOPES = np.array([1.0, -0.8, 0.5])


def table_of(rng, bend=0.0, n=N):
    x = rng.uniform(-1, 1, size=(n, COLUMNS))
    eta = x @ SLOPES + bend * (x[:, 0] ** 2 - 1 / 3)
    return x, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)


def fitted(x, y, seed, **options):
    data = dp.Data(x, y, row_norm=math.sqrt(COLUMNS), public_n=len(x))
    model = dp.LogisticRegression(intercept=True, prior=dp.Normal(scale=2.5))
    sampler = dp.Newton(fit=True, draws=200)
    return dp.sample(model, data, sampler, epsilon=3.0, delta=1e-6, progress=False, seed=seed, **options)


def test_released_sums_are_those_of_residuals_by_predicted_value(rng):
    x, y = table_of(rng, n=500)
    data = dp.Data(x, y, row_norm=math.sqrt(COLUMNS))
    theta, edges = np.array([0.2, *SLOPES]), [-0.5, 0.0, 0.7]
    run = _core.NewtonRun(
        rows=data._rows, columns=3, has_target=True, model="logistic_regression", intercept=True,
        constants=(0.0, 0.0), dim=4, seed=1,
    )  # fmt: skip
    options = {
        "theta": theta.tolist(), "clip": 1.0, "sigma": 2.0, "curvature_clip": 1.0, "tau": 3.0, "largest_square": 1.0,
        "limits": (0.0, 0.0), "outer": True, "block_of": [0, 1, 2, 3], "edges": edges,
    }  # fmt: skip
    found = run.bare(**options, threads=1, block=4096)
    eta = theta[0] + x @ theta[1:]
    r = y - 1 / (1 + np.exp(-eta))
    group = np.searchsorted(edges, eta)
    sums = np.array([[r[group == g].sum(), (r[group == g] ** 2).sum()] for g in range(4)])
    assert found[:4] * 2.0 * 2.0**-32 == pytest.approx(sums[:, 0], abs=1e-6)
    assert found[4:] * 3.0 * 2.0**-32 == pytest.approx(sums[:, 1], rel=1e-5)
    for threads, block in ((2, 64), (3, 7)):
        assert (run.bare(**options, threads=threads, block=block) == found).all()
    noised = np.array([run.look(**options, threads=1, block=4096) for _ in range(400)])
    assert noised.std(axis=0) == pytest.approx([2.0] * 4 + [3.0] * 4, rel=0.2)
    for wrong in ({"outer": False}, {"block_of": [0, 0, 0, 0]}, {"edges": [0.0, 0.0, 1.0]}, {"curvature_clip": 0.5}):
        with pytest.raises(ValueError, match=r"must (be|put)|releases their squares"):
            run.bare(**{**options, **wrong}, threads=1, block=4096)


def test_a_record_adds_the_same_wherever_it_stands_and_nothing_if_it_is_no_number(rng):
    x, y = table_of(rng, n=77)
    rows = np.column_stack([x, y])
    spoiled = rows.copy()
    spoiled[5, 1], spoiled[9, 3], spoiled[20, 0] = math.nan, math.inf, -math.inf
    kept = np.delete(spoiled, [5, 9, 20], axis=0)[rng.permutation(74)]
    sums = []
    for each in (spoiled, kept):
        run = _core.NewtonRun(
            rows=np.ascontiguousarray(each), columns=3, has_target=True, model="linear_regression", intercept=False,
            constants=(1.0, 0.0), dim=3, seed=1,
        )  # fmt: skip
        sums.append(
            run.bare(
                theta=SLOPES.tolist(), clip=0.5, sigma=2.0, curvature_clip=0.25, tau=3.0, largest_square=1.0,
                limits=(0.5, 0.0), outer=True, block_of=[0, 1, 2], edges=[-0.3, 0.3], threads=1, block=4096,
            )
        )  # fmt: skip
    assert (sums[0] == sums[1]).all()


def test_all_looks_together_cost_what_was_planned(rng):
    x, y = table_of(rng)
    data = dp.Data(x, y, row_norm=math.sqrt(COLUMNS), public_n=N)
    model = dp.LogisticRegression(intercept=True)
    for adjacency in ("replace", "add_remove"):
        plan = dp.plan(model, data.public, dp.Newton(fit=True), epsilon=1.0, delta=1e-6, adjacency=adjacency)
        settings = plan.settings
        price = noise_of_fit(settings)[-1]
        assert 0.99 * SHARE < price**2 / settings.mu**2 <= SHARE
        assert settings.estimating_mu**2 + price**2 <= settings.mu**2
        assert plan.guarantee.epsilon(1e-6) <= 1.0
        post = plan.run(data, progress=False)
        spent = sum(
            (s / look.sigma) ** 2 for look in post.looks for s in [settings.price(look.sigma, look.tau) * look.sigma]
        )
        assert spent + price**2 <= settings.mu**2 * (1 + 1e-12)


def test_a_right_model_passes_and_a_bent_one_fails(rng):
    post = fitted(*table_of(rng), seed=1)
    assert post.fit.p_value > 1e-3
    assert post.fit.doubt == ""
    assert len(post.fit.z) == post.fit.degrees == GROUPS
    assert "degrees of freedom" in str(post.fit)
    with pytest.warns(dp.errors.ConvergenceWarning, match="outcomes differ"):
        bent = fitted(*table_of(rng, bend=3.0), seed=1)
    assert bent.fit.p_value < 1e-4
    assert bent.verdict.kind == "read with caution"


def test_the_fit_is_saved_and_none_is_taken_unless_asked_for(rng, tmp_path):
    x, y = table_of(rng)
    post = fitted(x, y, seed=2)
    post.save(tmp_path / "post.npz")
    again = dp.Posterior.load(tmp_path / "post.npz")
    assert again.fit == post.fit
    data = dp.Data(x, y, row_norm=math.sqrt(COLUMNS), public_n=N)
    plain = dp.sample(dp.LogisticRegression(), data, dp.Newton(), epsilon=1.0, delta=1e-6, progress=False)
    assert plain.fit is None


def test_the_fit_is_refused_where_it_is_not_offered(rng):
    x, y = table_of(rng, n=200)
    facts = {"row_norm": math.sqrt(COLUMNS), "public_n": 200}
    weighted = dp.Data(x, y, sample_weight=np.ones(200), max_weight=2.0, row_norm=math.sqrt(COLUMNS))
    refused = [
        (dp.SoftmaxRegression(classes=2), dp.Data(x, y, **facts)),
        (dp.BernoulliLogit(), dp.Data(y, public_n=200)),
        (dp.LinearRegression(), dp.Data(x, y, y_bounds=(-3.0, 3.0), **facts)),
        (dp.LogisticRegression(), weighted),
    ]
    for model, data in refused:
        with pytest.raises(PydpmcError, match="fit=True"):
            dp.plan(model, data.public, dp.Newton(fit=True), epsilon=1.0, delta=1e-6)
    with pytest.raises((InvalidArgument, dp.errors.WrongType), match="fit must be"):
        dp.Newton(fit=1)


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_right_models_are_doubted_as_often_as_the_p_value_says(adjacency, rng):
    found = []
    for _ in range(200):
        x, y = table_of(rng)
        data = dp.Data(x, y, row_norm=math.sqrt(COLUMNS), public_n=N)
        model = dp.LogisticRegression(intercept=True, prior=dp.Normal(scale=2.5))
        sampler = dp.Newton(fit=True, draws=10)
        post = dp.sample(model, data, sampler, epsilon=1.0, delta=1e-6, adjacency=adjacency, progress=False)
        found.append(post.fit.p_value)
    for level in (0.05, 0.2, 0.5, 0.8):
        share = np.mean(np.array(found) < level)
        assert abs(share - level) < 4 * math.sqrt(level * (1 - level) / 200)


@pytest.mark.parametrize("looks", [1, 3])
def test_a_run_stopped_in_the_look_at_the_fit_releases_nothing(rng, monkeypatch, looks):
    advance = NewtonRun.advance

    def advance_until_stopped(self, *arguments):
        if self._stopped:
            raise KeyboardInterrupt
        advance(self, *arguments)

    monkeypatch.setattr(NewtonRun, "_look_at_fit", lambda self, threads, block: self.stop())
    monkeypatch.setattr(NewtonRun, "advance", advance_until_stopped)
    x, y = table_of(rng, n=500)
    data = dp.Data(x, y, row_norm=math.sqrt(COLUMNS), public_n=len(x))
    sampler = dp.Newton(fit=True, looks=looks, draws=200)
    plan = dp.plan(dp.LogisticRegression(prior=dp.Normal(2.5)), data.public, sampler, epsilon=3.0, delta=1e-6)
    with pytest.raises(KeyboardInterrupt, match="there is no posterior yet"):
        plan.run(data, progress=False, anyway=True)


def test_a_fit_that_rounding_would_hide_is_refused_by_the_plan():
    def planned(**fit):
        data = dp.Data(np.zeros((50, 1)), np.ones(50), row_norm=1.0, groups=np.arange(50), max_group_size=300_000)
        return dp.plan(dp.LogisticRegression(), data.public, dp.Newton(shares=[1.0], **fit), epsilon=0.01, delta=1e-6)

    planned()  # the other looks say enough
    with pytest.raises(BudgetError, match="max_group_size"):
        planned(fit=True)
