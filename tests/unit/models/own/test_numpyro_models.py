"""Twenty unmodified NumPyro models: densities are NumPyro's, runs go through, draws are on natural scales."""

import numpy as np
import numpyro_models
import own_logistic
import pytest

import pydpmc as dp
from pydpmc.models.own.records import made_up

FEW = ("hierarchical_logistic", "mixture")  # in the default run; all of them nightly
N = 30


def everywhere(names):
    return [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in names]


def case(name, n=N):
    own_logistic.needs("numpyro")
    function, record, x_bounds, y_bounds, options = numpyro_models.all_models()[name]
    model = dp.models.from_numpyro(function, record=record, options=options)
    width = sum(int(np.size(value)) for key, value in record.items() if key != "y" or y_bounds is None)
    low, high = (np.broadcast_to(bound, width) for bound in x_bounds)
    bounds = tuple((float(a), float(b)) for a, b in zip(low, high, strict=True))
    columns = tuple(f"c{j}" for j in range(width))
    public = dp.Public(n=n, columns=columns, has_target=y_bounds is not None, x_bounds=bounds, y_bounds=y_bounds)
    x, y = made_up(public, model.layout_in(public), n)
    data = dp.Data(x, y, x_bounds=(low, high), y_bounds=y_bounds, columns=columns)
    return model, function, options, data, (x, y)


def log_prior(table, theta):
    """Return the core's log prior of a table of terms, written out."""
    total = 0.0
    for (kind, loc, scale, df, positive), at in zip(table, theta, strict=True):
        z = ((np.exp(at) if positive else at) - loc) / scale
        total += (0.0, -0.5 * z**2, -abs(z), -0.5 * (df + 1.0) * np.log1p(z**2 / df))[int(kind)]
        total += at if positive else 0.0
    return total


def ours(model, data, x, y):
    """Return the log density of theta as the core adds it up, and its gradient's likelihood and joint-prior part."""
    loglik, gradient = model.code.functions(data.public)
    table = model.prior_table(data.public)

    def density(theta):
        values = np.empty(len(x))
        loglik(theta, x, y, values)
        joint = 0.0 if model.public_prior is None else model.public_prior.of(theta, None)
        return values.sum() + joint + log_prior(table, theta)

    def slope(theta):
        values, slopes = np.empty((len(x), len(theta))), np.zeros(len(theta))
        gradient(theta, x, y, values)
        if model.public_prior is not None:
            model.public_prior.of(theta, slopes)
        step = 1e-6 * np.eye(len(theta))
        plain = [(log_prior(table, theta + e) - log_prior(table, theta - e)) / 2e-6 for e in step]
        return values.sum(axis=0) + slopes + np.array(plain)

    return density, slope


