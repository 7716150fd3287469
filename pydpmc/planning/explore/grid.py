"""The grid of a page to explore: a plan for every epsilon, delta and number of records, from public facts alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...accounting import Guarantee, compose
from ...checks import given, positive, small_delta, whole
from ...data.public import Public
from ...errors import InvalidArgument, PydpmcError, WrongType
from ...posterior.privacy_curves import attack_success, best_guess
from ...samplers.request import Request
from ..choice import Candidate, candidates
from ..verdict import usefulness

EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
DELTAS = (1e-8, 1e-6, 1e-5)
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
MOST_CELLS = 2000
FALSE_ALARMS = 0.01
Told = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True)
class Axes:
    """The values of the three sliders, and where each of them starts."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    records: tuple[int, ...]
    start: tuple[int, int, int]

    def __len__(self) -> int:
        return len(self.epsilons) * len(self.deltas) * len(self.records)


def axes_of(request: Request, epsilons: Any, deltas: Any, records: Any) -> Axes:
    """Return the values of the sliders: round ones, with those of the request among them."""
    assert request.epsilon is not None
    assert request.delta is not None
    if not request.n:
        raise InvalidArgument("public_n must be declared to explore: the number of records is private")
    chosen = (
        _sorted(EPSILONS, "epsilons", request.epsilon, positive, epsilons),
        _sorted(DELTAS, "deltas", request.delta, small_delta, deltas),
        _sorted([_round(request.n * f) for f in FACTORS], "records", request.n, whole, records),
    )
    own = request.epsilon, request.delta, request.n
    start = tuple(values.index(value) for values, value in zip(chosen, own, strict=True))
    axes = Axes(*chosen, start=start)
    if len(axes) > MOST_CELLS:
        raise InvalidArgument(f"epsilons, deltas and records have {len(axes)} combinations; {MOST_CELLS} are the most")
    return axes


def _sorted(usual: Sequence[Any], name: str, own: Any, checked: Callable[[Any, str], Any], asked: Any) -> Any:
    if asked is not None and (isinstance(asked, str) or not isinstance(asked, Sequence) or len(asked) == 0):
        raise WrongType(f"{name} must be a list of numbers, not {given(asked)}")
    values = usual if asked is None else [checked(value, f"each of {name}") for value in asked]
    return tuple(sorted({*values, own}))


def _round(value: float) -> int:
    """Return the value with two digits, at least 1."""
    digits = max(0, math.floor(math.log10(max(value, 1.0))) - 1)
    return max(1, round(value / 10.0**digits) * int(10.0**digits))


def cells(request: Request, purpose: str, axes: Axes, told: Told) -> list[dict[str, Any]]:
    """Return what would happen at each setting: records vary fastest, then delta, then epsilon."""
    found = []
    for epsilon in axes.epsilons:
        for delta in axes.deltas:
            for n in axes.records:
                public = _resized(request.public, n, request.adjacency)
                asked = dataclasses.replace(request, epsilon=epsilon, delta=delta, public=public)
                found.append(_cell(asked, purpose))
                told(len(found), len(axes))
    return found


def _resized(public: Public, n: int, adjacency: str) -> Public:
    return dataclasses.replace(public, n=n, public_n=n if adjacency == "add_remove" else public.public_n)


def _cell(request: Request, purpose: str) -> dict[str, Any]:
    """Return the candidates of one setting, and what the first one that the budget pays for would let be learnt."""
    tried = [one for one in candidates(request, purpose) if one.outlook is not None]
    while tried:
        guarantee = _guarantee(request, tried[0])
        if guarantee is not None:
            seen = {"guess": best_guess(guarantee), "caught": attack_success(guarantee, [FALSE_ALARMS])[0]}
            return {**seen, "samplers": [_row(one) for one in tried]}
        tried = tried[1:]
    return {"guess": None, "caught": None, "samplers": []}


def _guarantee(request: Request, one: Candidate) -> Guarantee | None:
    """Return the exact guarantee of a candidate (those of a comparison are approximate), or None if it is refused."""
    try:
        settings = one.sampler.choose(dataclasses.replace(request, sampler=one.sampler))
    except (PydpmcError, ArithmeticError):
        return None
    return compose(
        [*settings.uses(request.adjacency, request.chains), *request.earlier],
        adjacency=request.adjacency,
        assumptions=settings.assumptions,
        unit=request.public.unit,
        total_variation=settings.total_variation(request.chains),
    )


def _row(one: Candidate) -> dict[str, Any]:
    assert one.outlook is not None
    figures = one.outlook.to_dict()
    verdict = usefulness(figures)
    kept = {key: figures[key] for key in ("error", "prior_error", "width", "effective_draws", "seconds")}
    short = {key: None if value is None else float(f"{value:.4g}") for key, value in kept.items()}
    return {"sampler": one.name, **short, "kind": verdict.kind, "reason": verdict.reason}
