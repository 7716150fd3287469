"""How much of the draws is the prior's and how much the records', and what privacy cost their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgument
from .inference import tempered
from .looks import information

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
Z90 = 1.6448536269514722
ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # of plans that a file may hold


@dataclass(frozen=True)
class Weights:
    """Where the draws' precision comes from, averaged over all directions."""

    records: float
    without_privacy: float | None  # the share that the records would have


def weight_of(post: Posterior) -> float:
    """Return the tempering weight of the likelihood."""
    value = post.plan.get("w")
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0.0 < value < math.inf
    return float(value) if usable else 1.0  # type: ignore[arg-type]


def weights_of(post: Posterior) -> Weights | None:
    """Return the records' share of the precision: one minus the variance of the draws in units of the prior's."""
    w = weight_of(post)
    try:
        precision, draws = _coordinates(post, w)
        pooled = draws.reshape(-1, draws.shape[2])
        count, dim = pooled.shape
        if dim == 0 or (count - 1) * dim < 10:
            return None
        root = np.sqrt(precision)
        spread = np.atleast_2d(np.cov(pooled.T)) * np.outer(root, root)
        prior = np.clip(np.linalg.eigvalsh(spread), 0.0, 1.0)
    except ERRORS:
        return None
    freedom = dim * _determined(post)
    prior_share = min(1.0, float(prior.sum()) / freedom)
    without = None
    if w < 1.0 and count > 3 * dim and not post.plan.get("temper_prior"):
        full = prior[prior > 0.0]
        without = 1.0 - min(1.0, float((1.0 / (1.0 + (1.0 / full - 1.0) / w)).sum()) / freedom)
    return Weights(1.0 - prior_share, without)


def _coordinates(post: Posterior, w: float) -> tuple[Floats, Floats]:
    """Return prior precision and draws of all coordinates with a Normal or Flat prior, on the scale of the draws."""
    if post.plan.get("calibration") is not None:
        raise InvalidArgument("the chain targets another law than the tempered posterior")
    heat = float(post.plan.get("heat", 1.0)) ** 2
    all_precisions = post.plan["prior_precision"]
    draws = np.concatenate([_contrasts(post, name) for name in post.draws], axis=2)
    usable = [i for i, value in enumerate(all_precisions) if value is not None]
    precision = np.array([float(all_precisions[i]) for i in usable])
    scale = w if post.plan.get("temper_prior") else 1.0
    return precision * scale / heat, draws[:, :, usable]


def _classes(post: Posterior) -> int:
    """Return the number of classes of a softmax regression, 0 for other models."""
    found = (post.plan.get("model_spec") or {}).get("classes", 0)
    return found if isinstance(found, int) else 0


def _contrasts(post: Posterior, name: str) -> Floats:
    """Return the draws of a block; of a softmax regression less their mean over classes, which no record determines."""
    values, classes = post.draws[name], _classes(post)
    if classes < 2:
        return values
    by_class = values.reshape(*values.shape[:2], classes, -1)
    return np.asarray((by_class - by_class.mean(axis=2, keepdims=True)).reshape(values.shape))


def _determined(post: Posterior) -> float:
    """Return the share of the directions that records can determine."""
    classes = _classes(post)
    return 1.0 if classes < 2 else (classes - 1) / classes


def wider_than_without_privacy(post: Posterior) -> float | None:
    """Return how much wider 90 % intervals are than without privacy; None if that does not follow from the draws."""
    try:
        found = _wider_by_looks(post) if post.looks else _wider_by_draws(post)
    except ERRORS:
        return None
    return found if found is not None and math.isfinite(found) else None


def _wider_by_looks(post: Posterior) -> float:
    parts = information(post)
    squares = parts.prior + parts.records / np.maximum(1.0 - parts.lost, 1e-9)
    return float(np.exp(np.log(np.maximum(squares, 1.0)).mean() / 2.0))


def _wider_by_draws(post: Posterior) -> float | None:
    """Return Student's t times the error of the estimate over that of the full likelihood."""
    from scipy.special import stdtrit

    if float(post.plan.get("noise") or 0.0) > 0.0 or _classes(post):  # the draws hold the noise of the sums too
        return None
    known = tempered(post)[2]
    unpulled = known.weight * np.linalg.solve(np.eye(len(known.prior)) - known.spread * known.prior, known.spread)
    ratio = np.diag(known.normal()[1]) / np.diag(unpulled)
    if not (np.isfinite(ratio).all() and (ratio > 0.0).all()):
        return None
    return float(stdtrit(known.count - 1.0, 0.95) / Z90 * np.exp(np.log(ratio).mean() / 2.0))
