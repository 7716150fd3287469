"""Ten seconds: does the installed wheel work at all? This is what a wheel build runs."""

import subprocess
import sys

import numpy as np

import pydpmc as dp
from pydpmc import _core


def test_the_core_is_there_with_threads():
    assert "baseline" in _core.available_isas()
    assert _core.has_openmp()
    assert _core.hardware_threads() >= 1


def test_a_private_posterior_of_a_coin():
    x = np.repeat([1.0, 0.0], [60_000, 40_000])
    sampler = dp.Barker(steps=400, scale=0.02)
    post = dp.sample(dp.BernoulliLogit(), dp.Data(x), sampler, epsilon=2.0, delta=1e-6, progress=False)
    assert post.private
    assert post.guarantee.epsilon(1e-6) <= 2.0
    assert abs(post.draws["theta"][:, -1].mean() - np.log(1.5)) < 0.2


def test_the_same_bits_on_every_instruction_set():
    rng = np.random.default_rng(1)
    data = dp.Data(rng.normal(size=(999, 5)), rng.integers(0, 2, 999), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(intercept=True), data.public, dp.Barker(steps=100, scale=0.3))
    before, draws = _core.isa(), []
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        draws.append(plan.run(data, seed=1, progress=False).draws["beta"])
    assert _core.use_isa(before)
    for other in draws[1:]:
        np.testing.assert_array_equal(draws[0], other)


def test_a_planted_nan_counts_as_nothing():
    data = dp.Data(np.array([[np.nan], [0.0]]), on_invalid="drop")
    plan = dp.plan(dp.GaussianMean(), data.public, dp.Barker(steps=50, scale=0.3, clip=0.1))
    assert np.isfinite(plan.run(data, progress=False).draws["theta"]).all()


def test_importing_is_quick_because_what_is_heavy_waits():
    probe = (
        "import time, numpy; t = time.process_time(); import pydpmc, sys; print(time.process_time() - t, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd="/", check=True, timeout=60
    )
    seconds, *modules = done.stdout.split()
    heavy = ("scipy", "rich", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "arviz", "sklearn")
    assert [name for name in modules if name.split(".")[0] in heavy] == []
    assert float(seconds) < 0.5
