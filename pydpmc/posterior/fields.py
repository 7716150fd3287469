"""The fields of a posterior as plain values, for its file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..accounting import Guarantee
from ..errors import InvalidArgument
from .looks import Look
from .stats import SamplerStats

if TYPE_CHECKING:
    from .posterior import Posterior

FORMAT = 1  # of saved files


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
        }
    )


def fields_of(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that `description` wrote."""
    if saved["format"] != FORMAT:
        raise InvalidArgument(f"a newer pydpmc wrote this: format {saved['format']!r}")
    return {
        "labels": {name: tuple(labels) for name, labels in saved["labels"].items()},
        "guarantee": Guarantee.from_dict(saved["guarantee"]),
        "plan": saved["plan"],
        "acceptance": tuple(saved["acceptance"]),
        "interrupted": saved["interrupted"],
        "unsafe": None if saved["unsafe"] is None else Unsafe(**saved["unsafe"]),
        "sampler_stats": _stats(saved.get("sampler_stats")),
        "ledger_entry": saved.get("ledger_entry"),
        "looks": tuple(Look.from_dict(look) for look in saved.get("looks", ())),
    }


def _stats(saved: Mapping[str, Any] | None) -> SamplerStats | None:
    return None if saved is None else SamplerStats(**{name: tuple(values) for name, values in saved.items()})
