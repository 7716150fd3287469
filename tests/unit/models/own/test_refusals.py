"""Models that are no likelihood of single records are refused before anything is charged, and the message says why."""

import itertools

import numpy as np
import own_logistic
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument, WrongType

D = 2
RECORD = {"x": np.zeros(D), "y": 0.0}
calls = itertools.count()


def numpyro_cases():
    own_logistic.needs("numpyro")
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    sample, plate = numpyro.sample, numpyro.plate

    def prior():
        return sample("beta", dist.Normal(0.0, 1.0).expand([D]).to_event(1))

    def latent_of_each_record(x, y=None):
        beta = prior()
        with plate("records", x.shape[0]):
            eps = sample("eps", dist.Normal(0.0, 1.0))
            sample("obs", dist.Normal(x @ beta + eps, 1.0), obs=y)

    def latent_by_shape(x, y=None):
        beta = prior()
        eps = sample("eps", dist.Normal(0.0, 1.0).expand([x.shape[0]]))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta + eps, 1.0), obs=y)

    def discrete(x, y=None):
        z = sample("z", dist.Multinomial(3, jnp.array([0.5, 0.5])))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ z, 1.0), obs=y)

    def no_plate(x, y=None):
        sample("obs", dist.Normal(x @ prior(), 1.0), obs=y)

    def other_plate(x, y=None):
        beta = prior()
        with plate("rows", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def fixed_plate(x, y=None):
        beta = prior()
        with plate("records", 1):
            sample("obs", dist.Normal((x @ beta)[:1], 1.0), obs=y[:1])

    def subsampled(x, y=None):
        beta = prior()
        with plate("records", 100, subsample_size=x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def centred(x, y=None):
        beta = prior()
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal((x - x.mean(0)) @ beta, 1.0), obs=y)

    def time_series(x, y=None):
        beta = prior()
        before = jnp.concatenate([jnp.zeros(1), y[:-1]])
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta + before, 1.0), obs=y)

    def scale_of_the_data(x, y=None):
        beta = sample("beta", dist.Normal(0.0, 1.0 + jnp.abs(x).max()).expand([D]).to_event(1))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def factor_outside(x, y=None):
        beta = prior()
        numpyro.factor("penalty", -jnp.sum((x @ beta) ** 2))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def observed_outside(x, y=None):
        beta = prior()
        sample("mean", dist.Normal(beta[0], 1.0), obs=x.mean())
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def point_parameter(x, y=None):
        beta = prior() + numpyro.param("shift", 0.0)
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def random_numbers(x, y=None):
        import jax

        beta = prior() + jax.random.normal(numpyro.prng_key(), (D,))
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x @ beta, 1.0), obs=y)

    def branches(x, y=None):
        beta = prior()
        mean = x @ beta if x[0, 0] > 0.0 else -x @ beta
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(mean, 1.0), obs=y)

    def observes_nothing(x, y=None):
        beta = prior()
        with plate("records", x.shape[0]):
            numpyro.deterministic("mean", x @ beta)

    def no_parameter(x, y=None):
        with plate("records", x.shape[0]):
            sample("obs", dist.Normal(x[:, 0], 1.0), obs=y)

    def wrong_field(z, y=None):
        beta = prior()
        with plate("records", z.shape[0]):
            sample("obs", dist.Normal(z @ beta, 1.0), obs=y)

    return {
        latent_of_each_record: "belongs to one record",
        latent_by_shape: "shape of a parameter must not depend on the records",
        discrete: "discrete latent sites",
        no_plate: "no plate 'records'",
        other_plate: "its plates are \\['rows'\\]",
        fixed_plate: "size of the records",
        subsampled: "without subsampling",
        centred: "records of the model interact",
        time_series: "records of the model interact",
        scale_of_the_data: "prior of the model depends on its records",
        factor_outside: "prior of the model depends on its records",
        observed_outside: "prior of the model depends on its records",
        point_parameter: "param site",
        random_numbers: "no random numbers of its own",
        branches: "cannot be traced|failed on made-up records",
        observes_nothing: "observes nothing",
        no_parameter: "no parameter",
        wrong_field: "cannot be traced",
    }


