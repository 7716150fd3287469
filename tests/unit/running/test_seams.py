"""Sums of doubles over cells: blocks at places that the table alone decides, added without rounding."""

import math
from itertools import pairwise

import clusters
import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.data.cells import part_of
from pydpmc.running.shards.seams import BLOCK, WithSeams, seams_of

UNIT, DIGITS = 2**1074, _core.exact_width - 1


def digits_of(values):
    """Return exact sums of values as the core has them: whole multiples of 2^-1074, in digits of base 2^32."""
    out = np.zeros(DIGITS + 1, dtype=np.int64)
    for value in values:
        numerator, denominator = float(value).as_integer_ratio()
        whole = abs(numerator) * (UNIT // denominator)
        found = np.frombuffer(whole.to_bytes(4 * DIGITS, "little"), dtype="<u4").astype(np.int64)
        out[:-1] += found if numerator >= 0 else -found
    return out


HARD = [
    [0.0],
    [5e-324],
    [-5e-324, 5e-324],
    [2.0**-1022, -5e-324],
    [1.0, 2.0**-53],
    [1.0, 2.0**-53, 2.0**-106],
    [1.0 + 2.0**-52, 2.0**-53],
    [-1.0, -(2.0**-53), -5e-324],
    [1e308, 2.5, -1e308],
    [1.7976931348623157e308, -1.7976931348623157e308, 5e-324],
]


@pytest.mark.parametrize("values", HARD)
def test_exact_sums_are_rounded_once(values):
    assert _core.doubles_of(digits_of(values)[None])[0] == math.fsum(values)


def test_random_sums_are_rounded_once():
    rng = np.random.default_rng(5)
    for _ in range(300):
        values = rng.normal(size=rng.integers(1, 30)) * 2.0 ** rng.integers(-rng.integers(1, 900), 60, 1)
        values = np.concatenate([values, -values[: rng.integers(len(values))] * (1 + 2.0**-50)])
        assert _core.doubles_of(digits_of(values)[None])[0] == math.fsum(values)


def test_what_is_not_finite_or_too_large_is_no_number():
    strange = digits_of([1.0])
    strange[-1] = 1
    large = digits_of([1.7976931348623157e308, 1.7976931348623157e308])
    assert np.isnan(_core.doubles_of(np.stack([strange, large]))).all()
    with pytest.raises(ValueError, match="row per sum"):
        _core.doubles_of(strange)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_are_added_without_rounding(threads):
    rows = clusters.schema().data(clusters.table(45_000))._rows
    facts = {"columns": 3, "has_target": True, "model": "logistic_regression", "intercept": True}
    facts |= {"constants": [0.0, 0.0], "prior": np.zeros((4, 5))}
    theta, unclamped = [0.3, -1.0, 0.7, 2.0], (-math.inf, math.inf)
    options = {"weight": 1.0, "prior_weight": 1.0, "loglik_range": unclamped}
    blocks = [
        np.append(*_core.log_density(rows=rows[i : i + BLOCK], theta=theta, **facts, **options))
        for i in range(0, len(rows), BLOCK)
    ]
    wanted = [math.fsum(column) for column in np.array(blocks).T]
    shard = _core.ShardSums(_core.Target(rows=rows, **facts))
    found = shard.density(np.array([theta]), loglik_range=unclamped, threads=threads)[0]
    np.testing.assert_array_equal(_core.doubles_of(found), wanted)
    value, gradient = _core.log_density(rows=rows, theta=theta, threads=threads, **facts, **options)
    np.testing.assert_array_equal([value, *gradient], wanted)


def data_for(model):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4 * BLOCK + 123, 2))
    x[17] = np.nan
    if isinstance(model, dp.GaussianMean):
        return dp.Data(x, x_bounds=(-3, 3), storage="float32")
    if isinstance(model, dp.LinearRegression):
        return dp.Data(x, np.nan_to_num(x[:, 0]) + rng.normal(size=len(x)), x_bounds=(-3, 3), y_bounds=(-5, 5))
    return dp.Data(x, rng.integers(0, 3, len(x)), x_bounds=(-3, 3), y_bounds=(0, 2))


@pytest.mark.filterwarnings("ignore::pydpmc.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [dp.GaussianMean(sigma=1.0), dp.LinearRegression(), dp.PoissonRegression(), dp.SoftmaxRegression(classes=3)],
    ids=lambda model: type(model).__name__,
)
def test_draws_of_nuts_do_not_depend_on_cells(model):
    data = data_for(model)
    plan = dp.plan(model, data.public, dp.NUTS(draws=3, warmup=20), private=False, chains=2)
    wanted = clusters.draws(plan, data, threads=2)
    for cells in (2, 5, 300):
        np.testing.assert_array_equal(clusters.draws(plan, data.in_cells(cells), threads=1), wanted)


def test_every_row_is_in_a_whole_block_or_in_a_seam():
    data = clusters.schema().data(clusters.table(5000), storage="fixed16")
    cuts = [0, 7, 7, 1024, 1025, 3500, 4096, 4999, 5000]
    blocks, seen = seams_of(cuts[:-1], 5000), 0
    total = np.zeros((len(blocks), BLOCK, 2), dtype=np.int64)
    for low, high in pairwise(cuts):
        part = part_of(data, (low, high))
        if part is not None:
            cell = WithSeams(part, low)
            total += cell.rows(blocks)
            seen += 0 if cell.whole is None else len(cell.whole)
    assert blocks == [0, 1, 3, 4]
    assert seen == BLOCK, "only the third block is whole"
    rows = total.view(np.uint8)[:, :, : data._rows.shape[1] * 2].reshape(len(blocks) * BLOCK, -1)
    wanted = np.concatenate([data._rows[block * BLOCK : (block + 1) * BLOCK] for block in blocks])
    np.testing.assert_array_equal(np.ascontiguousarray(rows).view(np.int16)[: len(wanted)], wanted)
