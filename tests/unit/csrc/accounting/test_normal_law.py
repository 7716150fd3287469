"""The special functions of the core against arbitrary precision, and the transform lengths."""

import subprocess
import sys

import mpmath
import numpy as np
import pytest

from pydpmc import _core
from pydpmc.accounting.composition.fourier import quick_length
from pydpmc.accounting.loss.privacy_loss import UNIT

FEW_ULPS = 4 * UNIT  # what the accountant charges at least


def relative_errors(function, exact, points):
    with mpmath.workdps(50):
        pairs = zip(points.tolist(), function(points).tolist(), strict=True)
        return np.array([float(abs(mpmath.mpf(found) / exact(mpmath.mpf(x)) - 1)) for x, found in pairs])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (1.0, 24.9), (24.9, 25.1), (25.1, 1e8)])
def test_erfcx_is_right_to_a_few_ulps(low, high):
    points = np.random.default_rng(1).uniform(low, high, 300)
    errors = relative_errors(_core.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), points)
    assert errors.max() < FEW_ULPS


@pytest.mark.parametrize(("low", "high"), [(-37.0, -5.0), (-5.0, 0.0), (0.0, 8.0)])
def test_normal_cdf_is_right_to_what_its_tail_is_charged(low, high):
    points = np.random.default_rng(2).uniform(low, high, 300)
    errors = relative_errors(_core.normal_cdf, mpmath.ncdf, points)
    charged = 4 * UNIT * (2 + np.minimum(points, 0.0) ** 2)  # gaussian_cells.normal_cells
    assert np.all(errors < charged / 2)


def test_ends_of_the_special_functions():
    np.testing.assert_array_equal(_core.erfcx(np.array([0.0, np.inf])), [1.0, 0.0])
    np.testing.assert_array_equal(_core.normal_cdf(np.array([-np.inf, 0.0, np.inf])), [0.0, 0.5, 1.0])
    assert np.isnan(_core.erfcx(np.array([np.nan]))).all()


def test_quick_lengths_are_the_smallest_products_of_2_3_and_5():
    quick = sorted(2**a * 3**b * 5**c for a in range(14) for b in range(9) for c in range(6))
    for least in [*range(1, 300), 4097, 8100, 8101]:
        assert quick_length(least) == next(length for length in quick if length >= least)


def test_an_epsilon_is_found_without_importing_scipy(tmp_path):
    """Its import takes longer than the epsilon of a million steps."""
    events = (
        "AcceptBit(1e-3)",
        "MinibatchAcceptBit(1000, 10**6, 0.5)",
        "Gaussian(50.0).poisson(0.01)",
        "Gaussian(50.0).without_replacement(10, 1000)",
    )
    lines = [f"acc.compose([(acc.{event}, 1000)]).epsilon(1e-6)" for event in events]
    script = "; ".join(["import sys", "from pydpmc import accounting as acc", *lines, "print('scipy' in sys.modules)"])
    assert subprocess.check_output([sys.executable, "-c", script], text=True, cwd=tmp_path).strip() == "False"
