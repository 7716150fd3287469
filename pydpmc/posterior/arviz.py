"""Conversion to ArviZ: an InferenceData (ArviZ 0.x) or a DataTree (ArviZ 1.x) with the guarantee as attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from .._version import __version__
from ..checks import whole
from ..errors import InvalidArgument
from .facts import delta_of
from .predictive import prior_draws

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
TARGET = "y"


def to_arviz(post: Posterior, x: Any, draws: int, seed: int | None) -> Any:
    """Return the draws in ArviZ's format, with coordinates named as in the summary, and groups beside them."""
    az = require("arviz", "arviz", "to_arviz")
    coords: dict[str, list[str]] = {}
    dims: dict[str, list[str]] = {}
    groups = {"posterior": _named(post, post.draws, coords, dims)}
    prior = _prior(post, draws, seed)
    if prior is not None:
        groups["prior"] = _named(post, prior, coords, dims)
    if x is not None:
        groups |= _predictive(post, x, draws, seed, prior is not None)
        dims[TARGET] = ["row"]
    if int(az.__version__.split(".")[0]) >= 1:
        result = az.from_dict(groups, coords=coords, dims=dims)
    else:
        result = az.from_dict(**groups, coords=coords, dims=dims)
    as_json = {"guarantee": json.dumps(post.guarantee.to_dict()), "plan": json.dumps(dict(post.plan))}
    result["posterior"].attrs.update(attributes(post) | as_json)
    return result


def _named(
    post: Posterior, blocks: Mapping[str, Floats], coords: dict[str, list[str]], dims: dict[str, list[str]]
) -> dict[str, Floats]:
    values = {}
    for name, draws in blocks.items():
        labels = post.labels.get(name) or ()
        shape = post.plan.get("shapes", {}).get(name, ())
        if len(shape) >= 2:
            values[name] = draws.reshape(*draws.shape[:2], *shape)
            continue
        if draws.shape[2] == 1 and not labels:
            values[name] = draws[:, :, 0]
            continue
        values[name] = draws
        dims[name] = [f"{name}_dim"]
        coords[f"{name}_dim"] = list(labels) if labels else [str(j) for j in range(draws.shape[2])]
    return values


def _prior(post: Posterior, draws: int, seed: int | None) -> dict[str, Floats] | None:
    """Return draws from the prior; None if it is improper, or was not stored."""
    try:
        return prior_draws(post, whole(draws, "draws"), seed)
    except InvalidArgument:
        return None


def _predictive(post: Posterior, x: Any, draws: int, seed: int | None, proper: bool) -> dict[str, dict[str, Floats]]:
    groups = {"posterior_predictive": {TARGET: post.posterior_predictive(x, draws=draws, seed=seed).values}}
    if proper:
        groups["prior_predictive"] = {TARGET: post.prior_predictive(x, draws=draws, seed=seed).values}
    return groups


def attributes(post: Posterior) -> dict[str, Any]:
    """Return what the posterior group says of itself: the guarantee, and what the draws are good for."""
    delta = delta_of(post)
    return {
        "inference_library": "pydpmc",
        "inference_library_version": __version__,
        "private": int(post.private),
        "epsilon": post.guarantee.epsilon(delta),
        "delta": delta,
        "adjacency": post.guarantee.adjacency,
        "guarantee_statement": post.guarantee.statement(delta),
        "verdict": str(post.verdict),
    }
