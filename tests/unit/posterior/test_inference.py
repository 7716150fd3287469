"""Intervals and tests from draws: the formulas, their coverage, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.models.spec import to_spec


def posterior_of(draws, w, precision, mean=0.0, independent=True, model=dp.GaussianMean(), **plan):  # noqa: B008
    """A posterior with these draws of beta, shape (k, d) or (chains, k, d)."""
    draws = np.atleast_3d(draws) if np.ndim(draws) == 3 else np.asarray(draws)[None]
    size = draws.shape[2]
    facts = {
        "w": w,
        "prior_mean": [mean] * size,
        "prior_precision": [precision] * size,
        "independent_draws": independent,
        "model_spec": to_spec(model),
        "public": dp.Public(n=1000, columns=tuple("abcdefghijkl"[:size]), has_target=False).to_dict(),
    }
    labels = {"beta": tuple("abcdefghijkl"[:size])}
    return dp.Posterior({"beta": draws}, labels, acc.Guarantee(events=()), facts | plan, acceptance=())


def test_with_a_flat_prior_it_is_the_spread_of_the_draws_times_w_plus_one_over_k(rng):
    draws, w, k = rng.normal(size=(20, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]]), 0.3, 20
    post = posterior_of(draws, w, 0.0)
    spread = np.cov(draws.T) * (w + 1 / k)
    low, high = post.interval(0.8)["beta[b]"]
    half = stats.t.ppf(0.9, k - 1) * math.sqrt(spread[1, 1])
    assert (low, high) == pytest.approx((draws[:, 1].mean() - half, draws[:, 1].mean() + half))
    away = draws.mean(axis=0) - [0.5, -0.5]
    test = post.wald_test(null=[0.5, -0.5])
    statistic = away @ np.linalg.inv(spread) @ away * (k - 2) / (2 * (k - 1))
    assert test.statistic == pytest.approx(statistic)
    assert test.p_value == pytest.approx(stats.f.sf(statistic, 2, k - 2))


def test_the_formula_of_the_design_where_the_spread_is_known(rng):
    """Centre and covariance of the tempered posterior, from so many draws that their covariance is known."""
    precision, mean, w = 2.0, -1.0, 0.5
    draws = rng.normal(size=(400_000, 2)) @ np.array([[0.4, 0.2], [0.0, 0.3]]) + [0.7, 0.1]
    post = posterior_of(draws, w, precision, mean)
    spread = np.cov(draws.T)
    own = np.linalg.inv(np.linalg.inv(spread) - precision * np.eye(2))
    centre = draws.mean(axis=0) + own @ (precision * (draws.mean(axis=0) - mean))
    found = post.interval(0.9)
    for j, name in enumerate(("beta[a]", "beta[b]")):
        assert found.rows[name]["estimate"] == pytest.approx(centre[j], abs=1e-9)
        assert found.rows[name]["se"] == pytest.approx(math.sqrt(w * own[j, j]), rel=1e-3)


def covered(rng, dim, k, w, pull, repeats, level=0.9):
    """Share of intervals that cover, in a Gaussian model where the prior is `pull` of the draws' precision."""
    shape = 0.5 ** np.abs(np.subtract.outer(np.arange(dim), np.arange(dim)))
    information = (1.0 / pull - 1.0) / w * np.linalg.inv(shape)
    spread = np.linalg.inv(w * information + np.eye(dim))
    truth, hits = np.ones(dim), []
    root, noise = np.linalg.cholesky(spread), np.linalg.cholesky(np.linalg.inv(information))
    for _ in range(repeats):
        best = truth + noise @ rng.normal(size=dim)
        mean = spread @ (w * information @ best)
        rows = posterior_of(mean + rng.normal(size=(k, dim)) @ root.T, w, 1.0).interval(level).rows.values()
        hits.append([row["low"] <= 1.0 <= row["high"] for row in rows])
    return float(np.mean(hits))


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 3, 5])
@pytest.mark.parametrize("pull", [0.01, 0.1])
@pytest.mark.parametrize("w", [0.02, 0.3])
def test_intervals_cover_although_the_prior_pulls(rng, dim, pull, w):
    share = covered(rng, dim, 20, w, pull, repeats=700)  # a standard error of 1.1 % at one parameter
    assert 0.87 <= share <= 0.93


def test_few_draws_of_many_parameters_still_cover(rng):
    assert 0.84 <= covered(rng, 10, 8, 0.1, 0.01, repeats=60) <= 0.96


