"""How the budget is shared between looks: public, decided look by look from what was released."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_LOOKS = 8
STILL = 0.7  # in units of the predictor: a mean that moved less stands still
LAST = 1.9  # times the next share: if no more is left, one look takes it all


@dataclass(frozen=True)
class Schedule:
    """Shares of mu^2: start with `first`, grow while the mean stands still, put the rest into the last look."""

    most: int = DEFAULT_LOOKS
    first: float = 0.05
    growth: float = 1.8
    fixed: tuple[float, ...] | None = None

    def share(self, left: float, last: float | None, moved_square: float, taken: int) -> float:
        """Return the share of the next look, at most what is left."""
        if self.fixed is not None:
            return left if taken == len(self.fixed) - 1 else min(left, self.fixed[taken])
        share = self.first if last is None else last * (self.growth if moved_square < STILL**2 else 1.0)
        return left if left < LAST * share or taken >= self.most - 1 else share