NUMPYRO = """
latent_of_each_record latent_by_shape discrete no_plate other_plate fixed_plate subsampled centred time_series
scale_of_the_data factor_outside observed_outside point_parameter random_numbers branches observes_nothing no_parameter
wrong_field
"""


def planned(make):
    """Plan a run: nothing is charged, and no record is seen."""
    public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0))
    sampler = dp.Barker(steps=9, scale=0.1, clip=0.1)
    return dp.plan(make(), public, sampler, delta=1e-6)


@pytest.mark.parametrize("name", NUMPYRO.split())
def test_a_numpyro_model_is_refused(name):
    cases = {function.__name__: (function, why) for function, why in numpyro_cases().items()}
    function, why = cases[name]
    with pytest.raises(InvalidArgument, match=why):
        planned(lambda: dp.models.from_numpyro(function, record=RECORD))


def good(theta, record):
    return -0.5 * (record["y"] - record["x"] @ theta["beta"]) ** 2


def good_grad(theta, record):
    return {"beta": (record["y"] - record["x"] @ theta["beta"])[:, None] * record["x"]}


def mixes(theta, record):
    return good(theta, record | {"x": record["x"] - record["x"].mean(0)})


def ranks(theta, record):
    return good(theta, record | {"y": np.argsort(np.argsort(record["y"])) / 10.0})


def is_random(theta, record):
    return good(theta, record) + np.random.default_rng().normal()


def keeps_state(theta, record):
    return good(theta, record) + next(calls)


def ignores_theta(theta, record):
    return -0.5 * record["y"] ** 2


def of_all_records(theta, record):
    return good(theta, record).sum()


def never_finite(theta, record):
    return np.full(len(record["y"]), -np.inf)


def raises(theta, record):
    raise KeyError("beta_2")


NUMPY = {
    mixes: "interact",
    ranks: "interact",
    is_random: "different things of the same record",
    keeps_state: "different things of the same record",
    ignores_theta: "does not depend on theta",
    of_all_records: "one number per record",
    never_finite: "not finite for any",
    raises: "failed on made-up records: KeyError",
}


@pytest.mark.parametrize("log_lik", NUMPY, ids=lambda function: function.__name__)
def test_a_numpy_model_is_refused(log_lik):
    with pytest.raises(InvalidArgument, match=NUMPY[log_lik]):
        planned(lambda: dp.models.from_numpy(log_lik, parameters={"beta": D}))


def test_a_wrong_gradient_is_refused():
    def wrong(theta, record):
        return {"beta": 1.1 * good_grad(theta, record)["beta"]}

    with pytest.raises(InvalidArgument, match="not the slope of its log-likelihood"):
        planned(lambda: dp.models.from_numpy(good, wrong, parameters={"beta": D}))


def test_a_wrong_gradient_of_the_prior_is_refused():
    with pytest.raises(InvalidArgument, match="gradient of the prior"):
        planned(
            lambda: dp.models.from_numpy(
                good,
                good_grad,
                parameters={"beta": D},
                prior=lambda theta: -0.5 * (theta["beta"] ** 2).sum(),
                prior_grad=lambda theta: {"beta": theta["beta"]},
            )
        )


def test_gradient_samplers_refuse_a_model_without_gradient():
    model = dp.models.from_numpy(good, parameters={"beta": D})
    public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0)
    with pytest.raises(InvalidArgument, match="no gradient"):
        dp.plan(model, public, dp.SGLD(steps=9, step_size=0.01, clip=1.0), delta=1e-6)


@pytest.mark.parametrize("sampler", [dp.Langevin(), dp.PosteriorSample(), dp.Newton(), dp.ConjugateSample()])
def test_samplers_without_a_proof_for_models_of_ones_own_refuse_them(sampler):
    model = dp.models.from_numpy(good, good_grad, parameters={"beta": D}, lipschitz=1.0, smoothness=1.0)
    public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0))
    with pytest.raises(dp.errors.PydpmcError):
        dp.plan(model, public, sampler, epsilon=1.0, delta=1e-6)


