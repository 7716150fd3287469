"""Conversion of a model to plain values and back, for saved posteriors and study files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..checks import given
from ..errors import InvalidArgument
from . import priors
from .base import Model
from .priors import Prior

PRIORS: dict[str, type[Prior]] = {
    kind.__name__: kind for kind in (priors.Normal, priors.Laplace, priors.StudentT, priors.Flat, priors.Uniform)
}


# Models of later rooms, by the name of their type: how each is made from its parameters.
LATER: dict[str, Callable[[Mapping[str, Any]], Model]] = {}


def to_spec(model: Model) -> dict[str, Any] | None:
    """Return the type and the parameters of a model, or None if some of them are not plain values.

    Examples
    --------
    >>> import pydpmc as dp
    >>> to_spec(dp.LogisticRegression())
    {'type': 'LogisticRegression', 'prior': {'type': 'Normal', 'scale': 1.0, 'loc': 0.0}, 'intercept': False}
    """
    if hasattr(model, "to_spec"):
        found: dict[str, Any] | None = model.to_spec()
        return found
    spec: dict[str, Any] = {"type": type(model).__name__}
    for field in dataclasses.fields(model):
        value = plain_prior(getattr(model, field.name))
        if value is _NOT_PLAIN:
            return None
        spec[field.name] = value
    return spec


def from_spec(spec: Mapping[str, Any]) -> Model:
    """Return the model with this type and these parameters; a missing parameter has its default."""
    from . import ALL

    kinds = {kind.__name__: kind for kind in ALL}
    options = dict(spec)
    name = options.pop("type", None)
    if isinstance(name, str) and name in LATER:
        return LATER[name](options)
    if not isinstance(name, str) or name not in kinds:
        raise InvalidArgument(f"type must be one of {', '.join(kinds)}, not {given(name)}")
    known = [field.name for field in dataclasses.fields(kinds[name])]
    unknown = [key for key in options if key not in known]
    if unknown:
        raise InvalidArgument(f"{unknown[0]} is not a parameter of {name}, which has {', '.join(known)}")
    if "prior" in options:
        options["prior"] = prior_from_spec(options["prior"])
    return kinds[name](**options)


def prior_from_spec(spec: Any) -> Prior | dict[str, Prior]:
    """Return a prior, or one prior for each block."""
    if not isinstance(spec, Mapping):
        raise InvalidArgument(f'prior must be a table such as {{type = "Normal", scale = 1.0}}, not {given(spec)}')
    if "type" not in spec:
        return {block: _prior(inner) for block, inner in spec.items()}
    return _prior(spec)


def _prior(spec: Any) -> Prior:
    if not isinstance(spec, Mapping):
        raise InvalidArgument(f'prior must be a table such as {{type = "Normal", scale = 1.0}}, not {given(spec)}')
    options = dict(spec)
    name = options.pop("type", None)
    if not isinstance(name, str) or name not in PRIORS:
        raise InvalidArgument(f"prior type must be one of {', '.join(PRIORS)}, not {given(name)}")
    known = [field.name for field in dataclasses.fields(PRIORS[name])]
    unknown = [key for key in options if key not in known]
    if unknown:
        raise InvalidArgument(
            f"prior: {unknown[0]} is not a parameter of {name}, which has {', '.join(known) or 'none'}"
        )
    return PRIORS[name](**options)


_NOT_PLAIN = object()


def plain_prior(value: Any) -> Any:
    """Return a prior, or whatever else, as plain values; `_NOT_PLAIN` if it has none."""
    if isinstance(value, Prior):
        return {
            "type": type(value).__name__,
            **{f.name: plain_prior(getattr(value, f.name)) for f in dataclasses.fields(value)},
        }
    if isinstance(value, Mapping):
        return {str(key): plain_prior(inner) for key, inner in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)) and all(isinstance(entry, (bool, int, float, str)) for entry in value):
        return list(value)
    return _NOT_PLAIN
