"""The constants that a Langevin price rests on, against random records and thetas through the compiled kernel."""

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.samplers.base import target_arguments
from pydpmc.samplers.langevin.constants import arithmetic, curvature

MODELS = {
    "logistic": dp.LogisticRegression(intercept=True),
    "huber": dp.HuberRegression(sigma=0.5, threshold=2.0),
    "coin": dp.BernoulliLogit(),
    "mean": dp.GaussianMean(sigma=0.5),
    "softmax": dp.SoftmaxRegression(classes=3),
}
PAIRS = 300


def two_records(name, rng):
    model = MODELS[name]
    if name == "coin":
        return dp.Data(rng.integers(0, 2, 2))
    x = rng.choice([-1.0, 1.0], size=(2, 2)) * rng.exponential(size=(2, 2))
    if name == "mean":
        return dp.Data(x, row_norm=1.2)
    y = rng.integers(0, model.label_count, 2) if model.label_count else 10.0 * rng.normal(size=2)
    return dp.Data(x, y, row_norm=1.2)


def gradients(model, data, theta):
    """Of each record's log-likelihood."""
    target = target_arguments(dp.plan(model, data.public, dp.Langevin(w=0.5, steps=1)).model, data)
    del target["prior"]
    rows = target.pop("rows")
    found = [
        _core.gradient_sum(rows=row[None].copy(), **target, theta=theta.tolist(), clip=1e6, per_unit=2.0**28)
        for row in rows
    ]
    return np.array(found) * 2.0**-28


@pytest.mark.parametrize("name", MODELS)
def test_change_and_curvature_hold_for_every_record_and_are_nearly_reached(name, rng):
    model, change, bends = MODELS[name], 0.0, []
    for _ in range(PAIRS):
        data = two_records(name, rng)
        theta = rng.normal(size=model.dim(data.public)) * rng.choice([0.01, 1.0, 30.0])
        step = rng.normal(size=theta.size) * 1e-3
        here, there = gradients(model, data, theta), gradients(model, data, theta + step)
        change = max(change, np.linalg.norm(here[0] - here[1]))
        bends += list((here - there) @ step / (step @ step))
    allowed = model.gradient_change(data.public, "replace")
    assert 0.7 * allowed < change <= allowed + 1e-6
    assert min(bends) > model.strong_convexity(data.public) - 1e-3
    assert 0.5 * model.smoothness(data.public) < max(bends) < model.smoothness(data.public) + 1e-3


@pytest.mark.parametrize("steps", [1, 10, 1000, 10**6])
def test_the_plan_of_a_quadratic_costs_its_closed_form(steps):
    """Rounding included: three records, h = 0.06, curvature 3 + 1."""
    public = dp.Public(n=3, columns=("x",), has_target=False, x_bounds=((-2.5, 2.5),))
    plan = dp.plan(dp.GaussianMean(), public, dp.Langevin(w=1.0, steps=steps, step_size=0.06))
    ((event, _),) = plan.guarantee.events
    kept = 1.0 - 0.06 * 4.0
    share = (1.0 - kept ** (steps - 1)) / (1.0 + kept ** (steps - 1))  # and a half step, composed
    exact = 5.0 * math.sqrt(0.03 * (1.0 + share * (1.0 + kept) / (1.0 - kept)))
    assert exact <= event.gaussian_mu("replace") < exact * (1.0 + 1e-9)


def test_the_curvature_counts_the_declared_most_records():
    public = dp.Public(n=10, columns=("a",), has_target=True, row_norm=2.0)
    bends = curvature(dp.LogisticRegression(prior=dp.Normal(scale=0.5)), public, 0.5)
    assert bends.least == pytest.approx(4.0)
    assert bends.largest == pytest.approx(0.5 * 10 * 1.0 + 4.0)
    mixed = dp.LogisticRegression(prior={"beta": dp.Normal(scale=(0.1,)), "intercept": dp.Normal()}, intercept=True)
    bends = curvature(mixed, public, 0.5)
    assert (bends.least, bends.largest) == pytest.approx((1.0, 0.5 * 10 * 5.0 / 4.0 + 100.0))


@pytest.mark.parametrize("n", [2, 10**4, 10**6, 10**8])
def test_grids_leave_room_for_every_sum_and_errors_stay_small(n):
    public = dp.Public(n=n, columns=tuple(f"x{j}" for j in range(50)), has_target=True, row_norm=1.0)
    errors = arithmetic(dp.LogisticRegression(), public, 0.1, 0.3 / (0.025 * n + 1.0))
    assert errors.clip / errors.gradient_unit < 2.0**50
    assert n * errors.clip / errors.gradient_unit < 2.0**61
    assert math.log2(errors.gradient_unit).is_integer()
    if n <= 10**6:
        assert 0.1 * n * errors.of_record + errors.of_update + errors.of_point < 1e-3 * 0.1


def test_bounds_too_wide_to_compute_with_are_refused():
    public = dp.Public(n=100, columns=("a",), has_target=True, row_norm=1e9)
    with pytest.raises(ValueError, match="too wide"):
        arithmetic(dp.LogisticRegression(), public, 0.1, 1e-9)


def test_rounding_after_projection_stays_within_charged_sensitivity():
    """Truncation moves two records apart that differ by a third of a float32 step; this was once undercharged."""
    u = 2.0**-23
    pair = np.array([[1 + 8 * u, 2 - 8 * u], [1 + 9 * u, 2 - 9 * u]])
    box = [(float(column.min()), float(column.max())) for column in pair.T]
    row_norm = float(np.linalg.norm(pair[0])) * (1 - 1e-12)
    model = dp.GaussianMean(sigma=1e-6)
    for storage in ("float32", "float64"):
        data = dp.Data(pair, x_bounds=box, row_norm=row_norm, storage=storage)
        apart = float(np.linalg.norm(np.diff(np.asarray(data._rows, dtype=float)[:, :2], axis=0)))
        assert apart / model.sigma**2 <= model.gradient_change(data.public, "replace")
    assert apart > 0.0
