"""What random numbers of finite precision cost: (1 + e^epsilon) total_variation in delta, and no more."""

import math

import pytest

from pydpmc import accounting as acc
from pydpmc.errors import UnsupportedEventError

VARIATION = 2e-13  # 10^5 steps of ten coordinates with Poisson samples


@pytest.mark.parametrize("mu", [0.2, 1.0, 2.0, 2.2, 2.3])
@pytest.mark.parametrize("variation", [1e-30, 1e-18, VARIATION, 1e-9])
def test_the_epsilon_returned_was_checked_and_is_nearly_the_smallest(mu, variation):
    guarantee = acc.compose([(acc.GDP(mu), 1)], total_variation=variation)
    found = guarantee.epsilon(1e-6)
    if math.isinf(found):
        epsilons = [k * 0.01 for k in range(5000)]
        assert min(guarantee.delta(e) for e in epsilons) > 1e-6
    else:
        assert guarantee.delta(found) <= 1e-6
        assert guarantee.delta(found * (1 - 1e-5) - 1e-8) > 1e-6


def test_epsilon_beyond_twenty_is_finite_where_the_variation_allows_it():
    exact = acc.compose([(acc.GDP(5.0), 1)])
    guarantee = acc.compose([(acc.GDP(5.0), 1)], total_variation=1e-25)
    assert 30 < exact.epsilon(1e-6) < guarantee.epsilon(1e-6) < exact.epsilon(1e-6) * 1.001
    nearly_too_far = acc.compose([(acc.GDP(5.0), 1)], total_variation=0.2e-6 / math.exp(exact.epsilon(1e-6)))
    assert exact.epsilon(1e-6) * 1.001 < nearly_too_far.epsilon(1e-6) < math.inf


def test_nothing_is_promised_where_the_variation_alone_is_more_than_delta():
    assert acc.compose([(acc.GDP(1.0), 1)], total_variation=1e-6).epsilon(1e-6) == math.inf
    assert acc.compose([(acc.PureDP(1.0), 1)], total_variation=1e-12).epsilon(0.0) == math.inf


def test_a_subsampled_run_beyond_the_fixed_point_is_priced():
    event = acc.Gaussian(0.7).poisson(0.05)
    guarantee = acc.compose([(event, 200)], "add_remove", total_variation=1e-12)
    found = guarantee.epsilon(1e-6)
    assert guarantee.delta(found) <= 1e-6
    assert found < 1.05 * acc.compose([(event, 200)], "add_remove").epsilon(1e-6)


def test_it_is_named_wherever_a_guarantee_is_shown():
    guarantee = acc.compose([(acc.GDP(1.0), 1)], total_variation=VARIATION)
    assert "total_variation=2e-13" in repr(guarantee)
    assert "of the stated one in total variation" in guarantee.statement()
    exact = acc.compose([(acc.GDP(1.0), 1)])
    assert "variation" not in repr(exact) + exact.statement()


def test_it_is_left_out_of_dp_accounting_only_where_it_is_negligible():
    pytest.importorskip("dp_accounting", reason="dp_accounting is not installed (extra pydpmc[accounting])")
    uses = [(acc.Gaussian(1.0), 1)]
    assert acc.compose(uses, total_variation=VARIATION).to_dp_accounting() == acc.compose(uses).to_dp_accounting()
    with pytest.raises(UnsupportedEventError, match="total variation of 1e-08"):
        acc.compose(uses, total_variation=1e-8).to_dp_accounting()
