"""Conversion of a posterior's fields to plain values and back, for its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..accounting import Guarantee
from ..checks import given, inside, number, positive, yes_or_no
from ..data.public import Public
from ..data.schema import Schema
from ..errors import InvalidArgument, WrongType
from .agreement import Agreement
from .goodness import GoodnessOfFit
from .looks import Look
from .stats import SamplerStats
from .storage import UNSEALED

if TYPE_CHECKING:
    from .posterior import Posterior

FORMAT = 1  # version of the file format
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Unsafe:
    """Diagnostics that are not covered by any guarantee.

    Attributes
    ----------
    clipped_share
        Share of log-likelihood ratios that were clipped.
    """

    clipped_share: float


def description(post: Posterior) -> str:
    """Return everything but the draws as JSON."""
    return json.dumps(
        {
            "format": FORMAT,
            "labels": {name: list(labels) for name, labels in post.labels.items()},
            "guarantee": post.guarantee.to_dict(),
            "plan": dict(post.plan),
            "acceptance": list(post.acceptance),
            "interrupted": post.interrupted,
            "unsafe": None if post.unsafe is None else {"clipped_share": post.unsafe.clipped_share},
            "sampler_stats": None if post.sampler_stats is None else vars(post.sampler_stats),
            "ledger_entry": None if post.ledger_entry is None else dict(post.ledger_entry),
            "looks": [look.to_dict() for look in post.looks],
            "agreement": None if post.agreement is None else vars(post.agreement),
            "fit": None if post.fit is None else vars(post.fit),
            "schema": _saved_schema(post.schema),
        }
    )


def fields_of(draws: Mapping[str, Floats], saved: Any, sealed: bool) -> dict[str, Any]:
    """Return the fields that `description` wrote, after type checks; `sealed` says whether a hash protects them."""
    known = _mapping(saved, "description")
    if known.get("format") != FORMAT:
        raise InvalidArgument(f"format is {given(known.get('format'))}, which a newer pydpmc wrote: update pydpmc")
    yes_or_no(known["interrupted"], "interrupted")
    guarantee = Guarantee.from_dict(dict(_mapping(known["guarantee"], "guarantee")))
    if not sealed:
        guarantee = replace(guarantee, assumptions=(*guarantee.assumptions, UNSEALED))
    unsafe, entry = known["unsafe"], known.get("ledger_entry")
    return {
        "draws": draws,
        "labels": _labels(known["labels"], draws),
        "guarantee": guarantee,
        "plan": _plan(known["plan"]),
        "acceptance": _numbers(known["acceptance"], "acceptance"),
        "interrupted": known["interrupted"],
        "unsafe": None if unsafe is None else Unsafe(clipped_share=number(unsafe["clipped_share"], "clipped_share")),
        "sampler_stats": _stats(known.get("sampler_stats")),
        "ledger_entry": None if entry is None else _mapping(entry, "ledger_entry"),
        "looks": _looks(known.get("looks", ())),
        "agreement": _agreement(known.get("agreement")),
        "fit": None if known.get("fit") is None else GoodnessOfFit.from_dict(_mapping(known["fit"], "fit")),
        "schema": None if known.get("schema") is None else Schema.from_dict(known["schema"]),
    }


def _saved_schema(schema: Schema | None) -> dict[str, Any] | None:
    """Return a schema as plain values; None if its levels are of a kind that a file cannot hold."""
    if schema is None:
        return None
    try:
        saved: dict[str, Any] = json.loads(json.dumps(schema.to_dict()))
        Schema.from_dict(saved)
    except (TypeError, ValueError):
        return None
    return saved


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongType(f"{name} must map names to values, not {given(value)}")
    return value


def _labels(saved: Any, draws: Mapping[str, Floats]) -> dict[str, tuple[str, ...]]:
    labels = {name: tuple(entries) for name, entries in _mapping(saved, "labels").items() if _texts(entries)}
    sizes = {name: values.shape[2] for name, values in draws.items()}
    if not draws or set(labels) != set(draws) or len({values.shape[:2] for values in draws.values()}) != 1:
        raise InvalidArgument("draws and labels must have the same parameters, with equal numbers of chains and draws")
    if any(len(entries) not in (0, sizes[name]) for name, entries in labels.items()):
        raise InvalidArgument("labels must name every entry of a parameter, or none")
    return labels


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _plan(saved: Any) -> dict[str, Any]:
    """Return the plan after a check of the entries that other functions read."""
    plan = _mapping(saved, "plan")
    if plan.get("delta") is not None:
        inside(plan["delta"], "delta")
    if plan.get("epsilon") is not None:
        positive(plan["epsilon"], "epsilon")
    if "public" in plan:
        Public.from_dict(_mapping(plan["public"], "public"))
    if plan.get("model_spec") is not None:
        _mapping(plan["model_spec"], "model_spec")
    return plan


def _numbers(saved: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(saved, list):
        raise WrongType(f"{name} must be a list of numbers, not {given(saved)}")
    for entry in saved:
        number(entry, name)
    return tuple(saved)


def _stats(saved: Any) -> SamplerStats | None:
    if saved is None:
        return None
    return SamplerStats(**{name: _numbers(values, name) for name, values in _mapping(saved, "sampler_stats").items()})


def _agreement(saved: Any) -> Agreement | None:
    return None if saved is None else Agreement.from_dict(_mapping(saved, "agreement"))


def _looks(saved: Any) -> tuple[Look, ...]:
    if not isinstance(saved, list | tuple):
        raise WrongType(f"looks must be a list, not {given(saved)}")
    looks = tuple(Look.from_dict(_mapping(look, "looks")) for look in saved)
    for look in looks:
        dim, across = look.theta.size, len(look.curvature)
        shapes = look.theta.shape, look.gradient.shape, look.curvature.shape
        if shapes != ((dim,), (dim,), (across, across)) or across == 0 or dim % across:
            raise InvalidArgument("looks must hold a point, a gradient and a curvature of the same dimension")
        positive(look.sigma, "sigma of a look")
        positive(look.tau, "tau of a look")
    return looks
