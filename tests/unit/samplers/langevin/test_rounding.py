"""What rounding costs a Langevin run: E = w N e_1 + e_2 + 3 u M T and E_0 = w e_1 + e_2 (docs/privacy/langevin.md)."""

import dataclasses
import math

import numpy as np
import pytest

import pydpmc as dp

U = 2.0**-53
STEPS, W = 200, 0.1


def priced(n: int, columns: int, draws: int = 1):
    public = dp.Public(n=n, columns=tuple(f"x{j}" for j in range(columns)), has_target=True, row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), public, dp.Langevin(w=W, steps=STEPS, draws=draws))
    ((event, uses),) = plan.guarantee.events
    return plan, event, uses


def errors(plan, n: int, columns: int) -> tuple[float, float]:
    """E and E_0 of a logistic regression with standard normal priors, from the page alone."""
    h, unit = plan.settings.step_size, math.sqrt(2.0 * plan.settings.step_size) * 2.0**-32
    reach = math.sqrt(columns) * (1000.0 + unit)
    steepest, bend = 1.0, 0.25
    clip = steepest * (1.0 + 1e-6)
    grid = 2.0 ** math.ceil(math.log2(max(clip * 2.0**-49, n * clip * 2.0**-60)))
    evaluation = 1.01 * (bend * (columns / 8 + 16) * U * reach + 16 * U)
    of_record = math.sqrt(columns) * grid / 2 + evaluation + 2 * U * clip
    of_update = 1.5 * math.sqrt(columns) * unit / h + 16 * U * (reach + W * n * clip)
    of_point = 3 * U * (W * n * bend + 1.0) * reach
    return W * n * of_record + of_update + of_point, W * of_record + of_update


@pytest.mark.parametrize("columns", [1, 30])
@pytest.mark.parametrize("n", [10, 10**4, 10**6])
def test_the_event_charges_the_errors_of_the_page_twice(n, columns):
    plan, event, _ = priced(n, columns)
    everywhere, at_a_point = errors(plan, n, columns)
    # 1 %: the page's constants leave the code that much room where it rounds upwards.
    assert 2.0 * everywhere * 0.99 <= event.error <= 2.0 * everywhere * 1.01
    assert 2.0 * at_a_point * 0.99 <= event.error_between_neighbours <= 2.0 * at_a_point * 1.01
    assert 0.0 < event.error_between_neighbours < event.error


@pytest.mark.parametrize("which", ["error", "error_between_neighbours"])
def test_the_price_grows_with_each_rounding_term(which):
    _, event, _ = priced(10**6, 30)
    price = {"error": "contracted_mu", "error_between_neighbours": "composed_mu"}[which]
    prices = [
        getattr(dataclasses.replace(event, **{which: factor * getattr(event, which)}), price)
        for factor in (0.0, 1.0, 2.0, 100.0)
    ]
    assert (np.diff(prices) > 0.0).all()
    if which == "error_between_neighbours":
        assert prices[1] / prices[0] == pytest.approx(1.0 + getattr(event, which) / event.sensitivity, rel=1e-12)
    else:  # all steps but the last
        exact, charged = (
            dataclasses.replace(event, half_step=False, steps=STEPS - 1, error=e) for e in (0.0, event.error)
        )
        grown = charged.contracted_mu**2 - exact.contracted_mu**2
        assert prices[1] ** 2 - prices[0] ** 2 == pytest.approx(grown, rel=1e-6)
        assert charged.contracted_mu / exact.contracted_mu == pytest.approx(
            1.0 + event.error / event.sensitivity, rel=1e-12
        )


def test_every_draw_of_every_chain_is_charged():
    plan, event, _ = priced(10**4, 2, draws=3)
    assert plan.settings.uses("replace", 1) == [(event, 3)]
    assert plan.settings.uses("replace", 2) == [(event, 6)]
