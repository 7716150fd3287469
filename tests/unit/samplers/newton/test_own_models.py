"""Newton on models of the user's: what a look sums, what one record can move, and what the draws are."""

import numpy as np
import own_logistic
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import BudgetError, InvalidArgument, UnsupportedEventError
from pydpmc.samplers.newton.sensitivity import LINEAR_FREE, NOT_FREE, Bounds, RootBounds

D, N = 3, 25
CLIP, ROOT_CLIP = 0.7, 0.4
BLOCKS = [0] * D
UPPER = np.triu_indices(D)


def given(records, outer, sigma=1.0, tau=1.0, block=8):
    """Return the unnoised sums, in units of the noise, of records that say what their numbers say.

    A record is a gradient and a root of its curvature, row by row; the model's code passes them on.
    """
    records = np.atleast_2d(records)

    def loglik(theta, x, y, out):
        out[...] = x @ np.zeros(x.shape[1])

    def gradient(theta, x, y, out):
        out[...] = x[:, :D]

    def roots(theta, x, y, out):
        if (x == 77.0).any():
            raise ValueError("a record that fails")
        out[...] = x.reshape(len(x), 1 + D, D)

    own = _core.OwnModel.of_python(loglik=loglik, gradient=gradient, block=block, roots=roots)
    run = _core.NewtonRun(
        rows=np.ascontiguousarray(records),
        columns=(1 + D) * D,
        has_target=False,
        model="own",
        intercept=False,
        constants=(0.0, 0.0),
        dim=D,
        seed=1,
        own=own,
    )
    options = {"limits": (0.0, 0.0), "largest_square": 1.0, "block_of": BLOCKS, "threads": 1, "block": 4096}
    bare = run.bare(
        theta=[0.1] * D,
        clip=CLIP,
        sigma=sigma,
        curvature_clip=CLIP**2 if outer else ROOT_CLIP,
        tau=tau,
        outer=outer,
        **options,
    )
    return bare * 2.0**-32


def contribution(record, outer):
    """Return gradient and curvature of one record by the definition, in real numbers."""
    gradient, root = record[:D], record[D:].reshape(D, D)
    if not np.isfinite(gradient).all() or (not outer and not np.isfinite(root).all()):
        return np.zeros(D), np.zeros((D, D))
    shrunk = gradient * min(1.0, CLIP / max(np.linalg.norm(gradient), 1e-300))
    if outer:
        return shrunk, np.outer(shrunk, shrunk)
    root = root * min(1.0, np.sqrt(ROOT_CLIP) / max(np.linalg.norm(root), 1e-300))
    return shrunk, root.T @ root


def as_released(gradient, curvature):
    entries = curvature[UPPER] * np.where(UPPER[0] == UPPER[1], 1.0, np.sqrt(2.0))
    return np.concatenate([gradient, entries])


def table(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(N, (1 + D) * D)) * random.choice([0.05, 0.5, 20.0], size=(N, 1))


HOSTILE = {
    "nothing": np.zeros((1 + D) * D),
    "huge": np.full((1 + D) * D, 1e160),
    "larger than doubles square": np.full((1 + D) * D, 1e300),
    "no number": np.full((1 + D) * D, np.nan),
    "infinite root": np.concatenate([np.ones(D), np.full(D * D, np.inf)]),
    "fails": np.full((1 + D) * D, 77.0),
    "tiny": np.full((1 + D) * D, 1e-310),
    "one direction": np.concatenate([np.array([1e6, 0, 0]), np.array([1e6, 0, 0] + [0] * 6)]),
    "the other direction": np.concatenate([np.array([-1e6, 0, 0]), np.array([0, 1e6, 0] + [0] * 6)]),
    "full rank": np.concatenate([np.array([0, -1e6, 0]), 1e6 * np.eye(D).ravel()]),
}


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("block", [1, 8, 16])
def test_a_look_sums_clipped_gradients_and_clipped_curvatures(outer, block):
    records = table()
    made = given(records, outer, block=block)
    parts = [contribution(record, outer) for record in records]
    expected = as_released(sum(g for g, _ in parts), sum(h for _, h in parts))
    rounding = N * (D * 2.0**-21 + 2.0**-30)
    assert np.abs(made - expected).max() < rounding


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("noise", [(1.0, 1.0), (0.5, 2.0), (2.0, 0.3)])
def test_no_record_moves_a_look_by_more_than_its_price(outer, adjacency, noise):
    """Sums of hostile records, exact integers, against the price of the look: it is attained within a tenth."""
    sigma, tau = noise
    bounds = Bounds(CLIP, CLIP**2, LINEAR_FREE) if outer else RootBounds(CLIP, ROOT_CLIP, NOT_FREE, rank=D)
    price = bounds.mu(sigma, tau, adjacency, D)
    records, rest = table(1), table(2)[:3]
    random = np.random.default_rng(3)
    hostile = [*HOSTILE.values(), *(random.normal(size=(40, (1 + D) * D)) * 10.0)]
    sums = [given(np.vstack([rest, record]), outer, sigma, tau) for record in hostile]
    without = given(np.vstack([rest, np.full((1 + D) * D, np.nan)]), outer, sigma, tau)
    if adjacency == "add_remove":
        moved = [np.linalg.norm(one - without) for one in sums]
    else:
        moved = [np.linalg.norm(one - other) for one in sums for other in sums]
    assert max(moved) <= price
    assert max(moved) >= 0.9 * price
    assert np.array_equal(given(records, outer), given(records[::-1], outer))


