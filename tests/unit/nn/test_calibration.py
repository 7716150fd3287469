"""Calibration curves against direct counts."""

import numpy as np
import pytest

import pydpmc as dp


def test_the_error_of_calibrated_probabilities_is_small_and_of_bold_ones_large():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 40_000)
    labels = (rng.random(40_000) > p).astype(int)
    honest = dp.nn.calibration_curve(np.column_stack([p, 1.0 - p]), labels)
    assert honest.error < 0.01
    assert honest.count.sum() == 40_000
    bold = dp.nn.calibration_curve(np.column_stack([np.sqrt(p), 1.0 - np.sqrt(p)]), labels)
    assert abs(bold.error - (np.sqrt(p) - p).mean()) < 0.01


def test_bins_hold_what_falls_into_them():
    curve = dp.nn.calibration_curve([[0.6, 0.4], [0.35, 0.65], [1.0, 0.0]], [0, 0, 0], bins=5)
    np.testing.assert_allclose(curve.confidence, [0.625, 1.0])
    np.testing.assert_allclose(curve.accuracy, [0.5, 1.0])


def test_entropy_is_largest_for_equal_probabilities():
    np.testing.assert_allclose(dp.nn.entropy([[0.25] * 4, [1.0, 0.0, 0.0, 0.0]]), [np.log(4.0), 0.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: dp.nn.calibration_curve([0.5, 0.5], [0, 1]),
        lambda: dp.nn.calibration_curve([[0.5, 0.5]], [0, 1]),
        lambda: dp.nn.calibration_curve([[0.5, 0.5]], [0], bins=0),
        lambda: dp.nn.entropy([0.5]),
    ],
)
def test_wrong_shapes_are_refused(call):
    with pytest.raises(ValueError, match=r"probabilities|labels|bins"):
        call()
