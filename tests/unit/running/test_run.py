"""Running a plan: refusals before anything is spent, thinning, interrupts, forks, seeds."""

import math
import time

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.running import progress
from pydpmc.samplers.base import all_iterates, last_iterates

SAMPLER = dp.Barker(steps=200, scale=0.1)
QUIET = {"progress": False}


@pytest.fixture
def data(rng):
    x = rng.normal(size=(120, 2))
    return dp.Data(x, (x[:, 0] > 0).astype(int), row_norm=2.0)


@pytest.fixture
def plan(data):
    return dp.plan(dp.LogisticRegression(), data.public, SAMPLER, chains=2)


@pytest.fixture
def forbid_core(monkeypatch):
    """Fail if anything is drawn."""

    def refuse(**_):
        raise AssertionError("the core was reached")

    monkeypatch.setattr(_core, "BarkerRun", refuse)


@pytest.mark.usefixtures("forbid_core")
@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"row_norm": 3.0}, "row_norm"),
        ({"columns": ["a", "b"]}, "columns"),
        ({"x": np.zeros((119, 2)), "y": np.zeros(119)}, r"\(n\)"),
        ({"y": None}, "has_target"),
        ({"y_bounds": (0, 1), "row_norm": 1.0}, "row_norm, y_bounds"),
    ],
)
def test_other_data_than_the_plans_is_refused_before_anything(plan, change, names):
    arguments = {"x": np.zeros((120, 2)), "y": np.zeros(120), "row_norm": 2.0} | change
    with pytest.raises(ValueError, match=f"public facts .*{names}.*plan again"):
        plan.run(dp.Data(**arguments), **QUIET)


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("width", [2, 16])
def test_a_label_other_than_0_and_1_contributes_nothing(storage, width, rng):
    x, y = rng.uniform(-0.2, 0.2, (120, width)), rng.integers(0, 2, 120).astype(float)
    draws = []
    for label in (7.25, 0.5, -1.0, np.nan):
        y[3] = label
        data = dp.Data(x, y, row_norm=1.0, storage=storage)
        plan = dp.plan(dp.LogisticRegression(), data.public, dp.SGLD(steps=30, step_size=0.01, batch_size=None))
        assert "any other label contributes nothing" in str(plan)
        before = np.array(data._rows)
        draws.append(plan.run(data, seed=5, **QUIET).draws["beta"])
        assert data.of_labels(2) is not data or np.isnan(label)
        np.testing.assert_array_equal(data._rows, before)
    for other in draws[:3]:
        np.testing.assert_array_equal(other, draws[3])


def test_a_coin_of_half_contributes_nothing():
    x = np.tile([0.0, 1.0], 20)
    draws = []
    for value in (0.5, np.nan):
        x[3] = value
        plan = dp.plan(dp.BernoulliLogit(), dp.Data(x).public, SAMPLER)
        draws.append(plan.run(dp.Data(x), seed=5, **QUIET).draws["theta"])
    np.testing.assert_array_equal(*draws)


@pytest.mark.usefixtures("forbid_core")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 0}, "draws must be"),
        ({"draws": 1.5}, "draws must be"),
        ({"warmup": -1}, "warmup must be"),
        ({"warmup": 200}, "warmup must be below the 200 steps"),
        ({"threads": 0}, "threads must be"),
        ({"threads": math.inf}, "threads must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 2**64}, "seed must be"),
        ({"seed": 0.5}, "seed must be"),
        ({"seed": True}, "seed must be"),
    ],
)
def test_bad_options_are_refused_before_anything(plan, data, options, words):
    with pytest.raises(ValueError, match=words):
        plan.run(data, **QUIET | options)


def test_what_is_not_data_is_named(plan):
    with pytest.raises(TypeError, match=r"data must be a pydpmc\.Data.* not an array of shape \(120, 2\)"):
        plan.run(np.zeros((120, 2)), **QUIET)


def test_chains_cost_budget_so_run_does_not_take_them(plan, data):
    with pytest.raises(TypeError, match="chains"):
        plan.run(data, chains=8)


@pytest.mark.parametrize(
    ("steps", "draws", "warmup", "expected"),
    [
        (1000, None, None, (200, 1, 800)),
        (1000, 100, None, (200, 8, 100)),
        (1000, 100, 0, (0, 10, 100)),
        (1000, 99, 0, (0, 11, 90)),
        (100_000, None, None, (20_000, 8, 10_000)),
        (7, 3, 1, (1, 2, 3)),
        (1, None, None, (0, 1, 1)),
    ],
)
def test_thinning_keeps_at_most_the_draws_asked_for(steps, draws, warmup, expected):
    release = all_iterates(steps, 2, draws, warmup)
    assert (release.warmup, release.thin, release.kept) == expected
    assert release.warmup + release.thin * release.kept <= steps
    assert release.kept <= (draws or 10_000)
    assert release.chains == 2
    assert not release.hidden


def test_a_hidden_run_keeps_the_last_iterate_and_refuses_to_thin():
    release = last_iterates(500, 3, None, None)
    assert (release.chains, release.kept, release.warmup, release.thin) == (3, 1, 499, 1)
    assert release.hidden
    with pytest.raises(ValueError, match="set draws in the sampler"):
        last_iterates(500, 3, 10, None)
    with pytest.raises(ValueError, match="warmup is not an option"):
        last_iterates(500, 3, None, 5)