@pytest.mark.parametrize("outer", [True, False])
def test_a_record_that_fails_moves_no_other(outer):
    records = table(4)
    for name in ("no number", "fails", "infinite root"):
        there, gone = records.copy(), records.copy()
        there[7] = HOSTILE[name]
        gone[7] = np.nan
        if outer and name != "no number":
            continue  # its gradient is a number, and that is all that counts
        assert np.array_equal(given(there, outer), given(gone, outer))


def logistic_table(n=20_000, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1.0, 1.0, (n, D))
    y = random.random(n) < 1.0 / (1.0 + np.exp(-x @ np.array([1.0, -0.5, 0.2])))
    return dp.Data(x, y, row_norm=1.0)


OUTER = dp.Newton(clip=1.0, curvature="outer")


@pytest.mark.parametrize(
    ("way", "sampler"),
    [("numpy", OUTER), ("c", OUTER), ("jax", OUTER), ("jax", dp.Newton(clip=1.0, curvature_clip=0.25))],
)
def test_the_posterior_is_that_of_the_built_in_model(way, sampler):
    data = logistic_table()
    options = {"epsilon": 3.0, "delta": 1e-6, "progress": False, "seed": 3}
    expected = dp.sample(dp.LogisticRegression(), data, dp.Newton(), **options).draws["beta"]
    post = dp.sample(own_logistic.WAYS[way](D, lipschitz=1.0), data, sampler, **options)
    found = post.draws["beta"]
    sd = expected.std((0, 1))
    # Their privacy noise differs; without it both are the posterior. Widths agree more closely than means.
    assert (np.abs(found.mean((0, 1)) - expected.mean((0, 1))) < 4.0 * sd).all()
    assert np.allclose(found.std((0, 1)), sd, rtol=0.25)
    assert "keeps no state" in post.guarantee.assumptions[0]
    assert len(post.looks) >= 2


def test_the_looks_of_outer_products_are_those_of_the_built_in_model():
    """Same key, same clip, same noise: the first look, at the prior's centre, is the same up to rounding."""
    data = logistic_table(2000)
    options = {"epsilon": 3.0, "delta": 1e-6, "progress": False, "seed": 3}
    built_in = dp.sample(dp.LogisticRegression(), data, dp.Newton(curvature="outer"), **options).looks[0]
    own = dp.sample(own_logistic.in_numpy(D, lipschitz=1.0), data, OUTER, **options).looks[0]
    assert built_in.sigma == pytest.approx(own.sigma, rel=1e-9)
    assert np.allclose(own.gradient, built_in.gradient, atol=1e-4 * own.sigma)
    assert np.allclose(own.curvature, built_in.curvature, atol=1e-4 * own.tau)


