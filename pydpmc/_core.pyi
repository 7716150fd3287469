"""Typed contract of the compiled core. Private: use the package."""

import numpy as np
from numpy.typing import NDArray

def convex_minorant_slopes(rises: NDArray[np.float64], widths: NDArray[np.float64]) -> NDArray[np.float64]: ...
def bit_induction(shift: float, steps: int, cells: int, depth: int) -> NDArray[np.float64]: ...
