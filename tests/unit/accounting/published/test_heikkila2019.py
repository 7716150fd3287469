"""Theorem 1 of Heikkilä et al. (2019) against its closed form, and against the price of the bit."""

import math

import pytest

from pydpmc import accounting as acc


@pytest.mark.parametrize("bound", [1e-3, 0.03, 0.3])
@pytest.mark.parametrize("steps", [1, 250, 20_000])
def test_theorem_1_is_the_classic_conversion_of_its_linear_divergence(bound, steps):
    delta, rho = 1e-6, 2.0 * steps * bound**2 / 2.0
    closed = rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))  # the least of rho a + log(1/delta)/(a - 1)
    found = acc.heikkila2019_full(bound=bound, steps=steps, delta=delta)
    order = 1.0 + math.sqrt(math.log(1.0 / delta) / rho)
    assert found >= closed * (1.0 - 1e-12)
    if order < 1e5:
        assert found == pytest.approx(closed, rel=1e-4)


def test_the_bit_costs_less_than_the_normal_that_it_is_computed_from():
    bound, steps, delta = 0.03, 250, 1e-6
    ours = acc.compose([(acc.AcceptBit(shift=2.0 * bound), steps)], adjacency="replace").epsilon(delta)
    assert ours < acc.heikkila2019_full(bound=bound, steps=steps, delta=delta, conversion="tight")