def test_a_prior_that_is_a_density_of_all_parameters_is_sampled_beside_the_looks():
    """With next to no data the draws are of the prior: here with a dependence that no mixture of normals has."""
    own_logistic.needs("jax")
    import jax.numpy as jnp

    def log_lik(theta, record):
        return -0.5 * (record["y"] - theta["level"]) ** 2

    def prior(theta):
        return -0.5 * (theta["level"] - 2.0) ** 2 / theta["scale"] ** 2 - jnp.log(theta["scale"]) - theta["scale"]

    model = dp.models.from_jax(
        log_lik, parameters={"level": (), "scale": dp.models.Parameter((), "positive")}, prior=prior
    )
    data = dp.Data(np.zeros((400, 1)), np.random.default_rng(0).normal(size=400) + 1.0, y_bounds=(-6.0, 6.0))
    post = dp.sample(
        model, data, dp.Newton(clip=4.0, curvature="outer"), epsilon=5.0, delta=1e-6, progress=False, seed=1
    )
    level, scale = post.draws["level"].ravel(), post.draws["scale"].ravel()
    reference = dp.sample(model, data, dp.NUTS(draws=2000, warmup=500), private=False, progress=False, seed=2)
    assert abs(level.mean() - reference.draws["level"].mean()) < 0.4
    # Records say nothing of scale but through level: its law given level = 1 is that of the prior.
    assert np.median(scale) == pytest.approx(np.median(reference.draws["scale"]), rel=0.2)


@pytest.mark.parametrize(
    ("model", "sampler", "error", "match"),
    [
        (lambda: own_logistic.in_numpy(D), dp.Newton(), InvalidArgument, "clip: Newton needs"),
        (lambda: own_logistic.in_numpy(D), dp.Newton(clip=1.0), UnsupportedEventError, 'curvature="outer"'),
        (lambda: own_logistic.in_jax(D), dp.Newton(clip=1.0), InvalidArgument, "curvature_clip"),
        (dp.LogisticRegression, dp.Newton(clip=1.0), InvalidArgument, "models of your own"),
        (
            lambda: dp.models.from_numpy(own_logistic.numpy_log_lik, parameters={"beta": D}),
            dp.Newton(clip=1.0, curvature="outer"),
            InvalidArgument,
            "no gradient",
        ),
    ],
)
def test_what_newton_needs_of_a_model_is_said_before_a_charge(model, sampler, error, match):
    with pytest.raises(error, match=match):
        dp.plan(model(), logistic_table(100).public, sampler, epsilon=1.0, delta=1e-6)


def test_groups_pay_for_their_largest_size():
    groups = np.arange(2000) // 4
    data = dp.Data(
        np.random.default_rng(0).normal(size=(2000, D)), np.zeros(2000), row_norm=1.0, groups=groups, max_group_size=4
    )
    plan = dp.plan(own_logistic.in_numpy(D), data.public, OUTER, epsilon=1.0, delta=1e-6)
    single = dp.plan(own_logistic.in_numpy(D), logistic_table(2000).public, OUTER, epsilon=1.0, delta=1e-6)
    assert plan.settings.noise(plan.settings.mu)[0] == pytest.approx(4 * single.settings.noise(single.settings.mu)[0])


def test_a_look_that_rounding_hides_has_no_noise():
    bounds = RootBounds(CLIP, ROOT_CLIP, NOT_FREE, rank=D)
    sigma, tau = bounds.noise(1e-7, "replace", D, 0.1)
    assert 0.99e-7 < bounds.mu(sigma, tau, "replace", D) <= 1e-7
    with pytest.raises(BudgetError, match="rounding"):
        bounds.noise(1e-10, "replace", D, 0.1)  # the noise that follows from its price would be negative


@pytest.mark.parametrize("clip", [1e-60, 1e-100, 1e-170, 1e61, 1e150, 1e160, 1.7e308])
def test_clips_beyond_the_grids_are_refused_before_a_charge(clip):
    with pytest.raises(InvalidArgument, match="no grid"):
        dp.plan(
            own_logistic.in_numpy(D),
            logistic_table(100).public,
            dp.Newton(clip=clip, curvature="outer"),
            epsilon=1.0,
            delta=1e-6,
        )


