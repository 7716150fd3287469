"""What a plan refuses: privacy switched off by a parameter, a missing clip, the wrong kind of argument."""

import math

import numpy as np
import pytest

import pydpmc as dp

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def public(**facts):
    return dp.Public(n=10**5, columns=("a", "b", "c"), has_target=True, **{"row_norm": 1.0} | facts)


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        (dp.LinearRegression(sigma=1.0), {}),
        (dp.PoissonRegression(), {}),
        (dp.NegativeBinomialRegression(), {}),
        (dp.LogisticRegression(), {"row_norm": None}),
        (dp.HuberRegression(), {"row_norm": None}),
    ],
    ids=repr,
)
def test_a_model_without_a_lipschitz_constant_needs_a_clip(model, facts):
    with pytest.raises(ValueError, match=r"^clip: .*no Lipschitz constant.*Give clip, or declare bounds"):
        dp.plan(model, public(**facts), dp.Barker(steps=10, scale=0.1))
    plan = dp.plan(model, public(**facts), dp.Barker(steps=10, scale=0.1, clip=0.05))
    assert plan.settings.clip == 0.05
    assert plan.forecast.clipped_at_most == 1.0
    assert "may act, and it biases" in str(plan)


def test_a_gaussian_proposal_needs_a_clip():
    with pytest.raises(ValueError, match='"gaussian" has no bounded reach'):
        dp.plan(dp.LogisticRegression(), public(), dp.Barker(steps=10, scale=0.1, proposal="gaussian"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be a positive finite number"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"epsilon": math.inf}, "epsilon must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"delta": None}, "delta must be given with epsilon"),
        ({"delta": 0.0}, "delta must lie in"),
        ({"delta": 0.01}, "delta must lie in"),
        ({"delta": 1.0}, "delta must lie in"),
        ({"delta": math.nan}, "delta must lie in"),
        ({"delta": -1e-6}, "delta must lie in"),
        ({"adjacency": "zero_out"}, "adjacency must be"),
        ({"chains": 0}, "chains must be"),
        ({"chains": 1.5}, "chains must be"),
        ({"chains": math.inf}, "chains must be"),
        ({"chains": 10**6}, "chains must be"),
        ({"private": False}, "private=False spends no budget"),
        ({"init": "posterior"}, "init must be"),
        ({"init": [0.0, 1.0]}, r"init must have shape \(3,\)"),
        ({"init": [0.0, 1.0, math.nan]}, "init must be finite"),
    ],
)
def test_privacy_cannot_be_switched_off_by_a_parameter(arguments, words):
    sampler = dp.Barker(steps=2, scale=0.01)
    with pytest.raises(ValueError, match=words):
        dp.plan(dp.LogisticRegression(), public(), sampler, **BUDGET | arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": dp.LogisticRegression}, "model must be a pydpmc model"),
        ({"public": dp.Data(np.zeros(3))}, r"public must be data\.public"),
        ({"sampler": "Barker"}, "sampler must be a pydpmc sampler"),
        ({"private": 0}, "private must be True or False"),
    ],
)
def test_the_wrong_kind_of_argument_is_named(arguments, words):
    good = {"model": dp.LogisticRegression(), "public": public(), "sampler": dp.Barker(steps=2, scale=0.01)}
    with pytest.raises(TypeError, match=words):
        dp.plan(**good | arguments)
