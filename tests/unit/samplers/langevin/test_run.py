"""The compiled run is bit for bit the algorithm of docs/privacy/langevin.md, and writes nothing before its end."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target
from pydpmc.samplers.base import target_arguments
from pydpmc.samplers.langevin.constants import arithmetic

SEED = 77


def problem(name, n=50, width=3, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width))
    if name == "coin":
        return dp.BernoulliLogit(), dp.Data(rng.integers(0, 2, n))
    if name == "mean":
        return dp.GaussianMean(sigma=0.7, prior=dp.Normal(2.0, loc=0.5)), dp.Data(x, row_norm=1.5)
    if name == "huber":
        return dp.HuberRegression(sigma=0.8), dp.Data(x, 3.0 * rng.normal(size=n), row_norm=1.5)
    if name == "softmax":
        return dp.SoftmaxRegression(classes=3, intercept=True), dp.Data(x, rng.integers(0, 3, n), row_norm=1.5)
    return dp.LogisticRegression(intercept=True), dp.Data(x, rng.integers(0, 2, n), row_norm=1.5)


NAMES = ("coin", "mean", "huber", "logistic", "softmax")


def started(plan, data, chains=2, seed=SEED, **changed):
    """Return the compiled run of a plan and the array that it fills."""
    out = np.full((chains, 1, plan.settings.dim), np.nan)
    common = {
        "init": start_points(plan, chains, seed),
        "draws": out,
        "warmup": plan.settings.steps - 1,
        "thin": 1,
        "seed": seed,
    }
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common | changed), data), out


def replayed(plan, data, draws, seed):
    """Run the algorithm in Python's integers, with the core's gradients and random numbers."""
    settings, errors = plan.settings, plan.settings.arithmetic
    unit, h = errors.box.unit, settings.step_size
    low = [math.floor(v / unit) for v in errors.box.centre - errors.box.radius]
    high = [math.floor(v / unit) for v in errors.box.centre + errors.box.radius]
    target = target_arguments(plan.model, data)
    prior = target.pop("prior")
    key, noise = _core.random.key_from_seed(seed), _core.random.purposes["noise"]
    out = []
    for chain, start in enumerate(start_points(plan, draws, seed)):
        state = [math.floor(v / unit) for v in start]
        for t in range(settings.steps):
            last = t == settings.steps - 1
            theta = [(s + 0.5) * unit for s in state]
            sums = _core.gradient_sum(**target, theta=theta, clip=errors.clip, per_unit=1.0 / errors.gradient_unit)
            xi = _core.random.fill_rounded_normal(_core.random.Stream(key, noise, chain, t), settings.dim)
            for j, value in enumerate(theta):
                pull = -((value - prior[j, 1]) / prior[j, 2]) / prior[j, 2]
                slope = pull + settings.w * errors.gradient_unit * float(sums[j])
                if last:  # on a grid twice as fine
                    moved = 2 * state[j] + round(h / unit * slope + 1.0) + int(xi[j])
                    state[j] = min(max(moved, 2 * low[j]), 2 * high[j] + 1)
                else:
                    state[j] = min(max(state[j] + round(h / unit * slope + 0.5) + int(xi[j]), low[j]), high[j])
        out.append([(s + 0.5) * (unit / 2) for s in state])
    return np.array(out)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_the_algorithm_bit_for_bit(name):
    model, data = problem(name)
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=40))
    core, out = started(plan, data)
    core.advance(40, 1, 16)
    assert np.array_equal(out[:, 0], replayed(plan, data, 2, SEED))
    assert not np.array_equal(out[0], out[1])


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("width", [1, 4, 10, 65, 129])
def test_a_run_of_any_width_and_storage_is_the_algorithm_bit_for_bit(width, storage):
    """Records are summed from a copy by columns; the replay sums them row by row. Two of them are void."""
    rng = np.random.default_rng(width)
    x, y = rng.normal(size=(137, width)) / math.sqrt(width), rng.integers(0, 2, 137).astype(float)
    x[3], y[70] = np.nan, np.nan
    data = dp.Data(x, y, row_norm=1.0, storage=storage)
    plan = dp.plan(dp.LogisticRegression(intercept=True), data.public, dp.Langevin(w=0.3, steps=4))
    expected = replayed(plan, data, 2, SEED)
    for block in (16, 4096):  # blocks of 16 begin within a tile of the copy
        core, out = started(plan, data)
        core.advance(4, 1, block)
        assert np.array_equal(out[:, 0], expected), block


def test_nothing_is_written_before_the_last_step():
    model, data = problem("logistic")
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=40))
    core, out = started(plan, data)
    for _ in range(3):
        core.advance(13, 2, 16)
        assert np.isnan(out).all()
    core.advance(13, 2, 16)
    assert core.steps_done == 40
    assert np.isfinite(out).all()
    last = out.copy()
    core.advance(5, 1, 16)
    assert core.steps_done == 40
    assert np.array_equal(out, last)
    assert {name for name in dir(core) if not name.startswith("_")} == {"advance", "steps_done", "stop"}


@pytest.mark.parametrize("changed", [{"warmup": 0}, {"thin": 2}, {"draws": np.zeros((2, 3, 4))}])
def test_the_core_refuses_to_keep_more_than_the_last_iterate(changed):
    model, data = problem("logistic")
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=40))
    with pytest.raises(ValueError, match="only the last iterate"):
        started(plan, data, **changed)


def test_a_stopped_run_releases_nothing(monkeypatch):
    model, data = problem("logistic")
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=1000))
    calls = []

    def pressed(self, done):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("pydpmc.running.progress.Progress.update", pressed)
    with pytest.raises(KeyboardInterrupt, match="releases nothing"):
        plan.run(data, progress=False)
    assert calls[-1] < 1000
    assert all(isinstance(done, int) for done in calls)


@pytest.mark.parametrize("option", [{"draws": 5}, {"warmup": 3}, {"unsafe_diagnostics": True}])
def test_options_that_would_show_more_are_refused(option):
    model, data = problem("logistic")
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=10))
    with pytest.raises(ValueError, match=next(iter(option))):
        plan.run(data, progress=False, **option)


def test_the_result_has_one_chain_of_independent_draws():
    model, data = problem("logistic")
    post = dp.sample(model, data, dp.Langevin(draws=6, w=0.3, steps=10), progress=False)
    assert post.draws["beta"].shape == (1, 6, 3)
    assert post.draws["intercept"].shape == (1, 6, 1)
    assert post.private
    assert post.acceptance == ()
    assert not post.interrupted


def exact_gradient(model, row, target, theta):
    """The gradient of one record's log-likelihood in 60 digits."""
    with mpmath.workdps(60):
        x, t = [mpmath.mpf(float(v)) for v in row], [mpmath.mpf(float(v)) for v in theta]
        if isinstance(model, dp.GaussianMean):
            return [(a - b) / mpmath.mpf(model.sigma) ** 2 for a, b in zip(x, t, strict=True)]
        if isinstance(model, dp.BernoulliLogit):
            return [x[0] - 1 / (1 + mpmath.exp(-t[0]))]
        if isinstance(model, dp.SoftmaxRegression):
            return exact_softmax_gradient(model.classes, x, int(target), t)
        x = [mpmath.mpf(1), *x] if model.intercept else x
        eta, y = mpmath.fdot(x, t), mpmath.mpf(float(target))
        if isinstance(model, dp.HuberRegression):
            z = (y - eta) / mpmath.mpf(model.sigma)
            r = max(min(z, mpmath.mpf(model.threshold)), -mpmath.mpf(model.threshold)) / mpmath.mpf(model.sigma)
        else:
            r = y - 1 / (1 + mpmath.exp(-eta))
        return [r * v for v in x]


