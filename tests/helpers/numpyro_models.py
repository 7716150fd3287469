"""Twenty NumPyro models as their users write them, with an example of a record and bounds of its columns."""

import numpy as np


def all_models():
    """Return {name: (function, record, x_bounds, y_bounds, options)}; imports NumPyro."""
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    sample, plate = numpyro.sample, numpyro.plate
    two, unit = {"x": np.zeros(2), "y": 0.0}, (-1.0, 1.0)
    count, label = {"x": np.zeros(2), "y": 0}, {"x": np.zeros(2), "y": 0}
    real, grouped = {"y": 0.0}, {"x": np.zeros(2), "group": 0, "y": 0}

    def coefficients(scale=1.0, d=2):
        return sample("beta", dist.Normal(0.0, scale).expand([d]).to_event(1))

    def logistic(x, y=None):
        beta, alpha = coefficients(), sample("alpha", dist.Normal(0.0, 2.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.Bernoulli(logits=alpha + x @ beta), obs=y)

    def linear(x, y=None):
        beta, sigma = coefficients(), sample("sigma", dist.HalfNormal(1.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, sigma), obs=y)

    def linear_exponential(x, y=None):
        beta, sigma = coefficients(), sample("sigma", dist.Exponential(1.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, sigma), obs=y)

    def poisson(x, y=None):
        with plate("columns", 2):
            beta = sample("beta", dist.Normal(0.0, 1.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.Poisson(jnp.exp(x @ beta)), obs=y)

    def negative_binomial(x, y=None):
        beta, dispersion = coefficients(), sample("dispersion", dist.Gamma(2.0, 1.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.NegativeBinomial2(jnp.exp(x @ beta), dispersion), obs=y)

    def robust(x, y=None):
        beta, sigma = coefficients(), sample("sigma", dist.HalfCauchy(1.0))
        nu = sample("nu", dist.Gamma(2.0, 0.1))
        with plate("records", x.shape[0]):
            sample("obs", dist.StudentT(nu, x @ beta, sigma), obs=y)

    def hierarchical_logistic(x, group, y=None, groups=4):
        beta, mu = coefficients(), sample("mu", dist.Normal(0.0, 1.0))
        tau = sample("tau", dist.HalfNormal(1.0))
        with plate("groups", groups):
            alpha = sample("alpha", dist.Normal(mu, tau))
        with plate("records", x.shape[0]):
            sample("obs", dist.Bernoulli(logits=alpha[group] + x @ beta), obs=y)

    def non_centred(x, group, y=None, groups=4):
        beta, tau = coefficients(), sample("tau", dist.HalfCauchy(1.0))
        with plate("groups", groups):
            z = sample("z", dist.Normal(0.0, 1.0))
        alpha = numpyro.deterministic("alpha", tau * z)
        with plate("records", x.shape[0]):
            sample("obs", dist.Poisson(jnp.exp(alpha[group] + x @ beta)), obs=y)

    def ordered(x, y=None):
        beta = coefficients()
        cut = sample("cut", dist.TransformedDistribution(
            dist.Normal(0.0, 2.0).expand([2]).to_event(1), dist.transforms.OrderedTransform()))  # fmt: skip
        with plate("records", x.shape[0]):
            sample("obs", dist.OrderedLogistic(x @ beta, cut), obs=y)

    def mixture(y=None):
        weights = sample("weights", dist.Dirichlet(jnp.ones(2)))
        centres = sample("centres", dist.Normal(jnp.array([-1.0, 1.0]), 0.5).to_event(1))
        with plate("records", y.shape[0]):
            parts = dist.Normal(centres, 0.5)
            sample("obs", dist.MixtureSameFamily(dist.Categorical(weights), parts), obs=y)

    def weibull(x, censored, y=None):
        beta, shape = coefficients(d=1), sample("shape", dist.LogNormal(0.0, 0.5))
        scale = jnp.exp(x @ beta)
        with plate("records", x.shape[0]):
            log_survival = -((y / scale) ** shape)
            log_hazard = jnp.log(shape / scale) + (shape - 1.0) * jnp.log(y / scale)
            numpyro.factor("obs", jnp.where(censored > 0, log_survival, log_survival + log_hazard))

    def change_point(x, y=None):
        before, after = sample("before", dist.Normal(0.0, 1.0)), sample("after", dist.Normal(0.0, 1.0))
        at = sample("at", dist.Uniform(-1.0, 1.0))
        with plate("records", x.shape[0]):
            late = jax.nn.sigmoid(20.0 * (x[:, 0] - at))
            sample("obs", dist.Normal(before + (after - before) * late, 0.5), obs=y)

    def beta_regression(x, y=None):
        beta, phi = coefficients(), sample("phi", dist.Gamma(4.0, 0.5))
        with plate("records", x.shape[0]):
            mean = jax.nn.sigmoid(x @ beta)
            sample("obs", dist.Beta(mean * phi, (1.0 - mean) * phi), obs=y)

    def gamma_regression(x, y=None):
        beta, shape = coefficients(), sample("shape", dist.Gamma(2.0, 1.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.Gamma(shape, shape / jnp.exp(x @ beta)), obs=y)

    def zero_inflated(x, y=None):
        beta, gate = coefficients(), sample("gate", dist.Beta(2.0, 2.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.ZeroInflatedPoisson(gate, jnp.exp(x @ beta)), obs=y)

    def horseshoe(x, y=None):
        tau = sample("tau", dist.HalfCauchy(0.5))
        local = sample("local", dist.HalfCauchy(1.0).expand([2]).to_event(1))
        beta = sample("beta", dist.Normal(0.0, tau * local).to_event(1))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def correlated(x):
        scale = sample("scale", dist.HalfNormal(jnp.ones(2)).to_event(1))
        factor = sample("factor", dist.LKJCholesky(2, 2.0))
        with plate("records", x.shape[0]):
            sample("obs", dist.MultivariateNormal(jnp.zeros(2), scale_tril=scale[:, None] * factor), obs=x)

    def classes(x, y=None):
        beta = sample("beta", dist.Normal(0.0, 1.0).expand([2, 3]).to_event(2))
        with plate("records", x.shape[0]):
            sample("obs", dist.Categorical(logits=x @ beta), obs=y)

    def lasso(x, y=None):
        scale = sample("scale", dist.InverseGamma(3.0, 1.0))
        beta = sample("beta", dist.Laplace(0.0, scale).expand([2]).to_event(1))
        with plate("records", x.shape[0]):
            sample("obs", dist.Laplace(x @ beta, 1.0), obs=y)

    def heteroscedastic(x, y=None):
        beta, gamma = coefficients(), sample("gamma", dist.Laplace(0.0, 1.0).expand([2]).to_event(1))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, jnp.exp(0.5 * x @ gamma)), obs=y)

    groups, wide = ((-1.0, -1.0, 0.0), (1.0, 1.0, 3.0)), ((-1.0, 0.0), (1.0, 1.0))
    censoring = {"x": np.zeros(1), "censored": 0, "y": 1.0}
    return {
        "logistic": (logistic, label, unit, (0.0, 1.0), {}),
        "linear": (linear, two, unit, (-3.0, 3.0), {}),
        "linear_exponential": (linear_exponential, two, unit, (-3.0, 3.0), {}),
        "poisson": (poisson, count, unit, (0.0, 9.0), {}),
        "negative_binomial": (negative_binomial, count, unit, (0.0, 9.0), {}),
        "robust": (robust, two, unit, (-3.0, 3.0), {}),
        "hierarchical_logistic": (hierarchical_logistic, grouped, groups, (0.0, 1.0), {"groups": 4}),
        "non_centred": (non_centred, grouped, groups, (0.0, 9.0), {"groups": 4}),
        "ordered": (ordered, label, unit, (0.0, 2.0), {}),
        "mixture": (mixture, real, (-3.0, 3.0), None, {}),
        "weibull": (weibull, censoring, wide, (0.1, 5.0), {}),
        "change_point": (change_point, {"x": np.zeros(1), "y": 0.0}, unit, (-3.0, 3.0), {}),
        "beta_regression": (beta_regression, two, unit, (0.05, 0.95), {}),
        "gamma_regression": (gamma_regression, two, unit, (0.1, 5.0), {}),
        "zero_inflated": (zero_inflated, count, unit, (0.0, 9.0), {}),
        "horseshoe": (horseshoe, two, unit, (-3.0, 3.0), {}),
        "correlated": (correlated, {"x": np.zeros(2)}, (-3.0, 3.0), None, {}),
        "classes": (classes, label, unit, (0.0, 2.0), {}),
        "lasso": (lasso, two, unit, (-3.0, 3.0), {}),
        "heteroscedastic": (heteroscedastic, two, unit, (-3.0, 3.0), {}),
    }


_NAMES = """
logistic linear linear_exponential poisson negative_binomial robust hierarchical_logistic non_centred ordered mixture
weibull change_point beta_regression gamma_regression zero_inflated horseshoe correlated classes lasso heteroscedastic
"""
NAMES = tuple(_NAMES.split())
