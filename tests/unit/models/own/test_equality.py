"""Logistic regression written elsewhere draws what the built-in one draws."""

import numpy as np
import own_logistic
import pytest

import pydpmc as dp

D = 6
SAMPLERS = {
    "sgld": dp.SGLD(steps=100, step_size=1e-3, batch_size=64, clip=1.0),
    "sgld_full": dp.SGLD(steps=30, step_size=1e-3, sampling="full", clip=0.2),
    "without_replacement": dp.SGHMC(steps=60, step_size=1e-3, batch_size=37, sampling="without_replacement", clip=1.0),
    "sgnht": dp.SGNHT(steps=60, step_size=1e-3, batch_size=64, clip=1.0),
    "sgfs": dp.SGFS(steps=40, step_size=1e-3, batch_size=64, clip=1.0),
    "barker": dp.Barker(steps=100, scale=0.05, clip=0.05),
    "barker_batch": dp.Barker(steps=100, scale=0.01, clip=0.0005, batch_size=200),
}


def table(n=500, **options):
    random = np.random.default_rng(3)
    x = random.normal(size=(n, D))
    y = random.random(n) < 1.0 / (1.0 + np.exp(-x @ np.linspace(-1.0, 1.0, D)))
    x[7, 2] = np.nan  # a record that contributes nothing
    return dp.Data(x, y, row_norm=1.0, **options)


def path(model, sampler, data, **options):
    # Not at 0: NumPyro's gradient of a Bernoulli is that of a kink there.
    options = {"draws": sampler.steps, "warmup": 0, "seed": 5, "progress": False, "anyway": True, **options}
    return dp.sample(model, data, sampler, init=np.full(D, 0.1), **options).draws["beta"]


@pytest.mark.parametrize("sampler", ["sgld", "barker"])
@pytest.mark.parametrize("way", own_logistic.WAYS)
def test_a_model_from_elsewhere_draws_what_the_built_in_one_draws(way, sampler):
    model, data = own_logistic.WAYS[way](D), table()
    expected = path(dp.LogisticRegression(), SAMPLERS[sampler], data)
    assert np.abs(path(model, SAMPLERS[sampler], data) - expected).max() < 1e-9
    assert np.ptp(expected) > 0.01


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_every_sampler_and_storage_gives_the_path_of_the_built_in(sampler, storage):
    data = table(storage=storage)
    expected = path(dp.LogisticRegression(), SAMPLERS[sampler], data)
    assert np.abs(path(own_logistic.in_numpy(D), SAMPLERS[sampler], data) - expected).max() < 1e-9


@pytest.mark.parametrize("sampler", ["sgld", "sgld_full", "barker"])
def test_groups_are_the_unit_as_for_the_built_in(sampler):
    groups = np.random.default_rng(0).integers(0, 200, 500)
    data = table(groups=groups, max_group_size=9)
    expected = path(dp.LogisticRegression(), SAMPLERS[sampler], data)
    assert np.abs(path(own_logistic.in_numpy(D), SAMPLERS[sampler], data) - expected).max() < 1e-9
    assert np.abs(path(own_logistic.in_numpy(D, microbatch=3), SAMPLERS[sampler], data) - expected).max() < 1e-9


@pytest.mark.parametrize("microbatch", [1, 2, 7, 64, 500])
@pytest.mark.parametrize("sampler", ["sgld", "barker", "barker_batch", "sgfs"])
def test_the_size_of_a_microbatch_changes_nothing(microbatch, sampler):
    data = table()
    expected = path(own_logistic.in_numpy(D), SAMPLERS[sampler], data)
    assert np.array_equal(path(own_logistic.in_numpy(D, microbatch=microbatch), SAMPLERS[sampler], data), expected)


def test_a_compiled_function_gives_the_same_for_any_block_and_number_of_threads():
    data = table(4000)
    expected = path(own_logistic.in_c(D), SAMPLERS["barker"], data, threads=1)
    for options in ({"microbatch": 64}, {}):
        for threads in (1, 2):
            made = path(own_logistic.in_c(D, **options), SAMPLERS["barker"], data, threads=threads, chains=1)
            assert np.array_equal(made, expected)


def test_nuts_agrees_with_the_built_in():
    data = table(300)
    nuts = dp.NUTS(draws=300, warmup=300)
    found = [
        dp.sample(model, data, nuts, private=False, chains=2, seed=2, progress=False).draws["beta"]
        for model in (dp.LogisticRegression(), own_logistic.in_numpy(D))
    ]
    assert np.allclose(found[0].mean((0, 1)), found[1].mean((0, 1)), atol=0.12)
    assert np.allclose(found[0].std((0, 1)), found[1].std((0, 1)), rtol=0.35)


def test_a_compiled_prior_is_that_of_the_list():
    library, data = own_logistic.c_library(), table()
    model = dp.models.from_pointer(library.log_lik, library.grad, parameters={"beta": D}, prior=own_prior(library))
    for name in ("sgld", "barker"):
        expected = path(dp.LogisticRegression(), SAMPLERS[name], data)
        assert np.abs(path(model, SAMPLERS[name], data) - expected).max() < 1e-9


def own_prior(library):
    library.prior.argtypes = None
    return library.prior
