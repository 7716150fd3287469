"""Softmax (multinomial logistic) regression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import whole
from ..data.public import SEED, Public
from ..errors import InvalidArgument
from .base import ROUNDING, Block, Floats
from .linear_predictor import LinearPredictor
from .priors import Flat

MOST_CLASSES = 65_536
PREDICTORS, MOST_TYPICAL = 2000, 200  # made up for a forecast: of records, and of classes


@dataclass(frozen=True)
class SoftmaxRegression(LinearPredictor):
    """P(y = c) proportional to exp(x . beta_c), y in {0, ..., classes - 1}.

    Every class has its own coefficients and none is the baseline, so that the prior is symmetric in the classes. The
    data determine only differences between classes; the sum keeps its prior, which must be proper. With two classes
    and a Normal(s) prior, beta_1 - beta_0 has the posterior of ``LogisticRegression`` under Normal(s sqrt(2)).

    Lipschitz constant: sqrt(2) R, because the gradient is the outer product of the row and the residuals
    1{y = c} - P(c), whose norm is at most sqrt(2). Smoothness: R^2/2.

    Parameters
    ----------
    prior
        One prior for every coefficient, or a mapping from ``"beta"`` and ``"intercept"`` to priors; not ``Flat``.
    intercept
        Whether to add an intercept per class; R is then sqrt(row_norm^2 + 1).
    classes
        The number of classes, public. Targets must be the whole numbers from 0 to classes - 1.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> model = dp.SoftmaxRegression(classes=3)
    >>> round(model.lipschitz(public), 3), model.blocks(public)[0].labels[:3]
    (1.414, ('0, a', '0, b', '1, a'))
    """

    core_name: ClassVar[str] = "softmax_regression"
    convex: ClassVar[bool] = True
    classes: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "classes", whole(self.classes, "classes", least=2, most=MOST_CLASSES))

    @property
    def constants(self) -> tuple[float, float]:
        """Return (classes, 0)."""
        return (float(self.classes), 0.0)

    @property
    def label_count(self) -> int:
        """Return the number of classes."""
        return self.classes

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return the intercepts (if any) by class, and beta by class and then by column."""
        named = public.target_levels is not None and len(public.target_levels) == self.classes
        names = (public.target_levels or ()) if named else tuple(str(c) for c in range(self.classes))
        labels = tuple(f"{c}, {column}" for c in names for column in public.columns)
        beta = Block("beta", self.classes * public.width, labels=labels)
        return (Block("intercept", self.classes, labels=names), beta) if self.intercept else (beta,)

    def check_public(self, public: Public) -> None:
        """Refuse a table that this model cannot be fitted to, and a prior without a proper posterior."""
        super().check_public(public)
        for block in self.blocks(public):
            if isinstance(self.block_prior(block), Flat):
                raise InvalidArgument(
                    f"prior: Flat on {block.name} gives no proper posterior, because adding one vector to the "
                    "coefficients of every class changes no probability; use a proper prior such as Normal()"
                )

    def slope(self) -> float:
        """Return sqrt(2)."""
        return math.sqrt(2.0)

    def curvature(self) -> float:
        """Return 1/2."""
        return 0.5

    def self_concordance(self, public: Public) -> float | None:
        """Return sqrt(2) R: along u, the predictors of two classes differ by at most sqrt(2) R |u|."""
        norm = self.norm(public)
        return None if norm is None else math.sqrt(2.0) * norm

    def loglik_ceiling(self) -> float:
        """Return 0: it is the logarithm of a probability."""
        return 0.0

    def gradient_error(self, public: Public, reach: float) -> float | None:
        """Return the error of residuals times row: docs/privacy/langevin.md, lemma 3."""
        norm = self.norm(public)
        if norm is None:
            return None
        predictors = (public.width / 8 + 16 + math.sqrt(self.classes)) * ROUNDING * norm * reach
        return 1.01 * norm * (self.curvature() * predictors + (16 + self.classes) * ROUNDING * self.slope())

    def information(self, public: Public) -> float | None:
        """Return the forecast R^2 (k - 1) / (k^2 d), for k equally likely classes and rows spread over directions."""
        norm = self.norm(public)
        if norm is None:
            return None
        return norm**2 * (self.classes - 1) / self.classes**2 / (public.width + self.intercept)

    def typical_curvature(self, public: Public, spread: float) -> float:
        """Return the mean curvature along contrasts, (1 - E sum p^2)/(classes - 1), for predictors of this spread."""
        predictors = spread * np.random.default_rng(SEED).normal(size=(PREDICTORS, min(self.classes, MOST_TYPICAL)))
        odds = np.exp(predictors - predictors.max(axis=1, keepdims=True))
        together = float(((odds / odds.sum(axis=1, keepdims=True)) ** 2).sum(axis=1).mean())
        return (1.0 - together) / (self.classes - 1)

    def contrasts(self, values: Floats) -> Floats:
        """Return coefficients of one block (last axis) less their mean over classes: all that the records show."""
        by_class = values.reshape(*values.shape[:-1], self.classes, -1)
        return np.asarray((by_class - by_class.mean(axis=-2, keepdims=True)).reshape(values.shape))

    def mean(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Refuse: classes have no mean."""
        raise InvalidArgument("SoftmaxRegression has no mean of y given features: use predict_proba")

    def probabilities(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return P(y = c) of every class c."""
        from scipy.special import softmax

        beta = parameters["beta"].reshape(-1, self.classes, x.shape[1])
        predictors = np.einsum("dkj,mj->dmk", beta, x)
        if self.intercept:
            predictors = predictors + parameters["intercept"][:, None, :]
        return np.asarray(softmax(predictors, axis=2))
