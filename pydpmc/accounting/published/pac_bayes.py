"""The PAC-Bayes bounds that Minami et al. (2016) quote from Alquier, Ridgway, Chopin (2015).

They bound the risk R of a Gibbs posterior G_w at weight w, exp(-w n R_n) times the prior, in which R_n is the mean
loss of n records. Here beta = w n multiplies the mean loss, as in the bounds' source; the paper writes beta for both.
"""

from __future__ import annotations

import math

from ...checks import all_positive, inside
from ...errors import InvalidArgument


def pac_bayes_bound(empirical_risk: float, kl: float, hoeffding: float, *, beta: float, alpha: float) -> float:
    """Return the bound (C.6) on E_G R that holds with probability 1 - alpha.

    Parameters
    ----------
    empirical_risk
        E_G R_n: the mean loss of the records, averaged over draws.
    kl
        D_KL(G, prior).
    hoeffding
        f(beta, n) of the Hoeffding assumption; ``hinge_hoeffding`` for the hinge loss.
    beta, alpha
        The factor of the mean loss, and the probability that the bound fails.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> f = acc.hinge_hoeffding(50.0, 1000, radius=1.0, precision=1.0)
    >>> round(acc.pac_bayes_bound(0.4, 2.0, f, beta=50.0, alpha=0.05), 3)
    0.522
    """
    all_positive(beta=beta)
    inside(alpha, "alpha")
    return empirical_risk + (hoeffding + kl - math.log(alpha)) / beta


def pac_bayes_oracle(risk: float, kl: float, hoeffding: float, *, beta: float, alpha: float) -> float:
    """Return the oracle bound (C.7) on E_G R, from risk E_rho R and D_KL(rho, prior) of any law rho.

    It holds with probability 1 - 2 alpha, for the best rho.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.pac_bayes_oracle(0.4, 2.0, 0.6, beta=50.0, alpha=0.05), 3)
    0.624
    """
    return risk + 2.0 * (pac_bayes_bound(0.0, kl, hoeffding, beta=beta, alpha=alpha))


def hinge_hoeffding(beta: float, n: int, *, radius: float, precision: float) -> float:
    """Return f(beta, n) of the hinge loss with |z| <= radius and the prior N(0, I / precision) (example 19).

    f = beta^2 / (4 n) - log(1 - (radius beta)^2 / (4 precision n)) / 2 for beta below 2 sqrt(precision n) / radius. The
    paper's prior has precision n lambda.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.hinge_hoeffding(10.0, 1000, radius=1.0, precision=1.0), 4)
    0.0377
    """
    all_positive(beta=beta, n=n, radius=radius, precision=precision)
    ratio = (radius * beta) ** 2 / (4.0 * precision * n)
    if ratio >= 1.0:
        most = 2.0 * math.sqrt(precision * n) / radius
        raise InvalidArgument(
            f"beta must be below 2 sqrt(precision n) / radius = {most:.4g} (example 19), not {beta!r}"
        )
    return beta**2 / (4.0 * n) - 0.5 * math.log1p(-ratio)
