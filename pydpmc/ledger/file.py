"""A ledger in a file: SQLite gives the chain atomic, durable appends under a lock."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from .._files import sync_directory
from ..errors import LedgerError
from .chain import PATIENCE, Record, checked, damaged, link

SCHEMA = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE chain (number INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL);
CREATE TABLE head (records INTEGER NOT NULL, mac BLOB NOT NULL);
"""
TABLES = [("table", name) for name in ("chain", "head", "secret")]


class LedgerFile:
    """The store of a ledger that is one file."""

    def __init__(self, path: Path) -> None:
        self.place = path

    @property
    def label(self) -> str:
        """The name of the file, without its folder."""
        return self.place.name

    def exists(self) -> bool:
        """Return whether there is such a file."""
        return self.place.exists()

    def create(self, header: Record) -> None:
        """Write a new ledger atomically; leave a file that exists as it is."""
        path = self.place
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            _fill(unfinished, header)
            with contextlib.suppress(FileExistsError):
                os.link(unfinished, path)  # fails if the path exists, unlike a rename
            sync_directory(path)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"the ledger {path} cannot be created: {error}") from error
        finally:
            unfinished.unlink(missing_ok=True)

    def read(self) -> tuple[bytes, list[Record]]:
        """Return the key and all records, the header first, after checking every one."""
        with _opened(self.place) as file:
            file.execute("BEGIN")
            return _checked(file, self.place)

    @contextlib.contextmanager
    def appending(self) -> Iterator[tuple[bytes, list[Record], list[Record]]]:
        """Yield key, records and a list of records to append, while no other process can write."""
        with _opened(self.place) as file:
            file.execute("BEGIN IMMEDIATE")
            key, records = _checked(file, self.place)
            new: list[Record] = []
            yield key, records, new
            for number, record in enumerate(new, start=len(records)):
                _append(file, key, number, record)
            file.execute("COMMIT")
        if new:
            sync_directory(self.place)


def _fill(path: Path, header: Record) -> None:
    with contextlib.closing(_connect(path)) as file:
        file.executescript(SCHEMA)
        file.execute("BEGIN IMMEDIATE")
        key = secrets.token_bytes(32)
        file.execute("INSERT INTO secret VALUES (?)", (key,))
        file.execute("INSERT INTO head VALUES (0, x'')")
        _append(file, key, 0, header)
        file.execute("COMMIT")
    with path.open("rb") as written:
        os.fsync(written.fileno())


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        if path.stat().st_size == 0:  # SQLite would take it for a new database
            raise damaged(path, "it is empty")
        with contextlib.closing(_connect(path)) as file:
            yield file
    except sqlite3.OperationalError as error:
        if "malformed" in str(error) or "decode" in str(error) or "no such" in str(error):
            raise damaged(path, str(error)) from error
        raise LedgerError(f"the ledger {path} cannot be used: {error}. Nothing was run") from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # the last: a broken name in SQLite's message
        raise damaged(path, str(error)) from error
    except OSError as error:
        raise LedgerError(f"the ledger {path} cannot be read: {error.strerror}") from error


def _connect(path: Path) -> sqlite3.Connection:
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    file = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, timeout=PATIENCE, isolation_level=None
    )
    settings = ["trusted_schema=OFF", "cell_size_check=ON"]
    if mode == "rw":  # EXTRA also syncs the directory when the journal goes
        settings += ["journal_mode=DELETE", "synchronous=EXTRA", "fullfsync=ON"]
    try:
        for setting in settings:
            file.execute(f"PRAGMA {setting}")
    except BaseException:
        file.close()
        raise
    return file


def _checked(file: sqlite3.Connection, path: Path) -> tuple[bytes, list[Record]]:
    parts = file.execute("SELECT type, name FROM sqlite_master ORDER BY name").fetchall()
    if parts != TABLES:  # a view or a trigger would run when its table is read or written
        raise damaged(path, "its tables are not the tables of a ledger")
    found = [row[0] for row in file.execute("PRAGMA integrity_check")]
    if found != ["ok"]:
        raise damaged(path, "it fails the integrity check of SQLite")
    keys = file.execute("SELECT key FROM secret").fetchall()
    heads = file.execute("SELECT records, mac FROM head").fetchall()
    rows = file.execute("SELECT number, body, mac FROM chain ORDER BY number").fetchall()
    if len(keys) != 1 or len(heads) != 1 or not isinstance(keys[0][0], bytes):
        raise damaged(path, "its key is missing")
    return keys[0][0], checked(path, keys[0][0], heads[0], rows)


def _append(file: sqlite3.Connection, key: bytes, number: int, record: Record) -> None:
    ((before,),) = file.execute("SELECT mac FROM head").fetchall()
    body, mac = link(key, before, number, record)
    file.execute("INSERT INTO chain VALUES (?, ?, ?)", (number, body, mac))
    file.execute("UPDATE head SET records = ?, mac = ?", (number + 1, mac))
