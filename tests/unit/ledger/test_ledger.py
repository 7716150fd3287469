"""The ledger, in a file and in PostgreSQL: charged before a run, never twice, never too much; and what it refuses."""

import os
import re
import stat
import subprocess
import sys

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import BudgetError, LedgerError, PydpmcError

RUN = acc.compose([(acc.Gaussian(noise_multiplier=20.0), 1)])


@pytest.fixture
def data():
    return dp.Data(np.repeat([1.0, 0.0], [60, 40]))


@pytest.fixture
def plan(data):
    return dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=40, scale=0.1, w=0.01))


def test_a_run_is_charged_and_noted_with_all_that_describes_it(ledger, data, plan):
    post = plan.run(data, ledger=ledger, progress=False)
    (entry,) = ledger.history()
    assert entry.guarantee == plan.guarantee == post.guarantee
    assert entry.plan == plan.describe() == dict(post.plan)
    assert entry.finished
    assert entry.version == dp.__version__
    assert entry.time.endswith("+00:00")
    assert ledger.spent() == plan.guarantee
    assert 0 < ledger.remaining < 1
    ledger.verify()


def test_sample_and_a_path_instead_of_a_ledger(ledger, data):
    dp.sample(dp.BernoulliLogit(), data, epsilon=0.3, delta=1e-6, ledger=str(ledger.path), progress=False)
    assert len(ledger.history()) == 1


def test_runs_are_composed_and_not_added(ledger, data):
    for ticket in "abc":
        ledger.reserve(RUN, data, {}, ticket)
    spent = ledger.spent()
    assert spent.epsilon(1e-6) == acc.combine([RUN] * 3).epsilon(1e-6) < 3 * RUN.epsilon(1e-6)
    assert "chosen from the results" in spent.assumptions[0]


def test_a_refused_run_says_what_is_left_and_reads_no_record(ledger, data, plan, monkeypatch):
    ledger.reserve(acc.compose([(acc.Gaussian(noise_multiplier=9.0), 1)]), data, {}, "most of it")
    large = dp.plan(dp.BernoulliLogit(), data.public, epsilon=0.9, delta=1e-6)
    monkeypatch.setattr("pydpmc.running.run._advance", lambda *_: pytest.fail("the run started"))
    with pytest.raises(BudgetError, match=r"there remains epsilon = 0\.\d+ at delta = 1e-06"):
        large.run(data, ledger=ledger)
    assert not ledger.fits(large)
    assert len(ledger.history()) == 1


def test_a_run_that_dies_counts_in_full(ledger, data, plan, monkeypatch):
    def die(*_):
        raise MemoryError

    monkeypatch.setattr("pydpmc.running.run._advance", die)
    with pytest.raises(MemoryError):
        plan.run(data, ledger=ledger)
    (entry,) = ledger.history()
    assert not entry.finished
    assert ledger.spent() == plan.guarantee


def test_the_same_ticket_is_charged_once(ledger, data):
    for _ in range(2):
        ledger.reserve(RUN, data, {}, "one")
    assert len(ledger.history()) == 1


@pytest.mark.parametrize("options", [{"seed": 1}, {"unsafe_diagnostics": True}])
def test_a_run_without_a_guarantee_is_refused(ledger, data, plan, options):
    with pytest.raises(LedgerError, match="has none"):
        plan.run(data, ledger=ledger, **options)
    without = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=40), private=False)
    with pytest.raises(LedgerError, match="private=False"):
        without.run(data, ledger=ledger)
    assert ledger.history() == ()


def test_another_table_is_refused_unless_admitted(ledger, data, plan):
    plan.run(data, ledger=ledger, progress=False)
    other = dp.Data(np.repeat([1.0, 0.0], [61, 39]))
    with pytest.raises(LedgerError, match="not the records"):
        plan.run(other, ledger=ledger)
    with pytest.raises(LedgerError, match="not the records"):
        plan.run(dp.Data(np.repeat([0.0, 1.0], [40, 60])), ledger=ledger)
    ledger.admit(other)
    ledger.admit(other)
    plan.run(other, ledger=ledger, progress=False)
    plan.run(dp.Data(np.repeat([1.0, 0.0], [60, 40])), ledger=ledger, progress=False)
    assert len(ledger.history()) == 3


def test_neighbours_and_units_are_not_mixed(ledger, data):
    ledger.reserve(RUN, data, {}, "a")
    added = acc.compose([(acc.Gaussian(noise_multiplier=20.0), 1)], "add_remove")
    patients = acc.compose([(acc.Gaussian(noise_multiplier=20.0), 1)], unit="one patient")
    for other in (added, patients):
        with pytest.raises(LedgerError, match="cannot be added"):
            ledger.reserve(other, data, {}, "b")


