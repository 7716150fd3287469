"""Typed contract of the compiled core. Private: use the package."""

import numpy as np
from numpy.typing import NDArray

def convex_minorant_slopes(rises: NDArray[np.float64], widths: NDArray[np.float64]) -> NDArray[np.float64]: ...
def bit_induction(shift: float, steps: int, cells: int, depth: int) -> NDArray[np.float64]: ...
def minibatch_profile(
    *,
    atoms: list[float],
    weights: list[float],
    c: float,
    v_max: float,
    shift: float,
    change: float,
    x_max: float,
    nodes: list[float],
    slack: float = 1e-3,
    max_cells: int = 400_000,
) -> tuple[list[float], list[float], int]: ...
