"""With a ledger, all results of a run are prefixes of one chain, whatever is copied, restored, stopped or killed."""

import contextlib
import shutil
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import CheckpointError, LedgerError
from pydpmc.ledger.ledger import Ledger
from pydpmc.running import checkpoint_file, safekeeping
from pydpmc.running.progress import Progress
from pydpmc.running.safekeeping import Safekeeping

STEPS = 20
OLD = Path(__file__).parents[2] / "fixtures" / "before_rooms"


def records(rng, n=60):
    return dp.Data(rng.normal(size=(n, 2)), rng.integers(0, 2, n), row_norm=1.0)


@pytest.fixture
def data(rng):
    return records(rng)


@pytest.fixture
def plan(data):
    return dp.plan(dp.LogisticRegression(), data.public, dp.SGNHT(steps=STEPS, step_size=1e-4, clip=2.0), chains=2)


@pytest.fixture
def world(tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=12, delta=1e-6)
    return {"ledger": ledger, "checkpoint": tmp_path / "run.ckpt", "warmup": 0, "threads": 1, "progress": False}


@pytest.fixture(autouse=True)
def saved_often(monkeypatch):
    monkeypatch.setattr(safekeeping, "INTERVAL", 0.0)
    monkeypatch.setattr(safekeeping, "PATIENCE", 0.0)
    monkeypatch.setattr("pydpmc.running.run.CHUNK_SECONDS", 1e-9)  # one step at a time
    monkeypatch.setattr("os.fsync", lambda _: None)  # test_durability.py is about that


class Killed(BaseException):
    pass


def stopping_at(steps, patched, stop=KeyboardInterrupt, always=lambda: None):
    """Stop the run after so many steps: by Ctrl-C, or killed; do something after each step until then."""

    def update(self, done):
        always()
        if done >= steps:
            raise stop

    patched.setattr(Progress, "update", update)


def test_a_copy_from_before_ctrl_c_is_not_resumed_after_it(plan, data, world, tmp_path, monkeypatch):
    """An attack that once saw 1300 accept bits where 400 were charged."""
    copy = tmp_path / "copy.ckpt"
    saved = Safekeeping.after_chunk

    def copying(self, core):
        saved(self, core)
        if core.steps_done == 5:
            shutil.copy(world["checkpoint"], copy)

    with monkeypatch.context() as patched:
        patched.setattr(Safekeeping, "after_chunk", copying)
        stopping_at(15, patched)
        part = plan.run(data, **world)
    assert part.interrupted
    assert part.draws["beta"].shape[1] == 15
    latest = world["checkpoint"].read_bytes()
    shutil.copy(copy, world["checkpoint"])
    for _ in range(2):
        with pytest.raises(LedgerError, match="was released"):
            plan.run(data, **world)
    world["checkpoint"].write_bytes(latest)
    whole = plan.run(data, **world)
    assert (whole.draws["beta"][:, :15] == part.draws["beta"]).all()
    (entry,) = world["ledger"].history()
    assert (entry.finished, entry.resumed) == (True, 1)
    world["ledger"].verify()


def test_a_refused_resumption_does_not_change_the_checkpoint(plan, data, world, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        stopping_at(10, patched, Killed)
        with pytest.raises(Killed):
            plan.run(data, **world)
    copy = shutil.copy(world["checkpoint"], tmp_path / "copy.ckpt")
    plan.run(data, **world)
    before = copy.read_bytes()
    with pytest.raises(LedgerError, match="already resumed"):
        plan.run(data, **world | {"checkpoint": copy})
    assert copy.read_bytes() == before


def test_failed_resumptions_do_not_make_a_copy_current_again(plan, data, world, tmp_path, monkeypatch):
    """Counting resumptions was not enough: each failed one raised the count that the copy held."""
    with monkeypatch.context() as patched:
        stopping_at(10, patched, Killed)
        with pytest.raises(Killed):
            plan.run(data, **world)
    copy = shutil.copy(world["checkpoint"], tmp_path / "copy.ckpt")
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "resume", lambda *_: (_ for _ in ()).throw(LedgerError("locked")))
        for _ in range(5):
            with pytest.raises(LedgerError, match="locked"):
                plan.run(data, **world | {"checkpoint": copy})
    with monkeypatch.context() as patched:
        stopping_at(13, patched)
        plan.run(data, **world)
    with pytest.raises(LedgerError, match="already resumed"):
        plan.run(data, **world | {"checkpoint": copy})


POINTS = [(Ledger, name) for name in ("reserve", "resume", "stop", "commit")] + [(Safekeeping, "save")]


