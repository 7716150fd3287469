"""One currency for every sampler: errors and widths in units of the posterior without privacy."""

import dataclasses

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.data.public import typical_rows
from pydpmc.samplers.directions import directions
from pydpmc.samplers.outlook import Outlook, of_calibrated, of_chain, of_tempered


def public(n=20_000, d=4, **facts):
    names = tuple(f"x{j}" for j in range(d))
    return dp.Public(n=n, columns=names, has_target=True, row_norm=1.0, **facts)


@pytest.fixture
def ways():
    return directions(dp.LogisticRegression(), public(), 20_000)


def test_without_privacy_error_and_width_are_one(ways):
    outlook = of_calibrated(ways, ways.information + ways.prior)
    assert outlook.error == pytest.approx(1.0)
    assert outlook.width == pytest.approx(1.0)


def test_many_untempered_draws_come_near_to_it(ways):
    outlook = of_tempered(ways, 1.0, 10**6)
    assert outlook.error == pytest.approx(1.0, rel=1e-3)
    assert outlook.width == pytest.approx(1.0, rel=1e-2)


def test_a_long_chain_comes_near_to_it_and_one_that_stands_still_has_the_prior_s_error(ways):
    long, short = of_chain(ways, 1.0, 1e6, 1), of_chain(ways, 1.0, 1e-9, 1)
    assert long.error == pytest.approx(1.0, rel=1e-3)
    assert short.error == pytest.approx(np.sqrt(short.prior_error**2 + 2.0), rel=1e-2)
    assert short.coverage < 0.01
    assert short.hopeless is not None


def test_a_truth_beyond_the_prior_is_missed_by_what_leans_on_it(ways):
    little, much = 0.5 * ways.prior, 1e6 * ways.prior
    for precision, factor in ((little + ways.prior, None), (much + ways.prior, 1.0)):
        near, far = (of_calibrated(dataclasses.replace(ways, far=far), precision).error for far in (1.0, 2.0))
        assert far == pytest.approx(near, rel=1e-4) if factor else far > 1.3 * near
    at_prior = of_calibrated(dataclasses.replace(ways, far=2.0), ways.prior)
    assert at_prior.error == pytest.approx(2.0 * at_prior.prior_error)


def test_a_chain_s_forecast_agrees_with_a_simulated_diffusion(ways, rng):
    """The mean of a discretised Ornstein-Uhlenbeck path against its formula, along every direction."""
    time, steps, paths = 0.02, 4000, 400
    rate = ways.information + ways.prior
    h = time / steps
    x = np.zeros((paths, 4))
    mode = rng.normal(size=(paths, 4)) / np.sqrt(ways.prior)
    total = np.zeros_like(x)
    for step in range(steps):
        x += -h * rate * (x - mode) + np.sqrt(2 * h) * rng.normal(size=x.shape)
        total += x if step >= 0.2 * steps else 0.0
    seen = ((total / (0.8 * steps) - mode) ** 2).mean(axis=0).sum() / ways.open_variance.sum()
    told = of_chain(ways, 1.0, time, 1)
    inherent = (ways.open_variance).sum() / ways.open_variance.sum()
    assert told.error**2 - inherent == pytest.approx(seen, rel=0.25)


@pytest.mark.parametrize("sampler", [dp.Newton(), dp.Langevin(draws=20), dp.SGLD(w=0.02), dp.Barker(w=0.01, steps=500)])
def test_every_sampler_has_all_figures(sampler):
    outlook = dp.plan(dp.LogisticRegression(), public(), sampler, epsilon=1.0, delta=1e-6).outlook
    figures = outlook.to_dict()
    assert all(figures[name] is not None for name in ("error", "width", "coverage", "seconds", "memory", "prior_error"))
    assert outlook.is_chain == isinstance(sampler, dp.SGLD | dp.Barker)


def test_a_rare_outcome_widens_and_a_longer_row_narrows():
    def width(**facts):
        plan = dp.plan(dp.LogisticRegression(), public(**facts), epsilon=1.0, delta=1e-6)
        return plan.outlook.width

    assert width(base_rate=0.02) > width() > width(typical_norm=1.0)


def test_typical_rows_keep_all_declared_bounds(rng):
    facts = dp.Public(n=9, columns=("a", "b"), has_target=True, row_norm=1.5, x_bounds=((0.0, 1.0), (-3.0, 1.0)))
    rows = typical_rows(facts, 5000, rng)
    assert (np.linalg.norm(rows, axis=1) <= 1.5 + 1e-12).all()
    assert (rows >= [0.0, -3.0]).all()
    assert (rows <= 1.0).all()
    assert np.sqrt(
        (typical_rows(dp.Public.from_dict(facts.to_dict() | {"typical_norm": 0.5}), 5000, rng) ** 2).sum(1).mean()
    ) == pytest.approx(0.5, rel=0.1)


def test_nothing_is_said_where_nothing_is_known():
    assert directions(dp.LogisticRegression(), dp.Public(n=9, columns=("a",), has_target=True), 9) is None
    assert directions(dp.LogisticRegression(), public(), None) is None
    assert Outlook().hopeless is None
    assert Outlook().score("posterior") == np.inf