def test_what_the_error_of_the_spread_adds_is_needed(rng):
    """Without its term the interval would cover about 76 % at five parameters and a tenth of pull."""
    draws = 1.0 + 0.3 * rng.normal(size=(20, 1))
    (row,) = posterior_of(draws, 0.02, 1.0).interval().rows.values()
    spread = float(np.var(draws, ddof=1))
    own = 1.0 / (1.0 / spread - 1.0)
    assert row["se"] ** 2 > 1.3 * (0.02 * own + own**2 / spread / 20)


def test_a_chain_counts_by_its_effective_draws(rng):
    steps, keep = rng.normal(size=(2, 4000)), 0.9
    chains = np.zeros((2, 4000))
    for t in range(1, 4000):
        chains[:, t] = keep * chains[:, t - 1] + math.sqrt(1 - keep**2) * steps[:, t]
    post = posterior_of(chains[:, 400:, None], 0.01, 0.0, independent=False)
    found = post.interval()
    assert found.df + 1 == pytest.approx(7200 * (1 - keep) / (1 + keep), rel=0.35)
    (row,) = found.rows.values()
    assert row["se"] ** 2 == pytest.approx(np.var(chains[:, 400:]) * (0.01 + 1 / (found.df + 1)), rel=1e-2)


def test_a_hot_chain_is_a_posterior_of_smaller_weight(rng):
    draws = 0.3 * rng.normal(size=(1, 2000, 1))
    hot = posterior_of(draws, 0.4, 1.0, independent=False, heat=2.0).interval()
    same = posterior_of(draws, 0.1, 0.25, independent=False).interval()
    assert hot["beta[a]"] == pytest.approx(same["beta[a]"])


def test_a_tempered_prior_counts_as_the_wider_one_that_it_is(rng):
    draws = 0.3 * rng.normal(size=(20, 1))
    tempered = posterior_of(draws, 0.1, 2.0, temper_prior=True).interval()
    assert tempered["beta[a]"] == pytest.approx(posterior_of(draws, 0.1, 0.2).interval()["beta[a]"])


def test_what_is_refused(rng):
    narrow = posterior_of(0.1 * rng.normal(size=(20, 2)), 0.5, 1.0)
    with pytest.raises(ValueError, match="level must lie"):
        narrow.interval(1.0)
    with pytest.raises(ValueError, match=r"no interval for 'gamma'.*beta\[a\], beta\[b\]"):
        narrow.interval(parameters="gamma")
    with pytest.raises(ValueError, match="no narrower than the prior"):
        posterior_of(3.0 * rng.normal(size=(20, 2)), 0.5, 1.0).interval()
    with pytest.raises(ValueError, match="one draw does not show"):
        posterior_of(rng.normal(size=(1, 2)), 0.5, 0.0).interval()
    with pytest.raises(ValueError, match="Normal or Flat prior"):
        posterior_of(rng.normal(size=(20, 2)), 0.5, None).interval()
    with pytest.raises(ValueError, match="effective draws, too few"):
        posterior_of(rng.normal(size=(1, 200, 1)).cumsum(axis=1), 0.5, 0.0, independent=False).interval()
    with pytest.raises(ValueError, match="does not target"):
        posterior_of(rng.normal(size=(20, 2)), 0.5, 0.0, calibration="li2019").interval()
    with pytest.raises(ValueError, match="test 5 parameters"):
        posterior_of(rng.normal(size=(5, 5)), 0.5, 0.0).wald_test()
    with pytest.raises(ValueError, match="null must be"):
        narrow.wald_test(null=[1.0, 2.0, 3.0])


def test_selected_parameters_and_the_printed_table(rng):
    post = posterior_of(0.1 * rng.normal(size=(20, 3)), 0.5, 1.0)
    assert list(post.interval(parameters=["beta[c]", "beta[a]"]).rows) == ["beta[c]", "beta[a]"]
    assert list(post.interval(parameters="beta").rows) == ["beta[a]", "beta[b]", "beta[c]"]
    assert post.wald_test(parameters="beta[b]").df_of_parameters == 1
    assert "90 % confidence intervals" in str(post.interval())


