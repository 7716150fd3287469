"""Effective sample size and R-hat, computed from released draws only.

They are the bulk ESS and the rank-normalised split R-hat of Vehtari et al. (2021).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def _split(draws: Floats) -> Floats:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _rank_normalised(draws: Floats) -> Floats:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(draws, method="average").reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _autocovariance(chains: Floats) -> Floats:
    length = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, n=2 * length)[:, :length] / length)


def _constant(draws: Floats) -> bool:
    return draws.shape[1] < 4 or bool(np.ptp(draws) == 0.0)


def ess(draws: Floats) -> float:
    """Return the bulk effective sample size of one quantity from draws of shape (chain, draw)."""
    if _constant(draws):
        return float("nan")
    chains = _rank_normalised(_split(draws))
    count, length = chains.shape
    covariance = _autocovariance(chains)
    within = covariance[:, 0].mean() * length / (length - 1)
    variance = within * (length - 1) / length + chains.mean(axis=1).var(ddof=1)
    correlation = 1.0 - (within - covariance.mean(axis=0) * length / (length - 1)) / variance
    correlation[0] = 1.0
    pairs = correlation[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    positive = np.minimum.accumulate(pairs[: negative[0]] if negative.size else pairs)
    time = max(-1.0 + 2.0 * positive.sum(), 1.0 / np.log10(count * length))
    return float(count * length / time)


def rhat(draws: Floats) -> float:
    """Return the rank-normalised split R-hat of one quantity, the larger of bulk and tail."""
    if _constant(draws):
        return float("nan")
    folded = np.abs(draws - np.median(draws))
    return max(_plain_rhat(_rank_normalised(_split(d))) for d in (draws, folded))


def _plain_rhat(chains: Floats) -> float:
    length = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    if within == 0.0:
        return float("inf")
    between = chains.mean(axis=1).var(ddof=1)
    return float(np.sqrt((within * (length - 1) / length + between) / within))
