"""Gaussian features fitted to noised curvatures: moments of indicators, and integrals of steep functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from pydpmc.posterior.looks import Look
from pydpmc.samplers.newton.counts import count_table
from pydpmc.samplers.newton.links import logistic
from pydpmc.samplers.newton.surrogate import GaussianFeatures, nonnegative

DIM, N, TAU = 30, 10_000.0, 40.0


def fitted(moments, rng, constant=None):
    noise = np.triu(rng.normal(size=(DIM, DIM)), 1) / math.sqrt(2.0)
    noise = noise + noise.T + np.diag(rng.normal(size=DIM))
    features = GaussianFeatures(N, logistic(), constant, [0] * DIM)
    curvature = N * 0.25 * moments + TAU * noise
    features.fit([Look(np.zeros(DIM), np.zeros(DIM), curvature, 100.0, TAU)])
    return features.Q


@pytest.mark.parametrize("centred", [True, False])
def test_moments_of_independent_columns_lose_noise(centred, rng):
    share = rng.uniform(0.2, 0.8, size=DIM)
    moments = np.diag(share) if centred else np.outer(share, share) + np.diag(share - share**2)
    beside = ~np.eye(DIM, dtype=bool)
    noise = TAU / (N * 0.25) / math.sqrt(2.0)
    error = (fitted(moments, rng) - moments)[beside]
    # Products of noised diagonal entries keep some of it; entries that are not shrunk keep all.
    assert math.sqrt((error**2).mean()) < (0.4 if centred else 0.85) * noise


def test_moments_of_dependent_columns_are_kept(rng):
    factor = rng.normal(size=(DIM, 3))
    moments = np.eye(DIM) + factor @ factor.T
    error = fitted(moments, rng) - moments
    assert math.sqrt((error**2).mean()) < 1.2 * TAU / (N * 0.25) / math.sqrt(2.0)


@pytest.mark.parametrize("sd", [0.5, 2.0, 6.0, 10.0])
def test_steep_functions_are_integrated(sd):
    features = GaussianFeatures(1.0, logistic(), None, [0])
    features._set(np.eye(1))
    p, mean, slope, _ = features._stein(np.array([sd]), lambda a: expit(a - 1.5))

    def weighted(power):
        def f(z):
            return z**power * expit(sd * z - 1.5) * math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)

        return quad(f, -9.0, 9.0, epsabs=1e-11, epsrel=1e-11, limit=300)[0]

    assert p == pytest.approx([sd])
    # Step of the rule times sd against the poles of the logistic function: exp(-2 pi^2 / (0.2 sd)).
    assert mean == pytest.approx(weighted(0), abs=1e-4 if sd > 8 else 1e-6)
    assert slope == pytest.approx(weighted(1) / sd, abs=1e-5)


def test_nonnegative_raises_low_eigenvalues_only(rng):
    vectors = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    low = (vectors * [-1.0, 0.5, 2.0, 3.0]) @ vectors.T
    assert np.linalg.eigvalsh(nonnegative(low, 0.7)) == pytest.approx([0.7, 0.7, 2.0, 3.0])
    high = (vectors * [1.0, 1.5, 2.0, 3.0]) @ vectors.T
    assert nonnegative(high, 0.7) == pytest.approx(high)


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_moments_are_found_where_the_curvature_of_counts_is_steep(slope):
    """Rounds that are not damped swing between moments of zero and far too large ones from a slope of 1 on."""
    link, truth = count_table(0.0, 3.0, 20.0).link, np.array([[1.0, 0.1, 0.0], [0.1, 0.35, 0.05], [0.0, 0.05, 0.3]])
    made, found = (GaussianFeatures(N, link, 1.0, [0, 0, 0], 1.0) for _ in range(2))
    made._set(truth)
    at = [np.array([0.0, 0.0, 0.0]), np.array([0.2, -slope, 0.5 * slope])]
    taus = [20.0, 1.0]
    found.fit([Look(t, np.zeros(3), made.curvature(t), 1.0, tau) for t, tau in zip(at, taus, strict=True)])
    assert pytest.approx(truth, abs=0.02) == found.Q
