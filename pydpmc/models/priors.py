"""Prior densities, one per block of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..checks import given, positive, reals
from ..errors import InvalidArgument

Scalars = float | Sequence[float]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Prior:
    """Base of all priors: a location-scale family on each coefficient of a block."""

    code: ClassVar[int]  # PriorKind of csrc/models/prior.hpp

    def table(self, size: int, positive: bool) -> Floats:
        """Return one row (kind, location, scale, df, positive) per coefficient, for the core."""
        rows = np.zeros((size, 5))
        rows[:, 0] = self.code
        rows[:, 1] = _spread(getattr(self, "loc", 0.0), size, "loc")
        rows[:, 2] = _spread(getattr(self, "scale", 1.0), size, "scale")
        rows[:, 3] = getattr(self, "df", 1.0)
        rows[:, 4] = positive
        return rows

    def centre(self, size: int) -> Floats:
        """Return the prior's centre, the default start of a chain."""
        return _spread(getattr(self, "loc", 0.0), size, "loc")

    def precision(self, size: int) -> Floats:
        """Return the Fisher information of the prior about its location."""
        return np.zeros(size)

    def draw(self, size: int, uniforms: Floats) -> Floats:
        """Return a draw of the block made from uniforms in (0, 1)."""
        raise InvalidArgument(f"prior is {type(self).__name__}, which is improper and cannot be sampled: use Normal()")


@dataclass(frozen=True)
class Normal(Prior):
    """Normal(loc, scale^2) on each coefficient.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.Normal(scale=2.0)
    Normal(scale=2.0, loc=0.0)
    """

    code: ClassVar[int] = 1
    scale: Scalars = 1.0
    loc: Scalars = 0.0

    def __post_init__(self) -> None:
        _check(self)

    def precision(self, size: int) -> Floats:
        """Return 1 / scale^2."""
        return np.asarray(1.0 / _spread(self.scale, size, "scale") ** 2)

    def draw(self, size: int, uniforms: Floats) -> Floats:
        """Return a draw of the block made from uniforms in (0, 1)."""
        from scipy.special import ndtri

        z: Floats = np.asarray(ndtri(uniforms))
        return self.centre(size) + _spread(self.scale, size, "scale") * z


@dataclass(frozen=True)
class Laplace(Prior):
    """Laplace(loc, scale) on each coefficient."""

    code: ClassVar[int] = 2
    scale: Scalars = 1.0
    loc: Scalars = 0.0

    def __post_init__(self) -> None:
        _check(self)

    def precision(self, size: int) -> Floats:
        """Return 1 / scale^2."""
        return np.asarray(1.0 / _spread(self.scale, size, "scale") ** 2)

    def draw(self, size: int, uniforms: Floats) -> Floats:
        """Return a draw of the block made from uniforms in (0, 1)."""
        centred = uniforms - 0.5
        z: Floats = -np.sign(centred) * np.log1p(-2.0 * np.abs(centred))
        return self.centre(size) + _spread(self.scale, size, "scale") * z


@dataclass(frozen=True)
class StudentT(Prior):
    """Student t with df degrees of freedom on each coefficient; df=1 is the Cauchy."""

    code: ClassVar[int] = 3
    df: float = 4.0
    scale: Scalars = 1.0
    loc: Scalars = 0.0

    def __post_init__(self) -> None:
        _check(self)
        positive(self.df, "df")

    def precision(self, size: int) -> Floats:
        """Return the Fisher information (df + 1) / ((df + 3) scale^2)."""
        return np.asarray((self.df + 1.0) / (self.df + 3.0) / _spread(self.scale, size, "scale") ** 2)

    def draw(self, size: int, uniforms: Floats) -> Floats:
        """Return a draw of the block made from uniforms in (0, 1)."""
        from scipy.special import stdtrit

        z: Floats = np.asarray(stdtrit(self.df, uniforms))
        return self.centre(size) + _spread(self.scale, size, "scale") * z


@dataclass(frozen=True)
class Flat(Prior):
    """The improper uniform prior."""

    code: ClassVar[int] = 0


@dataclass(frozen=True)
class Uniform(Prior):
    """Uniform from `low` to `high`, both included: for parameters of models of your own that Barker samples.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.Uniform(0, 99).centre(1)
    array([49.5])
    """

    code: ClassVar[int] = 4
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            if reals(getattr(self, name), f"prior {name}").ndim:
                raise InvalidArgument(f"prior {name} must be one number, not {given(getattr(self, name))}")
        if not self.low < self.high:
            raise InvalidArgument(f"prior low must be below high, not {self.low!r} and {self.high!r}")

    def table(self, size: int, positive: bool) -> Floats:
        """Return one row (kind, low, high, 1, positive) per coefficient, for the core."""
        row = [self.code, self.low, self.high, 1.0, positive]
        return np.tile(np.array(row, dtype=np.float64), (size, 1))

    def centre(self, size: int) -> Floats:
        """Return the middle; the finite end if there is one only."""
        ends = [end for end in (self.low, self.high) if np.isfinite(end)]
        return np.full(size, float(np.mean(ends)) if ends else 0.0)

    def draw(self, size: int, uniforms: Floats) -> Floats:
        """Return a draw of the block made from uniforms in (0, 1)."""
        if not np.isfinite([self.low, self.high]).all():
            raise InvalidArgument("prior is Uniform with an infinite end, which cannot be sampled: give both ends")
        return np.asarray(self.low + (self.high - self.low) * uniforms)


def _spread(value: Scalars, size: int, name: str) -> Floats:
    array = np.asarray(value, dtype=float)
    if array.ndim and array.shape != (size,):
        raise InvalidArgument(f"prior {name} has {array.size} entries but its block has {size} coefficients")
    return np.array(np.broadcast_to(array, (size,)), dtype=np.float64)


def _check(prior: Normal | Laplace | StudentT) -> None:
    for name in ("scale", "loc"):
        value = getattr(prior, name)
        array = reals(value, f"prior {name}")
        if array.ndim > 1:
            raise InvalidArgument(f"prior {name} must be one number or one per coefficient, not {given(value)}")
        if array.ndim == 1:
            value = tuple(array.tolist())
            object.__setattr__(prior, name, value)
        if not np.isfinite(array).all() or (name == "scale" and not (array > 0).all()):
            wanted = "positive and finite" if name == "scale" else "finite"
            raise InvalidArgument(f"prior {name} must be {wanted}, not {value!r}")
