"""How many draws to take for prediction: their mean's noise falls with the number, and so does the weight of each."""

from __future__ import annotations

import numpy as np

from ..request import Request

MOST_FOR_PREDICTION = 1000


def draws_for_prediction(request: Request, w_of_one: float) -> int:
    """Return the k whose mean has the least expected square error, if the truth is as the prior says.

    k draws of mu/sqrt(k) each have weight w/sqrt(k). Along a coordinate of which all records together have information
    J, with prior precision p, the mean of k draws at weight w misses the truth by the draws' own noise 1/(k(wJ + p)),
    by the shrinkage p/(wJ + p)^2 and by the sampling noise w^2 J/(wJ + p)^2.
    """
    information = request.model.information(request.public)
    assert information is not None
    assert request.n is not None
    total = information * request.n
    precision = float(request.model.prior_precision(request.public).mean())
    k = np.arange(1, MOST_FOR_PREDICTION + 1, dtype=float)
    w = np.minimum(w_of_one / np.sqrt(k), 1.0)
    seen = w * total + precision
    error = 1.0 / (k * seen) + (precision + w**2 * total) / seen**2
    return int(k[np.argmin(error)])
