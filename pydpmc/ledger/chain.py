"""The chain of a ledger: records, each authenticated together with the one before, wherever they are kept.

The chain detects what a database cannot: a page of an older copy, a flipped bit, a truncated end. The key is kept
beside it, so the chain detects accidents but not forgery by the owner.
"""

from __future__ import annotations

import contextlib
import hmac
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from ..errors import LedgerError

Record = dict[str, Any]
Writing = contextlib.AbstractContextManager[tuple[bytes, list[Record], list[Record]]]
PATIENCE = 120.0  # seconds to wait for another process
WHAT_TO_DO = (
    "Nothing was run and nothing was reset. Restore it from a copy made after the last run; if there is none, "
    "what was spent is unknown, and only the person who answers for the budget may decide how to go on"
)


class Store(Protocol):
    """Where a chain is kept. A store knows nothing of budgets."""

    @property
    def place(self) -> Path | str:
        """What opens it again; errors and pages show it."""

    @property
    def label(self) -> str:
        """What a report shows of it."""

    def exists(self) -> bool:
        """Return whether there is a ledger."""

    def create(self, header: Record) -> None:
        """Write a new ledger atomically; leave one that exists as it is."""

    def read(self) -> tuple[bytes, list[Record]]:
        """Return the key and all records, the header first, after checking every one."""

    def appending(self) -> Writing:
        """Yield key, records and a list of records to append, while no other process can write.

        What was appended is on the disk when the block ends; nothing is if it ends by an exception.
        """


def damaged(place: Path | str, why: str) -> LedgerError:
    """Return the error for a ledger that cannot be trusted."""
    return LedgerError(f"the ledger {place} is damaged ({why}). {WHAT_TO_DO}")


def link(key: bytes, before: bytes, number: int, record: Record) -> tuple[bytes, bytes]:
    """Return a record as it is kept, and its authentication."""
    body = json.dumps(record, sort_keys=True).encode()
    return body, _mac(key, before, number, body)


def checked(
    place: Path | str, key: bytes, head: tuple[int, bytes], rows: Sequence[tuple[int, bytes, bytes]]
) -> list[Record]:
    """Return the records of a chain after checking every one."""
    before = b""
    for expected, (number, body, mac) in enumerate(rows):
        if number != expected or not isinstance(body, bytes) or mac != _mac(key, before, number, body):
            raise damaged(place, f"record {expected} was changed")
        before = mac
    if tuple(head) != (len(rows), before) or not rows:
        raise damaged(place, "records are missing")
    try:
        return [json.loads(body) for _, body, _ in rows]
    except (ValueError, RecursionError):
        raise damaged(place, "a record cannot be read") from None


def _mac(key: bytes, before: bytes, number: int, body: bytes) -> bytes:
    return hmac.digest(key, b"record" + before + number.to_bytes(8, "big") + body, "sha256")
