"""A plan as a measurement of OpenDP, with the real package."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument, PydpmcError, WrongType

odp = pytest.importorskip("opendp.prelude", reason="opendp is not installed: pip install 'pydpmc[opendp]'")


@pytest.fixture(autouse=True)
def _allowed():
    odp.enable_features("contrib", "honest-but-curious")


@pytest.fixture
def data():
    return dp.Data(np.repeat([1.0, 0.0], [600, 400]), public_n=1000)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_plan_is_a_measurement_with_its_price_and_its_draws(data, adjacency):
    plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6, adjacency=adjacency)
    measurement = dp.to_opendp(plan, delta=1e-6, progress=False)
    assert measurement.map(1) == (plan.guarantee.epsilon(1e-6), 1e-6)
    assert measurement.map(0) == (0.0, 0.0)
    assert measurement.check(1, (1.0, 1e-6))
    assert not measurement.check(1, (0.9 * plan.guarantee.epsilon(1e-6), 1e-6))
    metric = odp.change_one_distance() if adjacency == "replace" else odp.symmetric_distance()
    assert str(measurement.input_metric) == str(metric)
    post = measurement(data)
    assert isinstance(post, dp.Posterior)
    assert post.guarantee == plan.guarantee


def test_opendp_composes_two_runs_to_at_least_what_they_cost(data):
    plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=0.5, delta=1e-6)
    one = dp.to_opendp(plan, delta=1e-6, progress=False)
    both = odp.c.make_composition([one, one])
    epsilon, delta = both.map(1)
    assert epsilon >= dp.accounting.combine([plan.guarantee] * 2).epsilon(delta)
    assert (epsilon, delta) == pytest.approx((2 * plan.guarantee.epsilon(1e-6), 2e-6))
    first, second = both(data)
    assert not np.array_equal(first.draws["theta"], second.draws["theta"])


def test_a_run_is_charged_to_the_ledger(data, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=3, delta=1e-5)
    plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6)
    dp.to_opendp(plan, delta=1e-6, ledger=ledger, progress=False)(data)
    assert len(ledger.history()) == 1


def test_what_has_no_guarantee_or_an_unsaid_assumption_is_refused(data):
    plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6)
    for option in ({"seed": 1}, {"unsafe_diagnostics": True}):
        with pytest.raises(InvalidArgument, match="voids the guarantee"):
            dp.to_opendp(plan, delta=1e-6, **option)
    without = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=40), private=False)
    with pytest.raises(InvalidArgument, match="has none"):
        dp.to_opendp(without, delta=1e-6)
    conditional = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6, assumptions=["nobody lied"])
    with pytest.raises(InvalidArgument, match=r"nobody lied.*accept_assumptions=True"):
        dp.to_opendp(conditional, delta=1e-6)
    assert dp.to_opendp(conditional, delta=1e-6, accept_assumptions=True).map(1)[0] <= 1
    with pytest.raises(WrongType, match="plan"):
        dp.to_opendp("plan", delta=1e-6)
    with pytest.raises(PydpmcError, match="delta"):
        dp.to_opendp(plan, delta=0)


def test_a_change_of_more_than_one_record_is_refused(data):
    plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6)
    with pytest.raises(odp.OpenDPException, match="one unit"):
        dp.to_opendp(plan, delta=1e-6).map(2)


def test_other_inputs_than_the_planned_data_are_refused(data):
    plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6)
    measurement = dp.to_opendp(plan, delta=1e-6, progress=False)
    for wrong in ([1.0, 0.0], dp.Data(np.zeros(5))):
        with pytest.raises(odp.OpenDPException):
            measurement(wrong)
