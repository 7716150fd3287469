"""The loops over records: bounded, odd, exact integer sums that depend on neither order nor instruction set."""

import math

import numpy as np
import pytest
from loops import for_each

from pydpmc import _core

ISAS = _core.available_isas()
MODELS = {
    "logistic_regression": (True, (0.0, 0.0)),
    "linear_regression": (True, (0.5, 0.0)),
    "bernoulli_logit": (False, (0.0, 0.0)),
    "gaussian_mean": (False, (1.0, 0.0)),
    "gaussian_mixture": (False, (2.0, 0.0)),
    "poisson_regression": (True, (0.0, 0.0)),
    "negative_binomial_regression": (True, (0.7, 0.0)),
    "probit_regression": (True, (0.0, 0.0)),
    "hinge_classifier": (True, (0.0, 0.0)),
    "huber_regression": (True, (0.5, 1.345)),
    "softmax_regression": (True, (3.0, 0.0)),
}
ONE_COLUMN = ("bernoulli_logit", "gaussian_mixture")
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.0, -1.0, 1e154, -1e154, 1e308, -1e308, np.nan, np.inf, -np.inf]


def table(x, y=None):
    """Lay records out as Data does."""
    x = np.asarray(x, dtype=float)
    used = x.shape[1] + (y is not None)
    rows = np.zeros((len(x), used if x.shape[1] < 4 else -(-used // 4) * 4))
    rows[:, : x.shape[1]] = x
    if y is not None:
        rows[:, x.shape[1]] = y
    return rows


def spec(model, rows, columns, intercept=False):
    has_target, constants = MODELS[model]
    return {
        "rows": rows,
        "columns": columns,
        "has_target": has_target,
        "model": model,
        "intercept": intercept,
        "constants": constants,
    }


def dim_of(model, columns):
    return {"bernoulli_logit": 1, "gaussian_mixture": 2, "softmax_regression": 3 * columns}.get(model, columns)


def records(model, rng, n, columns):
    columns = 1 if model in ONE_COLUMN else columns
    y = rng.integers(0, 3, n) if MODELS[model][0] else None
    return spec(model, table(rng.normal(size=(n, columns)), y), columns), dim_of(model, columns)


def contributions(arguments, current, proposal, clip, bits):
    """Return each record's integer, one record at a time."""
    rest = {k: v for k, v in arguments.items() if k != "rows"}
    rows = arguments["rows"]
    return [
        _core.ratio_sum(rows=rows[i : i + 1].copy(), **rest, current=current, proposal=proposal, clip=clip, bits=bits)[
            0
        ]
        for i in range(len(rows))
    ]


def quantised(ratio, clip, bits):
    """The definition, in Python's own arithmetic: NaN is 0, the rest is clipped and rounded half to even."""
    return 0 if math.isnan(ratio) else round(min(max(ratio, -clip), clip) * (2.0**bits / clip))


@for_each("isa", ISAS)
@for_each("model", MODELS)
@for_each(("clip", "bits"), [(0.37, 40), (1e-3, 50), (1e6, 1), (3e-290, 25), (1e300, 30)])
def test_adversarial_records_stay_within_the_grid(model, clip, bits, isa, rng):
    assert _core.use_isa(isa)
    columns = 1 if model in ONE_COLUMN else 5
    x = rng.choice(EXTREMES, (150, columns))
    rows = table(x, rng.choice(EXTREMES, 150) if MODELS[model][0] else None)
    arguments = spec(model, rows, columns)
    for scale in (1.0, 1e-300, 1e200):
        current, proposal = (rng.normal(size=dim_of(model, columns)) * scale for _ in range(2))
        now = _core.log_likelihoods(**arguments, theta=current.tolist())
        with np.errstate(all="ignore"):
            ratios = _core.log_likelihoods(**arguments, theta=proposal.tolist()) - now
        found = contributions(arguments, current, proposal, clip, bits)
        assert max(map(abs, found)) <= 2**bits
        assert found == [quantised(r, clip, bits) for r in ratios]


def gaussian_mean_ratios(x, slope, clip, bits):
    """With theta 0 -> slope and sigma = 1 the ratio is slope x - slope^2 / 2."""
    arguments = spec("gaussian_mean", table(np.reshape(x, (-1, 1))), 1)
    return contributions(arguments, [0.0], [slope], clip, bits)


def test_the_clip_boundary_is_exact_to_one_ulp():
    bits, top = 50, 2**50
    inside, on, outside = np.nextafter(1.5, 0), 1.5, np.nextafter(1.5, 2)
    assert gaussian_mean_ratios([inside, on, outside], 1.0, 1.0, bits) == [top, top, top]
    assert gaussian_mean_ratios([1.5 - 2.0**-50], 1.0, 1.0, bits) == [top - 1]
    arguments = spec("gaussian_mean", table([[inside], [on], [outside]]), 1)
    assert _core.ratio_sum(**arguments, current=[0.0], proposal=[1.0], clip=1.0, bits=bits)[2] == 1


def test_infinite_ratios_count_as_the_clip_and_nan_as_nothing():
    assert gaussian_mean_ratios([1e308, -1e308, np.nan], 100.0, 2.0, 30) == [2**30, -(2**30), 0]
    both_infinite = spec("gaussian_mean", table([[1e308]]), 1)
    assert _core.ratio_sum(**both_infinite, current=[90.0], proposal=[100.0], clip=1.0, bits=30) == (0, 0, 0)


def test_halves_are_rounded_to_even_on_both_sides():
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5]) / 2**4 + 0.5
    assert gaussian_mean_ratios(halves, 1.0, 1.0, 4) == [0, 2, 2, 0, -2, -2]


def test_a_clip_too_small_for_its_grid_is_refused():
    with pytest.raises(ValueError, match="clip is too small"):
        gaussian_mean_ratios([1.0], 1.0, 1e-300, 40)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("model", MODELS)
def test_the_reverse_move_has_exactly_the_opposite_sum(model, isa, rng):
    assert _core.use_isa(isa)
    arguments, dim = records(model, rng, 1003, 6)
    for _ in range(10):
        a, b = rng.normal(size=(2, dim)).tolist()
        for extra in ({"bits": 40}, {"bits": 25, "index": np.arange(0, 1003, 3, dtype=np.uint32)}):
            there = _core.ratio_sum(**arguments, current=a, proposal=b, clip=0.3, **extra)
            back = _core.ratio_sum(**arguments, current=b, proposal=a, clip=0.3, **extra)
            assert there[0] == -back[0] != 0
            assert there[1:] == back[1:]


@pytest.mark.parametrize("model", MODELS)
def test_sums_do_not_depend_on_order_position_threads_or_blocks(model, rng):
    arguments, dim = records(model, rng, 1003, 7)
    a, b = rng.normal(size=(2, dim)).tolist()
    shared = {"current": a, "proposal": b, "clip": 0.5, "bits": 40}
    expected = _core.ratio_sum(**arguments, **shared)
    assert expected[0] == sum(contributions(arguments, a, b, 0.5, 40))
    for _ in range(20):
        shuffled = arguments | {"rows": arguments["rows"][rng.permutation(1003)].copy()}
        assert _core.ratio_sum(**shuffled, **shared) == expected
    for threads in (1, 2, 4):
        for block in (1, 3, 64, 1000, 5000):
            assert _core.ratio_sum(**arguments, **shared, threads=threads, block=block) == expected


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 11, 12, 13, 100])
def test_a_record_counts_the_same_at_every_position_and_beside_anyone(columns, isa, rng):
    arguments, dim = records("logistic_regression", rng, 40, columns)
    a, b = rng.normal(size=(2, dim)).tolist()
    shared = {"current": a, "proposal": b, "clip": 0.9, "bits": 45}
    assert _core.use_isa("baseline")
    alone = contributions(arguments, a, b, 0.9, 45)
    assert _core.use_isa(isa)
    for n in range(1, 34):
        for start in (0, 3, 7):
            part = arguments | {"rows": arguments["rows"][start : start + n].copy()}
            assert _core.ratio_sum(**part, **shared)[0] == sum(alone[start : start + n])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("model", MODELS)
