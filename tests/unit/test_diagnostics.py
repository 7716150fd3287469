"""Effective sample size and R-hat against cases with known answers."""

import math

import numpy as np
import pytest

from pydpmc.diagnostics import ess, rhat
from pydpmc.posterior.summary import COLUMNS, summarise


def autoregressive(rng, phi, chains, length):
    noise = rng.normal(size=(chains, length)) * math.sqrt(1 - phi**2)
    out = np.empty((chains, length))
    out[:, 0] = rng.normal(size=chains)
    for t in range(1, length):
        out[:, t] = phi * out[:, t - 1] + noise[:, t]
    return out


def test_independent_draws_count_fully(rng):
    assert ess(rng.normal(size=(4, 5000))) == pytest.approx(20_000, rel=0.1)
    assert rhat(rng.normal(size=(4, 5000))) == pytest.approx(1.0, abs=0.002)


@pytest.mark.parametrize("phi", [0.5, 0.9, -0.4])
def test_autoregressive_draws_count_as_theory_says(rng, phi):
    draws = autoregressive(rng, phi, 4, 20_000)
    assert ess(draws) == pytest.approx(80_000 * (1 - phi) / (1 + phi), rel=0.15)
    assert rhat(draws) < 1.01


def test_a_single_chain_is_split(rng):
    assert ess(rng.normal(size=(1, 8000))) == pytest.approx(8000, rel=0.1)
    drifting = np.linspace(0, 5, 8000)[None] + rng.normal(size=(1, 8000))
    assert rhat(drifting) > 1.5
    assert ess(drifting) < 20


def test_chains_at_different_places_are_noticed(rng):
    apart = rng.normal(size=(4, 2000)) + np.array([[0.0], [0.0], [0.0], [3.0]])
    assert rhat(apart) > 1.3
    assert ess(apart) < 20


def test_chains_of_different_width_are_noticed(rng):
    assert rhat(rng.normal(size=(4, 2000)) * np.array([[1.0], [1.0], [1.0], [5.0]])) > 1.1


def test_heavy_tails_and_monotone_maps_do_not_matter(rng):
    draws = rng.normal(size=(4, 2000))
    assert ess(np.exp(3 * draws)) == pytest.approx(ess(draws), rel=1e-9)
    assert rhat(rng.standard_cauchy((4, 2000))) < 1.01


@pytest.mark.parametrize("draws", [np.ones((2, 100)), np.zeros((1, 0)), np.arange(6.0).reshape(2, 3)])
def test_nothing_is_said_of_constant_or_too_few_draws(draws):
    assert math.isnan(ess(draws)) if draws.size else draws.shape[1] == 0
    if draws.size:
        assert math.isnan(rhat(draws))


def test_a_summary_has_a_row_per_scalar_and_known_numbers(rng):
    draws = {"beta": rng.normal([1.0, -2.0], [0.5, 3.0], (4, 5000, 2)), "sigma": np.ones((4, 5000, 1))}
    summary = summarise(draws, {"beta": ("age", "income"), "sigma": ()})
    assert list(summary) == ["beta[age]", "beta[income]", "sigma"]
    assert tuple(summary["sigma"]) == COLUMNS
    row = summary["beta[income]"]
    assert row["mean"] == pytest.approx(-2, abs=0.1)
    assert row["sd"] == pytest.approx(3, rel=0.03)
    assert row["5%"] == pytest.approx(-2 - 1.645 * 3, rel=0.03)
    assert row["50%"] == pytest.approx(-2, abs=0.1)
    np.testing.assert_array_equal(summary.column("mean"), [summary[name]["mean"] for name in summary])
    assert "income" in str(summary)
    assert len(str(summary).splitlines()) == 4
    assert "<b>" not in summarise({"<b>": np.ones((1, 9, 1))}, {})._repr_html_()
