"""Estimators for scikit-learn (extra ``pydpmc[sklearn]``): a private posterior behind fit and predict."""

from .._optional import require

require("sklearn", "sklearn", "pydpmc.sklearn")

from .classifiers import DPLogisticRegression, DPSoftmaxRegression  # noqa: E402
from .regressors import DPLinearRegression, DPPoissonRegressor  # noqa: E402
from .scaling import BoundsScaler  # noqa: E402
from .scores import PrivateScore, private_scorer  # noqa: E402

__all__ = [
    "BoundsScaler",
    "DPLinearRegression",
    "DPLogisticRegression",
    "DPPoissonRegressor",
    "DPSoftmaxRegression",
    "PrivateScore",
    "private_scorer",
]
