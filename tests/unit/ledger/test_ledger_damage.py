"""A ledger that was truncated, changed or killed, or that processes compete for, is refused or whole, never reset."""

import shutil

import numpy as np
import pytest
from ledger_scripts import KILL, RACE, script

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import LedgerError

SMALL = acc.compose([(acc.Gaussian(noise_multiplier=50.0), 1)])


@pytest.fixture
def data():
    return dp.Data(np.arange(5.0), x_bounds=(0, 5))


@pytest.fixture
def written(tmp_path, data):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
    for ticket in "abc":
        ledger.reserve(SMALL, data, {"note": "x" * 300}, ticket)
        ledger.commit(ticket)
    return ledger.path.read_bytes(), ledger.history()


def outcome(path, data, history):
    """Return "refused" or "whole"; anything else fails."""
    try:
        ledger = dp.Ledger(path)
        assert ledger.history() == history
        assert (ledger.epsilon, ledger.delta) == (1.0, 1e-6)
    except LedgerError:
        return "refused"
    try:
        ledger.reserve(SMALL, data, {}, "d")
        assert len(ledger.history()) == 4
    except LedgerError:
        return "refused later"
    return "whole"


def damaged_copies(content, rng, count):
    for _ in range(count):
        copy = bytearray(content)
        place, bit = rng.integers(len(content)), rng.integers(8)
        copy[place] ^= 1 << bit
        yield bytes(copy)
    for length in rng.integers(0, len(content), count // 4):
        yield content[:length]
    for place in rng.integers(0, len(content) - 64, count // 4):
        yield content[:place] + bytes(64) + content[place + 64 :]


@pytest.mark.parametrize("count", [120, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_damaged_file_is_refused_or_reads_the_same(written, data, tmp_path, rng, count):
    content, history = written
    path, outcomes = tmp_path / "copy" / "study.ledger", []
    for copy in damaged_copies(content, rng, count):
        path.parent.mkdir()
        path.write_bytes(copy)
        outcomes.append(outcome(path, data, history))
        shutil.rmtree(path.parent)
    assert outcomes.count("refused") > 0.3 * len(outcomes)
    assert "whole" in outcomes  # slack inside the pages of SQLite


def test_a_name_in_the_schema_that_is_no_text_is_refused(written, tmp_path):
    """Python cannot decode the message that SQLite then gives."""
    path = tmp_path / "study.ledger"
    path.write_bytes(written[0].replace(b"tablesecretsecret", b"tables\xe5cretsecret"))
    with pytest.raises(LedgerError, match="damaged"):
        dp.Ledger(path)


def test_an_empty_file_is_no_new_ledger(tmp_path):
    path = tmp_path / "study.ledger"
    path.touch()
    for budget in ({}, {"epsilon": 1.0, "delta": 1e-6}):
        with pytest.raises(LedgerError, match=r"damaged.*Restore"):
            dp.Ledger(path, **budget)
    assert path.read_bytes() == b""


def test_a_foreign_database_or_text_is_refused(tmp_path):
    import sqlite3
    from contextlib import closing

    path = tmp_path / "study.ledger"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE secret (key BLOB)")
    with pytest.raises(LedgerError, match="damaged"):
        dp.Ledger(path)
    path.write_text("epsilon = 3\n" * 1000)
    with pytest.raises(LedgerError, match="damaged"):
        dp.Ledger(path)


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_a_killed_writer_leaves_every_reservation_it_knew_of(place, kills):
    print(script(KILL, place, kills, timeout=60 + 5 * kills))


def test_processes_that_race_for_the_budget_get_what_one_would_get(place):
    won = [int(n) for n in script(RACE, place, 4).split()]
    assert len(won) == 5
    assert sum(won[:4]) == won[4] > 4