def test_private_runs_need_a_clip():
    model = dp.models.from_numpy(good, good_grad, parameters={"beta": D})
    public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0)
    for sampler in (dp.SGLD(steps=9, step_size=0.01), dp.Barker(steps=9, scale=0.1)):
        with pytest.raises(InvalidArgument, match="clip"):
            dp.plan(model, public, sampler, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("columns", "has_target", "why"),
    [(("a",), True, "takes 2 columns"), (("a", "b"), False, "takes 3 columns"), (("a", "b", "c"), True, "2 columns")],
)
def test_a_table_of_another_shape_is_refused(columns, has_target, why):
    model = dp.models.from_numpy(good, parameters={"beta": D}, record=RECORD)
    public = dp.Public(n=100, columns=columns, has_target=has_target)
    with pytest.raises(InvalidArgument, match=why):
        dp.plan(model, public, dp.Barker(steps=9, scale=0.1, clip=0.1), delta=1e-6)


def test_what_is_no_compiled_function_is_refused():
    import ctypes

    short = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(lambda count: 0)
    for function, why in (("log_lik", "must be a compiled function"), (len, "must be a compiled function")):
        with pytest.raises(WrongType, match=why):
            dp.models.from_pointer(function, parameters={"beta": D})
    with pytest.raises(InvalidArgument, match="8 arguments"):
        dp.models.from_pointer(short, parameters={"beta": D})


def test_a_torch_module_that_mixes_or_is_random_is_refused():
    own_logistic.needs("torch")
    from torch import nn

    loss = nn.functional.mse_loss
    for layer in (nn.BatchNorm1d(D), nn.Dropout(0.5)):
        model = dp.models.from_torch(nn.Sequential(nn.Linear(D, D), layer, nn.Linear(D, 1), nn.Flatten(0)), loss)
        with pytest.raises(InvalidArgument, match="made-up records"):
            planned(lambda model=model: model)


def test_a_pymc_model_with_latents_of_records_is_refused():
    own_logistic.needs("pymc")
    import pymc as pm

    def build(kind):
        with pm.Model() as model:
            x, y = pm.Data("X", np.zeros((3, D))), pm.Data("Y", np.zeros(3))
            beta = pm.Normal("beta", 0.0, 1.0, shape=D)
            extra = {
                "by_data": lambda: pm.Normal("eps", 0.0, 1.0, shape=x.shape[0]),
                "by_number": lambda: pm.Normal("eps", 0.0, 1.0, shape=3),
                "discrete": lambda: pm.Bernoulli("z", 0.5),
            }[kind]()
            pm.Normal("obs", x @ beta + extra, 1.0, observed=y)
        return model

    for kind, why in (
        ("by_data", "depends on the records"),
        ("by_number", "shape|made-up records"),
        ("discrete", "discrete"),
    ):
        with pytest.raises(InvalidArgument, match=why):
            planned(lambda kind=kind: dp.models.from_pymc(build(kind), observed=["obs"], inputs=["X", "Y"]))


@pytest.mark.parametrize("name", ["chain", "draw"])
def test_parameters_that_are_called_like_an_axis_of_the_draws_are_refused(name):
    with pytest.raises(InvalidArgument, match=f"cannot be called '{name}'"):
        dp.models.from_numpy(lambda theta, record: record["x"] @ theta[name], parameters={name: D})


@pytest.mark.parametrize("kind", ["float32", "complex", "none"])
def test_what_is_no_real_number_in_double_precision_is_refused(kind):
    own_logistic.needs("jax")
    import jax.numpy as jnp

    def log_lik(theta, record):
        value = -((record["y"] - record["x"] @ theta["beta"]) ** 2)
        return {"float32": value.astype(jnp.float32), "complex": value * (1.0 + 1.0j), "none": None}[kind]

    model = dp.models.from_jax(log_lik, parameters={"beta": D})
    with pytest.raises(InvalidArgument, match="must be a real number in double precision"):
        dp.plan(
            model, dp.Public(n=100, columns=("a", "b"), has_target=True), dp.SGLD(clip=1.0, step_size=1e-3, steps=5)
        )
