"""Plans: within the budget, blind to records, blind to a private n, and clear about what they cannot do."""

import ast
import dataclasses
import functools
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import BudgetError, PydpmcError

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def public(n=10**5, d=3, **facts):
    return dp.Public(n=n, columns=tuple("abcdefghij"[:d]), has_target=True, **{"row_norm": 1.0} | facts)


BARKER = dp.Barker()


@functools.cache
def planned(n=10**6, sampler=BARKER, **arguments):
    """A plan that the planner filled in, made once: it takes seconds."""
    return dp.plan(dp.LogisticRegression(), public(n), sampler, **BUDGET | arguments)


def independent_cost(plan, delta):
    """The price recomputed from what will run: clip, weight, steps, chains."""
    records = 2 if plan.adjacency == "replace" else 1
    bit = acc.AcceptBit(shift=records * plan.settings.w * plan.settings.clip)
    return acc.compose([(bit, plan.settings.steps * plan.chains)], adjacency=plan.adjacency).epsilon(delta)


@settings(
    max_examples=8, phases=[Phase.generate], deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    n=st.integers(50, 10**8),
    d=st.integers(1, 10),
    scale=st.floats(0.03, 0.5),
    epsilon=st.floats(0.3, 4.0),
    log_delta=st.floats(-9, -3.1),
    adjacency=st.sampled_from(["replace", "add_remove"]),
    chains=st.integers(1, 3),
    w=st.floats(0.1, 1.0),
)
def test_a_plan_never_exceeds_its_budget(n, d, scale, epsilon, log_delta, adjacency, chains, w):
    delta = 10.0**log_delta
    sampler = dp.Barker(scale=scale, w=w)
    try:
        plan = dp.plan(
            dp.LogisticRegression(),
            public(n, d),
            sampler,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            chains=chains,
        )
    except BudgetError:
        shift = (2 if adjacency == "replace" else 1) * w * scale
        one_step_each = acc.compose([(acc.AcceptBit(shift=shift * (1 + 1e-6)), chains)], adjacency=adjacency)
        assert one_step_each.epsilon(delta) > epsilon * (1 - 1e-6)
        return
    assert plan.guarantee.epsilon(delta) <= epsilon
    assert independent_cost(plan, delta) <= epsilon
    more = dp.Barker(steps=plan.settings.steps + 1, scale=scale, w=w)
    if plan.settings.steps < 200:  # otherwise compute, not the budget, may have been the limit
        with pytest.raises(BudgetError):
            dp.plan(
                dp.LogisticRegression(),
                public(n, d),
                more,
                epsilon=epsilon,
                delta=delta,
                adjacency=adjacency,
                chains=chains,
            )


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(500, 10**9),
    d=st.integers(1, 10),
    epsilon=st.floats(0.05, 8.0),
    log_delta=st.floats(-10, -3.1),
    adjacency=st.sampled_from(["replace", "add_remove"]),
    chains=st.integers(1, 8),
)
def test_the_whole_planner_never_exceeds_its_budget(n, d, epsilon, log_delta, adjacency, chains):
    delta = 10.0**log_delta
    facts = public(n, d, public_n=n)
    plan = dp.plan(dp.LogisticRegression(), facts, epsilon=epsilon, delta=delta, adjacency=adjacency, chains=chains)
    assert plan.guarantee.epsilon(delta) <= epsilon
    assert independent_cost(plan, delta) <= epsilon


def test_the_planner_uses_most_of_the_budget_and_no_more():
    plan = planned()
    assert 0.95 < independent_cost(plan, 1e-6) <= plan.guarantee.epsilon(1e-6) <= 1.0
    assert plan.settings.clip >= plan.settings.walk.reach * dp.LogisticRegression().lipschitz(plan.public)
    assert plan.forecast.clipped_at_most == 0.0
    assert plan.forecast.mixes


@pytest.mark.parametrize("chains", [1, 4])
def test_every_chain_is_counted(chains):
    sampler = dp.Barker(steps=500, scale=0.02)
    plan = dp.plan(dp.LogisticRegression(), public(), sampler, chains=chains)
    ((event, uses),) = plan.guarantee.events
    assert uses == 500 * chains
    assert event.shift == pytest.approx(2 * 0.02, rel=1e-6)
    assert event.shift > 2 * 0.02