def test_a_hessian_that_is_no_number_is_refused():
    own_logistic.needs("jax")
    import jax

    @jax.custom_jvp
    def slope(beta):
        return beta

    @slope.defjvp
    def _(primals, tangents):
        return primals[0], float("nan") * tangents[0]

    @jax.custom_vjp
    def value(beta, y):
        return -0.5 * (beta - y) ** 2

    value.defvjp(lambda beta, y: (value(beta, y), (beta, y)), lambda rest, g: (g * (rest[1] - slope(rest[0])), 0.0))
    model = dp.models.from_jax(lambda theta, record: value(theta["beta"], record["y"]), parameters={"beta": ()})
    public = dp.Public(n=100, columns=("a",), has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0))
    dp.plan(model, public, dp.Newton(clip=1.0, curvature="outer"), epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="Hessian"):
        dp.plan(model, public, dp.Newton(clip=1.0, curvature_clip=1.0), epsilon=1.0, delta=1e-6)


def logistic_post(clip, n=20_000, lipschitz=None, **options):
    random = np.random.default_rng(5)
    x = random.uniform(-1, 1, (n, 4))
    y = random.random(n) < 1 / (1 + np.exp(-x @ [1.0, -1.0, 0.5, 0.0]))
    data = dp.Data(x, y, x_bounds=(-1, 1), y_bounds=(0, 1))
    model = own_logistic.in_numpy(4, lipschitz=lipschitz)
    sampler = dp.Newton(clip=clip, curvature="outer", draws=50)
    return dp.sample(model, data, sampler, epsilon=2.0, delta=1e-6, seed=1, progress=False, anyway=True, **options)


@pytest.mark.filterwarnings("ignore::pydpmc.errors.ConvergenceWarning")
@pytest.mark.parametrize(("clip", "said"), [(0.3, "the clip may bias"), (2.5, ""), (60.0, "times their noise")])
def test_looks_say_whether_the_clip_cuts_off_too_much_or_hides_a_parameter(clip, said):
    post = logistic_post(clip)
    found = post.agreement
    assert said in found.doubt
    assert bool(found.doubt) == bool(said)
    assert type(found).from_dict(vars(found)) == found
    x = np.random.default_rng(5).uniform(-1, 1, (20_000, 4))
    if clip == 2.5:  # nothing is cut: the figure is the mean square of the gradients
        theta = post.looks[-1].theta
        shares = 1 / (1 + np.exp(-x @ theta))
        true = (np.sum(x**2, axis=1) * shares * (1 - shares)).mean() / clip**2
        assert found.cut == pytest.approx(true, abs=4 * found.cut_error + 0.003)
        assert 0.0 < found.cut_error < 0.01


def test_a_clip_that_the_stated_bound_keeps_cuts_nothing():
    assert logistic_post(2.0, lipschitz=2.0).agreement.cut is None


def test_a_private_number_of_records_is_not_used_for_the_share_of_clipped_gradients():
    assert logistic_post(2.5, adjacency="add_remove").agreement.cut is None


def test_hessians_without_their_negative_parts_are_doubted_where_the_looks_do_not_settle():
    jax = pytest.importorskip("jax")

    def dose_response(theta, record):
        dose = record["x"][0]
        log_odds = theta["bottom"] + theta["top"] * dose / (theta["half"] + dose)
        return jax.nn.log_sigmoid(jax.numpy.where(record["y"] > 0.5, log_odds, -log_odds))

    model = dp.models.from_jax(
        dose_response,
        parameters={"bottom": (), "top": (), "half": dp.models.Parameter((), "positive")},
        prior={"bottom": dp.Normal(2.0), "top": dp.Normal(3.0), "half": dp.Normal(2.0)},
    )
    rng = np.random.default_rng(7)
    dose = rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, 4.0], 20_000)
    y = rng.random(len(dose)) < 1 / (1 + np.exp(2.0 - 3.0 * dose / (0.5 + dose)))
    data = dp.Data(dose, y, x_bounds=(0, 4), y_bounds=(0, 1))

    def post(**options):
        return dp.sample(model, data, dp.Newton(**options), epsilon=2.0, delta=1e-6, progress=False, seed=1)

    with pytest.warns(dp.errors.ConvergenceWarning, match="have not settled"):
        by_hessians = post(clip=1.5, curvature_clip=1.0)
    assert by_hessians.agreement.moved > 4.0
    assert "caution" in str(by_hessians.verdict)
    by_outer_products = post(clip=2.0, curvature="outer")
    assert by_outer_products.agreement.moved is None
    assert abs(by_outer_products.draws["bottom"].mean() + 2.0) < 0.4 < abs(by_hessians.draws["bottom"].mean() + 2.0)
