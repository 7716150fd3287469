"""The price of a hidden-state Langevin draw: exact on quadratics, rounded up, refused where nothing is proved."""

import dataclasses
import json
import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from pydpmc import accounting as acc
from pydpmc.errors import UnsupportedEventError


def draw(**changed):
    settings = {
        "steps": 1000,
        "step_size": 1e-3,
        "sensitivity": 0.5,
        "strong_convexity": 2.0,
        "smoothness": 300.0,
        "adjacency": "replace",
    }
    return acc.LangevinIterate(**(settings | changed))


def mu_of(**changed):
    return draw(**changed).gaussian_mu(changed.get("adjacency", "replace"))


def mu_of_quadratic(curvature, shift, step_size, steps, half_step=False):
    """Shift of the mean over the sd of x' = x - h(curvature x - shift) + sqrt(2h) xi after `steps` steps from 0."""
    steps -= half_step
    with mpmath.workdps(60):
        h, a = mpmath.mpf(step_size), mpmath.mpf(curvature)
        kept = 1 - h * a
        if steps <= 1000:
            mean, variance = mpmath.mpf(0), mpmath.mpf(0)
            for _ in range(steps):
                mean, variance = kept * mean + h * mpmath.mpf(shift), kept**2 * variance + 2 * h
        else:
            mean = h * mpmath.mpf(shift) * (1 - kept**steps) / (1 - kept)
            variance = 2 * h * (1 - kept ** (2 * steps)) / (1 - kept**2)
        if half_step:
            kept = 1 - h * a / 2
            mean, variance = kept * mean + h / 2 * mpmath.mpf(shift), kept**2 * variance + h / 2
        return mean / mpmath.sqrt(variance)


@pytest.mark.parametrize("steps", [1, 10, 1000, 10**6])
@pytest.mark.parametrize(("curvature", "step_size"), [(2.0, 1e-3), (1.0, 0.3), (0.01, 1e-4), (5.0, 0.2), (1e-6, 1.0)])
def test_mu_is_the_closed_form_on_quadratics(steps, curvature, step_size):
    exact = mu_of_quadratic(curvature, 0.5, step_size, steps)
    found = mu_of(steps=steps, step_size=step_size, strong_convexity=curvature, smoothness=curvature)
    assert float(found / exact - 1) < 1e-9
    assert found >= exact


@pytest.mark.parametrize("steps", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize(("curvature", "step_size"), [(2.0, 1e-3), (1.0, 0.3), (0.01, 1e-4), (5.0, 0.2), (1e-6, 1.0)])
def test_a_half_step_costs_at_least_the_closed_form_and_at_most_that_of_an_exact_draw(steps, curvature, step_size):
    exact = mu_of_quadratic(curvature, 0.5, step_size, steps, half_step=True)
    found = mu_of(steps=steps, step_size=step_size, strong_convexity=curvature, smoothness=curvature, half_step=True)
    assert found >= exact
    assert float(found / exact - 1) < 0.06  # composition forgets that the half step contracts
    assert found <= 0.5 / math.sqrt(curvature) * (1.0 + 1e-9)


def test_a_half_step_adds_a_released_step_to_those_before_it():
    whole, half = draw(steps=999, error=0.1, error_between_neighbours=0.01), {"steps": 1000, "half_step": True}
    last = dataclasses.replace(whole, steps=1).composed_mu
    found = dataclasses.replace(whole, **half)
    assert found.contracted_mu == pytest.approx(math.hypot(whole.contracted_mu, last), rel=1e-11)
    assert found.composed_mu == pytest.approx(dataclasses.replace(whole, steps=1000).composed_mu, rel=1e-12)
    assert dataclasses.replace(found, steps=1).gaussian_mu("replace") == pytest.approx(last, rel=1e-11)
    assert acc.Guarantee.from_dict(json.loads(json.dumps(acc.compose([(found, 2)]).to_dict()))).events[0][0] == found


def test_mu_tends_to_that_of_an_exact_draw():
    exact = 0.5 / math.sqrt(2.0)
    assert mu_of(step_size=1e-7, steps=10**9) == pytest.approx(exact, rel=1e-6)
    assert mu_of(steps=10**9) < exact  # a larger step has a wider stationary law


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("steps", [1, 2, 10, 1000, 10**5]),
        ("sensitivity", [0.1, 0.2, 1.0]),
        ("error", [0.0, 0.1, 1.0]),
        ("strong_convexity", [8.0, 2.0, 0.5]),
    ],
)
def test_the_price_grows_with_each_parameter(name, values):
    found = [mu_of(**{name: value}) for value in values]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_a_step_beyond_the_best_contracts_less_and_one_beyond_the_largest_is_refused():
    assert draw(step_size=1.9 / 300.0).forgetting == pytest.approx(2.0 * 1.9 / 300.0)
    assert draw(step_size=1.999 / 300.0).forgetting == pytest.approx(1e-3, rel=1e-6)
    with pytest.raises(UnsupportedEventError, match="does not contract"):
        draw(step_size=2.0 / 300.0)


