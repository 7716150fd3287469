"""Proposals that users write, parameters that are whole numbers, and priors that end."""

import numpy as np
import pytest
from scipy.special import logsumexp

import pydpmc as dp
from pydpmc.errors import CheckpointError, InvalidArgument

N, LAST = 40, 20
LOOSE = {"private": False, "progress": False, "seed": 1, "anyway": True}


def table():
    random = np.random.default_rng(4)
    time = random.integers(0, LAST, N)
    return dp.Data(
        time[:, None].astype(float),
        np.minimum(random.poisson(np.where(time < 8, 1.0, 2.0)), 9),
        x_bounds=(0, LAST - 1),
        y_bounds=(0, 9),
    )


def log_lik(theta, record):
    rate = np.where(record["x"][:, 0] < theta["change"], 1.0, theta["after"])
    return record["y"] * np.log(rate) - rate


def change_point(check=False):
    def checked(theta, record):
        assert not check or 1 <= theta["change"] <= LAST
        assert not check or 1.0 <= theta["after"] <= 4.0
        return log_lik(theta, record)

    return dp.models.from_numpy(
        checked,
        parameters={"change": dp.models.Parameter((), "whole"), "after": ()},
        prior={"change": dp.Uniform(1, LAST), "after": dp.Uniform(1.0, 4.0)},
    )


def exact(data):
    """Return the posterior of the change, and the mean of the rate after it, summed over a grid."""
    x, y = data._rows[:, :-1], data._rows[:, -1]
    rates = np.linspace(1.0, 4.0, 601)
    values = np.array(
        [[log_lik({"change": k, "after": rate}, {"x": x, "y": y}).sum() for rate in rates] for k in range(1, LAST + 1)]
    )
    weights = np.exp(values - logsumexp(values))
    return weights.sum(axis=1), float((weights.sum(axis=0) * rates).sum())


def up_more_often(theta, random):
    """An asymmetric proposal: the change moves up with probability 0.8."""
    up = random.random() < 0.8
    moved = theta + np.array([1.0 if up else -1.0, 0.5 * random.normal()])
    return moved, np.log(0.2 / 0.8) if up else np.log(0.8 / 0.2)


@pytest.mark.parametrize("proposal", [None, up_more_often])
def test_the_posterior_of_a_change_point_is_that_of_the_sum_over_all_of_them(proposal):
    data = table()
    sampler = dp.Barker(steps=40_000, scale=None if proposal else [5.0, 1.0], proposal=proposal, clip=50.0)
    post = dp.sample(change_point(check=True), data, sampler, draws=40_000, **LOOSE)
    change = post.draws["change"].ravel()
    expected, mean = exact(data)
    found = np.bincount(change.astype(int), minlength=LAST + 1)[1:] / change.size
    assert np.all(change % 1.0 == 0.0)
    # The bound allows for an effective size of a fiftieth of the draws: four standard errors.
    assert np.abs(found - expected).max() < 4.0 * np.sqrt(0.25 * 50 / change.size)
    assert abs(post.draws["after"].mean() - mean) < 0.05
    assert expected.max() < 0.9  # else there is little to get wrong


def test_without_its_log_ratio_an_asymmetric_proposal_samples_another_law():
    data = table()
    sampler = dp.Barker(steps=40_000, proposal=lambda theta, random: up_more_often(theta, random)[0], clip=50.0)
    post = dp.sample(change_point(), data, sampler, draws=40_000, **LOOSE)
    expected, _ = exact(data)
    found = np.bincount(post.draws["change"].ravel().astype(int), minlength=LAST + 1)[1:] / 40_000
    assert np.abs(found - expected).max() > 0.2


def test_a_proposal_that_fails_is_a_rejection():
    def fails(theta, random):
        choice = random.integers(4)
        if choice == 0 and theta[0] != 10.0:  # not at the start, where it is tried
            raise ValueError("no proposal")
        if choice == 1 and theta[0] != 10.0:
            return np.full(2, np.nan)
        if choice == 2 and theta[0] != 10.0:
            return theta[:1]
        return theta + np.array([random.integers(-1, 2), 0.1 * random.normal()])

    model = change_point(check=True)
    post = dp.sample(model, table(), dp.Barker(steps=4000, proposal=fails, clip=50.0), **LOOSE)
    assert np.isfinite(post.draws["after"]).all()
    assert len(np.unique(post.draws["change"])) > 3


