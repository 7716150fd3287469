"""What one unit of privacy (a record or a group) can contribute, and the tempering weight it has."""

from __future__ import annotations

from ..checks import positive, share
from ..data.public import Public
from ..errors import InvalidArgument, UnsupportedEventError
from ..models import Model


def lipschitz_of_unit(model: Model, public: Public) -> float | None:
    """Return a bound on the gradient of a unit's log-likelihood that always holds, or None."""
    lipschitz, records = model.lipschitz(public), public.records_per_unit
    return None if lipschitz is None or records is None else lipschitz * records


def clip_of_unit(model: Model, public: Public) -> float | None:
    """Return that bound, or that of one record where the size of a group is not bounded: it may be exceeded."""
    lipschitz = model.lipschitz(public)
    return None if lipschitz is None else lipschitz * (public.records_per_unit or 1)


def refuse_groups_without_proof(sampler: object, public: Public) -> None:
    """Refuse groups for every sampler that does not say that it was proved for them."""
    if public.grouped and not getattr(sampler, "supports_groups", False):
        raise UnsupportedEventError(
            f"groups: {sampler!r} has no proof for groups of records; use Newton, SGLD, SGHMC or SGNHT, or "
            "Barker on all records (batch_size=None)"
        )


def refuse_weights_without_proof(sampler: object, public: Public) -> None:
    """Refuse weighted records for every sampler that does not say that it was proved for them."""
    if public.max_weight is not None and not getattr(sampler, "supports_weights", False):
        raise UnsupportedEventError(
            f"sample_weight: {sampler!r} has no proof for weighted records; use Newton, or a Data without weights"
        )


def check_weight(w: float | None, n0: float | None) -> None:
    """Refuse a weight outside (0, 1], and one that is given twice."""
    if n0 is not None:
        positive(n0, "n0")
    if w is not None:
        share(w, "w")
    if w is not None and n0 is not None:
        raise InvalidArgument("w and n0 say the same thing (w = n0 / n): give one of them")
