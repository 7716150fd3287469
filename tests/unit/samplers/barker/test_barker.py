"""The Barker specification, its proposals, and whole chains replayed from the definition."""

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.samplers.barker.proposal import KINDS, default_radius, walk_of

random = _core.random
COVARIANCE = ((0.5, 0.2, 0.0), (0.2, 0.3, -0.1), (0.0, -0.1, 0.4))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"steps": 0}, "steps must be a positive whole number"),
        ({"steps": 1.5}, "steps must be a positive whole number"),
        ({"steps": math.inf}, "steps must be a positive whole number"),
        ({"steps": True}, "steps must be a positive whole number"),
        ({"batch_size": -3}, "batch_size must be a positive whole number"),
        ({"batch_size": 1}, "batch_size must be at least 2"),
        ({"proposal": "uniform"}, "proposal must be one of"),
        ({"scale": 0.0}, "scale must be"),
        ({"scale": math.nan}, "scale must be"),
        ({"scale": [1.0, -1.0]}, "scale must be"),
        ({"scale": [[1.0, 2.0], [0.0, 1.0]]}, "symmetric"),
        ({"scale": [[1.0, 2.0]]}, "symmetric"),
        ({"clip": math.inf}, "clip must be a positive finite number"),
        ({"clip": math.nan}, "clip must be a positive finite number"),
        ({"clip": 0.0}, "clip must be a positive finite number"),
        ({"w": 0.0}, "w must lie in"),
        ({"w": 1.1}, "w must lie in"),
        ({"w": math.nan}, "w must lie in"),
        ({"n0": math.nan}, "n0 must be a positive finite number"),
        ({"w": 0.5, "n0": 3.0}, "w and n0 say the same thing"),
        ({"clip": 1.0, "v_max": 0.5, "batch_size": 9}, "clip and v_max determine each other"),
        ({"c": 1.0}, "give batch_size too"),
        ({"v_max": 1.0}, "give batch_size too"),
        ({"radius": 2.0}, "radius belongs to"),
        ({"radius": 2.0, "proposal": "ball"}, "radius belongs to"),
    ],
)
def test_contradictions_and_noise_switched_off_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        dp.Barker(**arguments)


def test_a_whole_number_may_be_written_as_a_float():
    assert repr(dp.Barker(steps=1e4, batch_size=np.int64(50))) == repr(dp.Barker(steps=10_000, batch_size=50))


def test_a_sampler_is_a_value():
    assert dp.Barker(scale=np.array([1.0, 2.0])) == dp.Barker(scale=(1.0, 2.0))
    assert hash(dp.Barker(scale=np.eye(2))) == hash(dp.Barker(scale=[[1, 0], [0, 1]]))


