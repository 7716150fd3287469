"""The ledger in PostgreSQL: races, kills of client and server, damage, rights, and passwords."""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import postgres_server
import pytest
from ledger_scripts import RACE, script

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import LedgerError
from pydpmc.ledger import postgres

SMALL = acc.compose([(acc.Gaussian(noise_multiplier=50.0), 1)])
TINY = acc.compose([(acc.Gaussian(noise_multiplier=1e4), 1)])


@pytest.fixture
def data():
    return dp.Data(np.arange(5.0), x_bounds=(0, 5))


@pytest.fixture
def ledger(url):
    return dp.Ledger(url, epsilon=1.0, delta=1e-6)


@pytest.fixture(scope="module")
def mortal():
    """A server that a test may kill."""
    if postgres_server.absence() is not None:
        pytest.skip(postgres_server.absence())
    running = postgres_server.Server()
    yield running
    running.remove()


@pytest.mark.parametrize("races", [2, pytest.param(200, marks=pytest.mark.slow)])
def test_eight_processes_never_exceed_the_budget(server, races):
    for race in range(races):
        url = server.url(f"race-{race}-{os.getpid()}-{time.monotonic_ns()}")
        won = [int(n) for n in script(RACE, url, 8).split()]
        assert sum(won[:8]) == won[8] > 8
        ledger = dp.Ledger(url)
        assert len(ledger.history()) == won[8]
        ledger.verify()


def test_one_of_many_makes_the_tables_and_the_ledger(server):
    database = server.fresh()
    made, url = [], server.url("new", database=database)
    threads = [threading.Thread(target=lambda: made.append(dp.Ledger(url, epsilon=1, delta=1e-6))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    assert server.run("SELECT count(*) FROM pydpmc_ledger.chain", database) == [(1,)]


def test_without_the_lock_the_second_guard_refuses(ledger, data, monkeypatch):
    monkeypatch.setattr(postgres, "LOCKED_HEAD", postgres.HEAD)

    def write_while_another_writes():
        with ledger._store.appending() as (_, _, new):
            new.append({"kind": "commit", "ticket": "mine", "time": ""})
            ledger.reserve(SMALL, data, {}, "theirs")

    with pytest.raises(LedgerError, match="duplicate key"):
        write_while_another_writes()
    assert [entry.finished for entry in ledger.history()] == [False]
    ledger.verify()


def test_a_ticket_is_unique_in_the_tables_too(ledger, data, server):
    ledger.reserve(SMALL, data, {}, "one")
    with pytest.raises(LedgerError, match="duplicate key"), ledger._store.appending() as (_, records, new):
        new.append(records[-1])
    assert len(ledger.history()) == 1


def test_a_failed_transaction_is_not_taken_for_a_commit(ledger):
    def swallow_an_error():
        with ledger._store._writing() as database, contextlib.suppress(psycopg.DataError):
            database.execute("SELECT 1 / 0")

    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match="could not be written"):
        swallow_an_error()
    ledger.verify()


def test_a_commit_is_on_the_disk_whatever_the_database_is_set_to(server, ledger):
    server.run("ALTER DATABASE budgets SET synchronous_commit = off")
    try:
        with ledger._store._writing() as database:
            assert database.execute("SHOW synchronous_commit").fetchone() == ("on",)
            assert database.execute("SHOW transaction_isolation").fetchone() == ("read committed",)
    finally:
        server.run("ALTER DATABASE budgets RESET synchronous_commit")


def test_a_server_that_may_forget_is_refused(mortal):
    for setting in ("fsync", "full_page_writes"):
        mortal.set(setting, "off")
        with pytest.raises(LedgerError, match="could undo a charge"):
            dp.Ledger(mortal.url("careless"), epsilon=1, delta=1e-6)
        mortal.set(setting, "on")


def test_tables_that_a_crash_empties_are_refused(server, data):
    database = server.fresh()
    ledger = dp.Ledger(server.url("a", database=database), epsilon=1, delta=1e-6)
    server.run("ALTER TABLE pydpmc_ledger.chain SET UNLOGGED", database)
    with pytest.raises(LedgerError, match="could undo a charge"):
        ledger.reserve(SMALL, data, {}, "one")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE pydpmc_ledger.chain SET body = body || ' '::bytea WHERE number = 1 AND ledger = '{0}'",
        "DELETE FROM pydpmc_ledger.chain WHERE number = 2 AND ledger = '{0}'",
        "DELETE FROM pydpmc_ledger.chain WHERE ledger = '{0}'",
        "UPDATE pydpmc_ledger.head SET records = 2 WHERE ledger = '{0}'",
        "UPDATE pydpmc_ledger.head SET key = 'x' WHERE ledger = '{0}'",
        "UPDATE pydpmc_ledger.chain SET number = number + 9 WHERE number = 2 AND ledger = '{0}'",
    ],
)
def test_changed_rows_are_refused(server, ledger, data, damage):
    for ticket in "ab":
        ledger.reserve(SMALL, data, {}, ticket)
    server.run(damage.format(ledger._store._address.ledger))
    for use in (
        ledger.verify,
        ledger.history,
        lambda: ledger.reserve(SMALL, data, {}, "c"),
        lambda: dp.Ledger(ledger.path),
    ):
        with pytest.raises(LedgerError, match=r"damaged.*Restore"):
            use()


