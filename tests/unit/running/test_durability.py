"""What must be on disk before a run continues, and what never is: the key of a run."""

import os
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.ledger import file as ledger_file
from pydpmc.running import checkpoint_file
from pydpmc.running.safekeeping import Safekeeping

SEED = 20_261_118
SAMPLERS = {
    "Barker": dp.Barker(steps=30, scale=0.05),
    "Barker on batches": dp.Barker(steps=30, scale=0.05, batch_size=50, clip=0.005),
    "SGLD": dp.SGLD(steps=30, step_size=1e-4, clip=2.0),
    "SGHMC": dp.SGHMC(steps=30, step_size=1e-4, clip=2.0),
    "SGNHT": dp.SGNHT(steps=30, step_size=1e-4, clip=2.0),
    "SGFS": dp.SGFS(steps=30, step_size=1e-4, clip=2.0),
    "preconditioned": dp.SGLD(steps=30, step_size=1e-4, clip=2.0, preconditioner="diagonal"),
}


@pytest.fixture
def data(rng):
    return dp.Data(rng.normal(size=(300, 2)), rng.integers(0, 2, 300), row_norm=1.0)


@pytest.fixture
def events(monkeypatch):
    """Record what is synced and renamed, in order."""
    seen, fsync, replace, link = [], os.fsync, os.replace, os.link

    def recording_fsync(file):
        seen.append(("fsync", os.path.realpath(f"/proc/self/fd/{file}")))
        fsync(file)

    def recording(name, call):
        def recorded(source, target):
            seen.append((name, str(source)))
            call(source, target)

        return recorded

    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(os, "replace", recording("replace", replace))
    monkeypatch.setattr(os, "link", recording("link", link))
    return seen


def test_a_checkpoint_is_synced_then_renamed_then_its_folder_is_synced(tmp_path, events):
    unfinished = str(tmp_path / "run.ckpt.unfinished")
    checkpoint_file.write(tmp_path / "run.ckpt", {}, [np.zeros(3), np.zeros(2)])
    assert events == [("fsync", unfinished), ("replace", unfinished), ("fsync", str(tmp_path))]


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_a_result_is_synced_then_renamed_then_its_folder_is_synced(suffix, data, tmp_path, events):
    post = dp.sample(dp.LogisticRegression(), data, SAMPLERS["Barker"], progress=False)
    post.save(tmp_path / f"post.{suffix}")
    (first, unfinished), *rest = events
    assert first == "fsync"
    assert os.path.dirname(unfinished) == str(tmp_path)
    assert rest == [("replace", unfinished), ("fsync", str(tmp_path))]


def test_a_new_ledger_is_synced_then_linked_then_its_folder_is_synced(tmp_path, events):
    dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
    (first, unfinished), *rest = events
    assert first == "fsync"
    assert rest == [("link", unfinished), ("fsync", str(tmp_path))]


def test_the_folder_of_a_ledger_is_synced_after_every_record(tmp_path, data, events):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
    events.clear()
    ledger.admit(data)
    assert events == [("fsync", str(tmp_path))]


def test_sqlite_syncs_everything_including_the_folder_of_its_journal(tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
    with closing(ledger_file._connect(ledger.path)) as file:
        found = {name: file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "fullfsync")}
        assert found == {"synchronous": 3, "fullfsync": 1}  # EXTRA
        assert file.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert file.execute("PRAGMA trusted_schema").fetchone()[0] == 0


def forms(key):
    """Every way in which a word of the key, or the key, is likely to be written down."""
    words = struct.unpack("<8I", key)
    yield from (key, key[::-1], key.hex().encode(), key.hex().upper().encode())
    for word in words:
        yield from (struct.pack("<I", word), struct.pack(">I", word), struct.pack("<d", word), struct.pack(">d", word))
        yield from (str(word).encode(), f"{word:08x}".encode())
    for low, high in zip(words[::2], words[1::2], strict=True):
        for number in (low | high << 32, high | low << 32):
            yield from (str(number).encode(), struct.pack("<d", number), f"{number:016x}".encode())


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_no_file_holds_a_word_of_the_key(sampler, data, tmp_path, monkeypatch):
    """Seeded, so that the key is known; such a run has no checkpoint or ledger unless the refusal is taken out."""
    monkeypatch.setattr(Safekeeping, "refuse", lambda *_: None)
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=2)
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=15, delta=1e-6)
    post = plan.run(data, ledger=ledger, checkpoint=tmp_path / "run.ckpt", seed=SEED, progress=False)
    for suffix in ("npz", "nc"):
        post.save(tmp_path / f"post.{suffix}")
    np.savez(tmp_path / "plain.npz", **post.draws)  # what compression would hide
    post.report(tmp_path / "post.html")
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {"study.ledger", "run.ckpt", "post.npz", "post.nc", "plain.npz", "post.html"} <= set(files)
    key = _core.random.key_from_seed(SEED)
    assert len(key) == 32
    for name, content in files.items():
        assert not [form for form in forms(key) if form in content], name


def test_the_search_finds_a_key_that_is_there(tmp_path):
    key = _core.random.key_from_seed(SEED)
    words = np.frombuffer(key, dtype="<u4").astype(np.float64)
    checkpoint_file.write(tmp_path / "bad.ckpt", {"ticket": key.hex()}, [words, words])
    content = (tmp_path / "bad.ckpt").read_bytes()
    assert sum(form in content for form in forms(key)) >= 9


def test_a_ledger_with_a_trigger_or_a_view_is_refused(tmp_path):
    """A view in place of a table could compute for ever; a trigger could change what is appended."""
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
    with closing(sqlite3.connect(ledger.path)) as file:
        file.execute("CREATE TRIGGER t AFTER INSERT ON chain BEGIN DELETE FROM head; END")
    with pytest.raises(dp.errors.LedgerError, match="not the tables of a ledger"):
        dp.Ledger(ledger.path)
