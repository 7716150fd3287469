"""Layers and priors of a network as plain values, for saved posteriors."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..models.priors import Prior
from ..models.spec import plain_prior, prior_from_spec
from .layers import Conv, Dense, FanIn, Layer, Pool, ReLU, Residual, Tanh

LAYERS: dict[str, type[Layer]] = {kind.__name__: kind for kind in (Conv, Dense, Pool, ReLU, Residual, Tanh)}


def layer_spec(layer: Layer) -> dict[str, Any]:
    """Return type and parameters of a layer.

    Examples
    --------
    >>> layer_spec(Dense(3))
    {'type': 'Dense', 'units': 3}
    """
    spec: dict[str, Any] = {"type": type(layer).__name__}
    for field in dataclasses.fields(layer):
        value = getattr(layer, field.name)
        spec[field.name] = [layer_spec(inner) for inner in value] if isinstance(value, tuple) else value
    return spec


def layer_of(spec: Mapping[str, Any]) -> Layer:
    """Return the inverse of `layer_spec`."""
    options = {name: value for name, value in spec.items() if name != "type"}
    if spec["type"] == "Residual":
        return Residual(tuple(layer_of(inner) for inner in options["layers"]))
    return LAYERS[spec["type"]](**options)


def prior_spec(prior: Prior | Mapping[str, Prior]) -> Any:
    """Return the prior, or one for each block, as plain values."""
    if isinstance(prior, FanIn):
        return {"type": "FanIn", "scale": prior.scale}
    return plain_prior(prior)


def prior_of(spec: Mapping[str, Any]) -> Prior | Mapping[str, Prior]:
    """Return the inverse of `prior_spec`."""
    return FanIn(spec["scale"]) if spec.get("type") == "FanIn" else prior_from_spec(spec)