def test_replace_costs_twice_the_shift_of_add_remove():
    sampler = dp.Barker(steps=10, scale=0.1, w=0.5)
    replace, add = (
        dp.plan(dp.LogisticRegression(), public(), sampler, adjacency=a).guarantee.events[0][0]
        for a in ("replace", "add_remove")
    )
    assert replace.shift == pytest.approx(2 * add.shift, rel=1e-6)
    assert add.shift == pytest.approx(0.05, rel=1e-6)


def test_steps_that_cost_too_much_are_refused_with_advice():
    with pytest.raises(BudgetError) as refusal:
        dp.plan(dp.LogisticRegression(), public(), dp.Barker(steps=10**5, scale=0.2), **BUDGET)
    message = str(refusal.value)
    for word in ("steps", "100000", "epsilon = 1", "delta = 1e-06", "can afford", "Lower"):
        assert word in message
    assert isinstance(refusal.value, PydpmcError)


def test_a_scale_of_which_no_step_is_affordable_is_refused_with_advice():
    with pytest.raises(BudgetError, match=r"scale: one step of this size.*Lower scale"):
        dp.plan(dp.LogisticRegression(), public(), dp.Barker(scale=9.0), **BUDGET)


@pytest.mark.parametrize(
    "sampler", [dp.Barker(steps=2), dp.Barker(scale=1e-9), dp.Barker(steps=2, scale=1e-9)], ids=repr
)
def test_a_budget_that_pays_for_nothing_is_refused(sampler):
    with pytest.raises(BudgetError, match="epsilon = 1e-12"):
        dp.plan(dp.LogisticRegression(), public(10), sampler, epsilon=1e-12, delta=1e-12)


def test_steps_alone_choose_a_scale_within_the_budget():
    plan = dp.plan(dp.LogisticRegression(), public(), dp.Barker(steps=50), **BUDGET)
    assert plan.settings.steps == 50
    assert independent_cost(plan, 1e-6) <= plan.guarantee.epsilon(1e-6) <= 1.0


def test_without_a_budget_a_full_sampler_is_priced_and_an_open_one_refused():
    plan = dp.plan(dp.LogisticRegression(), public(), dp.Barker(steps=100, scale=0.1))
    assert plan.epsilon is None
    assert 0 < plan.guarantee.epsilon(1e-6) < math.inf
    with pytest.raises(ValueError, match="steps and scale must be set"):
        dp.plan(dp.LogisticRegression(), public())


def test_a_batch_of_all_records_is_refused():
    with pytest.raises(ValueError, match="batch_size must be below the number of records, 100, not 100"):
        dp.plan(dp.LogisticRegression(), public(100), dp.Barker(batch_size=100), **BUDGET)


def test_a_minibatch_plan_states_its_event_and_stays_below_c():
    sampler = dp.Barker(steps=1000, batch_size=1000, scale=1e-4)
    plan = dp.plan(dp.LogisticRegression(), public(10**5), sampler)
    ((event, uses),) = plan.guarantee.events
    assert (event.b, event.n, uses) == (1000, 10**5, 1000)
    kappa = (1 - 0.01) / 999
    assert event.v_max >= kappa * (10**5 * plan.settings.clip) ** 2
    assert event.v_max < event.c == plan.settings.c
    with pytest.raises(ValueError, match="needs v_max"):
        dp.plan(dp.LogisticRegression(), public(10**5), dp.Barker(steps=10, batch_size=1000, scale=1.0))


def test_n0_is_another_way_to_say_w():
    sampler = {"steps": 10, "scale": 0.1}
    by_n0 = dp.plan(dp.LogisticRegression(), public(10**5), dp.Barker(n0=1000, **sampler))
    by_w = dp.plan(dp.LogisticRegression(), public(10**5), dp.Barker(w=0.01, **sampler))
    assert by_n0 == by_w
    with pytest.raises(ValueError, match="n0 must be at most the number of records, 10, not 1000"):
        dp.plan(dp.LogisticRegression(), public(10), dp.Barker(n0=1000, **sampler))
    with pytest.raises(ValueError, match="n0 needs a public number of records"):
        dp.plan(dp.LogisticRegression(), public(10**5), dp.Barker(n0=10, **sampler), adjacency="add_remove")
    declared = public(10**5, public_n=100)
    plan = dp.plan(dp.LogisticRegression(), declared, dp.Barker(n0=10, **sampler), adjacency="add_remove")
    assert plan.settings.w == 0.1


