"""A pilot is one charged look: it shows moments and base rate, its price is in the ledger, and plans may use it."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import BudgetError, InvalidArgument
from pydpmc.posterior.looks import Look
from pydpmc.running.pilot import smoothed

N = 40_000
SPREAD = np.array([0.5, 0.2, 0.02])
MODELS = {
    "logistic": (dp.LogisticRegression(intercept=True), {}),
    "probit": (dp.ProbitRegression(intercept=True), {}),
    "poisson": (dp.PoissonRegression(intercept=True), {"y_bounds": (0.0, 20.0)}),
    "linear": (dp.LinearRegression(intercept=True, sigma=0.5), {"y_bounds": (-3.0, 3.0)}),
    "unknown sigma": (dp.LinearRegression(intercept=True), {"y_bounds": (-3.0, 3.0)}),
    "huber": (dp.HuberRegression(intercept=True, sigma=0.5), {"y_bounds": (-3.0, 3.0)}),
    "softmax": (dp.SoftmaxRegression(intercept=True, classes=3), {}),
}


def table(rng, **bounds):
    x = rng.normal(size=(N, 3)) * SPREAD
    x *= np.minimum(1.0, 2.0 / np.linalg.norm(x, axis=1, keepdims=True))
    y = (rng.random(N) < 0.1).astype(float)
    return dp.Data(x, y, row_norm=2.0, **bounds), x


@pytest.mark.parametrize("name", [name for name in MODELS if name != "unknown sigma"])
def test_it_shows_the_second_moments_and_the_base_rate(name, rng):
    model, bounds = MODELS[name]
    data, x = table(rng, **bounds)
    seen = dp.pilot(model, data, epsilon=5.0, delta=1e-6, seed=1)
    true = x.T @ x / N
    near = 0.3 if name == "huber" else 0.15  # its curvature depends on residuals
    assert np.diag(seen.second_moments)[:2] == pytest.approx(np.diag(true)[:2], rel=near)
    assert seen.typical_norm == pytest.approx(np.sqrt(np.trace(true)), rel=near)
    if name in ("logistic", "poisson"):
        assert seen.base_rate == pytest.approx(0.1, abs=0.02)
    else:
        assert seen.base_rate is None


def test_an_unknown_sigma_is_refused_before_anything_is_spent(rng, tmp_path):
    model, bounds = MODELS["unknown sigma"]
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="looks"):
        dp.pilot(model, table(rng, **bounds)[0], epsilon=0.5, delta=1e-7, ledger=ledger)
    assert ledger.remaining == pytest.approx(1.0)


def test_the_ledger_pays_for_it_and_for_what_is_planned_from_it(rng, tmp_path):
    data, _ = table(rng)
    model, ledger = MODELS["logistic"][0], dp.Ledger(tmp_path / "a.ledger", epsilon=1.0, delta=1e-6)
    look = dp.pilot(model, data, epsilon=0.2, delta=1e-7, ledger=ledger)
    assert look.guarantee.epsilon(1e-7) <= 0.2
    assert ledger.remaining < 0.99
    informed = look.informed(data)
    plan = dp.plan(model, informed.public, epsilon=0.7, delta=8e-7)
    assert "second moments" in plan.outlook.assumption
    plan.run(informed, ledger=ledger, progress=False)
    with pytest.raises(BudgetError):
        dp.pilot(model, data, epsilon=0.95, delta=1e-7, ledger=ledger)


def test_plans_for_the_table_as_it_is_expect_less_of_weak_directions(rng):
    data, _ = table(rng)
    model = MODELS["logistic"][0]
    blind = dp.plan(model, data.public, epsilon=1.0, delta=1e-6).outlook
    told = dp.plan(model, dp.pilot(model, data, epsilon=1.0, delta=1e-6).informed(data).public, epsilon=1.0, delta=1e-6)
    assert told.outlook.prior_error < 0.7 * blind.prior_error  # there is less to learn than its bounds promise


def test_noise_alone_is_not_taken_for_directions(rng):
    noise = rng.normal(size=(20, 20))
    curvature = (noise + noise.T) / 2.0
    curvature[0, 0] += 1000.0
    moments, seen = smoothed(Look(np.zeros(20), np.zeros(20), curvature, 1.0, 1.0), 0, 1.0)
    values = np.linalg.eigvalsh(moments)
    assert seen == 1
    assert values[0] > 0.0
    assert values[-1] == pytest.approx(1000.0, rel=0.02)
    assert values[-2] < np.sqrt(40.0)


@pytest.mark.parametrize("moments", [np.eye(2), np.full((3, 3), np.nan), -np.eye(3), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]])
def test_what_is_no_matrix_of_moments_is_refused(moments, rng):
    with pytest.raises(ValueError, match="second_moments"):
        dp.Data(rng.normal(size=(10, 3)), row_norm=1.0, second_moments=moments)


def test_models_without_features_and_private_sizes_are_refused(rng):
    with pytest.raises(InvalidArgument, match="no features"):
        dp.pilot(dp.BernoulliLogit(), dp.Data(np.ones(10)), epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="public_n"):
        dp.pilot(MODELS["logistic"][0], table(rng)[0], epsilon=1.0, delta=1e-6, adjacency="add_remove")


@pytest.mark.parametrize("norm", [1e-31, 1e31])
def test_units_beyond_the_grids_of_a_look_are_refused_before_a_charge(norm, rng, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=1.0, delta=1e-6)
    data = dp.Data(rng.normal(size=(50, 2)) * norm, np.zeros(50), row_norm=norm)
    with pytest.raises(InvalidArgument, match="no grid"):
        dp.pilot(dp.LogisticRegression(), data, epsilon=0.2, delta=1e-7, ledger=ledger)
    assert not ledger.history()


def test_weighted_records_are_refused_with_what_to_do(rng):
    x = rng.uniform(-0.5, 0.5, (2000, 2))
    data = dp.Data(x, np.zeros(2000), row_norm=1.0, sample_weight=np.ones(2000), max_weight=3.0)
    with pytest.raises(InvalidArgument, match=r"sample_weight: a pilot is one look.*declare base_rate"):
        dp.pilot(dp.LogisticRegression(), data, epsilon=0.2, delta=1e-7)
