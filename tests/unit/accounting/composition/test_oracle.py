"""Against dp_accounting on random cases: not below its optimistic value, hardly above its pessimistic one."""

import math

import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pydpmc import accounting as acc

RELATION = {
    "replace": NeighboringRelation.REPLACE_ONE,
    "add_remove": NeighboringRelation.ADD_OR_REMOVE_ONE,
}


def oracle(noise, rate, steps, delta, adjacency, step, pessimistic):
    loss = pld.from_gaussian_mechanism(
        noise,
        sampling_prob=rate,
        value_discretization_interval=step,
        pessimistic_estimate=pessimistic,
        use_connect_dots=pessimistic,
        neighboring_relation=RELATION[adjacency],
    )
    return loss.self_compose(steps).get_epsilon_for_delta(delta)


def check(noise, rate, steps, delta, adjacency):
    ours = acc.compose([(acc.Gaussian(noise).poisson(rate), steps)], adjacency).epsilon(delta)
    step = min(max(1e-4, 0.03 * ours / steps), 2e-3)  # the optimistic value is low by steps * step / 2
    assert ours >= oracle(noise, rate, steps, delta, adjacency, step, pessimistic=False) - 1e-9
    assert ours <= 1.01 * oracle(noise, rate, steps, delta, adjacency, step, pessimistic=True) + 1e-6


CASES = {
    "noise": st.floats(0.8, 8.0),
    "rate": st.floats(math.log(1e-3), math.log(0.5)).map(math.exp),
    "steps": st.integers(1, 200),
    "delta": st.sampled_from([1e-4, 1e-6, 1e-8]),
    "adjacency": st.sampled_from(["replace", "add_remove"]),
}


@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
@given(**CASES)
def test_six_random_cases(noise, rate, steps, delta, adjacency):
    check(noise, rate, steps, delta, adjacency)


@pytest.mark.slow
@settings(max_examples=500, deadline=None, phases=[Phase.generate])
@given(**CASES)
def test_five_hundred_random_cases(noise, rate, steps, delta, adjacency):
    check(noise, rate, steps, delta, adjacency)
