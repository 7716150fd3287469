"""SGFS as a plan: what it releases and costs, what it refuses; and the preconditioner of SGLD."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import pydpmc as dp

PUBLIC = dp.Public(n=20_000, columns=("a", "b", "c"), has_target=True, row_norm=1.0)
OPTIONS = {"steps": 50, "step_size": 1e-5, "sampling": "full"}


def planned(sampler, public=PUBLIC, model=None, **options):
    return dp.plan(model or dp.LogisticRegression(), public, sampler, **options)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
def test_the_price_is_that_of_the_joint_query(share):
    [(sgld, _)] = planned(dp.SGLD(**OPTIONS)).guarantee.events
    plan = planned(dp.SGFS(**OPTIONS, information_share=share))
    [(event, count)] = plan.guarantee.events
    assert count == 50
    assert event.noise_multiplier == pytest.approx(sgld.noise_multiplier * math.sqrt(1.0 - share), rel=1e-11)
    assert event.noise_multiplier < plan.settings.noise[0] / plan.settings.sensitivity
    moments = (plan.settings.moment_scale * plan.settings.clip**2) ** 2
    assert moments / plan.settings.sensitivity**2 == pytest.approx(share)
    assert plan.guarantee.total_variation == 50 * (3 + 6) * 2.0**-63


def test_the_noise_multiplier_is_that_of_the_formula():
    """z = 2 b sqrt(min A / h) / (w N L), times what the second moments take."""
    matrix, h, b, w = (2.0, 0.7, 5.0), 1e-4, 400, 0.5
    plan = planned(dp.SGFS(steps=3, step_size=h, batch_size=b, w=w, noise_matrix=matrix))
    z = 2.0 * b * math.sqrt(0.7 / h) / (w * PUBLIC.n * 1.0)
    [(event, _)] = plan.guarantee.events
    assert event.noise_multiplier == pytest.approx(z * math.sqrt(0.9), rel=1e-11)
    assert event.rate == b / PUBLIC.n


def test_the_planner_chooses_a_step_from_the_smoothness():
    plan = planned(dp.SGFS(), epsilon=1.0, delta=1e-6)
    curvature = PUBLIC.n / 4 + 1.0
    assert plan.settings.step_sizes[0] == pytest.approx(1.0 / curvature)
    assert 0.9 < plan.guarantee.epsilon(1e-6) <= 1.0
    assert "noise matrix A        0.5 times the identity" in str(plan)
    assert "second moments        10 % of the squared sensitivity" in str(plan)


def test_add_remove_needs_no_number_of_records():
    plan = planned(dp.SGFS(**OPTIONS), adjacency="add_remove")
    assert plan.settings.core_parameters["weight"] == [1.0]
    assert plan.settings.room == 2**31
    with pytest.raises(ValueError, match="public_n"):
        planned(dp.SGFS(steps=10), adjacency="add_remove")


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("sampler", [dp.SGLD, dp.SGFS])
def test_coarse_grids_take_the_place_of_refusals_that_would_depend_on_the_records(sampler, adjacency):
    """So little noise that 2^31 records would overflow a sum on the finest grid."""
    data = dp.Data(np.full((50, 3), 0.5), np.ones(50), row_norm=1.0)
    plan = planned(
        sampler(steps=2, step_size=1e4, sampling="full"), data.public, adjacency=adjacency, init=[0.0, 0.0, 0.0]
    )
    assert plan.settings.noise[0] < 0.02
    post = plan.run(data, seed=1, warmup=0, progress=False)
    assert np.isfinite(post.draws["beta"]).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dp.SGFS(noise_matrix=0.0), "noise_matrix must be"),
        (lambda: dp.SGFS(noise_matrix=(1.0, math.nan)), "noise_matrix must be"),
        (lambda: dp.SGFS(information_share=0.0), "information_share must lie"),
        (lambda: planned(dp.SGFS(**OPTIONS, noise_matrix=(1.0, 2.0))), "noise_matrix has 2 entries"),
        (lambda: planned(dp.SGFS(steps=2, step_size=1.0, batch_size=1, sampling="without_replacement")), "at least 2"),
        (lambda: dp.SGLD(preconditioner="full"), "preconditioner must be"),
        (
            lambda: dp.SGLD(preconditioner="diagonal", calibration="li2019"),
            "preconditioner cannot be combined with calibration",
        ),
    ],
)
def test_what_cannot_run_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_many_parameters_are_refused_with_what_to_do():
    wide = dp.Public(n=1000, columns=tuple(f"x{j}" for j in range(201)), has_target=True, row_norm=1.0)
    with pytest.raises(ValueError, match=r"at most 200 parameters.*LogisticRegression has 201.*SGLD\(precond"):
        planned(dp.SGFS(**OPTIONS), wide)


def test_a_model_without_second_moments_is_refused():
    with pytest.raises(ValueError, match="cannot compute the second moments of SoftmaxRegression"):
        planned(dp.SGFS(**OPTIONS), model=dp.SoftmaxRegression(classes=3))


@pytest.mark.parametrize("options", [{"sampling": "full"}, {"batch_size": 9}])
def test_records_in_half_the_memory_give_the_same_draws(options, rng):
    x = rng.integers(-8, 9, (60, 5)) / 16.0
    y = rng.integers(0, 2, 60).astype(float)
    found = []
    for storage in ("float64", "float32"):
        data = dp.Data(x, y, row_norm=2.0, storage=storage)
        plan = planned(dp.SGFS(steps=40, step_size=1e-3, **options), data.public)
        found.append(plan.run(data, seed=3, warmup=0, progress=False).draws["beta"])
    assert np.array_equal(*found)


def test_second_moments_without_noise_cannot_be_priced():
    plan = planned(dp.SGFS(**OPTIONS), private=False)
    with pytest.raises(ValueError, match="no noise"):
        plan.settings.uses("replace", 1)
    private = planned(dp.SGFS(**OPTIONS))
    with pytest.raises(ValueError, match="not that of this run"):
        dataclasses.replace(private, settings=dataclasses.replace(private.settings, noised=False))


def test_a_preconditioner_costs_nothing_and_says_what_it_is():
    plain, preconditioned = planned(dp.SGLD(**OPTIONS)), planned(dp.SGLD(**OPTIONS, preconditioner="diagonal"))
    assert preconditioned.guarantee == plain.guarantee
    settings = preconditioned.settings
    curvature = PUBLIC.n / 4 + 1.0
    assert settings.largest_curvature == curvature
    assert settings.least == pytest.approx(1.0 / (1.0 + 1e-5 * curvature / 0.1))
    assert f"diagonal, {settings.least:.2g} to 1" in str(preconditioned)
    assert preconditioned.describe()["preconditioner"] == "diagonal"
    assert planned(dp.SGLD(preconditioner="diagonal"), epsilon=1.0, delta=1e-6).settings.step_sizes[0] == pytest.approx(
        1.0 / curvature
    )


def test_without_a_public_curvature_the_preconditioner_has_a_floor():
    public = dataclasses.replace(PUBLIC, row_norm=None)
    plan = planned(dp.SGLD(**OPTIONS, clip=1.0, preconditioner="diagonal"), public)
    assert plan.settings.least == pytest.approx(0.001)
