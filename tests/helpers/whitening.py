"""Transform a regression to coordinates in which all directions are about equally wide, and back."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

import pydpmc as dp

Floats = npt.NDArray[np.float64]


class Whitened:
    """A regression in coordinates of equal width, and the way back."""

    def __init__(self, regression: Any) -> None:
        x, y, model = regression
        design = np.column_stack([np.ones(len(x)), x]) if model.intercept else x
        left, singular, right = np.linalg.svd(design, full_matrices=False)
        self.x = left * len(x) ** 0.5
        self.linear = isinstance(model, dp.LinearRegression)
        self.unit = float((y - left @ (left.T @ y)).std()) if self.linear else 1.0
        self.y = y / self.unit
        self.widths = singular / (self.unit * len(x) ** 0.5)  # of the new coefficients for one of the old
        self.matrix = right.T / self.widths
        self.model = self._model(model)

    def _model(self, model: Any) -> Any:
        if not self.linear:
            assert isinstance(model.prior, dp.Flat)
            return dp.LogisticRegression(prior=dp.Flat())
        beta, sigma = model.prior["beta"], model.prior["sigma"]
        assert model.prior.get("intercept", beta) == beta
        if isinstance(beta, dp.Normal):
            assert beta.loc == 0.0
            beta = dp.Normal(scale=tuple(beta.scale * self.widths))
        if not isinstance(sigma, dp.Flat):
            sigma = dataclasses.replace(sigma, scale=sigma.scale / self.unit)
        return dp.LinearRegression(prior={"beta": beta, "sigma": sigma})

    @property
    def curvature(self) -> float:
        """The largest, at the mode: 2 n of log sigma, or a quarter of n."""
        return (2.0 if self.linear else 0.25) * len(self.y)

    def back(self, draws: Floats) -> Floats:
        width = self.x.shape[1]
        return np.column_stack([draws[:, :width] @ self.matrix.T, self.unit * draws[:, width:]])
