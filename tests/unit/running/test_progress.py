"""Progress in terminals, notebooks and logs: one line per chain, speed, time left; and silence."""

import io

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.running import progress
from pydpmc.running.progress import Progress, say_long


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    return now


def go(clock, chains, moments, **options):
    with Progress(chains, 1000, True, **options) as shown:
        for seconds, done in moments:
            clock[0] = 100.0 + seconds
            shown.update(done)


def test_a_log_gets_a_line_per_chain_every_ten_seconds_and_one_at_the_end(clock, capsys):
    go(clock, 2, [(1, 50), (4, 200), (8, 400), (15, 750), (20, 1000)])
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"chain {k}: {text}"
        for text in (
            "200 of 1,000 steps, 50 steps/s, 0:00:16 left",
            "750 of 1,000 steps, 50 steps/s, 0:00:05 left",
            "1,000 of 1,000 steps, 50 steps/s, 0:00:00 left",
        )
        for k in (1, 2)
    ]


def test_rehearsals_are_counted_as_runs(clock, capsys):
    go(clock, 1, [(4, 500)], unit="runs")
    assert capsys.readouterr().err == "rehearsal: 500 of 1,000 runs, 125 runs/s, 0:00:04 left\n"


def test_a_short_run_or_an_unwanted_line_says_nothing(clock, capsys):
    go(clock, 2, [(0.5, 300), (1.9, 1000)])
    with Progress(2, 1000, wanted=False) as shown:
        clock[0] += 100
        shown.update(500)
    assert capsys.readouterr() == ("", "")


def test_a_resumed_run_counts_its_own_steps_only(clock, capsys):
    go(clock, 1, [(10, 900)], done=800)
    assert "10 steps/s, 0:00:10 left" in capsys.readouterr().err


def test_a_terminal_gets_a_bar_per_chain(clock, monkeypatch):
    screen = io.StringIO()
    from rich.console import Console

    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=screen, force_terminal=True, width=120))
    go(clock, 3, [(5, 500), (10, 1000)])
    for chain in (1, 2, 3):
        assert f"chain {chain}" in screen.getvalue()
    assert "1000/1000" in screen.getvalue()
    assert "100 steps/s, 0:00:00 left" in screen.getvalue()


def test_a_notebook_without_widgets_gets_lines(clock, capsys, monkeypatch):
    from rich.console import Console

    monkeypatch.setattr("rich.console.Console", lambda **_: Console(force_jupyter=True))
    monkeypatch.setattr(progress, "find_spec", lambda _: None)
    go(clock, 1, [(5, 500)])
    assert capsys.readouterr().err == "chain 1: 500 of 1,000 steps, 100 steps/s, 0:00:05 left\n"


@pytest.mark.parametrize("slow", [1.0, 30.0])
def test_where_n_is_private_nothing_tells_how_long_a_step_takes(clock, capsys, slow):
    """Speed, time left, and the steps of a chunk (as many as a fifth of a second allows) are functions of n."""
    go(clock, 1, [(slow * 0.1, 7), (slow * 2, 130), (slow * 4, 444), (slow * 9, 1000)], timed=False)
    assert capsys.readouterr().err.splitlines() == [f"chain 1: {k:,} of 1,000 steps" for k in range(250, 1001, 250)]


def test_a_resumed_run_shows_the_quarters_it_is_beyond(clock, capsys):
    go(clock, 1, [(1, 310)], done=300, timed=False)
    assert capsys.readouterr().err.splitlines() == ["chain 1: 250 of 1,000 steps"]


@pytest.mark.parametrize(("grouped", "adjacency"), [(False, "replace"), (False, "add_remove"), (True, "replace")])
def test_a_run_shows_its_speed_only_where_the_number_of_records_is_public(capsys, monkeypatch, grouped, adjacency):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    rng = np.random.default_rng(1)
    x = rng.uniform(-0.5, 0.5, (500, 2))
    groups = {"groups": np.arange(500) // 2, "max_group_size": 2} if grouped else {}
    data = dp.Data(x, (x[:, 0] > 0).astype(float), row_norm=1.0, public_n=400, **groups)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=50, scale=0.01), adjacency=adjacency)
    plan.run(data, seed=1)
    shown = capsys.readouterr().err
    assert "50 of 50 steps" in shown
    assert ("steps/s" in shown) == (adjacency == "replace" and not grouped)


def test_many_chains_share_a_line(clock, capsys):
    go(clock, 1000, [(5, 500)])
    assert capsys.readouterr().err.startswith("1000 chains: 500 of 1,000 steps")


def test_a_long_run_says_its_time_and_memory_before_it_starts(capsys):
    say_long(19.0, 2.0**20, 1)
    say_long(39.0, 2.0**20, 2)
    say_long(None, None, 1)
    assert capsys.readouterr().err == ""
    say_long(90.0, 3.0 * 2**20, 2)
    assert "about 45 s on 2 cores and 3 MiB" in capsys.readouterr().err


def test_run_says_it_and_progress_false_does_not(rng, capsys, monkeypatch):
    monkeypatch.setattr("pydpmc.running.progress.LONG", 1e-9)
    data = dp.Data(rng.integers(0, 2, 500))
    for shown in (True, False):
        dp.sample(dp.BernoulliLogit(), data, epsilon=1.0, delta=1e-6, progress=shown)
        assert ("this run is forecast to take" in capsys.readouterr().err) == shown
