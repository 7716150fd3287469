"""What computes a model of one's own: functions of theta and a block of records, compiled or in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...data.public import Public
from ...errors import UnsupportedEventError

Floats = npt.NDArray[np.float64]
Function = Callable[[Floats, Floats, Floats | None, Floats], None]  # theta, x, y, and where the answer goes

PURE = "the code of the model is a function of theta and of the records it is given: it keeps no state between calls"
APART = (
    "the backend ({}) computes a microbatch deterministically and does not mix records: the result of a record depends "
    "neither on the other records of its microbatch nor on its place among them"
)
MOST_NUMBERS = 2**20  # of a microbatch: 8 MB
FULL = 1024
LEAST, MULTIPLE = 8, 8


class Code(ABC):
    """What computes a model. It has no ``__dict__``, so that a plan knows it by its identity."""

    __slots__ = ("apart", "backend", "microbatch")

    def __init__(self, backend: str, apart: bool, microbatch: int | None) -> None:
        self.backend, self.apart, self.microbatch = backend, apart, microbatch

    @property
    def has_gradient(self) -> bool:
        """Whether gradients can be computed."""
        return True

    @property
    def has_roots(self) -> bool:
        """Whether roots of the curvatures of records can be computed."""
        return False

    def roots(self, public: Public) -> Function:
        """Return the function that writes each record's gradient and, below it, a root of its curvature."""
        raise UnsupportedEventError(f"the {self.backend} code of a model has no curvatures")

    @property
    def calls_python(self) -> bool:
        """Whether a run calls Python, and so might warn of what a record does to it."""
        return True

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a guarantee assumes of this code."""
        return (PURE,) if self.apart else (PURE, APART.format(self.backend))

    @abstractmethod
    def functions(self, public: Public) -> tuple[Function, Function | None]:
        """Return log-likelihood and gradient as Python functions, for tables of this shape."""

    def core(self, public: Public, block: int) -> Any:
        """Return the functions as the core calls them."""
        loglik, gradient = self.functions(public)
        return _core.OwnModel.of_python(loglik=loglik, gradient=gradient, block=block)

    def look(self, public: Public, block: int, roots: bool) -> Any:
        """Return the functions for looks at gradients, with or without roots of curvatures."""
        if not roots:
            return self.core(public, block)
        loglik, gradient = self.functions(public)
        return _core.OwnModel.of_python(loglik=loglik, gradient=gradient, block=block, roots=self.roots(public))

    def block(self, batch: int, sampling: str, columns: int, dim: int) -> int:
        """Return how many records a call has: one number for all calls of a run, from public numbers alone."""
        if self.apart:
            return 1
        if self.microbatch is not None:  # numpy's products give the rows of odd blocks other roundings by their place
            return -(-self.microbatch // MULTIPLE) * MULTIPLE
        wanted = float(batch or FULL)
        if batch and sampling == "poisson":
            wanted += 4.0 * wanted**0.5
        most = max(LEAST, MOST_NUMBERS // (columns + dim + 1))
        return int(min(-(-wanted // MULTIPLE) * MULTIPLE, most - most % MULTIPLE))


def quietly(function: Function) -> Function:
    """Return the function without numpy's floating-point warnings."""

    def call(theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
        with np.errstate(all="ignore"):
            function(theta, x, y, out)

    return call
