"""Random-walk proposals theta' = theta + A z, defined by public numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import reals
from ...errors import InvalidArgument

KINDS = ("gaussian", "ball", "truncated_gaussian", "sphere")  # in the order of csrc/samplers/proposal.hpp
OWN = "own"  # a function that the user wrote

Scale = float | tuple[float, ...] | tuple[tuple[float, ...], ...]


def as_scale(value: npt.ArrayLike | None) -> Scale | None:
    """Return a scale as nested tuples: a number, a vector of standard deviations, or a covariance matrix."""
    if value is None:
        return None
    array = reals(value, "scale")
    if array.ndim > 2 or not np.isfinite(array).all() or not (np.diagonal(np.atleast_2d(array)) > 0).all():
        raise InvalidArgument("scale must be a positive number, a vector of them, or a covariance matrix")
    if array.ndim == 2:
        if array.shape[0] != array.shape[1] or not np.allclose(array, array.T):
            raise InvalidArgument("scale was given as a matrix, so it must be a symmetric covariance")
        return tuple(tuple(float(v) for v in row) for row in array)
    if not (array > 0).all():
        raise InvalidArgument("scale must be positive")
    return tuple(float(v) for v in array) if array.ndim else float(array)


@dataclass(frozen=True)
class Walk:
    """A symmetric proposal: z normal, uniform in the unit ball or on the unit sphere, or normal within `radius`.

    Of a function that the user wrote, `scale` is how far it moves each coordinate at the start.
    """

    kind: str
    scale: Scale
    radius: float
    dim: int
    whole: tuple[bool, ...] = ()  # by coordinate, whether moves are rounded; empty if none is

    def factor(self) -> npt.NDArray[np.float64]:
        """Return A: its diagonal, or the lower Cholesky factor of a covariance."""
        array = np.asarray(self.scale, dtype=float)
        if array.ndim < 2:
            if array.ndim and array.shape != (self.dim,):
                raise InvalidArgument(f"scale has {array.size} entries but theta has {self.dim}")
            return np.array(np.broadcast_to(array, (self.dim,)))
        if array.shape != (self.dim, self.dim):
            raise InvalidArgument(f"scale is {array.shape[0]} x {array.shape[1]} but theta has {self.dim} entries")
        try:
            return np.linalg.cholesky(array)
        except np.linalg.LinAlgError:
            raise InvalidArgument("scale must be a positive definite covariance") from None

    @property
    def norm(self) -> float:
        """The spectral norm of A, rounded up."""
        factor = self.factor()
        largest = factor.max() if factor.ndim == 1 else np.linalg.norm(factor, 2)
        return float(largest) * (1.0 + 1e-12)

    @property
    def reach(self) -> float:
        """The largest |theta' - theta|: infinite for the Gaussian proposal and for functions."""
        if self.kind in ("gaussian", OWN):
            return math.inf
        return self.norm * self.radius + 0.5 * math.sqrt(sum(self.whole))

    @property
    def step(self) -> float:
        """The root mean square move of a coordinate, as a geometric mean over coordinates."""
        factor = self.factor()
        diagonal = factor if factor.ndim == 1 else np.diagonal(factor)
        return float(np.exp(np.log(diagonal).mean())) * self.spread

    @property
    def spread(self) -> float:
        """The standard deviation of a coordinate of z."""
        return {"ball": 1.0 / math.sqrt(self.dim + 2.0), "sphere": 1.0 / math.sqrt(self.dim)}.get(self.kind, 1.0)


def default_radius(dim: int) -> float:
    """Return a truncation radius that keeps most of a standard normal in `dim` dimensions."""
    return math.sqrt(dim) + 1.5


def walk_of(kind: str, scale: Scale, radius: float | None, dim: int, whole: tuple[bool, ...] = ()) -> Walk:
    """Return the walk, with its radius chosen or checked."""
    if kind == "truncated_gaussian":
        radius = default_radius(dim) if radius is None else radius
        if radius < math.sqrt(dim):
            raise InvalidArgument(
                f"radius must be at least sqrt(d) = {math.sqrt(dim):.3g} (in units of scale), not {radius}: otherwise "
                'most proposals would be discarded. For a smaller ball use proposal="ball".'
            )
    else:
        radius = 1.0
    if kind == "sphere" and dim == 1:
        raise InvalidArgument(
            'proposal: in one dimension a sphere is two points, and the chain could not mix; use "ball"'
        )
    walk = Walk(kind, scale, radius, dim, whole)
    _refuse_no_move(walk)
    return walk


def _refuse_no_move(walk: Walk) -> None:
    """Refuse a walk that never moves a whole number."""
    if not walk.whole or walk.kind == "gaussian":
        return
    factor = walk.factor()
    longest = walk.radius * (factor if factor.ndim == 1 else np.linalg.norm(factor, axis=1))
    if (longest[np.array(walk.whole)] <= 0.5).any():
        raise InvalidArgument(
            "scale must be above 0.5 for parameters that are whole numbers, or they never move; give one scale per "
            "coordinate of theta"
        )