def test_the_smaller_of_contraction_and_composition_is_reported():
    long = draw(steps=10**5)
    assert long.gaussian_mu("replace") == long.contracted_mu < long.composed_mu
    coarse = draw(steps=10, error=100.0, error_between_neighbours=1e-6)
    assert coarse.gaussian_mu("replace") == coarse.composed_mu < coarse.contracted_mu
    assert coarse.composed_mu == pytest.approx(0.500001 * math.sqrt(1e-3 * 10 / 2), rel=1e-9)
    assert draw(error=1.0).composed_mu == pytest.approx(1.5 * math.sqrt(0.5), rel=1e-9)


def test_k_draws_cost_the_square_root_of_k():
    one, many = draw(), acc.compose([(draw(), 9)])
    assert many.epsilon(1e-5) == acc.compose([(acc.GDP(3.0 * one.gaussian_mu("replace")), 1)]).epsilon(1e-5)


def test_composes_with_what_is_not_gaussian():
    mixed = acc.compose([(draw(), 1), (acc.PureDP(0.1), 1)])
    assert acc.compose([(draw(), 1)]).epsilon(1e-5) < mixed.epsilon(1e-5)


def test_is_refused_under_neighbours_it_was_not_described_for():
    with pytest.raises(UnsupportedEventError, match="add_remove"):
        acc.compose([(draw(), 1)], adjacency="add_remove")
    with pytest.raises(UnsupportedEventError, match="replace"):
        draw(adjacency="add_remove").gaussian_mu("replace")
    loaded = acc.Guarantee.from_dict(json.loads(json.dumps(acc.compose([(draw(), 2)]).to_dict())))
    with pytest.raises(UnsupportedEventError):
        dataclasses.replace(loaded, adjacency="add_remove")


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": 0},
        {"steps": 1.5},
        {"step_size": math.inf},
        {"sensitivity": 0.0},
        {"strong_convexity": 0.0},
        {"smoothness": 1.0},
        {"error": -1e-9},
        {"error": math.nan},
        {"adjacency": "swap"},
    ],
    ids=str,
)
def test_nonsense_is_refused(changed):
    with pytest.raises(ValueError, match=next(iter(changed))):
        draw(**changed)


def density_after(steps, drift, h, cells):
    """Law of x' = x - h drift(x) + sqrt(2h) xi from 0 on a grid, exact up to the grid's width."""
    kernel = np.exp(-0.25 * (cells[:, None] - (cells - h * drift(cells))[None, :]) ** 2 / h)
    kernel /= kernel.sum(axis=0)
    law = np.exp(-0.25 * (cells + h * drift(np.zeros(1))) ** 2 / h)
    for _ in range(steps - 1):
        law = kernel @ (law / law.sum())
    return law / law.sum()


def test_rounded_gradients_break_the_formula_and_the_lemma_mends_it():
    """A staircase with steps of width d in place of m x: the shift sits where the steps do not contract."""
    m, s, d, h, steps = 1.0, 0.5, 3.0, 0.1, 200
    cells = np.linspace(-10.0, 10.0, 801)

    def staircase(x):
        return d * np.rint(m * x / d)

    here = density_after(steps, lambda x: staircase(x) - s / 2, h, cells)
    there = density_after(steps, lambda x: staircase(x) + s / 2, h, cells)
    arguments = {
        "steps": steps,
        "step_size": h,
        "sensitivity": s,
        "strong_convexity": m,
        "smoothness": m,
        "adjacency": "replace",
    }
    naive, mended = acc.LangevinIterate(**arguments), acc.LangevinIterate(**arguments, error=d)  # 2E, E = d/2
    eps = np.linspace(0.0, 0.5, 6)

    def gdp(mu):
        return ndtr(mu / 2 - eps / mu) - np.exp(eps) * ndtr(-mu / 2 - eps / mu)

    found = np.array([np.maximum(here - math.exp(e) * there, 0.0).sum() for e in eps])
    print(found / gdp(naive.contracted_mu))
    assert (found > 1.1 * gdp(naive.contracted_mu)).any()
    assert (found <= gdp(mended.contracted_mu)).all()
