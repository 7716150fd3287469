"""The one-dimensional pair dominates every pair of shifts in the unit disc (docs/privacy/accounting.md)."""

import math

import numpy as np
import pytest

from pydpmc import accounting as acc


@pytest.mark.parametrize(("rate", "noise"), [(0.05, 0.7), (0.5, 1.5)])
def test_no_two_dimensional_replacement_exceeds_the_pair(rate, noise):
    axis = np.linspace(-9 * noise - 1, 9 * noise + 1, 801)
    x, y = np.meshgrid(axis, axis)
    cell = (axis[1] - axis[0]) ** 2

    def density(u):
        moved = np.exp(-((x - u[0]) ** 2 + (y - u[1]) ** 2) / (2 * noise**2))
        plain = np.exp(-(x**2 + y**2) / (2 * noise**2))
        return ((1 - rate) * plain + rate * moved) / (2 * math.pi * noise**2)

    guarantee = acc.compose([(acc.Gaussian(noise).poisson(rate), 1)], "replace")
    attained = 0.0
    for v in [(-1, 0), (0, 1), (0.5, 0.5), (0, 0), (math.cos(2.5), math.sin(2.5))]:
        p, q = density((1, 0)), density(v)
        for eps in (0.01, 0.1, 0.4):
            found = float(np.sum(np.maximum(0.0, p - math.exp(eps) * q))) * cell
            assert found <= guarantee.delta(eps) + 1e-6
            attained = max(attained, found / guarantee.delta(eps))
    assert attained > 0.999
