"""The sums of clipped gradients: bounded per record in exact integers, and a function of the set of records alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loops import for_each
from scipy.special import log_ndtr

from pydpmc import _core

ISAS = _core.available_isas()
# (has a target, constants, has an extra coordinate beside the slopes)
MODELS = {
    "logistic_regression": (True, (0.0, 0.0), 0),
    "linear_regression": (True, (0.5, 0.0), 0),
    "linear_regression, log sigma": (True, (0.0, 0.0), 1),
    "bernoulli_logit": (False, (0.0, 0.0), 0),
    "gaussian_mean": (False, (0.8, 0.0), 0),
    "gaussian_mixture": (False, (2.0, 0.0), 1),
    "poisson_regression": (True, (0.0, 0.0), 0),
    "negative_binomial_regression": (True, (0.7, 0.0), 0),
    "probit_regression": (True, (0.0, 0.0), 0),
    "hinge_classifier": (True, (0.0, 0.0), 0),
    "huber_regression": (True, (0.5, 1.345), 0),
    "softmax_regression": (True, (2.0, 0.0), 0),
    "softmax_regression, five classes": (True, (5.0, 0.0), 0),
}
ONE_COLUMN = ("bernoulli_logit", "gaussian_mixture")
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-162, -1e-162, 1e-155, 1.0, -1.0, 1e8, 1e150, -1e150]
EXTREMES += [1e154, -1e154, 1e308, -1e308, np.nan, np.inf, -np.inf]


def table(x: Any, y: Any = None) -> np.ndarray:
    """Lay records out as Data does."""
    x = np.asarray(x, dtype=float)
    used = x.shape[1] + (y is not None)
    rows = np.zeros((len(x), used if x.shape[1] < 4 else -(-used // 4) * 4))
    rows[:, : x.shape[1]] = x
    if y is not None:
        rows[:, x.shape[1]] = y
    return rows


def spec(name: str, x: Any, y: Any, intercept: bool = False) -> dict[str, Any]:
    has_target, constants, _ = MODELS[name]
    return {
        "rows": table(x, y if has_target else None),
        "columns": np.shape(x)[1],
        "has_target": has_target,
        "model": name.split(",")[0],
        "intercept": intercept,
        "constants": constants,
    }


def width(name: str, columns: int) -> int:
    return 1 if name in ONE_COLUMN else columns


def dim_of(name: str, columns: int, intercept: bool = False) -> int:
    classes = int(MODELS[name][1][0]) if name.startswith("softmax") else 1
    return classes * (columns + intercept) + MODELS[name][2]


def drawn(name: str, rng: np.random.Generator, n: int, columns: int, intercept: bool = False):
    """Return a model's arguments with ordinary records, and a theta."""
    columns = width(name, columns)
    x, y = rng.normal(size=(n, columns)), rng.integers(0, 2, n).astype(float)
    intercept = intercept and MODELS[name][0]
    return spec(name, x, y, intercept), rng.normal(size=dim_of(name, columns, intercept)) * 0.7


def total(arguments: dict[str, Any], theta: Any, clip: float, per_unit: float, index: Any = None) -> list[int]:
    index = None if index is None else np.asarray(index, dtype=np.uint32)
    theta = np.asarray(theta).tolist()
    return _core.gradient_sum(**arguments, theta=theta, clip=clip, per_unit=per_unit, index=index).tolist()


def one_by_one(arguments: dict[str, Any], theta: Any, clip: float, per_unit: float) -> list[list[int]]:
    return [total(arguments, theta, clip, per_unit, [i]) for i in range(len(arguments["rows"]))]


def exact_gradients(name: str, arguments: dict[str, Any], theta: Any) -> np.ndarray:
    """Per-record gradients of log p, in extended precision, written down from the models' definitions."""
    rows = arguments["rows"].astype(np.longdouble)
    columns = arguments["columns"]
    x, y = rows[:, :columns], rows[:, columns] if arguments["has_target"] else None
    t = np.asarray(theta, dtype=np.longdouble)
    first, second = (np.longdouble(c) for c in arguments["constants"])
    if name == "gaussian_mean":
        return (x - t) / first**2
    if name == "bernoulli_logit":
        return x - 1 / (1 + np.exp(-t))
    if name == "gaussian_mixture":
        near, far = x[:, 0] - t[0], x[:, 0] - t[0] - t[1]
        share = 1 / (1 + np.exp((far**2 - near**2) / (2 * first)))
        return np.column_stack([((1 - share) * near + share * far) / first, share * far / first])
    design = np.column_stack([np.ones(len(x)), x]) if arguments["intercept"] else x
    if name.startswith("softmax"):
        return softmax_gradients(design, y, t, int(first), arguments["intercept"])
    eta = design @ t[: design.shape[1]]
    if name == "linear_regression, log sigma":
        sigma = np.exp(t[-1])
        z = (y - eta) / sigma
        return np.column_stack([design * (z / sigma)[:, None], z**2 - 1])
    side = 2 * y - 1
    residual = {
        "logistic_regression": lambda: y - 1 / (1 + np.exp(-eta)),
        "linear_regression": lambda: (y - eta) / first**2,
        "poisson_regression": lambda: y - np.exp(eta),
        "negative_binomial_regression": lambda: (y - np.exp(eta)) / (1 + first * np.exp(eta)),
        "probit_regression": lambda: side * mills(side * eta),
        "hinge_classifier": lambda: np.where(side * eta < 1, side, 0),
        "huber_regression": lambda: np.clip((y - eta) / first, -second, second) / first,
    }[name]()
    return design * residual[:, None]


