"""How well predicted probabilities fit labels: calibration curve, expected calibration error, entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import reals, whole
from ..errors import InvalidArgument

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A calibration curve: by bins of the predicted class's probability.

    Attributes
    ----------
    confidence
        Mean predicted probability of each bin that is not empty.
    accuracy
        Share of right predictions in it.
    count
        Number of records in it.
    error
        Expected calibration error: the mean of abs(accuracy - confidence), weighted by `count`.
    """

    confidence: Floats
    accuracy: Floats
    count: npt.NDArray[np.int64]
    error: float


def calibration_curve(probabilities: Any, labels: npt.ArrayLike, *, bins: int = 15) -> Calibration:
    """Return how often predictions made with a probability are right.

    `labels` should be of records outside the data of the run: what is computed from others has no guarantee.

    Parameters
    ----------
    probabilities
        Shape (records, classes), as ``predict_proba`` returns them.
    labels
        The class of each record.
    bins
        Number of equal bins of the probability.

    Examples
    --------
    >>> import pydpmc as dp
    >>> curve = dp.nn.calibration_curve([[0.9, 0.1], [0.8, 0.2]], [0, 1], bins=2)
    >>> round(curve.error, 2), curve.accuracy
    (0.35, array([0.5]))
    """
    shares = _shares(probabilities)
    found = np.asarray(labels)
    if found.shape != (len(shares),):
        raise InvalidArgument(f"labels must be one class per record, {len(shares)}, but their shape is {found.shape}")
    most = whole(bins, "bins")
    top = shares.max(axis=1)
    right = (shares.argmax(axis=1) == found).astype(np.float64)
    place = np.minimum((top * most).astype(np.int64), most - 1)
    count = np.bincount(place, minlength=most)
    used = count > 0
    confidence = np.bincount(place, top, most)[used] / count[used]
    accuracy = np.bincount(place, right, most)[used] / count[used]
    error = float((np.abs(accuracy - confidence) * count[used]).sum() / len(shares))
    return Calibration(confidence, accuracy, count[used], error)


def entropy(probabilities: Any) -> Floats:
    """Return the entropy of each record's predicted distribution, in nats.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.nn.entropy([[0.5, 0.5], [1.0, 0.0]]).round(3)
    array([0.693, 0.   ])
    """
    shares = _shares(probabilities)
    logs = np.log(np.where(shares > 0.0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=1) + 0.0)


def _shares(probabilities: Any) -> Floats:
    shares: Floats = reals(np.asarray(probabilities), "probabilities")
    if shares.ndim != 2 or len(shares) == 0:
        raise InvalidArgument(f"probabilities must have shape (records, classes), but their shape is {shares.shape}")
    return shares
