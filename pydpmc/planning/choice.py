"""The choice of a sampler: every proven one is completed roughly, and the best outlook wins. It costs no privacy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

from .. import samplers
from ..errors import PydpmcError
from ..samplers.base import Sampler
from ..samplers.outlook import LEAST_COVERAGE, NOT_MUCH, Outlook, outlook_of
from ..samplers.request import Request, refuse_groups_without_proof, refuse_weights_without_proof

PURPOSES = ("posterior", "prediction", "point")
# In the order in which equals are taken. A sampler joins by being listed in `samplers`.
FIRST: tuple[type[Sampler], ...] = (*reversed(samplers.OF_SOME_MODELS), samplers.Langevin, samplers.SGLD)
KINDS = (*FIRST, *(kind for kind in samplers.ALL if kind not in FIRST))
PATIENCE, PER_DECADE = 30.0, 0.15  # a run ten times as long must be 15 % better
LEANS = 4.0 / 3.0  # error beyond the prior over that within it
MOSTLY_NOISE = 2.0  # variance over that without privacy
TIE = 0.05  # what intervals that are twice as wide as they need be count, where something else is compared


@dataclass(frozen=True)
class Candidate:
    """A sampler with its outlook, or why it was refused."""

    sampler: Sampler
    outlook: Outlook | None = None
    refusal: str = ""

    @property
    def name(self) -> str:
        """The sampler's name."""
        return type(self.sampler).__name__

    def near_error(self, purpose: str) -> float:
        """Return the error if the truth is drawn from the prior; infinite where nothing is known."""
        found = self.outlook
        error = None if found is None else found.prediction_error if purpose == "prediction" else found.error
        return math.inf if error is None else error

    def rank(self, purpose: str, far: bool = True) -> float:
        """Return what candidates are compared by: smaller is better."""
        if self.outlook is None:
            return math.inf
        slow = 0.0 if self.outlook.seconds is None else max(0.0, math.log10(max(self.outlook.seconds, 1.0) / PATIENCE))
        waste = 1e6 if self.outlook.hopeless else 1.0
        return self.outlook.score(purpose, far) * (1.0 + PER_DECADE * slow + TIE * self._too_wide()) * waste

    def _too_wide(self) -> float:
        """Return how often the error must be doubled to have the width of an interval."""
        outlook = self.outlook
        if outlook is None or not outlook.width or not outlook.error or not math.isfinite(outlook.width):
            return 0.0
        return max(0.0, math.log2(outlook.width / outlook.error))


def candidates(request: Request, purpose: str) -> list[Candidate]:
    """Return all samplers, best first; refused ones come last."""
    found = [_tried(request, kind, purpose) for kind in KINDS]
    if purpose == "posterior":
        found = _without_needless_approximations(found)
    most = _most_error(found, purpose)
    return sorted(found, key=lambda one: (one.outlook is None, one.near_error(purpose) > most, one.rank(purpose)))


def _most_error(found: list[Candidate], purpose: str) -> float:
    """Return the largest error that is considered: not much above that of the best if the truth is from the prior."""
    near = min(found, key=lambda one: one.rank(purpose, far=False))
    return NOT_MUCH * near.near_error(purpose)


def _tried(request: Request, kind: type[Sampler], purpose: str) -> Candidate:
    sampler = kind()
    try:
        sampler = kind.candidate(request, purpose)
        refuse_groups_without_proof(sampler, request.public)
        refuse_weights_without_proof(sampler, request.model, request.public)
        settings = sampler.choose(dataclasses.replace(request, sampler=sampler, rough=True))
        found = outlook_of(settings, request.model, request.public, request.n, request.chains)
    except (PydpmcError, ArithmeticError) as error:
        return Candidate(sampler, refusal=str(error))
    return Candidate(sampler, found)


def _without_needless_approximations(found: list[Candidate]) -> list[Candidate]:
    """Refuse samplers whose intervals are approximate, unless noise rules these and others would lean on the prior."""
    others = [one for one in found if one.outlook is not None and one.sampler.has_coverage]
    best = min(others, key=lambda one: one.rank("posterior", far=False), default=None)
    lean = best is None or best.outlook is None or _leans(best.outlook)

    def kept(one: Candidate) -> Candidate:
        if one.sampler.has_coverage or one.outlook is None or (lean and _noise_outweighs(one.outlook)):
            return one
        return Candidate(one.sampler, refusal=f"intervals of {one.name} may be too narrow: choose it by name")

    return [kept(one) for one in found]


def _leans(outlook: Outlook) -> bool:
    """Return whether a truth beyond the prior would be missed by much more than one within it."""
    return outlook.far_error is not None and outlook.error is not None and outlook.far_error > LEANS * outlook.error


def _noise_outweighs(outlook: Outlook) -> bool:
    """Return whether intervals are made of privacy's noise, which they contain, rather than of an approximation."""
    covers = outlook.coverage is not None and outlook.coverage >= LEAST_COVERAGE
    return covers and outlook.width is not None and outlook.width**2 >= MOSTLY_NOISE


def usable(found: list[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that were not refused, best first."""
    return (one for one in found if one.outlook is not None)
