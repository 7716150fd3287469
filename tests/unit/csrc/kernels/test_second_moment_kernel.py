"""Sums of clipped gradients and their second moments: one vector a record, bounded in exact integers."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loops import for_each

from pydpmc import _core

file = importlib.util.spec_from_file_location("gradient_kernel", Path(__file__).with_name("test_gradient_kernel.py"))
assert file is not None
assert file.loader is not None
kernel = importlib.util.module_from_spec(file)
file.loader.exec_module(kernel)

MODELS = [name for name in kernel.MODELS if not name.startswith("softmax")]  # refused: several predictors a record
ISAS = _core.available_isas()
PER_UNIT = 2.0**34


def total(arguments: dict[str, Any], theta: Any, clip: float, scale: float, index: Any = None) -> list[int]:
    index = None if index is None else np.asarray(index, dtype=np.uint32)
    theta, grid = np.asarray(theta).tolist(), {"clip": clip, "per_unit": PER_UNIT, "moment_scale": scale}
    return _core.gradient_sum(**arguments, **grid, theta=theta, index=index).tolist()


def one_by_one(arguments: dict[str, Any], theta: Any, clip: float, scale: float) -> list[list[int]]:
    return [total(arguments, theta, clip, scale, [i]) for i in range(len(arguments["rows"]))]


def triangle(matrix: np.ndarray) -> np.ndarray:
    """Return the upper triangle row by row, with the square root of two off the diagonal."""
    i, j = np.triu_indices(len(matrix))
    return matrix[i, j] * np.where(i == j, 1.0, math.sqrt(2.0))


@for_each("isa", ISAS)
@for_each("columns", [1, 3, 13])
@for_each("name", MODELS)
def test_each_record_is_its_clipped_gradient_and_its_outer_product(name, columns, isa, rng):
    assert _core.use_isa(isa)
    arguments, theta = kernel.drawn(name, rng, 12, columns, True)
    gradients = kernel.exact_gradients(name, arguments, theta).astype(float)
    norms = np.linalg.norm(gradients, axis=1)
    clip = float(np.median(norms)) or 1.0
    clipped = gradients * np.minimum(1.0, clip / np.maximum(norms, 1e-300))[:, None]
    scale = 0.4 / clip
    for found, g in zip(one_by_one(arguments, theta, clip, scale), clipped, strict=True):
        expected = np.concatenate([g, scale * triangle(np.outer(g, g))]) * PER_UNIT
        assert np.abs(np.array(found) - expected).max() <= 0.5 + math.sqrt(len(found)) + 1e-11 * clip * PER_UNIT


@pytest.mark.parametrize("columns", [1, 3, 30])
@pytest.mark.parametrize("name", MODELS)
def test_no_record_exceeds_the_joint_bound_in_exact_integers(name, columns, rng):
    columns = kernel.width(name, columns)
    x = rng.choice(kernel.EXTREMES, (100, columns))
    x[:50][rng.random((50, columns)) < 0.5] = 0.0
    x = np.concatenate([x, 10.0 ** rng.uniform(-170, 160, (30, columns)), rng.normal(size=(30, columns))])
    arguments = kernel.spec(name, x, rng.choice(kernel.EXTREMES, len(x)))
    for size in (1.0, 0.0, 1e100):
        theta = size * rng.normal(size=columns + kernel.MODELS[name][2])
        for clip, share in ((1.0, 0.1), (1e-5, 0.1), (300.0, 0.5)):
            scale = math.sqrt(share / (1.0 - share)) / clip
            bound = math.nextafter(math.hypot(clip, scale * clip**2), 0.0)
            assert kernel.within(one_by_one(arguments, theta, clip, scale), bound, PER_UNIT), (size, clip)


def test_second_moments_have_a_clip_of_their_own(rng):
    """Without privacy the moments keep a clip that bounds their integers, whatever the gradients have."""
    arguments = kernel.spec("gaussian_mean", rng.normal(size=(20, 4)) * 100.0, None) | {"constants": (1.0, 0.0)}
    grid = {"clip": 1.0, "per_unit": PER_UNIT, "moment_scale": 0.5, "moment_clip": 0.25}
    for record in range(20):
        sums = _core.gradient_sum(**arguments, **grid, theta=[0.0] * 4, index=np.array([record], dtype=np.uint32))
        gradient, moments = np.linalg.norm(sums[:4].astype(float)), np.linalg.norm(sums[4:].astype(float))
        assert (1.0 - 1e-9) * PER_UNIT < gradient <= PER_UNIT
        assert abs(moments - 0.5 * 0.25**2 * PER_UNIT) <= math.sqrt(10)  # ten integers, each rounded


def test_a_clipped_record_comes_near_the_joint_bound(rng):
    arguments = kernel.spec("gaussian_mean", rng.normal(size=(20, 4)) * 100.0, None) | {"constants": (1.0, 0.0)}
    vectors = np.array(one_by_one(arguments, np.zeros(4), 1.0, 1.0 / 3.0), dtype=float)
    assert np.linalg.norm(vectors, axis=1).min() > (1.0 - 1e-9) * math.hypot(1.0, 1.0 / 3.0) * PER_UNIT


@pytest.mark.parametrize("name", MODELS)
def test_a_record_adds_the_same_wherever_it_stands_and_nothing_if_it_is_not_finite(name, rng):
    arguments, theta = kernel.drawn(name, rng, 21, 5, True)
    rows = arguments["rows"]
    rows[4, 0], rows[9, 0], rows[15, 0] = np.nan, np.inf, -np.inf
    found = {}
    for isa in ISAS:
        assert _core.use_isa(isa)
        found[isa] = np.array(one_by_one(arguments, theta, 0.9, 0.5))
        order = rng.permutation(21)
        cut = arguments | {"rows": np.ascontiguousarray(rows[order][:13])}
        assert total(cut, theta, 0.9, 0.5) == found[isa][order[:13]].sum(axis=0).tolist()
        assert total(arguments, theta, 0.9, 0.5, order) == found[isa].sum(axis=0).tolist()
    reference = found[ISAS[0]]
    assert all(np.array_equal(other, reference) for other in found.values())
    assert np.abs(reference).max() > 0
    if not (arguments["has_target"] and name.startswith("hinge")):
        assert not reference[[4, 9, 15]].any()


def test_a_softmax_is_refused(rng):
    arguments, theta = kernel.drawn("softmax_regression", rng, 5, 2)
    with pytest.raises(ValueError, match="a model that has none"):
        total(arguments, theta, 1.0, 0.5)


def test_too_many_parameters_are_refused():
    arguments = kernel.spec("gaussian_mean", np.zeros((1, 201)), None)
    assert len(total(arguments, np.zeros(201), 1.0, 0.0)) == 201
    with pytest.raises(ValueError, match="too many parameters"):
        total(arguments, np.zeros(201), 1.0, 0.5)
