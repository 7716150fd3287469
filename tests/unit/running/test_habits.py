"""Keywords of other libraries get a pointer to ours; names and calls show what a user can use."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument, WrongType


@pytest.fixture
def data():
    return dp.Data(np.zeros((30, 2)), np.tile([0.0, 3.0, 1.0], 10), row_norm=2.0, y_bounds=(0, 20))


@pytest.mark.parametrize(
    ("keyword", "ours"),
    [("random_seed", "seed"), ("tune", "warmup"), ("cores", "threads"), ("progres", "progress"), ("zzz", "one of")],
)
def test_a_keyword_of_another_library_names_ours(data, keyword, ours):
    with pytest.raises(WrongType, match=f"no argument '{keyword}'; use {ours}"):
        dp.sample(dp.LogisticRegression(), data, epsilon=1.0, delta=1e-6, **{keyword: 1})


def test_only_public_names_are_listed():
    assert set(dp.__all__) <= set(dir(dp))
    assert not {"checks", "planning", "running", "posterior", "data", "ledger"} & set(dir(dp))


def test_a_sampler_shows_what_was_set():
    assert repr(dp.Barker(steps=3)) == "Barker(steps=3)"
    assert repr(dp.Langevin()) == "Langevin()"
    assert eval(repr(dp.SGLD(batch_size=9)), {"SGLD": dp.SGLD}) == dp.SGLD(batch_size=9)


def test_messages_lead_out_with_names_and_numbers(data):
    with pytest.raises(InvalidArgument, match=r"HuberRegression has the same mean .* ConjugateSample"):
        dp.plan(dp.LinearRegression(), data.public, dp.SGLD(), epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match=r"clip=40, step_size=\S+") as refused:
        dp.plan(dp.PoissonRegression(), data.public, dp.SGLD(), epsilon=1.0, delta=1e-6)
    words = str(refused.value).rpartition(": ")[2]
    numbers = {key: float(value) for key, value in (part.split("=") for part in words.split(", "))}
    assert dp.plan(dp.PoissonRegression(), data.public, dp.SGLD(steps=5, **numbers)).settings.clip == 40.0


def test_loo_and_waic_say_why_not(data):
    post = dp.sample(dp.BernoulliLogit(), dp.Data([0, 1, 1]), dp.Barker(steps=9, scale=0.1), progress=False)
    for ask in (post.loo, post.waic):
        with pytest.raises(InvalidArgument, match="every single record, which no guarantee covers"):
            ask()
