"""Planning a Langevin run: what is chosen, what is refused, and that a changed plan does not run."""

import dataclasses
import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import BudgetError, UnsupportedEventError
from pydpmc.samplers.base import target_arguments

PUBLIC = dp.Public(n=20_000, columns=("a", "b", "c"), has_target=True, row_norm=1.0, public_n=20_000)
BARE = dp.Public(n=20_000, columns=("a",), has_target=False, x_bounds=((0.0, 1.0),))


def planned(sampler=None, model=None, public=PUBLIC, **options):
    return dp.plan(model or dp.LogisticRegression(), public, sampler or dp.Langevin(), **options)


def budgeted(sampler=None, model=None, public=PUBLIC, **options):
    return planned(sampler, model, public, **({"epsilon": 1.0, "delta": 1e-5} | options))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("draws", [1, 7])
def test_the_largest_weight_within_the_budget_is_chosen(adjacency, draws):
    plan = budgeted(dp.Langevin(draws=draws), adjacency=adjacency)
    assert 0.998 < plan.guarantee.epsilon(1e-5) <= 1.0
    assert ["public_n" in text for text in plan.guarantee.assumptions] == [True] * (adjacency == "add_remove")
    ideal = 0.268 / math.sqrt(draws) / (2.0 if adjacency == "replace" else 1.0)  # of an exact draw
    assert plan.settings.w == pytest.approx(ideal, rel=0.03)


def test_a_given_weight_is_priced():
    plan = planned(dp.Langevin(w=0.1))
    ((event, count),) = plan.guarantee.events
    assert count == 1
    assert event.sensitivity == pytest.approx(0.2)
    assert event.error < 1e-4 * event.sensitivity
    assert plan.settings.w == 0.1
    with pytest.raises(BudgetError, match=r"w = 0\.9"):
        budgeted(dp.Langevin(w=0.9))
    assert planned(dp.Langevin(n0=2000)).settings.w == 0.1


def test_a_budget_too_large_for_the_likelihood_leaves_the_rest_unspent():
    plan = budgeted(epsilon=15.0)
    assert plan.settings.w == 1.0
    assert plan.guarantee.epsilon(1e-5) < 15.0


def test_the_step_follows_from_the_curvature_and_the_steps_from_the_bias():
    coarse, fine = (planned(dp.Langevin(w=0.1, bias=bias)) for bias in (0.1, 0.005))
    largest = 0.1 * 20_000 / 4 + 1.0
    assert coarse.settings.step_size * largest == pytest.approx(14 * 0.1)
    assert fine.settings.step_size * largest == pytest.approx(14 * 0.005)
    assert coarse.forecast.discretisation == pytest.approx(0.1, rel=1e-6)
    assert planned(dp.Langevin(w=0.1, bias=0.9)).settings.step_size * largest == pytest.approx(1.4)
    assert fine.settings.steps > 10 * coarse.settings.steps
    # more steps and smaller ones cost hardly more: that is the point of hiding them
    assert fine.guarantee.epsilon(1e-5) < 1.02 * coarse.guarantee.epsilon(1e-5)


@pytest.mark.parametrize("model", [dp.LogisticRegression(), dp.BernoulliLogit(), dp.HuberRegression()], ids=repr)
def test_no_gradient_at_zero_is_steeper_than_the_steps_allow_for(model):
    """Records at their declared bounds: one of them reaches the bound."""
    if isinstance(model, dp.BernoulliLogit):
        data = dp.Data(np.array([0.0, 1.0]))
    else:
        data = dp.Data(
            np.array([[1.0, 0.0], [0.6, -0.8]]),
            np.array([1.0, 0.0]) * (1e3 if isinstance(model, dp.HuberRegression) else 1.0),
            row_norm=1.0,
        )
    target = target_arguments(model, data)
    target.pop("prior")
    steepest = []
    for k in range(2):
        one = dict(target) | {"rows": target["rows"][[k]]}
        found = _core.gradient_sum(**one, theta=[0.0] * model.dim(data.public), clip=1e3, per_unit=2.0**30)
        steepest.append(np.linalg.norm(np.asarray(found, dtype=float)) * 2.0**-30)
    allowed = model.steepness_at_zero * model.lipschitz(data.public)
    assert allowed * 0.999 < max(steepest) <= allowed * (1.0 + 1e-6)


def test_sensitivities_are_the_models_own():
    coin = dp.Public(n=500, columns=("x",), has_target=False, public_n=500)
    for adjacency in ("replace", "add_remove"):
        ((event, _),) = planned(dp.Langevin(w=0.5), dp.BernoulliLogit(), coin, adjacency=adjacency).guarantee.events
        assert event.sensitivity == pytest.approx(0.5, rel=1e-9)
    ((event, _),) = planned(dp.Langevin(w=0.5), dp.GaussianMean(sigma=0.5), BARE).guarantee.events
    assert event.sensitivity == pytest.approx(0.5 * 1.0 / 0.25, rel=1e-9)
    assert event.strong_convexity == pytest.approx(0.5 * 20_000 / 0.25 + 1.0)
    ((event, _),) = planned(dp.Langevin(w=0.5), dp.HuberRegression(threshold=2.0)).guarantee.events
    assert event.sensitivity == pytest.approx(0.5 * 2.0 * 2.0, rel=1e-9)