def exact_softmax_gradient(classes, x, y, theta):
    """Of a model with intercepts: theta holds them first, then the slopes class by class."""
    slopes = [theta[classes + c * len(x) : classes + (c + 1) * len(x)] for c in range(classes)]
    shares = [mpmath.exp(theta[c] + mpmath.fdot(x, slopes[c])) for c in range(classes)]
    residuals = [(c == y) - share / sum(shares) for c, share in enumerate(shares)]
    return residuals + [r * v for r in residuals for v in x]


@pytest.mark.parametrize("width", [1, 3, 17])
@pytest.mark.parametrize("name", NAMES)
def test_a_computed_gradient_is_within_the_stated_error(name, width):
    """Small, typical and largest theta of the box; the bound is not loose by more than the size of theta explains."""
    model, data = problem(name, n=6, width=width, seed=width)
    public = data.public
    errors = arithmetic(model, public, 0.3, 1e-3)
    rng = np.random.default_rng(width)
    target = target_arguments(dp.plan(model, public, dp.Langevin(w=0.3, steps=1)).model, data)
    del target["prior"]
    rows = target.pop("rows")
    worst = 0.0
    for scale in (1e-3, 1.0, 30.0, 1e9):
        theta = np.clip(rng.normal(size=model.dim(public)) * scale, -errors.box.radius, errors.box.radius)
        for row in rows:
            sums = _core.gradient_sum(
                rows=row[None].copy(),
                **target,
                theta=theta.tolist(),
                clip=errors.clip,
                per_unit=1.0 / errors.gradient_unit,
            )
            exact = exact_gradient(model, row[: public.width], row[public.width] if public.has_target else 0.0, theta)
            with mpmath.workdps(60):
                unit = mpmath.mpf(errors.gradient_unit)
                apart = mpmath.norm([int(s) * unit - g for s, g in zip(sums, exact, strict=True)])
            worst = max(worst, float(apart))
    assert worst <= errors.of_record
    assert worst > errors.of_record / 1e4


