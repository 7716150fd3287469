"""The correction V_cor of the minibatch Barker test: N(0, c) + V_cor is nearly Logistic(0, 1).

No V_cor is exact for any c > 0. The best one is discrete and solves a linear programme: it minimises t subject to
``|F(x) - logistic(x)| <= t g(x) logistic'(x)`` on a grid of x, where F is the distribution function of N(0, c) + V_cor.
To first order ``t g(x)`` bounds the error of the log-odds. For |x| <= 8, g = 1, and t is the violation of detailed
balance. Beyond, g grows slowly, so that the tails decay like the logistic law up to |x| = 16 and the error of F stays
near t/4.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from importlib import resources
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..._core import normal_cdf
from ..._optional import special
from ...errors import InternalError, InvalidArgument

Floats = npt.NDArray[np.float64]
_T = TypeVar("_T")

SMALLEST_C = 0.9  # for smaller c the programme is ill-conditioned; the error is already 1e-7
LARGEST_C = 3.0  # for larger c the error of the log-odds exceeds 0.1

_FITTED_TO = 16.5
_ODDS_RANGE = 8.0
_LARGEST_ATOM = 20.0


@dataclass(frozen=True, eq=False)
class Correction:
    """A symmetric atomic law V_cor.

    Attributes
    ----------
    atoms : ndarray
        The non-negative half of the support, ascending. Both ``+y`` and ``-y`` are atoms.
    weights : ndarray
        The weight of each pair: half of it at ``+y``, half at ``-y`` (all of it at 0 for ``y = 0``). Weights are
        multiples of 2**-53, and their floating-point sum is exactly 1 in any order. So F(0) = 1/2 up to the rounding
        of erfc, and no code has to renormalise.
    c : float
        The variance of the normal part.
    cdf_error : float
        sup |F - logistic|, on a grid 160 times finer than that of the programme.
    odds_error : float
        sup over |x| <= 8 of |log(F(x) / F(-x)) - x|, on the same finer grid.
    """

    atoms: Floats
    weights: Floats
    c: float
    cdf_error: float
    odds_error: float

    def cdf(self, x: npt.ArrayLike, v: npt.ArrayLike = 0.0) -> Floats:
        """Return F_v(x), the distribution function of N(0, c - v) + V_cor, with relative accuracy in the lower tail."""
        position = np.asarray(x, dtype=float)[..., None]
        scale = np.sqrt(self.c - np.asarray(v, dtype=float))[..., None]
        pair = normal_cdf((position - self.atoms) / scale) + normal_cdf((position + self.atoms) / scale)
        return np.asarray((0.5 * self.weights * pair).sum(axis=-1))


@functools.lru_cache(maxsize=64)
def correction(c: float) -> Correction:
    """Return the correction for variance `c`: stored for the usual values, otherwise computed once per process.

    Parameters
    ----------
    c : float
        Variance of the normal part, from 0.9 to 3. A smaller `c` is more accurate but requires a smaller variance of
        the minibatch estimate.

    Returns
    -------
    Correction

    Examples
    --------
    >>> from pydpmc.accounting.events.barker_correction import correction
    >>> v_cor = correction(1.0)
    >>> v_cor.odds_error < 1e-6, len(v_cor.atoms)
    (True, 15)
    """
    if not SMALLEST_C <= c <= LARGEST_C:
        raise InvalidArgument(f"c must lie in [{SMALLEST_C}, {LARGEST_C}], not {c}")
    return _stored(c) or solved(c)


def _stored(c: float) -> Correction | None:
    """Return the law in `correction_table.json`, which does not depend on the installed solver."""
    table = json.loads(resources.files(__package__).joinpath("correction_table.json").read_text(encoding="ascii"))
    if (law := table.get(repr(c))) is None:
        return None
    atoms, weights = (np.array([float.fromhex(number) for number in law[name]]) for name in ("atoms", "weights"))
    return _law(c, atoms, weights, law["cdf_error"], law["odds_error"])


def solved(c: float) -> Correction:
    """Compute the correction for variance `c` by the linear programme."""
    spacing = 0.1 * c
    grid = np.arange(0.0, _LARGEST_ATOM + spacing / 2, spacing)
    atoms = _merge(grid, _require(_best_weights(c, grid), c), 2.1 * spacing)
    best = None
    for radius in (spacing, spacing / 6, spacing / 36, 0.0):
        near = np.unique(np.clip(atoms[:, None] + radius * np.linspace(-1.0, 1.0, 9), 0.0, None))
        weights = _best_weights(c, near)
        if weights is None:
            continue
        atoms = _merge(near, weights, 2.0 * spacing)
        best = _better(best, _measured(c, atoms, _best_weights(c, atoms)))
    return _require(best, c)


def _best_weights(c: float, atoms: Floats) -> Floats | None:
    """Solve the programme for given atoms; None if the solver fails."""
    from scipy.optimize import linprog  # at the top it would double the import time of pydpmc

    x = np.arange(0.0, _FITTED_TO, 0.08)
    target = special.expit(-x)
    allowed = special.expit(x) * target * np.exp(np.minimum(0.3 * np.maximum(x - _ODDS_RANGE, 0.0), 2.4))
    unit = 100.0  # makes the solver's absolute tolerance of 1e-10 small compared with t
    scale = 4.0 * special.expit(atoms) * special.expit(-atoms)  # makes the unknowns of order one
    rows = unit * scale * _upper_tail(x, atoms, c) / allowed[:, None]
    right = unit * target / allowed
    minus_t = -np.ones((len(x), 1))
    solution = linprog(
        np.append(np.zeros(len(atoms)), 1.0),
        A_ub=np.block([[rows, minus_t], [-rows, minus_t]]),
        b_ub=np.append(right, -right),
        A_eq=np.append(scale, 0.0)[None],
        b_eq=[1.0],
        bounds=(0.0, None),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return None if solution.x is None else np.asarray(solution.x[:-1] * scale)


def _upper_tail(x: Floats, atoms: Floats, c: float) -> Floats:
    root = math.sqrt(c)
    return np.asarray(0.5 * (normal_cdf((-x[:, None] - atoms) / root) + normal_cdf((atoms - x[:, None]) / root)))


def _merge(atoms: Floats, weights: Floats, gap: float) -> Floats:
    """Return the barycentres of runs of atoms closer than `gap`."""
    support = np.flatnonzero(weights > 0.0)
    runs = np.split(support, np.flatnonzero(np.diff(atoms[support]) > gap) + 1)
    return np.array([np.average(atoms[run], weights=weights[run]) for run in runs])


def _measured(c: float, atoms: Floats, weights: Floats | None) -> Correction | None:
    if weights is None:
        return None
    kept = weights > 0.0
    atoms, weights = atoms[kept], _dyadic(weights[kept])
    x = np.linspace(0.0, 32.0, 64_001)
    tail = _upper_tail(x, atoms, c) @ weights
    near = x <= _ODDS_RANGE
    odds_error = np.abs(np.log1p(-tail[near]) - np.log(tail[near]) - x[near]).max()
    return _law(c, atoms, weights, float(np.abs(tail - special.expit(-x)).max()), float(odds_error))


def _law(c: float, atoms: Floats, weights: Floats, cdf_error: float, odds_error: float) -> Correction:
    for array in (atoms, weights):
        array.setflags(write=False)
    return Correction(atoms, weights, c, cdf_error, odds_error)


def _dyadic(weights: Floats) -> Floats:
    """Round `weights` to multiples of 2**-53 and adjust the largest so that they sum to exactly 1."""
    whole = 2**53
    units = [round(w * whole) for w in (weights / weights.sum()).tolist()]
    units[int(np.argmax(weights))] += whole - sum(units)
    return np.array([unit / whole for unit in units])


def _better(one: Correction | None, other: Correction | None) -> Correction | None:
    found = [each for each in (one, other) if each is not None]
    return min(found, key=lambda each: each.odds_error, default=None)


def _require(found: _T | None, c: float) -> _T:
    if found is None:
        raise InternalError(f"no correction was found for c = {c}: the linear programme did not converge")
    return found
