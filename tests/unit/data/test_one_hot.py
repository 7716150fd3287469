"""One-hot blocks as codes give the same sums as full rows, on every instruction set."""

import numpy as np
import pytest
from loops import for_each

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import InvalidArgument, WrongType

LEVELS = (4, 9, 60, 90, 5)
ONES = {"float64": 1.0, "float32": 1.0, "fixed16": 0.5}
MODELS = {
    "logistic_regression": ((0.0, 0.0), 0),
    "hinge_classifier": ((0.5, 0.0), 0),
    "huber_regression": ((1.0, 1.5), 0),
    "poisson_regression": ((0.0, 0.0), 0),
    "linear_regression": ((0.0, 0.0), 1),
}


def table(n, numbers, levels=LEVELS, one=1.0, seed=0):
    """Features on a grid of 2^-8, the first `numbers` of them not one-hot; and the blocks."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, numbers + sum(levels)))
    x[:, :numbers] = rng.integers(-128, 129, (n, numbers)) / 256
    blocks, at = [], numbers
    for count in levels:
        code = rng.integers(0, count + 1, n)  # the last is a level without a column
        hot = np.flatnonzero(code < count)
        x[hot, at + code[hot]] = one
        blocks.append(list(range(at, at + count)))
        at += count
    return x, rng.integers(0, 2, n).astype(float), blocks


def shuffled(x, blocks, seed=1):
    """Columns in another order, so that numbers and blocks are mixed."""
    order = np.random.default_rng(seed).permutation(x.shape[1])
    place = np.argsort(order)
    return x[:, order], [[int(place[column]) for column in block] for block in blocks]


def sums(data, name, theta, **options):
    constants, _ = MODELS[name]
    return _core.gradient_sum(
        rows=data._rows,
        columns=data.public.width,
        has_target=True,
        model=name,
        intercept=options.pop("intercept", True),
        constants=constants,
        theta=list(theta),
        clip=options.pop("clip", 0.7),
        per_unit=2.0**28,
        **options,
    )


@for_each("isa", _core.available_isas())
@for_each("storage", ONES)
@for_each("numbers", [1, 3, 4, 6, 11])
@for_each("name", MODELS)
def test_sums_are_those_of_multiplied_out_rows(name, numbers, storage, isa):
    """Predictors are exact here in any order, so that every integer must be the same."""
    before = _core.isa()
    x, y, blocks = table(203, numbers, one=ONES[storage], seed=numbers)
    x, blocks = shuffled(x, blocks)
    y[5] = np.nan
    data = dp.Data(x, y, x_bounds=(-1.0, 1.0), storage=storage, one_hot=blocks, on_invalid="drop")
    assert data._coded is not None
    extra = MODELS[name][1]
    try:
        assert _core.use_isa(isa)
        for intercept in (True, False):
            rng = np.random.default_rng(7)
            theta = rng.integers(-256, 257, x.shape[1] + intercept + extra) / 512
            for index in (None, rng.choice(203, 50, replace=False).astype(np.uint32), np.array([5, 6], np.uint32)):
                given = {"index": index, "intercept": intercept}
                dense, coded = (sums(data, name, theta, coded=c, **given) for c in (None, data._coded))
                np.testing.assert_array_equal(coded, dense)
                assert np.any(dense) or index is not None
    finally:
        _core.use_isa(before)


def test_one_record_stays_within_the_clip_and_adds_nothing_to_columns_it_does_not_have():
    x, y, blocks = table(60, 2)
    data = dp.Data(x, y, row_norm=1.5, one_hot=blocks)
    theta = np.random.default_rng(2).normal(size=x.shape[1] + 1)
    for i in range(60):
        alone = sums(data, "logistic_regression", theta, coded=data._coded, index=np.array([i], np.uint32), clip=0.01)
        assert np.linalg.norm(alone.astype(float)) <= 0.01 * 2.0**28
        assert not alone[1:][x[i] == 0.0].any()
        assert alone[1:][x[i] != 0.0].all()


def test_extreme_slopes_add_nothing_or_what_multiplied_out_rows_add():
    x, y, blocks = table(64, 4)
    data = dp.Data(x, y, x_bounds=(-1.0, 1.0), one_hot=blocks)
    for value in (1e200, -1e308, np.inf, np.nan):
        theta = np.full(x.shape[1] + 2, 0.0)
        theta[10] = value
        dense, coded = (sums(data, "linear_regression", theta, coded=c) for c in (None, data._coded))
        if np.isfinite(value):
            np.testing.assert_array_equal(coded, dense)
        assert np.abs(coded).max() <= 64 * 0.7 * 2.0**28


@pytest.mark.parametrize(
    "sampler",
    [
        dp.SGLD(steps=60, step_size=1e-4, batch_size=64),
        dp.SGLD(steps=60, step_size=1e-4, batch_size=64, preconditioner="diagonal"),
        dp.SGHMC(steps=60),
        dp.Hybrid(dp.Langevin(), dp.SGLD(steps=60)),
    ],
)
def test_a_chain_is_the_one_of_multiplied_out_rows(sampler):
    x, y, blocks = table(500, 3)
    data = [dp.Data(x, y, row_norm=2.0, one_hot=given) for given in (None, blocks)]
    assert data[0]._coded is None
    assert data[1]._coded is not None
    plan = dp.plan(dp.LogisticRegression(prior=dp.Normal(scale=2.0)), data[0].public, sampler, epsilon=2.0, delta=1e-6)
    dense, coded = (plan.run(d, seed=3, progress=False).draws["beta"] for d in data)
    np.testing.assert_allclose(coded, dense, atol=1e-6)
    assert np.ptp(dense) > 1e-3


def test_a_langevin_draw_is_the_one_of_multiplied_out_rows():
    x, y, blocks = table(400, 3)
    data = [dp.Data(x, y, row_norm=1.0, one_hot=given) for given in (None, blocks)]
    model, sampler = dp.LogisticRegression(prior=dp.Normal(scale=1.0)), dp.Langevin()
    plan = dp.plan(model, data[0].public, sampler, epsilon=3.0, delta=1e-6)
    dense, coded = (plan.run(d, seed=3, progress=False).draws["beta"] for d in data)
    np.testing.assert_allclose(coded, dense, atol=1e-6)


def test_a_schema_declares_its_categories():
    rng = np.random.default_rng(0)
    levels = [f"l{k}" for k in range(30)]
    schema = dp.Schema(
        {
            "age": dp.Number(0, 100),
            "a": dp.Category(levels),
            "b": dp.Category(levels[:12]),
            "yes": dp.Binary(positive="y"),
        },
        target="yes",
        missing="drop",
        interactions=[("a", "b"), ("age", "b")],
    )
    given = {
        "age": rng.uniform(0, 100, 200),
        "a": rng.choice([*levels, "unknown", ""], 200),
        "b": rng.choice(levels, 200),
        "yes": rng.choice(["y", "n", ""], 200),
    }
    data = schema.data(given)
    assert schema.data(given, one_hot=None)._coded is None
    assert data._coded is not None
    assert len(data._coded.number_columns) == 1 + 12  # age, and its product with b
    theta = np.random.default_rng(1).integers(-64, 65, data.public.width + 1) / 512
    dense, coded = (sums(data, "logistic_regression", theta, coded=c, clip=9.0) for c in (None, data._coded))
    np.testing.assert_allclose(coded, dense, atol=200)


def test_rows_stay_as_they_are_where_codes_do_not_pay():
    x, y, blocks = table(50, 40, levels=(4, 4))
    assert dp.Data(x, y, one_hot=blocks)._coded is None
    x, y, blocks = table(50, 3)
    assert dp.Data(x, one_hot=blocks)._coded is None
    assert dp.Data(x, y, one_hot=blocks, groups=np.arange(50) // 2)._coded is None
    assert dp.Data(x, y, one_hot=[block[:3] for block in blocks])._coded is None


@for_each("numbers", range(1, 12))
@for_each("levels", [(6,), (9,), (14,), (20,), (5, 5), (9, 4, 12)])
def test_a_short_row_has_at_most_half_the_bytes(numbers, levels):
    x, y, blocks = table(3, numbers, levels)
    data = dp.Data(x, y, one_hot=blocks)
    assert data._coded is None or 2 * data._coded.rows[0].nbytes <= data._rows[0].nbytes


def test_records_that_are_not_one_hot_contribute_nothing_if_told_so():
    x, y, blocks = table(50, 3)
    x[3, 3:5] = 1.0
    x[7, 3:] = 0.0
    x[7, [3, 8]] = [1.0, 0.5]
    data = dp.Data(x, y, one_hot=blocks, on_invalid="drop")
    x[[3, 7]] = np.nan
    without = dp.Data(x, y, one_hot=blocks, on_invalid="drop")
    np.testing.assert_array_equal(data._rows, without._rows)
    np.testing.assert_array_equal(data._coded.rows, without._coded.rows)


def test_columns_that_are_all_in_blocks_leave_one_block_as_numbers():
    x, y, blocks = table(90, 0)
    data = dp.Data(x, y, one_hot=blocks)
    assert data._coded is not None
    assert list(data._coded.number_columns) == blocks[0]
    theta = np.random.default_rng(7).integers(-256, 257, x.shape[1] + 1) / 512
    dense, coded = (sums(data, "logistic_regression", theta, coded=c) for c in (None, data._coded))
    np.testing.assert_array_equal(coded, dense)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, blocks: blocks[0].append(999), "one_hot must be"),
        (lambda _, blocks: blocks[0].append(8), "a column belongs to one block"),
        (lambda _, blocks: blocks.__setitem__(0, "abc"), "one_hot must hold lists"),
    ],
)
def test_blocks_that_are_none_are_refused(change, message):
    x, y, blocks = table(50, 3)
    x[3, 3:] = 0.0
    x[3, 12] = 1.0
    change(x, blocks)
    with pytest.raises((InvalidArgument, WrongType), match=message):
        dp.Data(x, y, one_hot=blocks)