@pytest.mark.parametrize("name", ["logistic", "huber", "coin"])
def test_dropped_records_count_for_nothing_and_huge_ones_for_their_bound(name):
    model, data = problem(name, n=40)
    columns = data.public.width
    x, y = data._rows[:, :columns].copy(), data._rows[:, columns].copy() if data.public.has_target else None
    broken = np.concatenate([x, np.full((3, columns), np.nan)])
    targets = None if y is None else np.concatenate([y, np.zeros(3)])
    facts = {"row_norm": data.public.row_norm, "public_n": 43}
    plans = []
    for rows, t in ((x, y), (broken, targets)):
        made = dp.Data(rows, t, on_invalid="drop", **facts)
        sampler = dp.Langevin(w=0.3, steps=25)
        plan = dp.plan(model, made.public, sampler, adjacency="add_remove")
        plans.append(plan.run(made, seed=SEED, progress=False))
    first, second = (next(iter(post.draws.values())) for post in plans)
    assert np.array_equal(first, second)


def test_huge_records_are_bounded_like_all_others():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 3))
    x[0] = 1e300
    for model, y in ((dp.LogisticRegression(), np.ones(30)), (dp.HuberRegression(), np.full(30, 1e308))):
        data = dp.Data(x, y, row_norm=1.0)
        post = dp.sample(model, data, dp.Langevin(w=0.5, steps=200), progress=False)
        assert np.isfinite(post.draws["beta"]).all()
        assert np.abs(post.draws["beta"]).max() < 100.0


@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_a_void_record_of_a_gaussian_mean_counts_as_one_in_the_middle_of_its_bounds(storage):
    draws = []
    for value in (np.nan, 0.75):
        data = dp.Data(np.array([0.625, value, 0.5]), x_bounds=(0.5, 1.0), storage=storage)
        plan = dp.plan(dp.GaussianMean(), data.public, dp.Langevin(w=0.5))
        draws.append(plan.run(data, progress=False, seed=2).draws["theta"])
    np.testing.assert_array_equal(*draws)


def test_of_more_records_than_declared_the_first_are_used():
    model, data = problem("logistic", n=57)
    fewer = dataclasses.replace(data.public, public_n=50)
    plan = dp.plan(model, fewer, dp.Langevin(w=0.3), adjacency="add_remove")
    x, y = data._rows[:, :3], data._rows[:, 3]
    draws = [
        plan.run(dp.Data(x[:n], y[:n], row_norm=1.5, public_n=50), seed=SEED, progress=False).draws["beta"]
        for n in (57, 50, 49)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[1], draws[2])


@pytest.mark.parametrize("steps", [1, 2, 30])
def test_every_step_ends_within_the_box(steps, monkeypatch):
    """A box much narrower than the posterior: most steps would leave it."""
    monkeypatch.setattr("pydpmc.samplers.langevin.constants.PRIOR_SDS", 0.05)
    model, data = problem("logistic")
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=steps))
    core, out = started(plan, data)
    core.advance(steps, 1, 16)
    assert np.array_equal(out[:, 0], replayed(plan, data, 2, SEED))
    assert (np.abs(out) <= 0.05).all()
    assert (np.abs(out) > 0.0499).any()


def test_theta_stays_in_its_box():
    """Records that agree against a prior of sd 0.01 pull theta to 33 if they can; the box ends at 10."""
    data = dp.Data(np.full((20_000, 1), 1e-2), np.full(20_000, 1e300), row_norm=1.0)
    model = dp.HuberRegression(prior=dp.Normal(scale=0.01), threshold=1650.0)
    plan = dp.plan(model, data.public, dp.Langevin(w=1.0, steps=60))
    post = plan.run(data, progress=False)
    assert plan.settings.arithmetic.box.radius[0] == pytest.approx(10.0)
    assert post.draws["beta"][0, 0, 0] == pytest.approx(10.0, abs=1e-6)


def test_a_start_outside_the_box_begins_at_its_edge():
    model, data = problem("mean", width=1)
    plan = dp.plan(model, data.public, dp.Langevin(w=0.3, steps=200), init=[1e300])
    assert np.isfinite(plan.run(data, progress=False).draws["theta"]).all()


def test_without_privacy_a_flat_prior_is_allowed_if_the_steps_are_given():
    _, data = problem("logistic")
    model = dp.LogisticRegression(prior=dp.Flat())
    with pytest.raises(ValueError, match="steps must be given"):
        dp.plan(model, data.public, dp.Langevin(), private=False)
    post = dp.sample(model, data, dp.Langevin(draws=3, steps=300), private=False, progress=False)
    assert not post.private
    assert np.isfinite(post.draws["beta"]).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e308, 5e-324])
def test_a_record_changes_nothing_but_the_draws(value, recwarn):
    """Shapes, plan, guarantee and warnings are those of the neighbouring table."""
    model, data = problem("logistic")
    x, y = data._rows[:, :3].copy(), data._rows[:, 3].copy()
    plan = dp.plan(model, data.public, dp.Langevin(draws=2, w=0.3, steps=20))
    first = plan.run(dp.Data(x, y, row_norm=1.5), progress=False)
    x[7] = value
    second = plan.run(dp.Data(x, y, row_norm=1.5, on_invalid="drop"), progress=False)
    for name, values in second.draws.items():
        assert values.shape == first.draws[name].shape
        assert np.isfinite(values).all()
    assert (second.plan, second.guarantee, second.interrupted) == (first.plan, first.guarantee, first.interrupted)
    assert not recwarn.list