def test_a_budget_is_not_changed(ledger):
    assert dp.Ledger(ledger.path).epsilon == 1.0
    assert dp.Ledger(ledger.path, epsilon=1, delta=1e-6).delta == 1e-6
    for epsilon, delta in ((2.0, 1e-6), (1.0, 1e-5)):
        with pytest.raises(LedgerError, match="cannot be changed"):
            dp.Ledger(ledger.path, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(
    "budget",
    [{"epsilon": 1}, {"delta": 1e-6}, {"epsilon": 0, "delta": 1e-6}, {"epsilon": float("nan"), "delta": 1e-6},
     {"epsilon": 1, "delta": 0}, {"epsilon": 1, "delta": 0.5}, {"epsilon": "1", "delta": 1e-6},
     {"epsilon": float("inf"), "delta": 1e-6}, {}],
)  # fmt: skip
def test_a_ledger_needs_a_budget(tmp_path, budget):
    with pytest.raises(PydpmcError, match=r"epsilon|delta"):
        dp.Ledger(tmp_path / "new.ledger", **budget)
    assert os.listdir(tmp_path) == []


def test_where_no_ledger_can_be(tmp_path):
    with pytest.raises(LedgerError, match="cannot be created"):
        dp.Ledger(tmp_path / "absent" / "study.ledger", epsilon=1, delta=1e-6)
    with pytest.raises(LedgerError, match="cannot be"):
        dp.Ledger(tmp_path)


def test_only_the_owner_reads_the_file(file_ledger):
    assert stat.S_IMODE(file_ledger.path.stat().st_mode) == 0o600


def test_no_fingerprint_is_printed(ledger, data):
    ledger.reserve(RUN, data, {}, "a")
    assert not any(len(str(value)) == 64 for value in vars(ledger.history()[0]).values())


def test_a_charge_below_the_cost_is_found_by_verify(ledger, data, monkeypatch):
    from pydpmc.accounting.filter import Charge, PrivacyFilter

    with monkeypatch.context() as patched:
        patched.setattr(PrivacyFilter, "charge", lambda self, guarantee: Charge(1e-9, 0.0, 0.0, 0.0))
        ledger.reserve(RUN, data, {}, "cheap")
    with pytest.raises(LedgerError, match="charged less"):
        ledger.verify()


def command(*arguments):
    called = [sys.executable, "-m", "pydpmc.cli.main", "ledger", *map(str, arguments)]
    return subprocess.run(called, capture_output=True, text=True, check=False, cwd="/")


def test_the_command_line_shows_a_ledger(ledger, data, plan):
    plan.run(data, ledger=ledger, progress=False)
    shown = command("show", ledger.path)
    assert shown.returncode == 0
    assert "1 run" in shown.stdout
    assert "one record" in shown.stdout
    assert "Barker" in command("history", ledger.path).stdout
    assert "intact" in command("verify", ledger.path).stdout


def test_the_command_line_refuses_a_truncated_file(file_ledger):
    file_ledger.path.write_bytes(file_ledger.path.read_bytes()[:5000])
    broken = command("verify", file_ledger.path)
    assert broken.returncode == 1
    assert "damaged" in broken.stderr
    assert "Traceback" not in broken.stderr


def test_a_result_knows_its_entry_and_its_report_shows_it(ledger, data, plan, tmp_path):
    first, second = (plan.run(data, ledger=ledger, progress=False) for _ in range(2))
    assert (first.ledger_entry["run"], second.ledger_entry["run"]) == (1, 2)
    name = first.ledger_entry["ledger"]
    assert name == "study.ledger" or re.fullmatch(r"study-\w+ \(PostgreSQL\)", name)
    assert second.ledger_entry["epsilon left after this run"] <= ledger.remaining
    assert second.ledger_entry["epsilon left after this run"] < first.ledger_entry["epsilon left after this run"]
    second.save(tmp_path / "post.npz")
    assert dp.Posterior.load(tmp_path / "post.npz").ledger_entry == second.ledger_entry
    second.report(tmp_path / "post.html")
    page = (tmp_path / "post.html").read_text()
    assert "Entry in the ledger of this data set" in page
    assert name in page
    assert "postgresql:" not in page
    assert plan.run(data, progress=False).ledger_entry is None


def test_the_command_line_makes_a_ledger_once(place, capsys):
    from pydpmc.cli.main import main

    path = str(place)
    assert main(["ledger", "create", path]) == 1
    assert "--epsilon and --delta must be given" in capsys.readouterr().err
    assert main(["ledger", "create", path, "--epsilon", "2", "--delta", "1e-5"]) == 0
    assert "epsilon = 2 at delta = 1e-05" in capsys.readouterr().out
    assert main(["ledger", "create", path, "--epsilon", "3", "--delta", "1e-5"]) == 1
    assert "cannot be changed" in capsys.readouterr().err
    assert main(["ledger", "show", path, "--epsilon", "3"]) == 1