def test_thinned_draws_are_every_thin_th_after_warmup(plan, data):
    every = plan.run(data, seed=4, warmup=0, **QUIET).draws["beta"]
    some = plan.run(data, seed=4, warmup=20, draws=60, **QUIET).draws["beta"]
    np.testing.assert_array_equal(some, every[:, 20:][:, 2::3])
    assert every.shape == (2, 200, 2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_draws_do_not_depend_on_threads(plan, data, threads):
    one = plan.run(data, seed=4, threads=1, **QUIET)
    np.testing.assert_array_equal(plan.run(data, seed=4, threads=threads, **QUIET).draws["beta"], one.draws["beta"])


def test_large_tables_use_a_team_and_give_the_same_draws(rng):
    data = dp.Data(rng.integers(0, 2, 90_001))
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=60, scale=0.02))
    one, two, three = (plan.run(data, seed=4, threads=t, **QUIET).draws["theta"] for t in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


def test_a_seed_repeats_the_draws_and_voids_the_guarantee(plan, data):
    first, second, other = (plan.run(data, seed=s, **QUIET) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.draws["beta"], second.draws["beta"])
    assert (first.draws["beta"] != other.draws["beta"]).any()
    assert not first.private
    assert first.guarantee.epsilon(1e-6) == math.inf
    assert first.guarantee.delta(1.0) == 1.0
    assert "NO differential-privacy guarantee: a seed was given" in first.guarantee.statement()
    assert "NOT PRIVATE" in repr(first)


def test_runs_keyed_by_the_system_differ_and_are_private(plan, data):
    first, second = (plan.run(data, **QUIET) for _ in range(2))
    assert first.private
    assert first.guarantee == plan.guarantee
    moved = [np.unique(post.draws["beta"]) for post in (first, second)]
    assert not np.intersect1d(*moved).size


def test_unsafe_diagnostics_void_the_guarantee(plan, data):
    post = plan.run(data, unsafe_diagnostics=True, **QUIET)
    assert not post.private
    assert "unsafe diagnostics" in post.guarantee.statement()
    assert post.unsafe.clipped_share == 0.0  # Lipschitz: never clipped
    assert plan.run(data, **QUIET).unsafe is None
    clipped = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=50, scale=0.1, clip=1e-9))
    assert clipped.run(data, unsafe_diagnostics=True, **QUIET).unsafe.clipped_share > 0.9


def test_private_false_voids_the_guarantee(data):
    post = dp.sample(dp.LogisticRegression(), data, dp.Barker(steps=50), private=False, **QUIET)
    assert not post.private
    assert "private=False" in post.guarantee.statement()


def test_init_is_where_the_chains_start(data):
    points = [[5.0, -5.0], [0.5, 0.5]]
    short = dp.Barker(steps=1, scale=1e-9)
    plan = dp.plan(dp.LogisticRegression(), data.public, short, chains=2, init=points)
    draws = plan.run(data, seed=1, **QUIET).draws["beta"]
    np.testing.assert_allclose(draws[:, 0], points, atol=1e-8)
    by_prior = dp.plan(dp.LogisticRegression(), data.public, short, chains=2, init="prior")
    starts = by_prior.run(data, seed=1, **QUIET).draws["beta"][:, 0]
    assert len(np.unique(starts)) == 4


def test_sigma_is_returned_on_its_own_scale(rng):
    x = rng.normal(size=(3000, 1))
    data = dp.Data(x, 0.5 * x[:, 0] + 0.2 * rng.normal(size=3000))
    plan = dp.plan(dp.LinearRegression(), data.public, dp.Barker(steps=8000, scale=(0.01, 0.03)), private=False)
    post = plan.run(data, seed=1, warmup=4000, **QUIET)
    assert post.draws["sigma"].mean() == pytest.approx(0.2, rel=0.1)
    assert post.draws["beta"].mean() == pytest.approx(0.5, rel=0.1)


def test_ctrl_c_during_warmup_leaves_a_posterior_without_draws(plan, data, monkeypatch, tmp_path):
    def stop(self, done):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress.Progress, "update", stop)
    post = plan.run(data)
    assert post.interrupted
    assert post.draws["beta"].shape == (2, 0, 2)
    assert math.isnan(post.summary()["beta[x0]"]["mean"])
    post.save(tmp_path / "a.npz")
    assert dp.Posterior.load(tmp_path / "a.npz").draws["beta"].shape == (2, 0, 2)
    with pytest.raises(ValueError, match="cannot hold a posterior without draws"):
        post.save(tmp_path / "a.nc")


def test_the_progress_bar_waits_two_seconds_and_can_be_silenced(monkeypatch, capsys):
    assert progress.PATIENCE == 2.0
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    with progress.Progress(2, 100, True) as bar:
        now[0] = 1.9
        bar.update(10)
        assert bar._lines is None
        now[0] = 2.1
        bar.update(20)
        assert bar._lines is not None
    shown = capsys.readouterr()
    assert "chain 2: 20 of 100 steps" in shown.err
    assert shown.out == ""
    with progress.Progress(2, 100, False) as silent:
        now[0] = 99.0
        silent.update(50)
    assert capsys.readouterr() == ("", "")


def test_a_short_run_prints_nothing(plan, data, capfd):
    plan.run(data)
    assert capfd.readouterr() == ("", "")


def test_a_mismatch_with_the_core_never_prints_a_record(monkeypatch):
    data = dp.Data(np.array([0.0, 1.0, 1.0]))
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=10, scale=0.1), private=False)
    monkeypatch.setattr("pydpmc.running.run.start_points", lambda plan, chains, seed: "not an array")
    with pytest.raises(RuntimeError, match="bug in pydpmc") as caught:
        plan.run(data)
    assert "array(" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