def test_private_false_has_no_guarantee_and_says_so():
    plan = dp.plan(dp.LogisticRegression(), public(), private=False)
    assert plan.guarantee.void
    assert plan.guarantee.epsilon(1e-6) == math.inf
    assert "none (private=False)" in str(plan)


PACKAGE = Path(dp.__file__).parent
# What a run does with records belongs to settings.start and to these; they decide nothing.
TOUCH_RECORDS = {
    "noised_sums.py",
    "gaussian_mean.py",
    "linear_regression.py",
    "inner_chains.py",
    "arguments.py",
}
BLIND = [
    path
    for room in ("planning", "samplers", "models")
    for path in sorted((PACKAGE / room).rglob("*.py"))
    if path.name not in TOUCH_RECORDS or room == "models"
]


def imported_names(path):
    tree = ast.parse(path.read_text())
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = [ast.Pass()]
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {node.module or "" for node in found if isinstance(node, ast.ImportFrom)}
    return names | {alias.name for node in found for alias in node.names}


def test_planning_cannot_see_data():
    seeing = {"data.data", "Data", "_core", "pydpmc._core", "pydpmc.data.data"}
    assert len(BLIND) > 40
    found = {path.relative_to(PACKAGE).as_posix() for path in BLIND if imported_names(path) & seeing}
    # These wrap users' functions for the core, which alone shows them records, and proposals, which see none.
    own = {f"models/own/{name}.py" for name in ("code", "compiled", "jax_model", "model")}
    wraps = {*own, "samplers/barker/own_proposal.py"}
    assert found == wraps
    assert not any(imported_names(PACKAGE / path) & (seeing - {"_core"}) for path in found)


def test_a_printed_plan_says_what_runs_what_it_costs_and_whether_it_mixes():
    page = str(planned())
    for word in (
        "steps",
        "epsilon",
        "delta = 1e-06",
        "can it mix?",
        "effective draws",
        "clip",
        "one record replaced",
        "1,000,000",
    ):
        assert word in page
    assert "1,000,000" not in str(planned(adjacency="add_remove", sampler=dp.Barker(steps=40)))


def test_a_printed_epsilon_is_never_below_the_true_one():
    for steps in range(1, 60, 7):
        plan = dp.plan(dp.LogisticRegression(), public(), dp.Barker(steps=steps, scale=0.1), delta=1e-6)
        (line,) = [line for line in str(plan).splitlines() if line.strip().startswith("epsilon")]
        assert float(line.split()[1]) >= plan.guarantee.epsilon(1e-6)


def test_a_printed_delta_is_never_below_the_one_that_was_priced():
    delta = 1.2345649e-6
    plan = dp.plan(dp.LogisticRegression(), public(), dp.Barker(steps=10, scale=0.01), delta=delta)
    assert float(str(plan).split("at delta = ")[1].split()[0]) >= delta


def test_the_forecast_says_no_for_tiny_data():
    plan = dp.plan(dp.LogisticRegression(), public(200), dp.Barker(steps=20, scale=0.02))
    assert plan.forecast.mixes is False
    assert "no: about" in str(plan)
    assert "Verdict: do not use: the chain can make about 1 effective draws." in str(plan)


def test_a_plan_is_a_frozen_value():
    sampler = dp.Barker(steps=20, scale=0.02)
    a, b = (dp.plan(dp.LogisticRegression(), public(200), sampler) for _ in range(2))
    assert a == b
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.chains = 9


def test_a_plan_cannot_be_changed_into_one_that_costs_more_than_it_says():
    plan = dp.plan(dp.LogisticRegression(), public(200), dp.Barker(steps=20, scale=0.02))
    longer = dataclasses.replace(plan.settings, steps=40)
    wider = dataclasses.replace(plan.settings, clip=1.0)
    for change in ({"chains": 2}, {"settings": longer}, {"settings": wider}, {"adjacency": "add_remove"}):
        with pytest.raises(ValueError, match="guarantee is not that of this run"):
            dataclasses.replace(plan, **change)
    small = dp.plan(dp.LogisticRegression(), public(10**4), dp.Barker(steps=5, scale=1e-4, batch_size=500))
    with pytest.raises(ValueError, match="guarantee is not that of this run"):
        dataclasses.replace(small, public=public(10**6))


def test_a_whole_number_of_chains_may_be_a_float():
    plan = dp.plan(dp.LogisticRegression(), public(200), dp.Barker(steps=20.0, scale=0.02), chains=2.0)
    assert type(plan.chains) is type(plan.settings.steps) is int