def mills(z: Any) -> Any:
    """phi(z)/Phi(z)."""
    z = np.asarray(z, dtype=float)
    return np.exp(-z * z / 2 - log_ndtr(z)) / math.sqrt(2 * math.pi)


def softmax_gradients(design: Any, y: Any, t: Any, classes: int, intercept: bool) -> np.ndarray:
    """Residuals by class times the row; the intercepts of all classes come first."""
    split = classes if intercept else 0
    slopes = t[split:].reshape(classes, -1)
    beta = np.column_stack([t[:split], slopes]) if intercept else slopes
    eta = design @ beta.T
    shares = np.exp(eta - eta.max(axis=1, keepdims=True))
    residuals = np.eye(classes, dtype=np.longdouble)[y.astype(int)] - shares / shares.sum(axis=1, keepdims=True)
    by_class = residuals[:, :, None] * design[:, None, :]
    inner = by_class[:, :, split > 0 :].reshape(len(design), -1)
    return np.concatenate([by_class[:, :, 0], inner], axis=1) if intercept else inner


@for_each("isa", ISAS)
@for_each("intercept", [False, True])
@for_each("columns", [1, 3, 4, 13, 261])  # the last: long rows, eight at once
@for_each("name", MODELS)
def test_each_record_is_its_clipped_gradient_to_the_nearest_grid_point(name, columns, intercept, isa, rng):
    assert _core.use_isa(isa)
    arguments, theta = drawn(name, rng, 40, columns, intercept)
    gradients = exact_gradients(name, arguments, theta)
    norms = np.sqrt((gradients**2).sum(axis=1))
    for clip, per_unit in ((1e3, 2.0**32), (float(np.median(norms)) or 1.0, 2.0**38)):
        expected = gradients * np.minimum(1, clip / np.maximum(norms, 1e-300))[:, None] * per_unit
        found = np.array(one_by_one(arguments, theta, clip, per_unit), dtype=np.longdouble)
        # Half a step of rounding, the room left below the clip for it, and 1e-12 of the norm.
        allowed = 0.5 + 0.5 * math.sqrt(len(theta)) + 3e-12 * clip * per_unit
        assert np.abs(found - expected).max() <= allowed


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_is_the_derivative_of_the_compiled_log_likelihood(name, rng):
    arguments, theta = drawn(name, rng, 500, 5, True)
    per_unit, h = 2.0**32, 1e-5
    found = np.array(total(arguments, theta, 1e5, per_unit)) / per_unit
    for j in range(len(theta)):
        shift = h * np.eye(len(theta))[j]
        up, down = (_core.log_likelihoods(**arguments, theta=(theta + s).tolist()) for s in (shift, -shift))
        slope = (up - down) / (2 * h)
        kinks = 2 * np.abs(arguments["rows"][:, :5]).max() if name == "hinge_classifier" else 0.0
        assert abs(slope.sum() - found[j]) <= 1e-6 * max(1.0, np.abs(slope).sum()) + kinks


def within(vectors: list[list[int]], clip: float, per_unit: float) -> bool:
    """Whether all norms are at most clip / unit, in integers: both numbers are rational."""
    top_clip, bottom_clip = clip.as_integer_ratio()
    top_unit, bottom_unit = per_unit.as_integer_ratio()
    top, bottom = (top_clip * top_unit) ** 2, (bottom_clip * bottom_unit) ** 2
    return all(sum(v * v for v in vector) * bottom <= top for vector in vectors)


GRIDS = [
    (1.0, 2.0**34),
    (0.37, 2.0**45),
    (1e-3, 2.0**30 / 1e-3),
    (1e-9, 3e19),
    (1e-30, 1e42),
    (1e5, 1e-3),
    (1e50, 1e-40),
]