def test_rows_that_vanish_while_they_are_written_are_noticed(server, data):
    database = server.fresh()
    ledger = dp.Ledger(server.url("a", database=database), epsilon=1, delta=1e-6)
    server.run("CREATE RULE nothing AS ON INSERT TO pydpmc_ledger.chain DO INSTEAD NOTHING", database)
    with pytest.raises(LedgerError, match="do not take"):
        ledger.reserve(SMALL, data, {}, "one")


def test_ledgers_of_one_database_are_apart(server, ledger, data):
    other = dp.Ledger(server.url(f"other-{time.monotonic_ns()}"), epsilon=2.0, delta=1e-6)
    ledger.reserve(SMALL, data, {}, "one")
    other.reserve(SMALL, dp.Data(np.arange(6.0), x_bounds=(0, 6)), {}, "one")
    assert (len(ledger.history()), len(other.history()), other.epsilon) == (1, 1, 2.0)


def test_a_ledger_can_be_sent_to_another_process(ledger, data):
    copy = pickle.loads(pickle.dumps(ledger))
    copy.reserve(SMALL, data, {}, "one")
    assert len(ledger.history()) == 1


KILLED_RUN = """
    import os, signal, sys
    import numpy as np, pydpmc as dp
    from pydpmc.running import run
    def die(*arguments):
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "die":
        run._advance = die
    data = dp.Data(np.repeat([1.0, 0.0], [60, 40]))
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=40, scale=0.1, w=0.01))
    plan.run(data, ledger=sys.argv[1], checkpoint=sys.argv[3], progress=False, anyway=True)
    print(len(dp.Ledger(sys.argv[1]).history()), dp.Ledger(sys.argv[1]).history()[-1].finished)
"""


def test_a_killed_run_is_resumed_and_charged_once(ledger, tmp_path):
    with pytest.raises(AssertionError):
        script(KILLED_RUN, ledger.path, "die", tmp_path / "run.ckpt")
    assert [entry.finished for entry in ledger.history()] == [False]
    assert script(KILLED_RUN, ledger.path, "live", tmp_path / "run.ckpt").split() == ["1", "True"]


def test_a_copy_of_a_checkpoint_is_not_resumed_twice(ledger):
    data = dp.Data(np.repeat([1.0, 0.0], [60, 40]))
    ledger.reserve(SMALL, data, {}, "one")
    token = ledger.token("one")
    ledger.resume("one", token, "second", data)
    with pytest.raises(LedgerError, match="already resumed"):
        ledger.resume("one", token, "third", data)
    with pytest.raises(dp.errors.ResumedElsewhere):
        ledger.commit("one", token)
    ledger.commit("one", "second")


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_server_forgets_no_reservation_that_was_confirmed(mortal, data, kills, rng):
    """Between kills a client writes as fast as it can; a charge that it was told of is there ever after."""
    ledger = dp.Ledger(mortal.url(f"study-{time.monotonic_ns()}"), epsilon=1.0, delta=1e-6)
    known, tried = set(), 0
    for kill in range(kills):
        cut = threading.Timer(rng.uniform(0.05, 0.5), mortal.kill)
        cut.start()
        impatient = dp.Ledger(ledger.path)
        impatient._store._reached = False  # fail at once instead of waiting for the server
        with contextlib.suppress(LedgerError):
            for number in range(10**6):
                tried += 1
                impatient.reserve(TINY, data, {}, f"{kill}-{number}")
                known.add(f"{kill}-{number}")
                impatient._store._reached = False
        cut.join()
        mortal.start()
        noted = {record["ticket"] for record in ledger._state().reservations}
        assert known <= noted
        assert len(noted) <= tried
    ledger.verify()
    assert len(known) >= kills


def test_a_run_outlives_a_restart_of_the_server(mortal, monkeypatch):
    from pydpmc.running import run

    data = dp.Data(np.repeat([1.0, 0.0], [60, 40]))
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=40, scale=0.1, w=0.01))
    ledger = dp.Ledger(mortal.url(f"study-{time.monotonic_ns()}"), epsilon=1.0, delta=1e-6)
    advance = run._advance

    def cut(*arguments):
        mortal.kill()
        threading.Timer(0.3, mortal.start).start()
        return advance(*arguments)

    monkeypatch.setattr(run, "_advance", cut)
    plan.run(data, ledger=ledger.path, progress=False)
    assert [entry.finished for entry in ledger.history()] == [True]


def test_an_absent_server_or_ledger_is_named(server, tmp_path):
    with pytest.raises(LedgerError, match="cannot be used"):
        dp.Ledger(f"postgresql:///b?host={tmp_path}")
    with pytest.raises(LedgerError, match=r"there is no postgresql://.*ledger create"):
        dp.Ledger(server.url("absent"))


