"""A ledger in PostgreSQL: one head row for each ledger, locked while its chain is read, checked and extended.

Every call opens a connection of its own, so that ledgers can be used after a fork, from threads and by pickled copies.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from typing import Any

from .._optional import require
from ..errors import LedgerError
from .address import Address
from .chain import PATIENCE, Record, checked, damaged, link

SCHEMA = """
CREATE SCHEMA IF NOT EXISTS pydpmc_ledger;
CREATE TABLE pydpmc_ledger.head (
  ledger text PRIMARY KEY, key bytea NOT NULL, records bigint NOT NULL, mac bytea NOT NULL);
CREATE TABLE pydpmc_ledger.chain (
  ledger text NOT NULL REFERENCES pydpmc_ledger.head, number bigint NOT NULL, ticket text, body bytea NOT NULL,
  mac bytea NOT NULL, PRIMARY KEY (ledger, number), UNIQUE (ledger, ticket));
"""
CREATING = 0x7064706D  # the advisory lock of whoever makes tables or ledgers
# From the catalogue itself: to_regclass may answer from a cache that does not know yet what another process made.
OUR_TABLES = """
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON relnamespace = pg_namespace.oid
WHERE nspname = 'pydpmc_ledger' AND relname IN ('head', 'chain')
"""
HAS_TABLES = f"SELECT count(*) = 2 {OUR_TABLES}"
HEAD = "SELECT key, records, mac FROM pydpmc_ledger.head WHERE ledger = %s"
LOCKED_HEAD = HEAD + " FOR UPDATE"
NEW_HEAD = "INSERT INTO pydpmc_ledger.head VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
CHAIN = "SELECT number, body, mac FROM pydpmc_ledger.chain WHERE ledger = %s ORDER BY number"
# A server that does not write through, or tables that a crash empties, would forget charges.
FORGETFUL = f"""
SELECT current_setting('fsync') <> 'on' OR current_setting('full_page_writes') <> 'on'
OR EXISTS (SELECT 1 {OUR_TABLES} AND relpersistence <> 'p')
"""
WRITING = f"""
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL synchronous_commit = on;
SET LOCAL lock_timeout = '{PATIENCE:.0f}s';
SET LOCAL idle_in_transaction_session_timeout = '{3 * PATIENCE:.0f}s';
"""


class LedgerTables:
    """The store of a ledger that is in a PostgreSQL database."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._reached = False

    @property
    def place(self) -> str:
        """The URL, which holds no password."""
        return self._address.url

    @property
    def label(self) -> str:
        """The name of the ledger, without its server and user."""
        return f"{self._address.ledger} (PostgreSQL)"

    def exists(self) -> bool:
        """Return whether the database has this ledger."""
        with self._connected() as database:
            return self._has_tables(database) and database.execute(HEAD, (self._address.ledger,)).fetchone() is not None

    def create(self, header: Record) -> None:
        """Make the tables, if there are none, and a new ledger; leave one that exists as it is."""
        ledger, key = self._address.ledger, secrets.token_bytes(32)
        with self._writing() as database:
            database.execute("SELECT pg_advisory_xact_lock(%s)", (CREATING,))
            if not self._has_tables(database):
                database.execute(SCHEMA)
            made = database.execute(NEW_HEAD, (ledger, key, 0, b""))
            if made.rowcount == 1:
                self._append(database, key, (0, b""), header)

    def read(self) -> tuple[bytes, list[Record]]:
        """Return the key and all records, the header first, after checking every one."""
        with self._connected() as database:
            database.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            key, _, records = self._checked(database, HEAD)
            return key, records

    @contextlib.contextmanager
    def appending(self) -> Iterator[tuple[bytes, list[Record], list[Record]]]:
        """Yield key, records and a list of records to append, while the head is locked."""
        with self._writing() as database:
            key, head, records = self._checked(database, LOCKED_HEAD)
            new: list[Record] = []
            yield key, records, new
            for record in new:
                head = self._append(database, key, head, record)

    def _checked(self, database: Any, head_query: str) -> tuple[bytes, tuple[int, bytes], list[Record]]:
        if not self._has_tables(database):
            raise damaged(self.place, "its tables are missing")
        found = database.execute(head_query, (self._address.ledger,)).fetchone()
        if found is None:
            raise damaged(self.place, "its key is missing")
        rows = database.execute(CHAIN, (self._address.ledger,)).fetchall()
        key, *head = found
        return key, (head[0], head[1]), checked(self.place, key, (head[0], head[1]), rows)

    def _append(self, database: Any, key: bytes, head: tuple[int, bytes], record: Record) -> tuple[int, bytes]:
        """Append one record and return the new head; refuse if another writer was there in spite of the lock."""
        ledger, (number, before) = self._address.ledger, head
        body, mac = link(key, before, number, record)
        ticket = record["ticket"] if record.get("kind") == "reserve" else None
        row = (ledger, number, ticket, body, mac)
        added = database.execute("INSERT INTO pydpmc_ledger.chain VALUES (%s, %s, %s, %s, %s)", row)
        moved = database.execute(
            "UPDATE pydpmc_ledger.head SET records = %s, mac = %s WHERE ledger = %s AND records = %s AND mac = %s",
            (number + 1, mac, ledger, number, before),
        )
        if (added.rowcount, moved.rowcount) != (1, 1):
            raise damaged(self.place, "its tables do not take what is written")
        return number + 1, mac

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Any]:
        with self._connected() as database:
            database.execute(WRITING)
            if database.execute(FORGETFUL).fetchone()[0]:
                raise LedgerError(
                    f"the ledger {self.place} cannot be used: a crash of the server could undo a charge. Set fsync and "
                    "full_page_writes on, and its tables LOGGED. Nothing was run"
                )
            yield database
            # COMMIT of a failed transaction is no error: it answers ROLLBACK.
            if database.execute("COMMIT").statusmessage != "COMMIT":
                raise LedgerError(f"the ledger {self.place} could not be written. Nothing was run")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        psycopg = require("psycopg", "postgres", "a ledger in PostgreSQL")
        try:
            with contextlib.closing(self._connect(psycopg)) as database:
                self._reached = True
                yield database
        except psycopg.Error as error:
            why = " ".join((error.diag.message_primary or str(error)).split())
            raise LedgerError(
                f"the ledger {self.place} cannot be used: {why}. Nothing was released; a charge that was being written "
                "counts if it arrived"
            ) from None

    def _connect(self, psycopg: Any) -> Any:
        """Connect; wait for a server that was there before, because it may be starting again."""
        until = time.monotonic() + (PATIENCE if self._reached else 0.0)
        while True:
            try:
                return psycopg.connect(**self._address.options, autocommit=True, prepare_threshold=None)
            except psycopg.OperationalError:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.5)

    @staticmethod
    def _has_tables(database: Any) -> bool:
        return bool(database.execute(HAS_TABLES).fetchone()[0])