@for_each("isa", ISAS)
@for_each("columns", [1, 4, 33])
@for_each("name", MODELS)
def test_no_record_exceeds_the_clip_in_exact_integers(name, columns, isa, rng):
    assert _core.use_isa(isa)
    columns = width(name, columns)
    x = rng.choice(EXTREMES, (80, columns))
    some = rng.random((80, columns)) < 0.5
    x[:40][some[:40]] = 0.0  # or else nearly every record has an entry that is not finite
    few = rng.choice([1e-162, -1e-160, 1e150, 3.0], (30, columns))
    x = np.concatenate([x, few, 10.0 ** rng.uniform(-170, 160, (30, columns))])
    y = rng.choice(EXTREMES, len(x))
    arguments = spec(name, x, y)
    for scale in (1.0, 0.0, 1e-150, 1e100):
        theta = scale * rng.normal(size=dim_of(name, columns))
        for clip, per_unit in GRIDS:
            assert within(one_by_one(arguments, theta, clip, per_unit), clip, per_unit), (scale, clip)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("columns", [1, 2, 4, 10, 100])
def test_the_clip_boundary_holds_to_one_ulp(columns, isa, rng):
    assert _core.use_isa(isa)
    directions = rng.normal(size=(60, columns))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions[0] = np.eye(columns)[0]
    for clip, per_unit in GRIDS:
        x = np.concatenate([directions * clip * f for f in (np.nextafter(1, 0), 1.0, np.nextafter(1, 2), 1.5)])
        arguments = spec("gaussian_mean", x, None) | {"constants": (1.0, 0.0)}
        vectors = one_by_one(arguments, np.zeros(columns), clip, per_unit)
        assert within(vectors, clip, per_unit)
        longest = math.sqrt(max(sum(v * v for v in vector) for vector in vectors))
        assert longest >= clip * per_unit * (1 - 2e-12) - 1.5 * math.sqrt(columns)


@for_each("bad", [np.nan, np.inf, -np.inf, 1e308])
@for_each("name", MODELS)
def test_a_record_that_is_not_finite_adds_exactly_nothing(name, bad, rng):
    arguments, theta = drawn(name, rng, 21, 5, True)
    if name.startswith(("bernoulli", "hinge", "huber", "logistic", "softmax")) and bad == 1e308:
        theta = theta * 1e10
    for place in ({0}, {7}, {20}, {0, 8, 9, 20}):
        rows = arguments["rows"].copy()
        rows[list(place), 0] = bad
        if bad == 1e308 and arguments["has_target"]:
            rows[list(place), arguments["columns"]] = bad
        kept = [i for i in range(21) if i not in place]
        with_bad = total(arguments | {"rows": rows}, theta, 0.6, 2.0**33)
        assert with_bad == total(arguments, theta, 0.6, 2.0**33, kept)


@for_each("columns", [1, 3, 4, 13, 261])  # the last: long rows, eight at once
@for_each("name", MODELS)
def test_a_record_adds_the_same_wherever_it_stands(name, columns, rng):
    """The full sum or a batch, in any order, of any length modulo eight, on any instruction set."""
    arguments, theta = drawn(name, rng, 67, columns, True)
    per_record = {}
    for isa in ISAS:
        assert _core.use_isa(isa)
        per_record[isa] = np.array(one_by_one(arguments, theta, 0.9, 2.0**36))
    reference = per_record[ISAS[0]]
    assert (reference != 0).any()
    assert all(np.array_equal(found, reference) for found in per_record.values())
    for isa in ISAS:
        assert _core.use_isa(isa)
        for n in (1, 7, 8, 9, 16, 23, 66, 67):
            chosen = rng.permutation(67)[:n]
            expected = reference[chosen].sum(axis=0).tolist()
            cut = arguments | {"rows": np.ascontiguousarray(arguments["rows"][chosen])}
            assert total(cut, theta, 0.9, 2.0**36) == expected
            assert total(arguments, theta, 0.9, 2.0**36, chosen) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip": 1e-200}, "clip is too small"),
        ({"per_unit": 1e20}, "grid too fine"),
        ({"index": np.array([3], np.uint32)}, "not there"),
        ({"theta": []}, "theta is too short"),
    ],
)
def test_impossible_sums_are_refused(change, message):
    arguments = spec("gaussian_mean", np.zeros((3, 1)), None) | {"theta": [0.0], "clip": 1.0, "per_unit": 1e9}
    assert _core.gradient_sum(**arguments).tolist() == [0]
    with pytest.raises(ValueError, match=message):
        _core.gradient_sum(**arguments | change)
