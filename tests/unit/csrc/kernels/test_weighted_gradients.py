"""What a weighted record adds to a gradient query: its gradient times its weight, clipped, in exact integers."""

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.samplers.base import target_arguments

SD = 1.0  # of the noise: the grid has 2^32 steps in it
MODELS = [
    dp.LogisticRegression(intercept=True),
    dp.LinearRegression(),
    dp.LinearRegression(sigma=0.5, intercept=True),
    dp.BernoulliLogit(),
    dp.GaussianMean(sigma=0.8),
    dp.PoissonRegression(),
    dp.HuberRegression(),
    dp.SoftmaxRegression(classes=4, intercept=True),
]
EXTREMES = [0.0, -0.0, 5e-324, 1e-162, 1.0, -1.0, 1e8, 1e125, -1e150, 1e308, np.nan, np.inf, -np.inf]
WEIGHTS = [0.0, 5e-324, 1e-300, 1e-160, 1e-9, 1.0, 3.0, 1e9, 1e160, 1e300, np.inf, np.nan, -2.0]


def draw(model, rng, rows, columns=5):
    x = rng.normal(size=(rows, 1 if model.one_column else columns))
    if isinstance(model, dp.BernoulliLogit):
        x = rng.integers(0, 2, (rows, 1)).astype(float)
    return x, (rng.integers(0, model.label_count or 3, rows).astype(float) if model.needs_target else None)


def query(model, data, theta, clip, sampler="sgld", weights="own", sd=SD):
    """Return the exact sums of one query over all records, and how many integers are a unit."""
    arguments = target_arguments(model, data)
    if not isinstance(weights, str):
        arguments["weights"] = weights
    shard = _core.ShardSums(_core.Target(**arguments, coded=data._coded))
    moments = {"moment_scale": [1.0 / clip], "moment_clip": [clip], "moments_noised": [1.0]}
    moments |= {"noise_matrix": [0.5] * len(theta), "prior_precision": [1.0] * len(theta)}
    moments |= {"weight": [1.0], "centred": [0.0], "heat": [1.0]}
    scale = moments if sampler == "sgfs" else {"friction": [0.0]}
    room = float(max(1, data.public.n))
    shard.start_queries(
        sampler=sampler, parameters=scale, sampling="full", clip=clip, room=room, gaps=None, most=0, chains=1
    )
    found = shard.query(theta[None], step=0, noise=sd, key=bytes(32), threads=1)[0]
    bits = min(32, math.frexp(min(2.0**61 / room, 2.0**50) * sd / clip)[1] - 1)
    return [int(q) for q in found], 2.0**bits / sd


def theta_of(model, data, rng):
    return rng.normal(size=model.dim(data.public)) * 0.7


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_whole_weight_counts_the_record_so_often(model, storage, rng):
    x, y = draw(model, rng, 57)
    if storage == "fixed16" and not model.needs_target:
        pytest.skip("fixed16 needs a model with a target")
    weights = rng.integers(0, 4, 57)
    options = {"storage": storage, "row_norm": 1.9}
    weighted = dp.Data(x, y, sample_weight=weights, max_weight=3.0, **options)
    often = np.repeat(np.arange(57), weights)
    repeated = dp.Data(x[often], None if y is None else y[often], **options)
    theta, clip = theta_of(model, weighted, rng), 1000.0
    (found, unit), (wanted, same) = (query(model, data, theta, clip) for data in (weighted, repeated))
    assert unit == same
    # Integers are rounded once with a weight, and once for every copy; products with the weight also round.
    roundings = 0.5 * weights.sum() + 0.5 * 57 + 57 * 3.0 * clip * unit * 2.0**-52
    assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) <= roundings
    assert max(abs(q) for q in found) > 100 * roundings


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weights_of_one_change_no_bit(model, rng):
    x, y = draw(model, rng, 43)
    plain = dp.Data(x, y)
    theta = theta_of(model, plain, rng)
    for clip in (100.0, 0.4):
        assert query(model, plain, theta, clip) == query(model, plain, theta, clip, weights=np.ones(43))