@pytest.mark.parametrize("name", everywhere(numpyro_models.NAMES))
def test_density_and_gradient_are_those_of_numpyro(name):
    model, function, options, data, (x, y) = case(name)
    import jax
    import jax.numpy as jnp
    from numpyro.infer.util import potential_energy

    with jax.enable_x64(True):
        fields = model.layout_in(data.public).of(
            jnp.asarray(x), None if y is None else jnp.asarray(y), lambda v: v.astype(int)
        )

        def reference(theta):
            values, start = {}, 0
            for site in model.sites:
                shape = site.shape if site.to_natural is None else site.to_natural.shape
                values[site.name] = theta[start : start + site.size].reshape(shape)
                start += site.size
            return -potential_energy(function, (), {**fields, **options}, values)

        density, slope = ours(model, data, x, y)
        random = np.random.default_rng(1)
        dim = model.dim(data.public)
        thetas = [0.5 * random.normal(size=dim) for _ in range(3)]
        theirs = [float(reference(jnp.asarray(theta))) for theta in thetas]
        found = [density(theta) for theta in thetas]
        assert np.allclose(np.diff(found), np.diff(theirs), rtol=1e-9, atol=1e-8)
        expected = np.asarray(jax.grad(reference)(jnp.asarray(thetas[0])))
        assert np.allclose(slope(thetas[0]), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", everywhere(numpyro_models.NAMES))
def test_a_private_run_gives_named_draws_on_the_natural_scale(name):
    model, _, _, data, _ = case(name)
    sampler = dp.SGLD(steps=6, step_size=1e-3, sampling="full", clip=1.0)
    post = dp.sample(model, data, sampler, delta=1e-6, progress=False, warmup=0)
    assert list(post.draws) == [site.name for site in model.sites]
    for site in model.sites:
        assert post.draws[site.name].shape == (1, 6, int(np.prod(site.shape)))
    assert post.plan["shapes"] == {site.name: list(site.shape) for site in model.sites}
    for scale in {"sigma", "tau", "dispersion", "shape", "phi", "nu"} & set(post.draws):
        assert (post.draws[scale] > 0.0).all()
    if name == "mixture":
        assert np.allclose(post.draws["weights"].sum(axis=2), 1.0)
    if name == "ordered":
        assert (np.diff(post.draws["cut"], axis=2) > 0.0).all()
    assert any("JAX" in assumption for assumption in post.guarantee.assumptions)


@pytest.mark.slow
@pytest.mark.parametrize("name", numpyro_models.NAMES)
def test_the_posterior_without_privacy_is_that_of_numpyro(name):
    """Means agree within the Monte Carlo errors of both, in posterior standard deviations."""
    model, function, options, data, (x, y) = case(name, n=200)
    import jax
    from numpyro.infer import MCMC, NUTS

    post = dp.sample(model, data, dp.NUTS(draws=1500, warmup=800), private=False, chains=2, seed=1, progress=False)
    with jax.enable_x64(True):
        fields = model.layout_in(data.public).of(x, y, lambda v: v.astype(int))
        mcmc = MCMC(NUTS(function), num_warmup=800, num_samples=3000, progress_bar=False)
        mcmc.run(jax.random.PRNGKey(0), **fields, **options)
    for key, values in mcmc.get_samples().items():
        if key not in post.draws:
            continue  # a deterministic site
        theirs = np.asarray(values).reshape(3000, -1)
        found = post.draws[key].reshape(3000, -1)
        middle, spread = np.median(theirs, axis=0), np.maximum(theirs.std(axis=0), 1e-12)
        assert np.all(np.abs(np.median(found, axis=0) - middle) < 0.3 * spread), key


def test_discrete_sites_are_whole_numbers_that_barker_samples():
    own_logistic.needs("numpyro")
    import numpyro
    import numpyro.distributions as dist

    def change_point(x, y=None):
        change = numpyro.sample("change", dist.DiscreteUniform(1, 9))
        late = numpyro.sample("late", dist.Normal(0.0, 1.0))
        with numpyro.plate("records", x.shape[0]):
            numpyro.sample("obs", dist.Normal((x >= change) * late, 1.0), obs=y)

    model = dp.models.from_numpyro(change_point, record={"x": 0, "y": 0.0})
    random = np.random.default_rng(2)
    x = random.integers(0, 10, 200)
    data = dp.Data(
        x[:, None].astype(float), np.clip((x >= 4) + random.normal(size=200), -4, 4), x_bounds=(0, 9), y_bounds=(-4, 4)
    )
    post = dp.sample(
        model,
        data,
        dp.Barker(steps=3000, scale=[3.0, 0.3], clip=20.0),
        private=False,
        seed=3,
        progress=False,
        anyway=True,
    )
    change = post.draws["change"]
    assert np.all(change % 1 == 0)
    assert change.min() >= 1
    assert np.bincount(change.ravel().astype(int)).argmax() == 4
    with pytest.raises(dp.errors.InvalidArgument, match="change is a whole number"):
        dp.plan(model, data.public, dp.SGLD(clip=1.0), epsilon=1.0, delta=1e-6)
