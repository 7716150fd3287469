"""Noise leaves a symmetric matrix: the error falls, signal stays, and noise alone becomes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pydpmc.samplers.newton.denoise import MANY, denoised, shrink
from pydpmc.samplers.newton.moments import shrunk_moments

TAU = 3.0


def noise_of(dim, rng):
    """Return N(0, TAU^2) on the diagonal and half of that variance elsewhere."""
    square = rng.normal(size=(dim, dim))
    return TAU * (square + square.T) / 2.0


def off(matrix):
    """Return the Frobenius norm."""
    return float(np.linalg.norm(matrix))


@pytest.mark.parametrize("dim", [MANY, 30, 100])
def test_a_matrix_of_a_few_directions_loses_most_of_its_noise(dim, rng):
    ratios = []
    for _ in range(20):
        factor = rng.normal(size=(dim, 3)) * 12.0
        signal = factor @ factor.T / math.sqrt(dim)
        noised = signal + noise_of(dim, rng)
        ratios.append(off(denoised(noised, TAU**2)[0] - signal) / off(noised - signal))
    assert np.mean(ratios) < (0.95 if dim == MANY else 0.75 if dim == 30 else 0.5)


def test_a_matrix_far_above_its_noise_stays(rng):
    signal = np.diag(np.linspace(1e4, 2e4, 40))
    found, remains = denoised(signal + noise_of(40, rng), TAU**2)
    assert off(found - signal) < 1.2 * off(noise_of(40, rng))
    np.testing.assert_allclose(remains, TAU**2 / 2.0, rtol=1e-3)


@pytest.mark.parametrize(("dim", "most"), [(MANY, 0.2), (60, 0.05)])
def test_noise_alone_becomes_little(dim, most, rng):
    energy = [(off(denoised(noise_of(dim, rng), TAU**2)[0]) / off(noise_of(dim, rng))) ** 2 for _ in range(20)]
    assert np.mean(energy) < most  # the rule is for many eigenvalues


def test_less_than_noise_shows_nothing(rng):
    found, remains = denoised(0.5 * noise_of(30, rng), TAU**2)
    assert not found.any()
    assert not remains.any()


def test_entries_that_chance_explains_are_dropped(rng):
    dropped = [not shrink(noise_of(6, rng), np.ones(6), TAU**2 / 2.0)[0].any() for _ in range(200)]
    assert np.mean(dropped) > 0.9


@pytest.mark.parametrize("structure", ["common factor", "neighbours", "independent"])
def test_moments_of_columns_lose_noise_and_the_error_is_stated(structure, rng):
    dim, sd = 12, 0.05
    i = np.arange(dim)
    correlation = {
        "common factor": 0.9 + 0.1 * np.eye(dim),
        "neighbours": 0.9 ** np.abs(i[:, None] - i),
        "independent": np.eye(dim),
    }[structure]
    moments, known = correlation / 3.0, np.ones((dim, dim), dtype=bool)
    ratios, stated = [], []
    for _ in range(30):
        noised = moments + sd / TAU * noise_of(dim, rng)
        found, variances = shrunk_moments(noised, sd, known, False, None)
        ratios.append(off(found - moments) ** 2 / off(noised - moments) ** 2)
        stated.append((variances * (1.0 + np.eye(dim))).sum() / off(found - moments) ** 2)
    assert np.mean(ratios) < (0.7 if structure == "neighbours" else 0.35)
    assert 0.5 < np.median(stated) < 3.0
