"""The file of a ledger: an append-only chain of records in SQLite, each authenticated together with the one before.

SQLite gives atomic, durable appends under a lock. The chain detects what SQLite cannot: a page of an older file, a
flipped bit, a truncated end. The key is in the file, so the chain detects accidents but not forgery by the owner.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .._files import sync_directory
from ..errors import LedgerError

Record = dict[str, Any]
PATIENCE = 120.0  # seconds to wait for another process
SCHEMA = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE chain (number INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL);
CREATE TABLE head (records INTEGER NOT NULL, mac BLOB NOT NULL);
"""
TABLES = [("table", name) for name in ("chain", "head", "secret")]
WHAT_TO_DO = (
    "Nothing was run and nothing was reset. Restore the file from a copy made after the last run; if there is none, "
    "what was spent is unknown, and only the person who answers for the budget may decide how to go on"
)


def create(path: Path, header: Record) -> bool:
    """Write a new ledger atomically; return False if the file exists."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _fill(unfinished, header)
        os.link(unfinished, path)  # fails if the path exists, unlike a rename
        sync_directory(path)
    except FileExistsError:
        return False
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(f"the ledger {path} cannot be created: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return True


def read(path: Path) -> tuple[bytes, list[Record]]:
    """Return the key and all records, the header first, after checking every one."""
    with _opened(path) as file:
        file.execute("BEGIN")
        return _checked(file, path)


@contextlib.contextmanager
def appending(path: Path) -> Iterator[tuple[bytes, list[Record], list[Record]]]:
    """Yield key, records and a list of records to append, while no other process can write.

    What was appended is on the disk when the block ends; nothing is if it ends by an exception.
    """
    with _opened(path) as file:
        file.execute("BEGIN IMMEDIATE")
        key, records = _checked(file, path)
        new: list[Record] = []
        yield key, records, new
        for number, record in enumerate(new, start=len(records)):
            _append(file, key, number, record)
        file.execute("COMMIT")
    if new:
        sync_directory(path)


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


def damaged(path: Path, why: str) -> LedgerError:
    """Return the error for a file that cannot be trusted."""
    return LedgerError(f"the ledger {path} is damaged ({why}). {WHAT_TO_DO}")


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
        raise damaged(path, "it has other tables than a ledger")
    found = [row[0] for row in file.execute("PRAGMA integrity_check")]
    if found != ["ok"]:
        raise damaged(path, "its pages do not fit together")
    keys = file.execute("SELECT key FROM secret").fetchall()
    heads = file.execute("SELECT records, mac FROM head").fetchall()
    rows = file.execute("SELECT number, body, mac FROM chain ORDER BY number").fetchall()
    if len(keys) != 1 or len(heads) != 1 or not isinstance(keys[0][0], bytes):
        raise damaged(path, "its key is missing")
    key, before = keys[0][0], b""
    for expected, (number, body, mac) in enumerate(rows):
        if number != expected or not isinstance(body, bytes) or mac != _mac(key, before, number, body):
            raise damaged(path, f"record {expected} was changed")
        before = mac
    if heads[0] != (len(rows), before) or not rows:
        raise damaged(path, "records are missing")
    try:
        return key, [json.loads(body) for _, body, _ in rows]
    except (ValueError, RecursionError):
        raise damaged(path, "a record cannot be read") from None


def _append(file: sqlite3.Connection, key: bytes, number: int, record: Record) -> None:
    ((before,),) = file.execute("SELECT mac FROM head").fetchall()
    body = json.dumps(record, sort_keys=True).encode()
    mac = _mac(key, before, number, body)
    file.execute("INSERT INTO chain VALUES (?, ?, ?)", (number, body, mac))
    file.execute("UPDATE head SET records = ?, mac = ?", (number + 1, mac))


def _mac(key: bytes, before: bytes, number: int, body: bytes) -> bytes:
    return hmac.digest(key, b"record" + before + number.to_bytes(8, "big") + body, "sha256")