def test_every_instruction_set_gives_the_same_bits(model, isa, rng):
    for columns in (1, 3, 4, 9, 20):
        arguments, dim = records(model, rng, 61, columns)
        theta = (3 * rng.normal(size=dim)).tolist()
        assert _core.use_isa("baseline")
        expected = _core.log_likelihoods(**arguments, theta=theta)
        assert _core.use_isa(isa)
        np.testing.assert_array_equal(_core.log_likelihoods(**arguments, theta=theta), expected)


@for_each("model", MODELS)
@for_each(("count", "clip"), [(1, 0.5), (7, 0.5), (8, 1e-9), (1001, 0.5), (1001, 1e-9)])
def test_batch_sums_of_squares_are_exact_integers(model, count, clip, rng):
    arguments, dim = records(model, rng, 2000, 4)
    a, b = rng.normal(size=(2, dim)).tolist()
    index = rng.choice(2000, count, replace=False).astype(np.uint32)
    each = contributions(arguments | {"rows": arguments["rows"][index].copy()}, a, b, clip, 25)
    found = _core.ratio_sum(**arguments, current=a, proposal=b, clip=clip, bits=25, index=index)
    assert found[0] == sum(each)
    assert found[1] == sum(q * q for q in each)
    if clip < 1e-6 and model not in ("hinge_classifier", "probit_regression"):  # these are flat for some
        assert found[1] == count * 4**25  # every ratio at the clip: the largest sum there is


def relative_error(found, exact):
    return np.max(np.abs((found.astype(np.longdouble) - exact) / exact))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("columns", [1, 3, 4, 7, 10, 64, 65, 128, 129])
