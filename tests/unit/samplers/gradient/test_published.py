"""The papers' own rules by name: a run follows the printed rule, and our accountant prices it."""

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import BudgetError

PUBLIC = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
MODEL = dp.LogisticRegression()


def plan(sampler, **budget):
    return dp.plan(MODEL, PUBLIC, sampler, **budget)


def test_li2019_injects_half_the_variance():
    printed = plan(dp.SGLD(calibration="li2019", steps=100, step_size=0.05, batch_size=500)).settings
    right = plan(dp.SGLD(steps=100, step_size=0.05 / PUBLIC.n, batch_size=500)).settings
    assert printed.step_sizes == pytest.approx(right.step_sizes)
    assert printed.noise**2 == pytest.approx(right.noise**2 / 2)
    on_theta = printed.step_sizes * printed.noise / printed.rate
    assert on_theta**2 == pytest.approx(0.05 / PUBLIC.n)


def test_li2019_chooses_the_largest_decreasing_step_within_the_budget():
    chosen = plan(dp.SGLD(calibration="li2019", steps=200, batch_size=1000), epsilon=0.3, delta=1e-5)
    h = chosen.settings.step_sizes
    assert h / h[0] == pytest.approx(np.arange(1.0, 201.0) ** (-1 / 3))
    assert 0.95 * 0.3 < chosen.guarantee.epsilon(1e-5) <= 0.3


def test_wang2015_without_step_size_takes_the_bound_that_papers_003_quotes():
    chosen = plan(dp.SGLD(calibration="wang2015", steps=10_000, batch_size=100), epsilon=0.1, delta=1e-5)
    assert chosen.settings.sampling == "without_replacement"
    assert chosen.settings.step_sizes[0] * PUBLIC.n == pytest.approx(1.48e-6, rel=2e-3)
    assert chosen.guarantee.epsilon(1e-5) < 0.1 / 20  # loose by a factor of 47


def test_wang2015_noise_is_the_larger_of_two():
    eta = 1e-8
    chosen = plan(dp.SGLD(calibration="wang2015", steps=100, step_size=eta, batch_size=100), epsilon=0.1, delta=1e-5)
    needed = 128 * 100 * (1.0 / 0.1) ** 2 * math.log(2.5 * 100 / 1e-5) * math.log(2 / 1e-5)
    on_theta = chosen.settings.step_sizes * chosen.settings.noise / chosen.settings.rate
    assert needed * eta > 0.1
    assert on_theta**2 == pytest.approx(max(needed * eta**2, eta))
    assert chosen.settings.temperatures == pytest.approx(max(needed * eta, 1.0) / 2)


def test_the_page_says_what_the_chain_targets():
    text = str(plan(dp.SGLD(calibration="li2019", steps=100, step_size=0.05, batch_size=500)))
    assert "li2019" in text
    assert "exp(-2 U), not exp(-U)" in text


def test_a_printed_rule_over_budget_is_refused():
    with pytest.raises(BudgetError, match="by our accounting"):
        plan(dp.SGLD(calibration="li2019", steps=10_000, step_size=0.103, batch_size=500), epsilon=0.1, delta=1e-5)


def test_the_chain_has_half_the_variance():
    x = np.repeat([1.0, 0.0], [5000, 5000])
    data = dp.Data(x)
    eta = 0.05 * len(x) / (len(x) / 4)  # a twentieth of the relaxation time
    sampler = dp.SGLD(calibration="li2019", steps=40_000, step_size=eta, sampling="full")
    post = dp.plan(dp.BernoulliLogit(), data.public, sampler).run(data, progress=False, seed=1)
    assert float(np.var(post.draws["theta"])) == pytest.approx(0.5 * 4 / len(x), rel=0.15)


@pytest.mark.parametrize(
    "sampler",
    [
        dp.SGLD(calibration="li2019", batch_size=100, step_size=0.1),
        dp.SGLD(calibration="li2019", steps=10, step_size=0.1),
        dp.SGLD(calibration="li2019", steps=10, batch_size=100),
        dp.SGLD(calibration="wang2015", steps=10, batch_size=100),
        dp.SGLD(calibration="li2019", steps=10, step_size=0.1, batch_size=100, w=0.5),
    ],
)
def test_what_the_rule_needs_must_be_given(sampler):
    with pytest.raises(ValueError, match="calibration="):
        plan(sampler)


def test_unknown_name_is_refused():
    with pytest.raises(ValueError, match="calibration"):
        dp.SGLD(calibration="abadi2016")
