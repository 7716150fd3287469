"""Plans under add_remove: the number of records is private, and no plan depends on it."""

import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import UnsupportedEventError

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def public(n=10**5, **facts):
    return dp.Public(n=n, columns=("a", "b", "c"), has_target=True, row_norm=1.0, **facts)


ADD_REMOVE_SAMPLERS = [dp.Barker(steps=20, scale=0.1), dp.Barker(scale=0.2), dp.Barker(steps=40)]


@pytest.mark.parametrize("sampler", ADD_REMOVE_SAMPLERS, ids=repr)
@pytest.mark.parametrize("public_n", [None, 1000])
def test_under_add_remove_a_plan_does_not_depend_on_n(sampler, public_n):
    a, b, c = (
        dp.plan(dp.LogisticRegression(), public(n, public_n=public_n), sampler, adjacency="add_remove", **BUDGET)
        for n in (1, 10**4, 10**9)
    )
    assert a == b == c
    assert repr(a) == repr(b) == repr(c)
    assert str(a) == str(b) == str(c)
    assert a.describe() == c.describe()
    assert a.settings.core_arguments(_core, public(5)) == c.settings.core_arguments(_core, public(10**9))


@pytest.mark.parametrize("public_n", [None, 5])
def test_under_add_remove_the_integer_grid_has_room_for_any_table(public_n):
    plan = dp.plan(
        dp.LogisticRegression(), public(9, public_n=public_n), dp.Barker(steps=1, scale=1.0), adjacency="add_remove"
    )
    assert (2**31 - 1) * 2**plan.settings.bits < 2**62


SAMPLERS_OF_PRIVATE_N = [
    None, dp.Newton(), dp.Barker(steps=50, scale=0.01), dp.SGLD(steps=50, step_size=1e-4, sampling="full"),
    dp.Langevin(draws=1, w=0.05, steps=20),
]  # fmt: skip


@pytest.mark.parametrize("sampler", SAMPLERS_OF_PRIVATE_N, ids=repr)
@pytest.mark.parametrize("public_n", [None, 5000])
def test_the_plans_of_neighbours_are_the_same(sampler, public_n):
    if public_n is None and isinstance(sampler, dp.Langevin):
        pytest.skip("Langevin needs public_n under add_remove")
    budget = {"epsilon": 1.0, "delta": 1e-6} if sampler is None or isinstance(sampler, dp.Newton) else {}
    plans = [
        dp.plan(
            dp.LogisticRegression(),
            dp.Public(n=n, columns=("a", "b"), has_target=True, row_norm=1.0, public_n=public_n),
            sampler,
            adjacency="add_remove",
            **budget,
        )
        for n in (1237, 1236)
    ]
    assert plans[0] == plans[1]
    assert repr(plans[0]) == repr(plans[1])
    assert "1237" not in repr(plans[0])


def test_minibatches_are_refused_under_add_remove():
    with pytest.raises(UnsupportedEventError, match="replace"):
        dp.plan(dp.LogisticRegression(), public(), dp.Barker(batch_size=100), adjacency="add_remove", **BUDGET)