def test_a_user_with_the_rights_of_the_page_can_charge_but_not_rewrite(server, ledger, data):
    server.run(
        "DO $$ BEGIN CREATE ROLE analyst LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
        "GRANT USAGE ON SCHEMA pydpmc_ledger TO analyst;"
        "GRANT SELECT, INSERT ON pydpmc_ledger.chain TO analyst;"
        "GRANT SELECT, UPDATE (records, mac) ON pydpmc_ledger.head TO analyst;"
    )
    url = server.url(ledger._store._address.ledger, user="analyst")
    analyst = dp.Ledger(url)
    analyst.reserve(SMALL, data, {}, "one")
    analyst.commit("one")
    analyst.verify()
    for statement in ("DELETE FROM pydpmc_ledger.chain", "UPDATE pydpmc_ledger.chain SET number = 0"):
        with pytest.raises(LedgerError, match="permission denied"), analyst._store._connected() as database:
            database.execute(statement)
    with pytest.raises(LedgerError, match="permission denied"):
        dp.Ledger(server.url("another", user="analyst"), epsilon=9, delta=1e-5)


PASSWORD = "correct-horse-4711"
WITH_PASSWORD = """
    import logging, sys
    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
    import numpy as np, pydpmc as dp
    data = dp.Data(np.repeat([1.0, 0.0], [60, 40]))
    ledger = dp.Ledger(sys.argv[1])
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=40, scale=0.1, w=0.01))
    post = plan.run(data, ledger=ledger, checkpoint=sys.argv[2] + "/run.ckpt", progress=False, anyway=True)
    post.save(sys.argv[2] + "/post.npz")
    post.report(sys.argv[2] + "/post.html")
    import pickle
    with open(sys.argv[2] + "/ledger.pickle", "wb") as file:
        pickle.dump(ledger, file)
    print(ledger, vars(ledger), vars(ledger._store), post.ledger_entry)
"""


def test_a_password_appears_nowhere(server, ledger, tmp_path, monkeypatch):
    server.run("DROP ROLE IF EXISTS ann")
    server.run(f"CREATE ROLE ann LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
    url = server.url(ledger._store._address.ledger, user="ann")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    printed = script(WITH_PASSWORD, url, tmp_path)
    assert "Ledger('postgresql://ann@" in printed
    assert PASSWORD not in printed
    files = list(tmp_path.iterdir())
    assert len(files) >= 4
    assert not any(PASSWORD.encode() in path.read_bytes() for path in files)
    monkeypatch.setenv("PGPASSWORD", PASSWORD + "-wrong")
    with pytest.raises(LedgerError, match="password authentication failed") as refusal:
        dp.Ledger(url)
    assert PASSWORD not in str(refusal.value)
    called = [sys.executable, "-m", "pydpmc.cli.main", "ledger", "show", url]
    shown = subprocess.run(called, capture_output=True, text=True, check=False, cwd="/")
    assert shown.returncode == 1
    assert "authentication failed" in shown.stderr
    assert PASSWORD not in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stderr


def test_an_estimator_and_a_study_take_the_url(ledger, tmp_path, rng):
    pytest.importorskip("sklearn")
    from pydpmc.sklearn import DPLogisticRegression

    x = rng.normal(size=(2000, 2))
    y = (x[:, 0] + rng.normal(size=2000) > 0).astype(int)
    DPLogisticRegression(epsilon=0.3, delta=1e-6, row_norm=1.0, ledger=ledger.path).fit(x, y)
    assert [entry.finished for entry in ledger.history()] == [True]
    rows = "\n".join(f"{a:.3f},{b}" for a, b in zip(x[:, 0], np.where(y == 1, "yes", "no"), strict=True))
    (tmp_path / "t.csv").write_text(f"a,answer\n{rows}\n")
    other = dp.Ledger(ledger.path + "-study", epsilon=3.0, delta=1e-5)
    (tmp_path / "study.toml").write_text(STUDY.format(other.path))
    from pydpmc.cli.main import main

    assert main(["run", str(tmp_path / "study.toml"), "--quiet"]) == 0
    assert [entry.finished for entry in other.history()] == [True]


STUDY = """
[data]
path = "t.csv"
[schema]
target = "answer"
missing = "drop"
[schema.columns]
a = {{kind = "number", low = -3, high = 3}}
answer = {{kind = "binary", positive = "yes"}}
[model]
type = "LogisticRegression"
[budget]
epsilon = 1.0
delta = 1e-6
[run]
ledger = "{}"
[output]
posterior = "post.npz"
"""


def test_a_study_with_a_password_is_refused_and_not_repeated(tmp_path, capsys):
    from pydpmc.cli.main import main

    (tmp_path / "t.csv").write_text("a,answer\n" + "0.5,yes\n0.1,no\n" * 500)
    (tmp_path / "study.toml").write_text(STUDY.format(f"postgresql://ann:{PASSWORD}@db/b"))
    assert main(["run", str(tmp_path / "study.toml")]) == 1
    printed = "".join(capsys.readouterr())
    assert "~/.pgpass" in printed
    assert PASSWORD not in printed