def kill_at(point, after, countdown, patched):
    """Kill the run before or after the countdown-th call of one of the points."""
    kind, name = POINTS[point]
    original, calls = getattr(kind, name), [0]

    def wrapped(self, *arguments):
        calls[0] += 1
        if calls[0] == countdown and not after:
            raise Killed
        original(self, *arguments)
        if calls[0] == countdown and after:
            raise Killed

    patched.setattr(kind, name, wrapped)


def one_event(plan, data, world, copies, rng, returned):
    path, event = world["checkpoint"], rng.integers(7)

    def copy_now_and_then():
        if not rng.integers(6):
            copies.append(path.read_bytes())

    if event < 2 and copies:
        path.write_bytes(copies[rng.integers(len(copies))])
        return
    with pytest.MonkeyPatch.context() as patched:
        steps = rng.integers(1, STEPS + 10)
        stopping_at(steps, patched, KeyboardInterrupt if event < 5 else Killed, copy_now_and_then)
        if not rng.integers(3):
            kill_at(rng.integers(len(POINTS)), rng.integers(2), rng.integers(1, 4), patched)
        with contextlib.suppress(Killed, LedgerError):
            returned.append(plan.run(data, **world).draws["beta"])


@pytest.mark.parametrize("histories", [12, pytest.param(2000, marks=pytest.mark.slow)])
def test_all_that_is_returned_of_a_charged_run_is_one_chain(plan, data, tmp_path, rng, histories):
    """Copies, restored copies, Ctrl-C and kills in any order: of any two results one is the beginning of the other."""
    pairs, cost = 0, plan.guarantee.epsilon(1e-6)
    for number in range(histories):
        folder = tmp_path / str(number)
        folder.mkdir()
        ledger = dp.Ledger(folder / "study.ledger", epsilon=1.001 * cost, delta=1e-6)  # pays for one run
        world = {"ledger": ledger, "checkpoint": folder / "run.ckpt", "warmup": 0, "threads": 1, "progress": False}
        copies, returned = [], []
        for _ in range(9):
            one_event(plan, data, world, copies, rng, returned)
        for a in returned:
            for b in returned:
                shared = min(a.shape[1], b.shape[1])
                assert (a[:, :shared] == b[:, :shared]).all()
                pairs += a is not b and shared > 0
        assert len(ledger.history()) <= 1
        ledger.verify()
        shutil.rmtree(folder)
    assert pairs > histories / 4


def test_ctrl_c_on_a_full_disk_ends_the_run_for_every_copy(plan, data, world, tmp_path, monkeypatch):
    copy, written = tmp_path / "copy.ckpt", checkpoint_file.write

    def full(path, header, arrays):
        if header["steps_done"] > 10:
            raise CheckpointError("checkpoint: no space left")
        written(path, header, arrays)
        shutil.copy(path, copy)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint_file, "write", full)
        patched.setattr(Safekeeping, "after_chunk", lambda self, core: core.steps_done <= 10 and self.save(core))
        stopping_at(15, patched)
        with pytest.warns(RuntimeWarning, match="no space left"):
            part = plan.run(data, **world)
    assert part.draws["beta"].shape[1] == 15
    assert not world["checkpoint"].exists()
    with pytest.raises(LedgerError, match="was released"):
        plan.run(data, **world | {"checkpoint": copy})


def test_ctrl_c_returns_nothing_if_a_copy_was_resumed_elsewhere(plan, data, world, tmp_path, monkeypatch):
    copy, saved = tmp_path / "copy.ckpt", Safekeeping.after_chunk

    def resumed_elsewhere(self, core):
        saved(self, core)
        if core.steps_done >= 5 and not copy.exists():
            shutil.copy(world["checkpoint"], copy)
            plan.run(data, **world | {"checkpoint": copy})
            stopping_at(0, monkeypatch)

    monkeypatch.setattr(Safekeeping, "after_chunk", resumed_elsewhere)
    with pytest.raises(LedgerError, match="must not be released"):
        plan.run(data, **world)
    assert not world["checkpoint"].exists()


def test_nothing_is_returned_if_the_ledger_does_not_hear_of_it(plan, data, world, monkeypatch):
    with monkeypatch.context() as patched:
        stopping_at(15, patched)
        patched.setattr(Ledger, "stop", lambda *_: (_ for _ in ()).throw(LedgerError("the disk is full")))
        with pytest.raises(LedgerError, match="the disk is full"):
            plan.run(data, **world)
    assert plan.run(data, **world).draws["beta"].shape[1] == STEPS  # what was made is not lost


