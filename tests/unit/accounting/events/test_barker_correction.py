"""V_cor: the errors it states, the targets it must reach, and the exactness of its weights."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import expit

from pydpmc.accounting.events.barker_correction import _measured, correction, solved

# c, cdf error, odds error: the best found by either criterion alone, with a margin of 3.
TARGETS = [(1.0, 3e-7, 1.5e-6), (1.25, 1e-5, 4e-5), (1.5, 1e-4, 3.5e-4), (2.0, 1.5e-3, 7e-3)]


def exact_tail(law, x):
    """1 - F(x) in 40 digits."""
    with mpmath.workdps(40):
        root = mpmath.sqrt(mpmath.mpf(law.c))
        return mpmath.fsum(
            w * (mpmath.ncdf((-x - y) / root) + mpmath.ncdf((y - x) / root)) / 2
            for y, w in zip(law.atoms.tolist(), law.weights.tolist(), strict=True)
        )


@pytest.mark.parametrize(("c", "cdf_error", "odds_error"), TARGETS)
def test_reaches_the_targets_with_few_atoms(c, cdf_error, odds_error):
    law = correction(c)
    assert law.cdf_error <= cdf_error
    assert law.odds_error <= odds_error
    assert 2 * len(law.atoms) <= 40
    assert np.all(law.atoms >= 0)
    assert np.all(np.diff(law.atoms) > 0)


@pytest.mark.parametrize("c", [0.9, 1.0, 1.1, 1.25, 1.37, 1.5, 1.75, 2.0, 2.5, 3.0])
def test_stated_errors_hold_off_the_grid(c):
    law = correction(c)
    x = np.random.default_rng(3).uniform(-16.0, 16.0, 20_000)
    upper, lower = law.cdf(x), law.cdf(-x)
    assert np.abs(upper - expit(x)).max() <= law.cdf_error * (1 + 1e-5)
    near = np.abs(x) <= 8.0
    assert np.abs(np.log(upper / lower)[near] - x[near]).max() <= law.odds_error * (1 + 1e-5)


@pytest.mark.parametrize("c", [1.0, 2.0])
def test_the_cdf_agrees_with_forty_digits(c):
    law = correction(c)
    for x in (0.0, 0.3, 2.0, 7.5, 15.0):
        assert float(law.cdf(-x)) == pytest.approx(float(exact_tail(law, x)), rel=1e-13)


@pytest.mark.parametrize("c", [1.0, 1.25, 1.5, 2.0, 3.0])
def test_weights_sum_to_one_exactly_in_any_order(c):
    weights = correction(c).weights
    assert np.all(weights > 0)
    assert np.all(weights * 2**53 == np.round(weights * 2**53))
    shuffled = np.random.default_rng(0).permutation(weights)
    for order in (weights, weights[::-1], shuffled):
        assert sum(order.tolist()) == 1.0
    assert math.fsum(weights.tolist()) == 1.0


@pytest.mark.parametrize(("c", "allowed"), [(1.0, 1e-4), (1.25, 1e-3), (1.5, 1e-2), (2.0, 0.1)])
def test_tails_decay_like_the_logistic_up_to_sixteen(c, allowed):
    x = np.linspace(8.0, 16.0, 801)
    tail = correction(c).cdf(-x)
    assert np.abs(np.log(tail) + x).max() <= allowed + 1e-3


def test_symmetric_and_increasing():
    law = correction(1.5)
    x = np.linspace(-20, 20, 2001)
    np.testing.assert_allclose(law.cdf(x) + law.cdf(-x), 1.0, atol=1e-15)
    assert np.all(np.diff(law.cdf(x, 0.7)) >= 0)


def test_recomputing_gives_the_same_law():
    again = correction.__wrapped__(1.25)
    np.testing.assert_array_equal(again.atoms, correction(1.25).atoms)
    np.testing.assert_array_equal(again.weights, correction(1.25).weights)
    assert correction(1.25) is correction(1.25)


def test_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        correction(1.0).weights[0] = 0.5


@pytest.mark.parametrize("c", [0.0, 0.5, 3.5, math.nan, math.inf, -1.0])
def test_refuses_what_it_cannot_fit(c):
    with pytest.raises(ValueError, match="c must lie in"):
        correction(c)


@pytest.mark.parametrize("c", [c for c, _, _ in TARGETS])
def test_the_stored_laws_are_as_good_as_what_the_solver_here_finds(c):
    stored, fresh = correction(c), solved(c)
    again = _measured(c, stored.atoms, stored.weights)
    assert again is not None
    assert (again.weights == stored.weights).all()
    assert again.cdf_error == pytest.approx(stored.cdf_error, rel=1e-6)
    assert again.odds_error == pytest.approx(stored.odds_error, rel=1e-6)
    assert stored.odds_error <= 1.05 * fresh.odds_error