def test_tiles_have_the_ratios_of_rows(isa, columns, rng):
    """Whether a run has tiles depends on the number of records: no other record's contribution may."""
    assert _core.use_isa(isa)
    for model in ("logistic_regression", "linear_regression", "huber_regression", "poisson_regression"):
        arguments, dim = records(model, rng, 333, columns)
        theta, proposal = rng.normal(size=dim).tolist(), rng.normal(size=dim).tolist()
        finite = [v for v in EXTREMES if np.isfinite(v)]
        for values in ([], finite, EXTREMES):
            if values:
                arguments["rows"][: 12 * len(values) : 3, 0] = values * 4
                arguments["rows"][1 : 12 * len(values) : 12, columns] = values
            for block in (64, 100, 4096):
                moved = {"current": theta, "proposal": proposal, "clip": 1e3, "bits": 40, "block": block}
                rows = _core.ratio_sum(**arguments, **moved)
                assert _core.ratio_sum(**arguments, **moved, tiles=True) == rows, (model, values, block)


@pytest.mark.parametrize("isa", ISAS)
def test_exp_and_softplus_are_accurate(isa, rng):
    assert _core.use_isa(isa)
    eta = np.concatenate([rng.uniform(-700, 700, 50_000), rng.uniform(-2, 2, 50_000), 10.0 ** rng.uniform(-20, 0, 999)])
    exact = eta.astype(np.longdouble)
    rows = table(eta[:, None], np.zeros(len(eta)))
    poisson = -_core.log_likelihoods(**spec("poisson_regression", rows, 1), theta=[1.0])
    assert relative_error(poisson, np.exp(exact)) < 2e-15
    logistic = -_core.log_likelihoods(**spec("logistic_regression", rows, 1), theta=[1.0])
    assert relative_error(logistic, np.maximum(exact, 0) + np.log1p(np.exp(-np.abs(exact)))) < 2e-15


@pytest.mark.parametrize("isa", ISAS)
def test_the_log_of_a_normal_tail_is_accurate(isa, rng):
    """To a few roundings of the result and of z^2/2, against 40 digits."""
    mpmath = pytest.importorskip("mpmath", reason="mpmath is not here to compute normal tails to many digits")
    assert _core.use_isa(isa)
    z = np.concatenate([rng.uniform(-40, 9, 2000), rng.uniform(-1, 1, 500), -(10.0 ** rng.uniform(1, 6, 300))])
    found = _core.log_likelihoods(**spec("probit_regression", table(z[:, None], np.ones(len(z))), 1), theta=[1.0])
    with mpmath.workdps(40):
        exact = [mpmath.log(mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2) for x in z]
        errors = [abs((mpmath.mpf(f) - e) / e) for f, e in zip(found, exact, strict=True)]
    # exp(-z^2/2) has a relative error of z^2/2 roundings, which log1p of a small tail passes on.
    allowed = 2e-15 + np.where(z > 0, z**2 / 2, 0.0) * 2.0**-52
    assert (np.array(errors, dtype=float) < allowed).all()


def test_a_normal_tail_is_total():
    eta = np.array([-np.inf, -1e308, -1e99, 40.0, 1e308, np.inf, np.nan])
    rows = table(eta[:, None], np.ones(7))
    loglik = _core.log_likelihoods(**spec("probit_regression", rows, 1), theta=[1.0])
    assert loglik[2] == pytest.approx(-5e197)
    assert (loglik[:2] < -1e199).all()
    assert (np.abs(loglik[3:6]) < 1e-300).all()
    assert np.isnan(loglik[6])


def test_exp_and_softplus_are_total():
    eta = np.array([-np.inf, -1e308, -745.0, 745.0, 1e308, np.inf, np.nan])
    rows = table(eta[:, None], np.ones(7))
    loglik = _core.log_likelihoods(**spec("logistic_regression", rows, 1), theta=[1.0])
    np.testing.assert_array_equal(loglik[[0, 1, 6]], [-np.inf, -1e308, np.nan])
    np.testing.assert_allclose(loglik[[2, 3, 4, 5]], [-745.0, 0.0, 0.0, 0.0], atol=1e-300)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.zeros(4)}, "two-dimensional"),
        ({"rows": np.zeros((3, 6))}, "padded"),
        ({"columns": 9}, "too short"),
        ({"model": "gaussian"}, "unknown model"),
        ({"has_target": False}, "needs a target"),
        ({"theta": [0.0] * 4}, "theta is too short"),
        ({"model": "softmax_regression", "constants": (2.0, 0.0), "theta": [0.0] * 9}, "coefficients per class"),
        ({"model": "softmax_regression", "constants": (1.0, 0.0)}, "classes must be"),
        ({"model": "softmax_regression", "constants": (2.5, 0.0)}, "classes must be"),
    ],
)
def test_wrong_shapes_are_refused(change, message):
    arguments = spec("logistic_regression", np.zeros((3, 8)), 5) | {"theta": [0.0] * 5}
    assert _core.log_likelihoods(**arguments).shape == (3,)
    with pytest.raises(ValueError, match=message):
        _core.log_likelihoods(**arguments | change)


def test_a_batch_cannot_name_a_record_that_is_not_there():
    arguments = spec("gaussian_mean", np.zeros((3, 1)), 1)
    with pytest.raises(ValueError, match="not there"):
        _core.ratio_sum(**arguments, current=[0.0], proposal=[1.0], clip=1.0, bits=9, index=np.array([3], np.uint32))