def test_a_checkpoint_is_not_resumed_with_another_ledger_or_a_stale_copy_of_its_own(plan, data, world, tmp_path):
    stale = shutil.copy(world["ledger"].path, tmp_path / "stale.ledger")
    plan.run(data, **world)
    for ledger in (stale, dp.Ledger(tmp_path / "other.ledger", epsilon=12, delta=1e-6)):
        with pytest.raises(LedgerError, match="was not charged"):
            plan.run(data, **world | {"ledger": ledger})


def test_a_checkpoint_that_went_on_is_refused_by_a_copy_of_the_ledger(plan, data, world, tmp_path, monkeypatch):
    """Two machines with a copied ledger are two ledgers; at least what one of them resumed is not for the other."""
    with monkeypatch.context() as patched:
        stopping_at(10, patched, Killed)
        with pytest.raises(Killed):
            plan.run(data, **world)
    elsewhere = shutil.copy(world["ledger"].path, tmp_path / "elsewhere.ledger")
    with monkeypatch.context() as patched:
        stopping_at(15, patched, Killed)
        with pytest.raises(Killed):
            plan.run(data, **world)
    with pytest.raises(LedgerError, match="already resumed"):
        plan.run(data, **world | {"ledger": elsewhere})


def test_a_run_is_not_resumed_on_another_table(plan, data, world, rng, monkeypatch):
    other = records(rng)
    with monkeypatch.context() as patched:
        stopping_at(10, patched)
        plan.run(data, **world)
    world["ledger"].admit(other)  # may be used with the ledger, but is not what the chain was drawn from
    before = world["checkpoint"].read_bytes()
    with pytest.raises(CheckpointError, match="other records") as refusal:
        plan.run(other, **world)
    assert not any(character.isdigit() for character in str(refusal.value).replace(str(world["checkpoint"]), ""))
    assert world["checkpoint"].read_bytes() == before
    assert plan.run(data, **world).draws["beta"].shape[1] == STEPS


def test_the_fingerprint_in_a_checkpoint_is_keyed_and_is_another_for_every_run(plan, data, world, tmp_path):
    """Without the ledger nobody can tell from two checkpoints whether a record was changed between them."""
    marks = []
    for number in range(2):
        path = tmp_path / f"{number}.ckpt"
        plan.run(data, **world | {"checkpoint": path})
        marks.append(checkpoint_file.read(path)[0]["table"])
    elsewhere = dp.Ledger(tmp_path / "elsewhere.ledger", epsilon=12, delta=1e-6)
    ticket = checkpoint_file.read(path)[0]["ticket"]
    assert marks[1] == world["ledger"].mark(data, ticket) != elsewhere.mark(data, ticket)
    assert marks[0] != marks[1]
    uncharged = {"checkpoint": tmp_path / "uncharged.ckpt", "progress": False}
    plan.run(data, **uncharged)
    assert checkpoint_file.read(uncharged["checkpoint"])[0]["table"] is None  # there is no key to keep it by


def test_a_run_without_a_ledger_is_charged_in_full_when_one_takes_it_up(plan, data, world, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        stopping_at(10, patched)
        plan.run(data, **world | {"ledger": None})
    copy = shutil.copy(world["checkpoint"], tmp_path / "copy.ckpt")
    for path in (world["checkpoint"], copy):
        plan.run(data, **world | {"checkpoint": path})
        plan.run(data, **world | {"checkpoint": path})
    assert [entry.finished for entry in world["ledger"].history()] == [True, True]


def test_an_old_copy_is_not_resumed_after_this_version_went_on(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    data = records(rng, 300)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.SGNHT(steps=60, step_size=1e-4, clip=2.0), chains=2)
    options = {"ledger": dp.Ledger(shutil.copy(OLD / "second.ledger.db", tmp_path / "l.ledger")), "progress": False}
    path = shutil.copy(OLD / "charged.checkpoint", tmp_path / "run.ckpt")
    with monkeypatch.context() as patched:
        stopping_at(50, patched)
        assert plan.run(data, checkpoint=path, **options).interrupted
    copy = shutil.copy(OLD / "charged.checkpoint", tmp_path / "copy.ckpt")
    with pytest.raises(LedgerError, match="already resumed"):
        plan.run(data, checkpoint=copy, **options)
    assert plan.run(data, checkpoint=path, **options).draws["beta"].shape[1] == 48


def test_a_checkpoint_larger_than_its_run_is_not_read(plan, data, world, monkeypatch):
    with world["checkpoint"].open("wb") as file:
        file.truncate(10**12)  # sparse
    with pytest.raises(CheckpointError, match="larger than"):
        plan.run(data, **world)
