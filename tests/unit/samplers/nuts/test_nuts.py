"""NUTS: refused where privacy is asked for, the same bits for any number of threads, and its statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import NotPrivateError


def logistic(n: int, width: int = 3) -> dp.Data:
    rng = np.random.default_rng(n)
    x = rng.uniform(-1.0, 1.0, size=(n, width))
    return dp.Data(x, (rng.random(n) < 1.0 / (1.0 + np.exp(-x.sum(axis=1)))).astype(float))


def draws(data: dp.Data, sampler: dp.NUTS | None = None, **options: Any) -> dp.Posterior:
    sampler = sampler or dp.NUTS(draws=60, warmup=80)
    defaults = {"chains": 2, "seed": 11, "progress": False} | options
    return dp.sample(dp.LogisticRegression(intercept=True), data, sampler, private=False, **defaults)


def test_privacy_is_refused_with_the_names_of_what_has_it():
    with pytest.raises(NotPrivateError, match=r"PosteriorSample .* Langevin"):
        dp.plan(dp.LogisticRegression(), logistic(50).public, dp.NUTS(), epsilon=1.0, delta=1e-6)


def test_no_plan_can_be_changed_into_a_private_one():
    import dataclasses

    plan = dp.plan(dp.LogisticRegression(), logistic(50).public, dp.NUTS(), private=False)
    with pytest.raises(ValueError, match="not that of this run"):
        dataclasses.replace(plan, private=True)
    assert "none (private=False)" in str(plan)


@pytest.mark.parametrize("chains", [1, 3])
@pytest.mark.parametrize("n", [300, 100_003])
def test_draws_do_not_depend_on_threads(n, chains):
    data, sampler = logistic(n), dp.NUTS(draws=8, warmup=20)
    first = draws(data, sampler, threads=1, chains=chains)
    for threads in (2, 5):
        again = draws(data, sampler, threads=threads, chains=chains)
        assert again.draws["beta"].tobytes() == first.draws["beta"].tobytes()
        assert again.sampler_stats == first.sampler_stats


def test_draws_do_not_depend_on_blocks_chunks_or_instruction_set(monkeypatch):
    data = logistic(2003)
    first = draws(data).draws["beta"].tobytes()
    monkeypatch.setattr("pydpmc.running.run.BLOCK", 64)
    monkeypatch.setattr("pydpmc.running.run.CHUNK_SECONDS", 1e-9)
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        assert draws(data).draws["beta"].tobytes() == first


def test_chains_differ_and_two_runs_differ():
    post = draws(logistic(300))
    assert not np.array_equal(post.draws["beta"][0], post.draws["beta"][1])
    other = draws(logistic(300), seed=None)
    assert not np.array_equal(post.draws["beta"], other.draws["beta"])


def test_statistics_leave_only_without_privacy_and_survive_saving(tmp_path):
    post = draws(logistic(300))
    assert not post.private
    stats = post.sampler_stats
    assert stats.divergences == (0, 0)
    assert all(1.0 <= depth <= 6.0 for depth in stats.tree_depth)
    assert all(0.5 < accept < 1.0 for accept in stats.accept)
    assert all(count > 140 for count in stats.gradients)
    post.save(tmp_path / "post.npz")
    assert dp.Posterior.load(tmp_path / "post.npz").sampler_stats == stats
    barker = dp.sample(dp.LogisticRegression(), logistic(300), dp.Barker(steps=20, scale=0.1, clip=0.1), progress=False)
    assert barker.private
    assert barker.sampler_stats is None


def test_a_short_tree_says_that_it_is_saturated():
    post = draws(logistic(300), dp.NUTS(draws=50, warmup=100, max_depth=1))
    assert post.sampler_stats.saturated == (50, 50)


def test_divergences_are_counted():
    """A posterior with a narrow neck (log sigma with a wide prior and one record) breaks long steps."""
    data = dp.Data(np.ones((2, 1)), np.array([0.0, 1e-6]))
    model = dp.LinearRegression(prior={"beta": dp.Normal(scale=10.0), "sigma": dp.Normal(scale=10.0)})
    sampler = dp.NUTS(draws=300, warmup=100, target_accept=0.3)
    post = dp.sample(model, data, sampler, private=False, seed=1, progress=False)
    assert sum(post.sampler_stats.divergences) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws must be a positive whole number"),
        ({"warmup": 3}, "warmup must be a whole number of at least 20"),
        ({"max_depth": 21}, "max_depth must be a whole number from 1 to 20"),
        ({"target_accept": 1.0}, r"target_accept must lie in \(0, 1\)"),
        ({"jitter": -1.0}, "jitter must be finite and at least 0"),
        ({"w": 2.0}, r"w must lie in \(0, 1\]"),
        ({"w": 0.5, "n0": 10}, "w and n0 say the same thing"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        dp.NUTS(**options)


@pytest.mark.parametrize("name", ["draws", "warmup"])
def test_draws_and_warmup_belong_to_the_sampler(name):
    data = logistic(50)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.NUTS(), private=False)
    with pytest.raises(ValueError, match=f"set it in NUTS\\({name}="):
        plan.run(data, **{name: 10})


def test_a_start_without_density_is_an_error_and_not_a_draw():
    data = dp.Data(np.full((30, 1), 1e300), np.ones(30))
    sampler = dp.NUTS(draws=10, warmup=20, jitter=0.0)
    with pytest.raises(ValueError, match="no start of finite density"):
        dp.sample(dp.PoissonRegression(), data, sampler, private=False, init=[1.0], progress=False)
