"""Maximum likelihood of a logistic regression by iteratively reweighted least squares: an analysis of one table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def logistic(x: Floats, y: Floats, steps: int = 8) -> tuple[Floats, Floats]:
    """Return the estimates and their variances."""
    beta = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ beta))
        precision = (x * (p * (1 - p))[:, None]).T @ x
        beta = beta + np.linalg.solve(precision, x.T @ (y - p))
    return beta, np.diag(np.linalg.inv(precision))
