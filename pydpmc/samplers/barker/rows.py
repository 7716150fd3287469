"""The lines of the plan's page that say what a Barker run does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...accounting.events.barker_correction import correction
from .proposal import Walk

if TYPE_CHECKING:
    from .settings import Settings


def barker_rows(settings: Settings, size: int | None) -> list[tuple[str, str]]:
    """Return label and text of each line."""
    batch = f"{settings.batch_size:,} of {size:,}" if settings.batch_size else "all, in the exact test"
    rows = [
        ("records per step", batch),
        ("proposal", _proposal(settings.walk)),
        ("clip", f"{settings.clip:.4g} per record and step"),
    ]
    if settings.batch_size:
        error = float(correction(settings.c).odds_error)
        rows.append(("minibatch test", f"C = {settings.c:g}, v_max = {settings.v_max:.3g}, log-odds error {error:.1e}"))
    return rows


def _proposal(walk: Walk) -> str:
    shape = walk.kind.replace("_", " ")
    size = f"{walk.scale:.4g}" if isinstance(walk.scale, float) else f"a given {_shape_of(walk)}"
    return f"{shape}, {'radius' if walk.kind in ('ball', 'sphere') else 'scale'} {size}"


def _shape_of(walk: Walk) -> str:
    return "covariance" if walk.factor().ndim == 2 else "vector"