def test_the_price_is_that_of_a_walk_with_the_same_clip_and_the_assumption_is_named():
    public, model = table().public, dp.LogisticRegression()
    public = dp.Public(n=1000, columns=("a", "b"), has_target=True, row_norm=1.0)

    def jump(theta, random):
        return theta + 0.1 * random.standard_t(3, size=theta.shape)

    own = dp.plan(model, public, dp.Barker(steps=100, proposal=jump, clip=0.1), delta=1e-6)
    walk = dp.plan(model, public, dp.Barker(steps=100, proposal="gaussian", scale=0.1, clip=0.1), delta=1e-6)
    assert own.guarantee.epsilon(1e-6) == walk.guarantee.epsilon(1e-6)
    assert "sees none" in " ".join(own.guarantee.assumptions)
    assert not walk.guarantee.assumptions
    assert "function of your own" in str(own)


def test_draws_do_not_depend_on_threads():
    data, model = table(), change_point()
    sampler = dp.Barker(steps=300, proposal=up_more_often, clip=50.0)
    options = {**LOOSE, "chains": 3}
    paths = [dp.sample(model, data, sampler, threads=t, **options).draws["after"] for t in (1, 2)]
    assert np.array_equal(*paths)
    assert not np.array_equal(paths[0][0], paths[0][1])


def test_a_checkpoint_is_refused_because_the_function_saw_what_a_stop_undoes(tmp_path):
    plan = dp.plan(change_point(), table().public, dp.Barker(steps=9, proposal=up_more_often, clip=0.1), delta=1e-6)
    ledger = dp.Ledger(tmp_path / "ledger", epsilon=1e6, delta=1e-5)
    with pytest.raises(CheckpointError, match="proposal of your own"):
        plan.run(table(), ledger=ledger, checkpoint=tmp_path / "a.ckpt", progress=False, anyway=True)
    assert ledger.history() == ()


def test_a_function_may_change_and_keep_the_theta_that_it_gets():
    kept = []

    def in_place(theta, random):
        kept.append(theta)
        theta += np.array([random.integers(-1, 2), 0.1 * random.normal()])
        return theta

    post = dp.sample(change_point(), table(), dp.Barker(steps=200, proposal=in_place, clip=50.0), **LOOSE)
    assert len(np.unique(post.draws["after"])) > 10
    assert all(theta.flags.owndata for theta in kept)  # no view of memory that ends with the run
    assert len(np.unique([theta[1] for theta in kept])) > 150


@pytest.mark.parametrize(
    ("proposal", "match"),
    [
        (lambda theta, random: theta, "did not move"),
        (lambda theta, random: theta[:1], "shape"),
        (lambda theta, random: theta + 0.5, "whole numbers by whole numbers"),
        (lambda theta, random: theta * np.nan, "no number"),
        (lambda theta, random: (theta + 1.0, np.nan), "no number"),
        (lambda theta: theta, "proposal failed at the start"),
    ],
)
def test_a_proposal_that_is_none_is_refused_before_anything_is_charged(proposal, match, tmp_path):
    ledger = dp.Ledger(tmp_path / "ledger", epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match=match):
        dp.sample(
            change_point(),
            table(),
            dp.Barker(proposal=proposal, clip=1.0),
            epsilon=1.0,
            delta=1e-6,
            ledger=ledger,
            progress=False,
        )
    assert ledger.history() == ()


@pytest.mark.parametrize(
    ("sampler", "match"),
    [
        (dp.SGLD(clip=1.0), "change is a whole number: use Barker"),
        (dp.Barker(clip=1.0), "scale: the planner cannot choose"),
        (dp.Barker(clip=1.0, scale=0.3), "above 0.5"),
        (dp.Barker(scale=[2.0, 0.1]), "clip"),
    ],
)
def test_what_whole_numbers_need_is_said(sampler, match):
    with pytest.raises(InvalidArgument, match=match):
        dp.plan(change_point(), table().public, sampler, epsilon=1.0, delta=1e-6)


def test_contradictions_and_starts_are_refused():
    with pytest.raises(InvalidArgument, match="leave scale out"):
        dp.Barker(proposal=up_more_often, scale=1.0)
    with pytest.raises(InvalidArgument, match="init must be whole"):
        dp.plan(
            change_point(), table().public, dp.Barker(scale=[2.0, 1.0], clip=1.0, steps=9), init=[2.5, 2.0], delta=1e-6
        )
    with pytest.raises(InvalidArgument, match="no slope at its ends"):
        dp.LogisticRegression(prior=dp.Uniform(-1.0, 1.0))
    with pytest.raises(InvalidArgument, match="low must be below high"):
        dp.Uniform(1.0, 0.0)


def test_chains_start_at_whole_draws_of_the_prior():
    sampler = dp.Barker(scale=[2.0, 1.0], clip=1.0, steps=2)
    post = dp.sample(change_point(), table(), sampler, init="prior", chains=8, draws=2, warmup=0, **LOOSE)
    assert np.all(post.draws["change"] % 1.0 == 0.0)
    assert len(np.unique(post.draws["change"])) > 2