def test_the_gaussian_mean_costs_what_its_exact_posterior_would():
    plan = planned(dp.Langevin(w=0.5, bias=0.01), dp.GaussianMean(prior=dp.Flat()), BARE)
    ((event, _),) = plan.guarantee.events
    assert event.gaussian_mu("replace") == pytest.approx(0.5 / math.sqrt(0.5 * 20_000), rel=0.01)


def test_draws_for_prediction_grow_with_the_budget_and_never_cost_more():
    found = [budgeted(dp.Langevin(draws="predict"), epsilon=epsilon) for epsilon in (0.1, 1.0, 5.0)]
    assert [p.settings.draws for p in found] == sorted({p.settings.draws for p in found})
    assert all(p.guarantee.epsilon(1e-5) <= p.epsilon for p in found)
    assert found[-1].settings.draws > 3
    with pytest.raises(ValueError, match="leave w and n0 out"):
        dp.Langevin(draws="predict", w=0.1)


MODELS_WITHOUT_PROOF = [
    dp.LinearRegression(sigma=1.0),
    dp.LinearRegression(),
    dp.PoissonRegression(),
    dp.HingeClassifier(),
    dp.ProbitRegression(),
]


@pytest.mark.parametrize("model", MODELS_WITHOUT_PROOF, ids=repr)
def test_models_without_a_proof_are_refused(model):
    with pytest.raises(UnsupportedEventError, match="HuberRegression"):
        budgeted(model=model)


def test_the_mixture_is_refused():
    with pytest.raises(UnsupportedEventError, match="convex"):
        budgeted(model=dp.GaussianMixture(), public=BARE)


@pytest.mark.parametrize(
    "prior", [dp.Laplace(), dp.StudentT(), dp.Flat(), {"beta": dp.Normal(), "intercept": dp.Flat()}]
)
def test_priors_that_are_not_strongly_convex_are_refused(prior):
    with pytest.raises(UnsupportedEventError, match=r"Normal\(scale="):
        budgeted(model=dp.LogisticRegression(prior=prior, intercept=isinstance(prior, dict)))


def test_missing_public_facts_are_asked_for():
    unbounded = dataclasses.replace(PUBLIC, row_norm=None)
    with pytest.raises(ValueError, match="row_norm or x_bounds"):
        budgeted(public=unbounded)
    with pytest.raises(ValueError, match="public_n"):
        budgeted(public=dataclasses.replace(PUBLIC, public_n=None), adjacency="add_remove")
    public = dataclasses.replace(BARE, public_n=100)
    with pytest.raises(UnsupportedEventError, match="replace"):
        budgeted(model=dp.GaussianMean(), public=public, adjacency="add_remove")


def test_chains_are_draws():
    with pytest.raises(ValueError, match=r"draws=3"):
        budgeted(chains=3)


def test_nothing_to_price_is_refused():
    with pytest.raises(ValueError, match="w \\(or n0\\)"):
        planned()


def test_a_step_that_does_not_contract_is_refused_and_bounds_the_weight():
    with pytest.raises(ValueError, match="step_size is 1 but"):
        planned(dp.Langevin(w=0.1, step_size=1.0))
    plan = budgeted(dp.Langevin(step_size=1e-2), epsilon=10.0)
    assert plan.settings.w * 20_000 / 4 + 1.0 < 200.0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("draws", 0),
        ("draws", 1.5),
        ("draws", "many"),
        ("steps", -1),
        ("step_size", 0.0),
        ("step_size", math.nan),
        ("w", 0.0),
        ("w", 1.5),
        ("n0", -3),
        ("bias", 0.0),
        ("bias", 2.0),
    ],
)
def test_bad_options_are_named(option, value):
    with pytest.raises(ValueError, match=option):
        dp.Langevin(**{option: value})


def test_a_hopeless_condition_number_is_refused_before_anything_runs():
    wide = dp.LogisticRegression(prior=dp.Normal(scale=1e6))
    with pytest.raises(ValueError, match="narrower prior"):
        planned(dp.Langevin(w=1.0), wide)


def test_a_plan_cannot_be_bent():
    plan = planned(dp.Langevin(w=0.1))
    other = dataclasses.replace(PUBLIC, row_norm=2.0)
    with pytest.raises(ValueError, match="not that of this run"):
        dataclasses.replace(plan, public=other)
    with pytest.raises(ValueError, match="not that of this run"):
        dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, w=0.2))
    with pytest.raises(ValueError, match="not that of this run"):
        dataclasses.replace(plan, model=dp.LogisticRegression(prior=dp.Normal(scale=3.0)))


def test_the_page_says_what_is_hidden_and_where_theta_is_kept():
    text = str(planned(dp.Langevin(w=0.1, draws=3)))
    for part in ("3, each the last iterate", "hidden", "kept within", "condition number", "none: convergence"):
        assert part in text
    mostly_prior = str(budgeted(epsilon=1e-4))
    assert "no better than the prior alone" in mostly_prior
