"""The log density and its gradient: equal to plain numpy, and the same bits for any threads and instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loops import for_each

import pydpmc as dp
from pydpmc import _core, models

FREE = (-np.inf, np.inf)
N = 5003  # five blocks, the last neither whole nor a multiple of eight
WIDTHS = (1, 2, 3, 4, 5, 8, 13)


def regression(kind: type[models.Model]) -> bool:
    return kind.needs_target


def cases() -> list[Any]:
    found = []
    for kind in models.ALL:
        widths = (1,) if kind.one_column or kind is dp.BernoulliLogit else WIDTHS
        for width in widths:
            for options in ({}, {"intercept": True}) if regression(kind) else ({},):
                found.append(pytest.param(kind, width, options, id=f"{kind.__name__}-{width}-{bool(options)}"))
    return found


def problem(kind: type[models.Model], width: int, options: dict[str, Any], n: int = N, bad: int = 0) -> Any:
    rng = np.random.default_rng((n, width))
    x = rng.normal(size=(n, width)) if kind is not dp.BernoulliLogit else rng.integers(0, 2, (n, 1)).astype(float)
    y = rng.integers(0, kind().label_count or 4, n).astype(float) if kind.needs_target else None
    if bad:
        (x if y is None else y)[:bad] = np.nan
    model = kind(**options)
    data = dp.Data(x, y, on_invalid="drop")
    return model, data, 0.3 * rng.normal(size=model.dim(data.public))


def target(model: models.Model, data: dp.Data) -> dict[str, Any]:
    return {
        "rows": data._rows,
        "columns": data.public.width,
        "has_target": data.public.has_target,
        "model": model.core_name,
        "intercept": model.has_intercept,
        "constants": model.constants,
    }


def density(model: Any, data: dp.Data, theta: Any, w: float = 1.0, prior_weight: float = 1.0, **options: Any) -> Any:
    arguments = {"loglik_range": FREE} | options
    prior = model.prior_table(data.public)
    return _core.log_density(
        **target(model, data), prior=prior, theta=theta.tolist(), weight=w, prior_weight=prior_weight, **arguments
    )


def logliks(model: Any, data: dp.Data, theta: Any) -> Any:
    return _core.log_likelihoods(**target(model, data), theta=theta.tolist())


@for_each(("kind", "width", "options"), cases())
def test_the_likelihood_part_is_the_sum_over_records(kind, width, options):
    model, data, theta = problem(kind, width, options)
    with_data = density(model, data, theta, w=0.7)[0]
    prior_alone = density(model, data, theta, w=1e-300)[0]
    assert with_data - prior_alone == pytest.approx(0.7 * logliks(model, data, theta).sum(), rel=1e-11)


@for_each(("kind", "width", "options"), cases())
def test_the_gradient_is_that_of_the_density(kind, width, options):
    model, data, theta = problem(kind, width, options)
    _, gradient = density(model, data, theta, w=0.3, prior_weight=0.5)
    for j in range(len(theta)):
        step = 1e-5 * np.eye(len(theta))[j]
        up, down = (density(model, data, theta + s, w=0.3, prior_weight=0.5)[0] for s in (step, -step))
        slack = 0.3 * 2.0 if kind is dp.HingeClassifier else 0.0  # a kink may lie within the difference
        assert gradient[j] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-3 + slack)


@for_each(("kind", "width", "options"), cases())
def test_bits_do_not_depend_on_threads_or_instruction_set(kind, width, options):
    model, data, theta = problem(kind, width, options)
    value, gradient = density(model, data, theta)
    usual = _core.isa()
    for isa, threads in [(usual, 1), (usual, 5), *((isa, 2) for isa in _core.available_isas())]:
        assert _core.use_isa(isa)
        again, slopes = density(model, data, theta, threads=threads)
        assert again == value, (isa, threads)
        assert slopes.tobytes() == gradient.tobytes(), (isa, threads)


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("width", [1, 3, 4, 7, 64, 65, 100, 128, 129])
def test_tiles_have_the_bits_of_rows(width, storage):
    """Whether a run has tiles depends on the number of records; its draws must not."""
    rng = np.random.default_rng((width, 5))
    x, y = rng.normal(size=(1100, width)) / (4.0 * np.sqrt(width)), rng.integers(0, 2, 1100).astype(float)
    data = dp.Data(x, y, x_bounds=(-1.0, 1.0), storage=storage)
    for model in (dp.LogisticRegression(intercept=True), dp.HuberRegression(threshold=1.0), dp.LinearRegression()):
        theta = rng.normal(size=model.dim(data.public))
        for isa in _core.available_isas():
            assert _core.use_isa(isa)
            for allowed in (FREE, (-0.7, 0.7)):
                rows, tiles = (
                    density(model, data, theta, loglik_range=allowed, tiles=tiles) for tiles in (False, True)
                )
                assert rows[0] == tiles[0], (model, isa, allowed)
                assert rows[1].tobytes() == tiles[1].tobytes(), (model, isa, allowed)


@pytest.mark.parametrize("kind", models.ALL)
def test_records_that_are_not_numbers_add_nothing(kind):
    model, data, theta = problem(kind, 1, {}, n=100, bad=7)
    rows = data._rows.copy()
    value, gradient = density(model, data, theta)
    data._rows = rows[7:]
    assert density(model, data, theta)[0] == pytest.approx(value, rel=1e-12)
    assert np.isfinite(gradient).all()
    assert density(model, data, theta)[1] == pytest.approx(gradient, rel=1e-9)


@pytest.mark.parametrize("kind", models.ALL)
def test_clamped_records_keep_their_bound_and_lose_their_slope(kind):
    model, data, theta = problem(kind, 3 if kind.needs_target else 1, {})
    low, high = -0.6, 0.2
    ll = logliks(model, data, theta)
    assert ((ll < low) | (ll > high)).any()
    prior_alone = density(model, data, theta, w=1e-300)[0]
    value, gradient = density(model, data, theta, loglik_range=(low, high))
    assert value - prior_alone == pytest.approx(np.clip(ll, low, high).sum(), rel=1e-10)
    kept = dp.Data(np.zeros((1, data.public.width)), np.zeros(1) if data.public.has_target else None)
    kept._rows = np.ascontiguousarray(data._rows[(ll >= low) & (ll <= high)])
    if len(kept._rows):
        assert gradient == pytest.approx(density(model, kept, theta)[1], rel=1e-9, abs=1e-9)
