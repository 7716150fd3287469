"""Plans of the gradient samplers: within the budget, priced as they run, and blind to what is private."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import BudgetError, UnsupportedEventError
from pydpmc.samplers.gradient.base import Constant, Cyclical, Piecewise, Polynomial, Schedule
from pydpmc.samplers.gradient.choose import MOST_STEPS

DELTA = 1e-6
BUDGET = {"epsilon": 1.0, "delta": DELTA}
SAMPLERS = (dp.SGLD, dp.SGHMC, dp.SGNHT)


def public(n=50_000, **facts):
    return dp.Public(n=n, columns=("a", "b"), has_target=True, row_norm=1.0, **facts)


def planned(sampler, *, n=50_000, public_n=None, **options):
    return dp.plan(dp.LogisticRegression(), public(n, public_n=public_n), sampler, **options)


def priced(plan, delta=DELTA):
    """The cost of what would run, from the noise and the clip that the core is given."""
    settings = plan.settings
    levels, counts = np.unique(settings.noise / settings.clip, return_counts=True)
    rate, b, n = settings.rate, settings.batch_size, settings.n
    wrap = {
        "full": lambda g: g,
        "poisson": lambda g: g.poisson(rate),
        "without_replacement": lambda g: g.without_replacement(b, n),
    }[settings.sampling]
    uses = [(wrap(acc.Gaussian(float(z))), int(k) * plan.chains) for z, k in zip(levels, counts, strict=True)]
    return acc.compose(uses, adjacency=plan.adjacency).epsilon(delta)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    ("adjacency", "options"),
    [
        ("replace", {}),
        ("replace", {"sampling": "full"}),
        ("replace", {"sampling": "without_replacement", "batch_size": 2000}),
        ("add_remove", {"sampling": "poisson", "batch_size": 5000, "step_size": 1e-4}),
        ("add_remove", {"sampling": "full", "w": 0.2}),
    ],
)
@pytest.mark.parametrize("chains", [1, 4])
def test_a_plan_costs_what_it_runs_and_at_most_the_budget(sampler, adjacency, options, chains):
    plan = planned(sampler(**options), public_n=50_000, adjacency=adjacency, chains=chains, **BUDGET)
    spent = plan.guarantee.epsilon(DELTA)
    assert priced(plan) <= spent <= 1.0
    assert spent > 0.9 or plan.settings.steps > 0.99 * MOST_STEPS  # and the budget is used
    assert plan.guarantee.assumptions == ()
    assert sum(count for _, count in plan.guarantee.events) == plan.settings.steps * chains


SCHEDULES = [
    1e-5,
    Polynomial(a=3e-5, b=2.0, gamma=0.4),
    Cyclical(high=2e-5, low=1e-6, cycles=4),
    Piecewise((2e-5, 1e-5, 3e-6)),
]


@pytest.mark.parametrize(("sampler", "schedule"), [*((dp.SGLD, s) for s in SCHEDULES), (dp.SGNHT, SCHEDULES[0])])
def test_a_fixed_schedule_is_heated_until_it_fits(sampler, schedule):
    plan = planned(sampler(steps=40, step_size=schedule, batch_size=1000), epsilon=0.02, delta=DELTA)
    free = planned(sampler(steps=40, step_size=schedule, batch_size=1000))
    assert priced(plan) <= plan.guarantee.epsilon(DELTA) <= 0.02
    assert plan.settings.heat > 1.0
    assert free.settings.heat == 1.0
    assert free.guarantee.epsilon(DELTA) > 0.02
    np.testing.assert_array_equal(plan.settings.step_sizes, free.settings.step_sizes)
    np.testing.assert_allclose(plan.settings.noise, plan.settings.heat * free.settings.noise, rtol=1e-14)
    assert f"{plan.settings.heat**2:.3g} times the target's" in str(plan)
    assert "temperature" not in str(free)
    assert plan.describe()["heat"] == plan.settings.heat


def test_a_schedule_that_fits_is_not_heated():
    plan = planned(dp.SGLD(steps=10, step_size=1e-7), **BUDGET)
    assert plan.settings.heat == 1.0


def test_more_steps_are_paid_with_a_smaller_step_size():
    few, many = (planned(dp.SGLD(steps=steps), **BUDGET) for steps in (8000, 32_000))
    free = planned(dp.SGLD(steps=1000), private=False)
    assert many.settings.schedule.step_size < few.settings.schedule.step_size <= free.settings.schedule.step_size
    for plan in (few, many):
        assert plan.settings.heat == 1.0
        assert 0.9 < priced(plan) <= plan.guarantee.epsilon(DELTA) <= 1.0
    assert many.forecast.time == pytest.approx(few.forecast.time, rel=0.1)  # privacy pays for the time


def test_without_epsilon_the_samplers_own_numbers_are_priced():
    plan = planned(dp.SGLD(steps=100, step_size=2e-5, batch_size=500, clip=0.5, w=0.5))
    z = math.sqrt(2 / 2e-5) * 0.01 / 0.5 / 0.5
    assert plan.settings.noise[0] / plan.settings.clip == pytest.approx(z, rel=1e-14)
    ((event, count),) = plan.guarantee.events
    assert (event.noise_multiplier, event.rate, count) == (pytest.approx(z), 0.01, 100)
    with pytest.raises(ValueError, match="steps and step_size must be set"):
        planned(dp.SGLD(steps=100))


@pytest.mark.parametrize(
    ("sampler", "a"),
    [(dp.SGHMC(steps=5, step_size=1e-5, friction=0.2), 0.2), (dp.SGNHT(steps=5, step_size=1e-5), None)],
)
def test_the_friction_sets_the_noise(sampler, a):
    plan = planned(sampler)
    assert plan.settings.noise[0] == pytest.approx(
        math.sqrt(2 * (a or sampler.friction_of_noise) / 1e-5) * plan.settings.rate
    )


def test_an_impossible_budget_is_refused():
    with pytest.raises(BudgetError, match="one step costs more"):
        planned(dp.SGLD(step_size=10.0, sampling="full"), **BUDGET)


def test_without_replacement_needs_a_public_n():
    with pytest.raises(UnsupportedEventError, match="replace"):
        planned(dp.SGLD(sampling="without_replacement", batch_size=10), public_n=1000, adjacency="add_remove", **BUDGET)


@pytest.mark.parametrize(
    "sampler", [dp.SGLD(), dp.SGHMC(batch_size=4000, step_size=1e-5), dp.SGNHT(steps=100, step_size=1e-5)]
)
def test_under_add_remove_a_plan_does_not_depend_on_n(sampler):
    a, b, c = (planned(sampler, n=n, public_n=20_000, adjacency="add_remove", **BUDGET) for n in (3, 10**4, 10**7))
    assert a == b == c
    assert str(a) == str(b) == str(c)
    assert a.describe() == b.describe() == c.describe()
    assert a.settings.n == 20_000


def test_under_add_remove_sums_have_room_for_every_table():
    """Their number is private: a grid for `public_n` records would let the sums of a larger table overflow."""
    for n in (3, 10**7):
        plan = planned(dp.SGLD(batch_size=100, step_size=1e-4), n=n, public_n=20_000, adjacency="add_remove", **BUDGET)
        assert plan.settings.room == 2**31
    assert planned(dp.SGLD(batch_size=100, step_size=1e-4), n=10**4, **BUDGET).settings.room == 10**4


def test_under_add_remove_a_batch_needs_public_n():
    with pytest.raises(ValueError, match="public_n"):
        planned(dp.SGLD(batch_size=10, step_size=1e-4), adjacency="add_remove", **BUDGET)
    with pytest.raises(ValueError, match="public_n"):
        planned(dp.SGLD(), adjacency="add_remove", **BUDGET)
    plan = planned(dp.SGLD(step_size=1e-6), adjacency="add_remove", **BUDGET)
    assert (plan.settings.sampling, plan.settings.n) == ("full", None)


def test_schedules():
    np.testing.assert_array_equal(Constant(0.1).values(3), [0.1] * 3)
    np.testing.assert_allclose(Polynomial(a=2.0, b=3.0, gamma=0.5).values(2), [1.0, 2.0 / math.sqrt(5.0)])
    np.testing.assert_allclose(Cyclical(high=3.0, low=1.0, cycles=2).values(4), [3.0, 2.0, 3.0, 2.0])
    np.testing.assert_array_equal(Piecewise((3.0, 1.0)).values(5), [3.0, 3.0, 3.0, 1.0, 1.0])
    np.testing.assert_array_equal(Piecewise((3.0, 1.0)).values(1), [3.0])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_without_privacy_there_is_no_guarantee(sampler):
    plan = planned(sampler(), private=False)
    assert plan.guarantee.epsilon(DELTA) == math.inf
    assert plan.settings.sampling == "full"
    assert plan.settings.steps == 10_000
    assert "private=False" in str(plan)


@pytest.mark.parametrize(
    "options",
    [
        {"w": 0.0},
        {"w": math.inf},
        {"w": 0.5, "n0": 10},
        {"clip": 0.0},
        {"clip": math.nan},
        {"step_size": 0.0},
        {"step_size": -1.0},
        {"steps": 0},
        {"batch_size": 0},
        {"sampling": "shuffled"},
        {"sampling": "full", "batch_size": 3},
    ],
    ids=repr,
)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_nonsense_is_refused(sampler, options):
    with pytest.raises(ValueError):
        sampler(**options)


@pytest.mark.parametrize("sampler", [dp.SGLD, dp.SGHMC, dp.SGNHT, dp.SGFS])
def test_a_cold_posterior_is_for_networks_alone(sampler):
    with pytest.raises(ValueError, match="w must lie in"):
        planned(sampler(w=1.5), private=False)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        *((Polynomial, (-1.0,)), (Cyclical, (1.0, -0.5)), (Piecewise, ((),)), (Constant, (math.nan,))),
        *((Piecewise, ((1.0, 0.0),)), (Polynomial, (1.0, 0.0, 400.0))),  # seen only when all steps are known
    ],
)
def test_a_schedule_without_positive_step_sizes_is_refused(kind, parameters):
    with pytest.raises(ValueError, match="must be"):
        planned(dp.SGLD(steps=10, step_size=kind(*parameters)))


def test_a_schedule_of_ones_own_that_is_not_a_number_is_priced_as_nothing():
    class Broken(Schedule):
        def values(self, steps):
            return np.where(np.arange(steps) < 5, 1e-6, np.nan)

    for options in ({"steps": 20}, {"batch_size": 500}):
        budget = {} if "steps" in options else {"epsilon": 1.0, "delta": DELTA}
        with pytest.raises(ValueError, match="positive and finite at every step"):
            planned(dp.SGLD(step_size=Broken(), **options), **budget).guarantee.epsilon(DELTA)


def test_finite_precision_costs_a_little_and_is_kept(tmp_path, rng):
    plan = planned(dp.SGLD(steps=100, step_size=1e-5, batch_size=500), chains=2)
    exact = dataclasses.replace(plan.guarantee, total_variation=0.0)
    assert plan.guarantee.total_variation == 200 * (2 * 2.0**-63 + 2.0**-60)
    assert exact.epsilon(DELTA) < plan.guarantee.epsilon(DELTA) < 1.001 * exact.epsilon(DELTA) + 1e-4
    epsilon = plan.guarantee.epsilon(DELTA)
    assert plan.guarantee.delta(0.0) > exact.delta(0.0)
    assert plan.guarantee.delta(epsilon) <= DELTA
    assert acc.Guarantee.from_dict(json.loads(json.dumps(plan.guarantee.to_dict()))) == plan.guarantee
    both = acc.compose([plan.guarantee, plan.guarantee])
    assert both.total_variation == 2 * plan.guarantee.total_variation
    x = rng.normal(size=(40, 2))
    data = dp.Data(x, (x[:, 0] > 0).astype(float), row_norm=1.0)
    post = dp.sample(dp.LogisticRegression(), data, dp.SGLD(steps=20, step_size=1e-3), progress=False)
    post.save(tmp_path / "post.npz")
    back = dp.Posterior.load(tmp_path / "post.npz")
    assert back.guarantee == post.guarantee
    assert back.guarantee.total_variation > 0


def test_too_coarse_random_numbers_leave_no_guarantee():
    guarantee = acc.compose([(acc.Gaussian(5.0), 1)], total_variation=1e-6)
    assert guarantee.epsilon(1e-6) == math.inf


def test_no_record_is_printed_when_the_core_refuses_its_arguments(monkeypatch, rng):
    secret = 1234.56789
    x = rng.normal(size=(30, 2))
    x[3, 1] = secret
    data = dp.Data(x, np.zeros(30), row_norm=1e6)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.SGLD(steps=3, step_size=1e-6))

    def refuse(settings, common, public):
        raise TypeError(f"incompatible arguments: {common}")

    monkeypatch.setattr(type(plan.settings), "start", refuse)
    with pytest.raises(RuntimeError, match="refused its arguments") as caught:
        plan.run(data, progress=False)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "1234.5" not in str(caught.value)


def test_many_noise_levels_are_rounded_down_and_none_is_lost():
    settings = planned(
        dp.SGLD(step_size=Polynomial(a=1e-4, b=10.0, gamma=0.55), steps=30_000, batch_size=1000)
    ).settings
    exact = np.sort(settings.noise / settings.sensitivity)
    uses = sorted(((event.noise_multiplier, k) for event, k in settings.uses("replace", 3)), key=lambda use: use[0])
    rounded = np.repeat([z for z, _ in uses], [k // 3 for _, k in uses])
    assert len(uses) < 2_000 < len(np.unique(exact))
    assert rounded.shape == exact.shape
    assert (rounded < exact).all()
    assert (rounded > exact / 1.0021).all()


def test_the_longest_run_of_a_schedule_spends_the_budget():
    sampler = dp.SGLD(step_size=Polynomial(a=1e-5, b=10.0, gamma=0.3), batch_size=1000)
    plan = planned(sampler, epsilon=0.5, delta=DELTA)
    assert 0.495 < plan.guarantee.epsilon(DELTA) <= 0.5
    longer = planned(dataclasses.replace(sampler, steps=int(1.03 * plan.settings.steps)))
    assert longer.guarantee.epsilon(DELTA) > 0.5
