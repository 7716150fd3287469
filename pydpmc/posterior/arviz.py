"""Conversion to ArviZ: an InferenceData (ArviZ 0.x) or a DataTree (ArviZ 1.x) with the guarantee as attributes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._optional import require
from .._version import __version__
from .facts import delta_of

if TYPE_CHECKING:
    from .posterior import Posterior


def to_arviz(post: Posterior) -> Any:
    """Return the draws in ArviZ's format, with coordinates named as in the summary."""
    az = require("arviz", "arviz", "to_arviz")
    values, coords, dims = {}, {}, {}
    for name, draws in post.draws.items():
        labels = post.labels.get(name) or ()
        if draws.shape[2] == 1 and not labels:
            values[name] = draws[:, :, 0]
            continue
        values[name] = draws
        dims[name] = [f"{name}_dim"]
        coords[f"{name}_dim"] = list(labels) if labels else [str(j) for j in range(draws.shape[2])]
    if int(az.__version__.split(".")[0]) >= 1:
        result = az.from_dict({"posterior": values}, coords=coords, dims=dims)
    else:
        result = az.from_dict(posterior=values, coords=coords, dims=dims)
    as_json = {"guarantee": json.dumps(post.guarantee.to_dict()), "plan": json.dumps(dict(post.plan))}
    result["posterior"].attrs.update(attributes(post) | as_json)
    return result


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
