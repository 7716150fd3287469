"""The integer sum of the clipped ratios is the same, to the last unit, in every order of the records.

A chain would hide a unit in the last place, so the test is turned into a null detector. The records are shifted until
their sum nearly vanishes, and the weight is raised until one unit of the grid is worth 64 in log-odds. With the prior
set to cancel the sum exactly, accepting is a fair coin; one unit more or less and all bits are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]

BITS, CLIP, UNIT = 40, 8.0, 64.0
N = 43  # five full vectors and a remainder
COINS = 64
ISAS = _core.available_isas()

MODELS: dict[str, Callable[..., dp.models.Model]] = {
    "logistic": dp.LogisticRegression,
    "linear": lambda prior: dp.LinearRegression(prior=prior, sigma=1.3),
    "poisson": dp.PoissonRegression,
    "hinge": dp.HingeClassifier,
    "huber": dp.HuberRegression,
    "mean": dp.GaussianMean,
    "mixture": dp.GaussianMixture,
    "coin": dp.BernoulliLogit,
}
NO_TARGET = ("mean", "mixture", "coin")
CASES = [(name, width) for name in MODELS for width in (1, 3, 4, 9) if width == 1 or name not in ("mixture", "coin")]


class Detector:
    """The frozen move of one model; records are rows [x, y], shifted in their last column."""

    def __init__(self, name: str, width: int) -> None:
        self.name, self.width = name, width
        dim = 2 if name == "mixture" else width
        self.move = np.append(0.25, np.random.default_rng(width).uniform(0.1, 0.3, size=dim - 1))

    def records(self) -> Floats:
        rng = np.random.default_rng(self.width)
        x = rng.uniform(0.1, 1.0, size=(N, self.width))
        return x if self.name in NO_TARGET else np.column_stack([x, rng.integers(0, 2, N)])

    def bits(self, rows: Floats, cancelled: float, coins: int) -> Floats:
        """Return accept bits with log-odds UNIT * (integer sum - cancelled)."""
        loc = np.zeros(len(self.move))
        loc[0] = -0.5 * UNIT * cancelled / self.move[0]
        has_target = self.name not in NO_TARGET
        x, y = (rows[:, :-1], rows[:, -1]) if has_target else (rows, None)
        data = dp.Data(x, y, on_invalid="drop")
        sampler = dp.Barker(steps=1, proposal="gaussian", scale=1.0, clip=CLIP)
        plan = dp.plan(MODELS[self.name](prior=dp.Normal(loc=tuple(loc))), data.public, sampler, private=False)
        arguments = plan.settings.core_arguments(_core, data.public) | {
            "bits": BITS,
            "shift_per_clip": UNIT * 2.0**BITS / CLIP,
        }
        shape = (1, len(self.move))
        chains = _core.Chains(init=np.zeros(shape), draws=np.empty((1, 0, shape[1])), warmup=0, thin=1, seed=3)
        core = _core.BarkerRun(core_target(plan, data), chains, **arguments)
        return np.asarray(core.audit((-self.move).tolist(), self.move.tolist(), 0, coins))

    def sum_is(self, rows: Floats, total: int) -> bool:
        return 0.0 < self.bits(rows, total, COINS).mean() < 1.0

    def tuned(self) -> tuple[Floats, int]:
        """Return records whose integer sum is small, and that sum."""
        rows = self.records()
        column = rows[:, -1].copy()
        low, high = -30.0, 30.0

        def positive(shift: float) -> bool:
            rows[:, -1] = column + shift
            return bool(self.bits(rows, 0, 1)[0])

        assert positive(high)
        assert not positive(low)
        while low < 0.5 * (low + high) < high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if positive(middle) else (middle, high)
        below, above = -500, 500
        while above - below > 1:
            middle_sum = (below + above) // 2
            above_middle = bool(self.bits(rows, middle_sum - 0.5, 1)[0])
            below, above = (middle_sum, above) if above_middle else (below, middle_sum)
        assert self.sum_is(rows, below)
        return rows, below


@pytest.fixture(autouse=True)
def restore_isa() -> Any:
    before = _core.isa()
    yield
    _core.use_isa(before)


@pytest.mark.parametrize(("name", "width"), CASES)
def test_the_sum_is_the_same_in_every_order_and_padding(name: str, width: int) -> None:
    detector = Detector(name, width)
    rows, total = detector.tuned()
    assert not detector.sum_is(rows, total + 1)
    nothing = np.full((1, rows.shape[1]), np.nan)
    rng = np.random.default_rng(1)
    for isa in ISAS:
        assert _core.use_isa(isa)
        for _ in range(8):
            assert detector.sum_is(rng.permutation(rows), total), isa
        for before in range(9):  # every record visits every lane
            padded = np.concatenate([np.repeat(nothing, before, axis=0), rows])
            assert detector.sum_is(padded, total), (isa, before)
        scattered = rng.permutation(np.concatenate([rows, np.repeat(nothing, 30, axis=0)]))
        assert detector.sum_is(scattered, total), isa


def test_the_detector_sees_one_unit() -> None:
    detector = Detector("mean", 1)
    rows, total = detector.tuned()
    one_unit = CLIP / 2.0**BITS / (2.0 * detector.move[0])
    changed = np.concatenate([rows, [[one_unit]]])
    assert detector.sum_is(changed, total + 1)
    assert not detector.sum_is(changed, total)