@pytest.mark.parametrize("sampler", ["sgld", "sgfs"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_weight_takes_a_record_beyond_the_clip(model, sampler, rng):
    """Every weight a double can be, at records of every size: the core does not rely on the bound of `Data`."""
    if sampler == "sgfs" and isinstance(model, dp.SoftmaxRegression):
        pytest.skip("second moments are taken of one predictor")
    x, y = draw(model, rng, 60)
    x[:40] = rng.choice(EXTREMES, size=x[:40].shape)
    if y is not None and not model.label_count:
        y[:20] = rng.choice(EXTREMES, size=20)
    largest = 0.0
    for clip in (0.3, 1e-10, 1e4):
        for k in range(60):
            one = dp.Data(x[k : k + 1], None if y is None else y[k : k + 1])
            theta = theta_of(model, one, rng)
            for weight in (*WEIGHTS, 10.0 ** rng.uniform(-12, 12)):
                found, unit = query(model, one, theta, clip, sampler, weights=np.array([weight]), sd=clip)
                bound = clip * math.sqrt(2.0) if sampler == "sgfs" else clip
                norm = math.sqrt(sum(q * q for q in found))
                assert norm <= bound * unit * (1.0 + 1e-12)
                largest = max(largest, norm / (bound * unit))
                assert weight == weight or norm == 0.0
    assert largest > 0.99


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_group_adds_the_clipped_sum_of_its_weighted_records(model, rng):
    ids = np.repeat(np.arange(9), rng.integers(1, 12, 9))
    x, y = draw(model, rng, len(ids))
    weights = rng.uniform(0.0, 2.0, len(ids))
    of = {"sample_weight": weights, "max_weight": 2.0}
    alone, grouped = dp.Data(x, y, **of), dp.Data(x, y, groups=ids, **of)
    theta = theta_of(model, alone, rng)
    each, unit = zip(
        *(
            query(
                model,
                dp.Data(x[k : k + 1], None if y is None else y[k : k + 1]),
                theta,
                1e5,
                weights=weights[k : k + 1],
            )
            for k in range(len(ids))
        ),
        strict=True,
    )
    records = np.array(each, dtype=np.longdouble) / np.array(unit, dtype=np.longdouble)[:, None]
    sums = np.array([records[ids == g].sum(axis=0) for g in range(9)])
    norms = np.sqrt((sums**2).sum(axis=1))
    for clip in (1e5, float(np.median(norms))):
        found, unit = query(model, grouped, theta, clip)
        wanted = (sums * np.minimum(1.0, clip / norms)[:, None]).sum(axis=0)
        assert np.abs(np.array(found, dtype=np.longdouble) / unit - wanted).max() < 1e-6


@pytest.mark.parametrize("intercept", [False, True])
def test_codes_and_rows_of_few_bits_read_the_same_weights(intercept, rng):
    """Faster loops without weights are left aside; what they would sum is within their roundings."""
    kinds = rng.integers(0, 12, 300)
    x = np.hstack([rng.uniform(-1, 1, (300, 6)), np.eye(12)[kinds], np.eye(8)[kinds % 8]])
    y = rng.integers(0, 2, 300).astype(float)
    model, weights = dp.LogisticRegression(intercept=intercept), rng.uniform(0.0, 3.0, 300)
    of = {"row_norm": 1.9, "sample_weight": weights, "max_weight": 3.0}
    exact = dp.Data(x, y, **of)
    theta = theta_of(model, exact, rng)
    wanted, unit = query(model, exact, theta, 10.0)
    coded = dp.Data(x, y, one_hot=[range(6, 18), range(18, 26)], **of)
    assert coded._coded is not None
    assert query(model, coded, theta, 10.0) == (wanted, unit)
    for storage, error in (("float32", 2.0**-23), ("fixed16", 2.0**-14)):
        found, same = query(model, dp.Data(x, y, storage=storage, **of), theta, 10.0)
        assert same == unit  # the grid of the loop that reads weights
        spread = float(weights.sum()) * 3.0 * error * (1.0 + 3.0 * float(np.abs(theta).sum()))
        assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) <= spread * unit


def test_runs_without_a_loop_for_weights_refuse_them(rng):
    x, y = draw(dp.LogisticRegression(), rng, 20)
    data = dp.Data(x, y, row_norm=1.0)
    target = _core.Target(**target_arguments(dp.LogisticRegression(), data), weights=np.ones(20))
    shard = _core.ShardSums(target)
    with pytest.raises(ValueError, match="without weights"):
        shard.gradient(np.zeros((1, 5)), clip=1.0, per_unit=100.0, threads=1)
    with pytest.raises(ValueError, match="without weights"):
        shard.ratio(np.zeros((2, 5)), clip=1.0, bits=20, threads=1)
    with pytest.raises(ValueError, match="weights needs one entry per row"):
        _core.Target(**target_arguments(dp.LogisticRegression(), data), weights=np.ones(19))
