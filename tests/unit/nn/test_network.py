"""Network as a model: names, refusals, cold posteriors, predictions and files."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.models.spec import from_spec, to_spec
from pydpmc.nn import Conv, Dense, FanIn, Network, Pool, ReLU, Residual, Tanh

NET = Network([Dense(5), Tanh(), Dense(3)])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    x = 0.3 * rng.normal(size=(600, 4)) + np.eye(3, 4)[y]
    return dp.Data(x, y, x_bounds=(-2.0, 2.0), public_n=600)


def run(model, data, sampler, **options):
    plan = dp.plan(model, data.public, sampler, adjacency="add_remove", **options)
    return plan, plan.run(data, seed=1, progress=False, draws=30, anyway=True)


@pytest.mark.parametrize("sampler", [dp.SGLD, dp.SGHMC, dp.SGNHT])
def test_a_network_learns_within_its_budget(data, sampler):
    options = {} if sampler is dp.SGLD else {"friction": 0.2}
    spec = sampler(clip=1.0, w=20.0, step_size=2e-6 if options else 1e-5, steps=300, batch_size=100, **options)
    plan, post = run(NET, data, spec, epsilon=20.0, delta=1e-5)
    assert plan.guarantee.epsilon(1e-5) <= 20.0
    assert plan.guarantee.assumptions == ()
    x = np.eye(3, 4)
    shares = post.predict_proba(x).mean
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares.argmax(axis=1) == np.arange(3)).all()


def test_draws_do_not_depend_on_threads_or_instruction_set(data):
    from pydpmc import _core

    plan = dp.plan(NET, data.public, dp.SGLD(clip=1.0, step_size=1e-4, steps=20, sampling="full"))
    found = []
    for isa in _core.available_isas():
        _core.use_isa(isa)
        found += [plan.run(data, seed=3, progress=False, threads=k).draws["dense1_weight"] for k in (1, 2)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_plan_result_and_report_name_a_cold_posterior(data, tmp_path):
    plan, post = run(NET, data, dp.SGLD(clip=1.0, w=30.0, step_size=1e-6, steps=40))
    assert "cold posterior" in str(plan)
    assert "cold posterior" in str(post)
    post.report(tmp_path / "page.html")
    assert "cold posterior" in (tmp_path / "page.html").read_text()
    plan, post = run(NET, data, dp.SGLD(clip=1.0, w=1.0, step_size=1e-6, steps=40))
    assert "cold" not in str(plan) + str(post)


def test_other_models_take_no_weight_above_one(data):
    with pytest.raises(ValueError, match="w must lie in"):
        dp.plan(dp.SoftmaxRegression(classes=3), data.public, dp.SGLD(w=1.5, clip=1.0, step_size=1e-5, steps=2))
    with pytest.raises(ValueError, match="w"):
        dp.SGLD(w=0.0)


def test_a_saved_posterior_predicts_alike(data, tmp_path):
    _, post = run(NET, data, dp.SGLD(clip=1.0, step_size=1e-5, steps=40))
    post.save(tmp_path / "post.npz")
    x = np.eye(3, 4)
    np.testing.assert_array_equal(
        dp.Posterior.load(tmp_path / "post.npz").predict_proba(x).mean, post.predict_proba(x).mean
    )
    with pytest.raises(ValueError, match="no intervals"):
        post.interval()


@pytest.mark.parametrize(
    "net",
    [
        NET,
        Network([Dense(4), ReLU(), Dense(1)], likelihood="normal", sigma=2.0, prior=FanIn(0.5)),
        Network([Conv(2, 2, padding=1), Tanh(), Pool(2, of="mean"), Residual([Tanh()]), Dense(2)], shape=(4, 4)),
        Network([Dense(2)], prior={"dense1_weight": dp.Normal(2.0), "dense1_bias": dp.Normal(0.1)}),
    ],
)
def test_a_network_survives_its_plain_form(net):
    assert from_spec(to_spec(net)) == net


def test_priors_follow_the_fan_in(data):
    net = Network([Dense(5), Tanh(), Dense(3)], prior=FanIn(2.0))
    scales = [net.block_prior(block).scale for block in net.blocks(data.public)]
    np.testing.assert_allclose(scales, [1.0, 2.0, 2.0 / np.sqrt(5.0), 2.0])


def test_a_normal_network_fits_a_curve():
    rng = np.random.default_rng(2)
    x = rng.uniform(-1.0, 1.0, (800, 1))
    y = np.sin(3.0 * x[:, 0]) + 0.1 * rng.normal(size=800)
    data = dp.Data(x, y, x_bounds=(-1.0, 1.0), y_bounds=(-2.0, 2.0))
    net = Network([Dense(16), Tanh(), Dense(1)], likelihood="normal", sigma=0.3)
    plan = dp.plan(net, data.public, dp.SGHMC(clip=20.0, step_size=2e-6, steps=2500, friction=0.05), private=False)
    post = plan.run(data, seed=1, progress=False, draws=50)
    grid = np.linspace(-0.9, 0.9, 9)[:, None]
    assert np.abs(post.predict(grid).mean - np.sin(3.0 * grid[:, 0])).max() < 0.25


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda d: dp.plan(NET, d.public, dp.Barker(clip=1.0)), "SGLD, SGHMC or SGNHT"),
        (lambda d: dp.plan(NET, d.public, epsilon=1.0, delta=1e-5), "give one of them"),
        (lambda d: dp.plan(NET, d.public, dp.SGFS(clip=1.0, step_size=1e-4)), "SGLD, SGHMC or SGNHT"),
        (lambda d: dp.plan(NET, d.public, dp.SGLD(step_size=1e-4), epsilon=1.0, delta=1e-5), "clip"),
        (lambda d: dp.plan(NET, d.public, dp.SGLD(clip=1.0), epsilon=1.0, delta=1e-5), "step_size"),
        (lambda d: dp.plan(Network([Conv(2, 2), Dense(3)]), d.public, dp.SGLD(clip=1.0)), "shape"),
        (lambda d: dp.plan(Network([Conv(2, 3), Dense(3)], shape=(2, 2)), d.public, dp.SGLD(clip=1.0)), "does not fit"),
        (lambda d: dp.plan(Network([Dense(3)], shape=(5, 5)), d.public, dp.SGLD(clip=1.0)), "25 values"),
        (lambda d: dp.plan(Network([Dense(3)], prior=dp.Laplace()), d.public, dp.SGLD(clip=1.0)), "must be Normal"),
        (lambda d: Network([]), "at least one layer"),
        (lambda d: Network([Tanh()]), "end with Dense"),
        (lambda d: Network([Dense(1)]), "at least two units"),
        (lambda d: Network([Dense(3)], likelihood="normal"), "one unit"),
        (lambda d: Network(["Dense"]), "layers such as"),
        (lambda d: Network([Dense(0), Dense(2)]), "units"),
        (lambda d: Network([Residual([Dense(3)]), Dense(3)]).blocks(d.public), "cannot be added"),
    ],
)
def test_what_a_network_cannot_do_is_refused(data, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(data)


def test_groups_are_refused():
    data = dp.Data(np.zeros((4, 2)), np.zeros(4), groups=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="groups"):
        dp.plan(Network([Dense(2)]), data.public, dp.SGLD(clip=1.0, step_size=1e-4, steps=2))
