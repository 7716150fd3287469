"""Priors: checks, starts, and that the core uses the stated density, replayed bit by bit."""

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import prior_draws

random = _core.random
SEED, STEPS = 11, 4000

LAWS = [
    (dp.Normal(scale=0.4, loc=0.2), stats.norm(0.2, 0.4)),
    (dp.Laplace(scale=0.3, loc=-0.1), stats.laplace(-0.1, 0.3)),
    (dp.StudentT(df=2.5, scale=0.2, loc=0.3), stats.t(2.5, 0.3, 0.2)),
    (dp.StudentT(df=1.0), stats.cauchy()),
]


def named(value):
    return repr(value) if isinstance(value, dp.models.priors.Prior) else "law"


def accept_bits(prior_table, theta, proposal):
    """Accept bits where the only record says nothing: the prior alone decides."""
    dim = len(prior_table)
    target = _core.Target(
        rows=np.full((1, dim), np.nan),
        columns=dim,
        has_target=False,
        model="gaussian_mean",
        intercept=False,
        constants=(1.0, 0.0),
        prior=prior_table,
    )
    chains = _core.Chains(
        init=np.zeros((1, dim)),
        draws=np.zeros((1, 1, dim)),
        warmup=0,
        thin=1,
        seed=SEED,
    )
    core = _core.BarkerRun(
        target,
        chains,
        proposal=0,
        radius=1.0,
        factor=[1.0] * dim,
        shift_per_clip=1.0,
        clip=1.0,
        bits=30,
        batch=0,
        v_max=0.0,
        c=1.0,
        x_max=0.0,
        atoms=[],
        weights=[],
    )
    return core.audit(list(theta), list(proposal), 0, STEPS).astype(bool)


def replayed_bits(log_ratio):
    """The same bits from the definition: one word of the step's stream against P(accept) = logistic(D)."""
    threshold, complement = random.probability_from_logit(log_ratio)
    key = random.key_from_seed(SEED)
    words = [random.Stream(key, random.purposes["accept"], 0, t).next64() for t in range(STEPS)]
    return np.array([(word < threshold) != complement for word in words])


@pytest.mark.parametrize(
    ("prior", "law"), LAWS, ids=lambda value: repr(value) if isinstance(value, dp.models.priors.Prior) else "law"
)
def test_the_core_uses_the_stated_density(prior, law, rng):
    for theta, proposal in rng.normal(size=(5, 2, 2)):
        log_ratio = float(law.logpdf(proposal).sum() - law.logpdf(theta).sum())
        bits = accept_bits(prior.table(2, False), theta, proposal)
        np.testing.assert_array_equal(bits, replayed_bits(log_ratio))


@pytest.mark.parametrize(
    ("prior", "law"), LAWS, ids=lambda value: repr(value) if isinstance(value, dp.models.priors.Prior) else "law"
)
def test_a_positive_coordinate_is_sampled_on_the_log_scale_with_its_jacobian(prior, law, rng):
    for theta, proposal in rng.normal(size=(3, 2, 1)):
        log_ratio = float((law.logpdf(np.exp(proposal)) + proposal).sum() - (law.logpdf(np.exp(theta)) + theta).sum())
        bits = accept_bits(prior.table(1, True), theta, proposal)
        np.testing.assert_array_equal(bits, replayed_bits(log_ratio))


def test_a_flat_prior_accepts_half():
    np.testing.assert_array_equal(accept_bits(dp.Flat().table(1, False), [0.0], [99.0]), replayed_bits(0.0))


def test_a_wrong_density_would_be_noticed():
    assert (accept_bits(dp.Normal(1.0).table(1, False), [0.0], [1.0]) != replayed_bits(-0.51)).any()


@pytest.mark.parametrize(
    ("prior", "law"), LAWS, ids=lambda value: repr(value) if isinstance(value, dp.models.priors.Prior) else "law"
)
def test_draws_are_quantiles_of_the_law(prior, law):
    uniforms = np.array([1e-9, 0.1, 0.5, 0.77, 1 - 1e-9])
    np.testing.assert_allclose(prior.draw(5, uniforms), law.ppf(uniforms), rtol=1e-6, atol=1e-9)


def test_scales_and_locations_may_differ_by_coefficient():
    prior = dp.Normal(scale=[1.0, 2.0], loc=np.array([3.0, 4.0]))
    np.testing.assert_array_equal(prior.table(2, False)[:, 1:3], [[3.0, 1.0], [4.0, 2.0]])
    np.testing.assert_array_equal(prior.centre(2), [3.0, 4.0])
    np.testing.assert_array_equal(prior.precision(2), [1.0, 0.25])
    assert hash(prior) == hash(dp.Normal(scale=(1.0, 2.0), loc=(3.0, 4.0)))


def test_precisions_are_the_fisher_informations_of_location():
    step = 1e-4
    for prior, law in LAWS[:1] + LAWS[2:]:
        x = law.ppf((np.arange(20_000) + 0.5) / 20_000)
        score = (law.logpdf(x + step) - law.logpdf(x - step)) / (2 * step)
        assert prior.precision(1)[0] == pytest.approx((score**2).mean(), rel=2e-3)
    assert dp.Laplace(0.5).precision(1)[0] == 4.0
    assert dp.Flat().precision(3).tolist() == [0.0] * 3


@pytest.mark.parametrize("kind", [dp.Normal, dp.Laplace, dp.StudentT])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan, (1.0, 0.0)])
def test_a_scale_must_be_positive_and_finite(kind, bad):
    with pytest.raises(ValueError, match="prior scale must be positive and finite"):
        kind(scale=bad)
    with pytest.raises(ValueError, match="prior loc must be finite"):
        kind(loc=np.nan)


def test_degrees_of_freedom_must_be_positive_and_finite():
    with pytest.raises(ValueError, match="df must be"):
        dp.StudentT(df=0.0)


def test_nothing_can_be_drawn_from_a_flat_prior():
    with pytest.raises(ValueError, match="prior is Flat, which is improper"):
        dp.Flat().draw(1, np.array([0.5]))


def test_starts_from_the_prior_differ_by_chain_and_repeat_by_seed():
    public = dp.Public(9, ("a", "b"), True)
    model = dp.LinearRegression(prior=dp.Normal(scale=2.0))
    starts = prior_draws(model, public, 3, seed=5)
    assert starts.shape == (3, 3)
    assert len(np.unique(starts)) == 9
    np.testing.assert_array_equal(starts, prior_draws(model, public, 3, seed=5))
    assert not np.isin(starts, prior_draws(model, public, 3, seed=None)).any()
