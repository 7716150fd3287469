"""A sample of the forecast grid, repeated: forecasts are near what rehearsals find, and the choice is near the best."""

import json
import sys
from pathlib import Path

import pytest

import pydpmc as dp

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
from forecast_grid import BASES, DELTA, choices, off, pairs, setting  # noqa: E402

FOUND = json.loads((BENCH / "forecast_grid.json").read_text())
LEAST_CHOICES = 30
SAMPLE = [base for base in BASES if base[1] * base[2] <= 1e5][::3]


def test_nine_tenths_of_the_kept_forecasts_came_true_and_none_is_far_off():
    for what, least in (("error", 60), ("draws", 30)):
        found = pairs(FOUND, what)
        ratios = [off(told, seen) for _, _, told, seen in found]
        assert len(ratios) >= least
        assert sum(ratio <= 1.5 for ratio in ratios) >= 0.9 * len(ratios)
        assert max(ratios) <= 3.0


def test_the_kept_choices_are_near_the_best():
    found = choices(FOUND)
    assert len(found) >= LEAST_CHOICES
    assert sum(ratio <= 1.25 for _, _, ratio, _ in found) >= 0.9 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("base", SAMPLE, ids=str)
def test_a_forecast_comes_true_again(base):
    kind, n, d, epsilon = base
    model, public = setting(kind, n, d)
    plan = dp.plan(model, public, epsilon=epsilon, delta=DELTA)
    seen = plan.rehearse(runs=max(8, 60 // plan.settings.dim), progress=False, seed=1000)
    assert off(plan.outlook.error, seen.error) <= 1.8
    assert 0.75 <= seen.coverage <= 1.0