def test_a_run_carries_what_intervals_need_and_a_file_keeps_it(rng, tmp_path):
    x = rng.normal(size=(400, 2))
    data = dp.Data(x, (x @ [1.0, 0.0] + rng.normal(size=400)), row_norm=4.0, y_bounds=(-5, 5))
    model = dp.LinearRegression(prior={"beta": dp.Normal(scale=3.0, loc=0.5), "sigma": dp.Normal()})
    sampler = dp.Barker(steps=20_000, proposal="gaussian", scale=0.05)
    post = dp.sample(model, data, sampler, private=False, progress=False, seed=3)
    assert post.plan["prior_mean"][:2] == [0.5, 0.5]
    assert post.plan["prior_precision"] == [pytest.approx(1 / 9), pytest.approx(1 / 9), None]
    assert list(post.interval().rows) == ["beta[x0]", "beta[x1]"]
    post.save(tmp_path / "post.npz")
    assert dp.Posterior.load(tmp_path / "post.npz").interval().rows == post.interval().rows


def skew_draws(rng, k, dim, size=4.0):
    """Draws whose log density is size (t - exp t), coordinate by coordinate: its maximum is at 0."""
    return np.log(rng.gamma(size, 1.0 / size, size=(k, dim)))


def test_the_mean_of_skew_draws_is_moved_to_their_mode(rng):
    draws = skew_draws(rng, 20_000, 2)
    found = posterior_of(draws, 0.5, 0.0, model=dp.PoissonRegression()).interval()
    for row in found.rows.values():  # the third moment is all but 6 % of the way at a skewness of 0.5
        assert row["estimate"] == pytest.approx(0.0, abs=0.02)
    taken_for_gaussian = posterior_of(draws, 0.5, 0.0).interval()
    assert taken_for_gaussian.rows["beta[a]"]["estimate"] < -0.11


def test_bounds_that_rule_skewness_out_cost_no_width(rng):
    draws = 1e-4 * rng.normal(size=(5, 2))
    public = dp.Public(n=10**6, columns=("a", "b"), has_target=True, row_norm=1.0).to_dict()
    bounded = posterior_of(draws, 0.3, 0.1, model=dp.LogisticRegression(), public=public).interval()
    assert bounded.rows == posterior_of(draws, 0.3, 0.1).interval().rows


def test_skewness_that_draws_do_not_show_is_refused_with_the_reason(rng):
    with pytest.raises(dp.errors.InvalidArgument, match="use at least 16 draws, fewer parameters, or declare smaller"):
        posterior_of(skew_draws(rng, 15, 2), 0.5, 0.0, model=dp.LogisticRegression()).interval()
    far = 3.0 + 0.5 * rng.normal(size=(40, 1))
    with pytest.raises(dp.errors.InvalidArgument, match="the prior moves the skewed draws too far"):
        posterior_of(far, 0.5, 1.0, model=dp.LogisticRegression()).interval()


def test_a_pull_that_draws_do_not_show_is_refused_with_the_reason(rng):
    with pytest.raises(dp.errors.InvalidArgument, match="interval has no end; use a wider prior, more draws"):
        posterior_of(1.0 + 0.4 * rng.normal(size=(6, 3)), 0.1, 1.0).interval()
    with pytest.raises(
        dp.errors.InvalidArgument, match="5 draws do not show how far the prior pulls them; take at least 6"
    ):
        posterior_of(1.0 + 0.4 * rng.normal(size=(5, 3)), 0.1, 1.0).interval()


@pytest.mark.parametrize("model", [dp.LogisticRegression(), dp.PoissonRegression(), dp.BernoulliLogit()])
def test_third_derivatives_are_within_the_stated_multiple_of_second_ones(model, rng):
    """Differences of the second derivative of log(1 + exp) or exp along random directions."""
    public = dp.Public(n=9, columns=("a", "b"), has_target=True, row_norm=1.5)
    bound = model.self_concordance(public)
    poisson = isinstance(model, dp.PoissonRegression)
    for _ in range(50):
        theta, u = rng.normal(size=(2, 2))
        x = np.array([1.0, 0.0]) if isinstance(model, dp.BernoulliLogit) else 1.5 * np.array([0.6, 0.8])

        def second(t, x=x, theta=theta, u=u):
            p = 1.0 / (1.0 + math.exp(-x @ (theta + t * u)))
            return math.exp(x @ (theta + t * u)) if poisson else p * (1.0 - p)

        third = abs(second(1e-4) - second(-1e-4)) / 2e-4
        assert third <= bound * np.linalg.norm(u) * second(0.0) * (1 + 1e-6)
