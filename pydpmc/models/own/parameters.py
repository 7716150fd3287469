"""The parameters of a model of one's own: names, shapes, supports and priors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given, one_of, whole
from ...errors import InvalidArgument, WrongType
from ..base import Block
from ..priors import Flat, Prior

Floats = npt.NDArray[np.float64]
SUPPORTS = ("real", "positive", "whole")


@dataclass(frozen=True)
class Parameter:
    """A named array of parameters.

    Parameters
    ----------
    shape
        Of the array; a whole number for a vector, ``()`` for one number.
    support
        ``"real"``, ``"positive"`` or ``"whole"``. A positive parameter is sampled on the log scale, and its prior is a
        density of the parameter itself. Whole numbers are sampled by ``Barker`` alone; ``Uniform(0, 99)`` bounds them.

    Examples
    --------
    >>> from pydpmc.models import Parameter
    >>> Parameter((2, 3)).size, Parameter((), "positive").size
    (6, 1)
    """

    shape: tuple[int, ...] | int = ()
    support: str = "real"

    def __post_init__(self) -> None:
        shape = self.shape
        if isinstance(shape, bool) or not isinstance(shape, int | np.integer | Sequence) or isinstance(shape, str):
            raise WrongType(f"shape must be a whole number or a tuple of them, not {given(shape)}")
        entries = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        object.__setattr__(self, "shape", tuple(whole(entry, "shape") for entry in entries))
        one_of(self.support, "support", SUPPORTS)

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Site:
    """A parameter as it is sampled: `size` coordinates of theta, and how they become the parameter.

    Attributes
    ----------
    prior
        Of each coordinate, in the core; Flat where the model's own prior has all of it.
    to_natural
        From coordinates (draws, size) to the parameter (draws, ...), where `support` does not say it.
    """

    name: str
    shape: tuple[int, ...]
    size: int
    support: str
    prior: Prior
    to_natural: Callable[[Floats], Floats] | None = None

    @property
    def block(self) -> Block:
        """The site as other models name it; only a parameter that is not transformed has a label per coordinate."""
        labels = labels_of(self.shape) if self.to_natural is None else ()
        return Block(self.name, self.size, self.support == "positive", labels, self.support == "whole")

    def natural(self, coordinates: Floats) -> Floats:
        """Return the parameter, flattened, of coordinates of shape (chain, draw, size)."""
        if self.to_natural is None:
            return np.exp(coordinates) if self.support == "positive" else np.array(coordinates)
        flat = coordinates.reshape(-1, self.size)
        made = np.asarray(self.to_natural(flat), dtype=np.float64)
        return made.reshape(*coordinates.shape[:2], -1)


def labels_of(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the index of each entry of an array of two or more dimensions; vectors and numbers need none.

    Examples
    --------
    >>> labels_of((2, 2)), labels_of((3,))
    (('0,0', '0,1', '1,0', '1,1'), ())
    """
    if len(shape) < 2:
        return ()
    return tuple(",".join(str(i) for i in index) for index in np.ndindex(*shape))


def sites_of(parameters: Any, prior: Any) -> tuple[Site, ...]:
    """Return the sites of named parameters and a prior: one for all, one by name, or a function (then Flat here)."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise WrongType(f'parameters must map names to shapes, such as {{"beta": 10}}, not {given(parameters)}')
    if isinstance(prior, Mapping):
        unknown = sorted(str(name) for name in prior if name not in parameters)
        missing = sorted(str(name) for name in parameters if name not in prior)
        if unknown or missing:
            raise InvalidArgument(
                f"prior must name every parameter ({', '.join(map(str, parameters))}); "
                + (f"it has no entry for {missing[0]!r}" if missing else f"{unknown[0]!r} is none of them")
            )
    sites = []
    for name, shape in parameters.items():
        one = shape if isinstance(shape, Parameter) else Parameter(shape)
        of_one = prior[name] if isinstance(prior, Mapping) else prior
        if callable(of_one):
            of_one = Flat()
        if not isinstance(of_one, Prior):
            raise WrongType(f"prior of {name} must be a prior such as Normal(scale=1), not {given(of_one)}")
        sites.append(Site(str(name), one.shape, one.size, one.support, of_one))  # type: ignore[arg-type]
    return tuple(sites)


def unpacked(sites: Sequence[Site], theta: Any, backend: Any) -> dict[str, Any]:
    """Return the parameters by name of one theta; `backend` is numpy or JAX's."""
    named, start = {}, 0
    for site in sites:
        part = theta[start : start + site.size].reshape(site.shape)
        if site.support == "whole":
            named[site.name] = backend.rint(part).astype(backend.int64)
        else:
            named[site.name] = backend.exp(part) if site.support == "positive" else part
        start += site.size
    return named
