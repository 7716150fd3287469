"""Target and Chains of the compiled core: checked once, whatever runs on them, and alive while a run needs them."""

import gc

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core

GOOD = {
    "columns": 2,
    "has_target": True,
    "model": "logistic_regression",
    "intercept": False,
    "constants": (0.0, 0.0),
}
NUTS = {"weight": 1.0, "prior_weight": 1.0, "loglik_range": (-np.inf, np.inf), "target_accept": 0.8, "max_depth": 5}


def target(**changed):
    rows = np.column_stack([np.random.default_rng(1).normal(size=(40, 2)), np.arange(40) % 2.0, np.zeros(40)])
    return _core.Target(**{"rows": rows, "prior": dp.Normal().table(2, False)} | GOOD | changed)


def chains(dim=2, **changed):
    given = {"init": np.zeros((3, dim)), "draws": np.zeros((3, 5, dim)), "warmup": 0, "thin": 1, "seed": 4}
    return _core.Chains(**given | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": "logistic"}, "unknown model: logistic"),
        ({"columns": 9}, "rows are too short"),
        ({"has_target": False}, "needs a target"),
        ({"prior": np.zeros((2, 4))}, "prior must have a row"),
        ({"prior": np.zeros(10)}, "prior must have a row"),
        ({"prior": np.zeros((1, 5))}, "theta is too short"),
        ({"model": "gaussian_mixture", "prior": np.zeros((3, 5))}, "theta is too long"),
        ({"model": "bernoulli_logit"}, "theta is too long"),
        ({"model": "softmax_regression", "constants": (1.5, 0.0)}, "classes must be"),
        ({"model": "softmax_regression", "constants": (2.0, 0.0)}, "a row of coefficients per class"),
        ({"group_start": np.array([0, 3])}, "group_start must run"),
        ({"squares": np.zeros(39)}, "one entry per row"),
    ],
)
def test_a_target_that_does_not_fit_together_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        target(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"init": np.zeros(2)}, "init must be"),
        ({"draws": np.zeros((2, 5, 2))}, "draws must be"),
        ({"warmup": -1}, "warmup must be"),
        ({"thin": 0}, "thin"),
    ],
)
def test_chains_that_do_not_fit_together_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        chains(**changed)


def test_a_run_refuses_chains_of_another_length_of_theta():
    with pytest.raises(ValueError, match="init and prior differ"):
        _core.NutsRun(target(), chains(dim=3), **NUTS, jitter=0.0)


def test_a_run_of_single_records_refuses_groups():
    grouped = target(group_start=np.array([0, 3, 40]))
    with pytest.raises(ValueError, match="single records"):
        _core.NutsRun(grouped, chains(), **NUTS, jitter=0.0)


def test_with_squares_checks_them_and_leaves_the_target_as_it_was():
    first = target()
    assert first.with_squares(np.ones(40)).model == first.model == "logistic_regression"
    with pytest.raises(ValueError, match="one entry per row"):
        first.with_squares(np.ones(41))


def test_a_run_keeps_its_arrays_alive_and_one_target_serves_several_runs():
    shared, made = target(), []
    for _ in range(2):
        out = np.full((3, 5, 2), np.nan)
        run = _core.NutsRun(shared, chains(draws=out), **NUTS, jitter=0.1)
        gc.collect()
        np.full((40, 4), np.nan)  # where freed rows would have been
        run.advance(5, 1, 64)
        made.append(out)
    assert np.isfinite(made[0]).all()
    np.testing.assert_array_equal(*made)


def test_chains_hand_out_what_they_were_given():
    out = np.zeros((3, 5, 2))
    given = chains(draws=out)
    assert given.draws is out
    assert (given.init.shape, given.warmup, given.thin, given.seed) == ((3, 2), 0, 1, 4)