@pytest.mark.parametrize("scale", [0.3, (0.1, 0.2, 0.3), COVARIANCE], ids=["number", "vector", "covariance"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_states_its_reach_and_its_step(kind, scale):
    walk = walk_of(kind, scale, None, 3)
    moves = accepted_moves(walk, 20_000)
    lengths = np.linalg.norm(moves, axis=1)
    assert lengths.max() <= walk.reach
    if kind in ("ball", "sphere"):
        assert lengths.max() >= 0.98 * walk.reach
    if np.ndim(scale) == 0:
        expected = walk.step if kind != "truncated_gaussian" else None
        if expected is not None:
            assert math.sqrt((moves**2).mean()) == pytest.approx(expected, rel=0.02)
    spread = walk.factor() if walk.factor().ndim == 2 else np.diag(walk.factor())
    shape = spread @ spread.T
    found = np.cov(moves.T)
    np.testing.assert_allclose(found / np.trace(found), shape / np.trace(shape), atol=0.02)


def accepted_moves(walk, steps):
    """The moves of a chain that nothing guides: flat prior, one record that says nothing."""
    draws = np.zeros((1, steps, walk.dim))
    prior = dp.Flat().table(walk.dim, False)
    core = barker_run(**core_arguments(walk, np.full((1, walk.dim), np.nan), draws, seed=5, prior=prior))
    core.advance(steps, 1, 64)
    moves = np.diff(draws[0], axis=0)
    return moves[np.abs(moves).max(axis=1) > 0]


TARGET = ("rows", "columns", "has_target", "model", "intercept", "constants", "prior")
CHAINS = ("init", "draws", "warmup", "thin", "seed")


def barker_run(**arguments):
    target, chains = ({name: arguments.pop(name) for name in names} for names in (TARGET, CHAINS))
    return _core.BarkerRun(_core.Target(**target), _core.Chains(**chains), **arguments)


def core_arguments(walk, rows, draws, *, seed, prior, warmup=0, thin=1, batch=None):
    arguments = {
        "rows": rows,
        "columns": rows.shape[1],
        "has_target": False,
        "model": "gaussian_mean",
        "intercept": False,
        "constants": (1.0, 0.0),
        "prior": prior,
        "proposal": KINDS.index(walk.kind),
        "radius": walk.radius,
        "factor": walk.factor().ravel().tolist(),
        "shift_per_clip": 1.0,
        "clip": 0.8,
        "bits": 40,
        "batch": 0,
        "v_max": 0.0,
        "c": 1.0,
        "x_max": 0.0,
        "atoms": [],
        "weights": [],
        "init": np.zeros((len(draws), walk.dim)),
        "draws": draws,
        "warmup": warmup,
        "thin": thin,
        "seed": seed,
    }
    return arguments | (batch or {})


def test_a_radius_that_would_throw_most_proposals_away_is_refused():
    assert walk_of("truncated_gaussian", 1.0, None, 9).radius == default_radius(9) == 4.5
    with pytest.raises(ValueError, match="radius must be at least"):
        walk_of("truncated_gaussian", 1.0, 2.9, 9)


@pytest.mark.parametrize("scale", [(1.0, 2.0), ((1.0, 0.0), (0.0, 1.0)), ((1.0, 2.0, 0), (2.0, 1.0, 0), (0, 0, 1.0))])
def test_a_scale_that_does_not_fit_theta_is_refused(scale):
    with pytest.raises(ValueError, match="scale"):
        walk_of("ball", scale, None, 3).factor()


def replay(rows, walk, chain, steps, clip=0.8, w=1.0, seed=7):
    """Return the chain of Heikkilä et al. (2019) in numpy: gaussian mean, standard normal prior, all records."""
    key, theta, path = random.key_from_seed(seed), np.zeros(walk.dim), []
    for t in range(steps):
        z = random.fill_normal(random.Stream(key, random.purposes["proposal"], chain, t), walk.dim)
        proposal = theta + walk.factor() * z
        ratios = -0.5 * ((rows - proposal) ** 2).sum(axis=1) + 0.5 * ((rows - theta) ** 2).sum(axis=1)
        log_odds = w * np.clip(ratios, -clip, clip).sum() + 0.5 * (theta @ theta - proposal @ proposal)
        threshold, complement = random.probability_from_logit(float(log_odds))
        word = random.Stream(key, random.purposes["accept"], chain, t).next64()
        theta = proposal if (word < threshold) != complement else theta
        path.append(theta)
    return np.array(path)


@pytest.mark.parametrize(("warmup", "thin"), [(0, 1), (17, 3)])
def test_whole_chains_equal_a_replay_of_the_definition(warmup, thin, rng):
    rows, walk = rng.normal(0.5, 1, (37, 2)), walk_of("gaussian", (0.3, 0.2), None, 2)
    draws = np.full((3, (600 - warmup) // thin, 2), np.nan)
    prior = dp.Normal().table(2, False)
    core = barker_run(**core_arguments(walk, rows, draws, seed=7, prior=prior, warmup=warmup, thin=thin))
    for chunk in (1, 250, 349):
        core.advance(chunk, 2, 16)
    assert core.steps_done == 600
    for chain in range(3):
        path = replay(rows, walk, chain, 600)
        kept = path[warmup:][thin - 1 :: thin]
        np.testing.assert_array_equal(draws[chain], kept)
        assert core.accepted[chain] == (np.diff(path, axis=0, prepend=0) != 0).any(axis=1).sum()


def test_minibatch_bits_equal_a_replay_of_the_definition(rng):
    n, b, clip, steps = 200, 60, 0.05, 1500
    rows, theta, proposal = rng.normal(0.2, 1, (n, 1)), [0.1], [0.13]
    settings = dp.plan(
        dp.GaussianMean(),
        dp.Data(rows).public,
        dp.Barker(steps=1, scale=0.1, clip=clip, batch_size=b, proposal="gaussian", c=2.0, w=0.4),
        private=False,
    ).settings
    arguments = settings.core_arguments(_core, dp.Data(rows).public)
    draws = np.zeros((1, 1, 1))
    walk = settings.walk
    core = barker_run(**core_arguments(walk, rows, draws, seed=3, prior=dp.Normal().table(1, False), batch=arguments))
    bits = core.audit(theta, proposal, 0, steps).astype(bool)
    assert (bits == minibatch_replay(rows[:, 0], theta[0], proposal[0], b, clip, settings, steps)).all()
    assert 0.2 < bits.mean() < 0.9


def minibatch_replay(x, theta, proposal, b, clip, settings, steps):
    from scipy.special import ndtr

    from pydpmc.accounting.events.barker_correction import correction
    from pydpmc.samplers.base import subset_arguments

    law, n, w, key = correction(settings.c), len(x), settings.w, random.key_from_seed(3)
    samples = random.StepSamples(n=n, b=b, **subset_arguments(_core, n, b))
    bits = []
    for t in range(steps):
        batch = samples.draw(3, 0, t)
        ratios = np.clip(0.5 * (x[batch] - theta) ** 2 - 0.5 * (x[batch] - proposal) ** 2, -clip, clip)
        star = w * n * ratios.mean() + 0.5 * (theta**2 - proposal**2)
        variance = (1 - b / n) / (b - 1) * (w * n) ** 2 * ratios.var()
        z = (star - np.concatenate([law.atoms, -law.atoms])) / math.sqrt(settings.c - variance)
        accept = float(np.tile(0.5 * law.weights, 2) @ ndtr(z))
        word = random.Stream(key, random.purposes["accept"], 0, t).next64()
        bits.append((word < accept * 2**64) if accept <= 0.5 else word >= (1 - accept) * 2**64)
    return np.array(bits)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip": 1e-300}, "clip is too small"),
        ({"clip": math.inf}, "clip must be positive and finite"),
        ({"bits": 60}, "bits must be"),
        ({"factor": [1.0] * 5}, "factor must be"),
        ({"prior": np.zeros((2, 4))}, "prior must have a row"),
        ({"prior": np.zeros((1, 5))}, "theta is too short"),
        ({"prior": np.zeros((3, 5)), "factor": [1.0] * 3}, "init and prior differ"),
        ({"draws": np.zeros((2, 1, 2))}, "draws must be"),
        ({"batch": 37, "bits": 20}, "batch must be"),
    ],
)
def test_the_core_checks_shapes_and_grids_by_itself(change, message, rng):
    walk = walk_of("gaussian", 0.3, None, 2)
    good = core_arguments(walk, rng.normal(size=(37, 2)), np.zeros((1, 9, 2)), seed=1, prior=dp.Flat().table(2, False))
    core = barker_run(**good)
    with pytest.raises(ValueError, match=message):
        barker_run(**good | change)
    with pytest.raises(ValueError, match="dim entries"):
        core.audit([0.0], [0.0], 0, 1)
