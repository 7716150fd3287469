"""Simulation-based calibration (Talts et al. 2018) of full-data Barker without privacy.

theta comes from the prior, records from the model; the rank of theta among L thinned posterior draws is then uniform.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chisquare

import pydpmc as dp

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

L = 63
THIN = 100
WARMUP = 700
CELLS = 16
P_VALUE = 1e-3


class Study(NamedTuple):
    model: dp.models.Model
    scale: Any  # of the proposal, near the posterior's
    n: int
    prior: Callable[[Rng], Floats]  # theta in the order of the draws
    targets: Callable[[Rng, Floats, Floats], Floats]


def logistic_targets(rng: Rng, x: Floats, theta: Floats) -> Floats:
    return (rng.random(len(x)) < 1.0 / (1.0 + np.exp(-theta[0] - x @ theta[1:]))).astype(float)


def linear_targets(rng: Rng, x: Floats, theta: Floats) -> Floats:
    return x @ theta[:-1] + theta[-1] * rng.normal(size=len(x))


def poisson_targets(rng: Rng, x: Floats, theta: Floats) -> Floats:
    return rng.poisson(np.exp(theta[0] + x @ theta[1:])).astype(float)


STUDIES = {
    "logistic": Study(
        dp.LogisticRegression(intercept=True, prior={"intercept": dp.Normal(), "beta": dp.StudentT(df=5, scale=0.8)}),
        0.8,
        60,
        lambda rng: np.array([rng.normal(), 0.8 * rng.standard_t(5)]),
        logistic_targets,
    ),
    "linear": Study(
        dp.LinearRegression(prior={"beta": dp.Laplace(scale=0.5), "sigma": dp.Normal(loc=1.0, scale=0.2)}),
        (0.3, 0.16),
        50,
        lambda rng: np.array([rng.laplace(scale=0.5), rng.normal(1.0, 0.2)]),
        linear_targets,
    ),
    "poisson": Study(
        dp.PoissonRegression(intercept=True, prior=dp.Normal(scale=0.5, loc=0.5)),
        0.22,
        50,
        lambda rng: rng.normal(0.5, 0.5, size=2),
        poisson_targets,
    ),
}


def rank(study: Study, replicate: int, w: float) -> npt.NDArray[np.intp]:
    rng = np.random.default_rng((99, replicate))
    theta, x = study.prior(rng), rng.normal(size=(study.n, 1))
    data = dp.Data(x, study.targets(rng, x, theta))
    sampler = dp.Barker(steps=WARMUP + L * THIN, proposal="gaussian", scale=study.scale, w=w)
    post = dp.sample(
        study.model, data, sampler, private=False, seed=replicate, draws=L, warmup=WARMUP, threads=1, progress=False
    )
    draws = np.concatenate([block[0] for block in post.draws.values()], axis=1)
    assert draws.shape == (L, len(theta))
    return np.asarray((draws < theta).sum(axis=0))


def p_values(study: Study, replicates: int, w: float = 1.0) -> list[float]:
    ranks = np.array([rank(study, replicate, w) for replicate in range(replicates)])
    cells = ranks * CELLS // (L + 1)
    found = [float(chisquare(np.bincount(column, minlength=CELLS)).pvalue) for column in cells.T]
    print(f"p-values {np.round(found, 4)}")
    return found


CASES = [(name, count) for count in (300, 1000) for name in STUDIES]
DEFAULT = [("logistic", 300), ("linear", 300)]


@pytest.mark.parametrize(
    ("name", "replicates"), [case if case in DEFAULT else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]
)
def test_ranks_of_the_true_parameters_are_uniform(name: str, replicates: int) -> None:
    found = p_values(STUDIES[name], replicates)
    assert min(found) > P_VALUE / (len(STUDIES) * len(found))


def test_a_wrong_posterior_is_noticed() -> None:
    assert min(p_values(STUDIES["linear"], 400, w=0.5)) < P_VALUE / 6
