"""Typed contract of the compiled core. Private: use the package."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

def convex_minorant_slopes(rises: Floats, widths: Floats) -> Floats: ...
def bit_induction(shift: float, steps: int, cells: int, depth: int) -> Floats: ...
