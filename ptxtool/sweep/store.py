"""Where results are kept: an SQLite file, one row per result under its key, and the runs of every sweep by name.

SQLite because a result is then one transaction in one file that needs no server: a process killed at any moment leaves
every result that was written and half of none (write-ahead log, each commit flushed to the disk), and several processes
may write to it. Results do not belong to a sweep: equal runs of two sweeps are one result.

Only the process that was started writes; workers hand their results to it.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.expression import short
from ptxtool.results.sweeps import Record, StoredResult, SweepResult
from ptxtool.sweep.plan import Planned
from ptxtool.sweep.stored_records import record_of

_APPLICATION = 0x70747873  # "ptxs"
_FORMAT = 1
_PATIENCE_SECONDS = 60
"""How long to wait for another process that is writing."""
_AGAIN = ("lost", "bug")
"""Statuses that are no result: such a run is repeated, and never replaces a result."""

_WRITTEN = "give the store that 'ptxtool sweep' has written"
_WRITABLE = "give a file in a folder that exists and can be written; results that were written are kept"
_READABLE = "give a readable file; one with a '-wal' file beside it must be where you can write: copy both"

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sweeps (name TEXT PRIMARY KEY, planned INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    sweep TEXT NOT NULL,
    position INTEGER NOT NULL,
    label TEXT NOT NULL,
    axes TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (sweep, position)
) WITHOUT ROWID;
"""


class Store(AbstractContextManager["Store"]):
    """An open store; use it in a `with`. Raises E501 for what cannot be read, E502 for another kind of file, E503."""

    def __init__(self, path: str | Path | None, *, reading: bool = False):
        """`None` is a store in memory. `reading` takes a store that is there, and never writes to it."""
        self.path = ":memory:" if path is None else str(path)
        self._advice = _WRITTEN if reading else "give another file with --store"
        self._place = _READABLE if reading else _WRITABLE
        if reading and not os.path.isfile(self.path):
            raise error("E501", f"cannot read '{self.path}': no such file", help=self._advice)
        with self._explained():
            self._db = self._connect_to_read() if reading else self._connect(self.path)
        try:
            with self._explained():
                self._open(reading)
        except BaseException:
            self._db.close()
            raise

    def _connect(self, where: str, uri: bool = False) -> sqlite3.Connection:
        return sqlite3.connect(where, timeout=_PATIENCE_SECONDS, isolation_level=None, uri=uri)

    def _connect_to_read(self) -> sqlite3.Connection:
        """A connection that does not write; the first is for a place where others may be writing.

        A log beside the file is part of it, and reading it takes files that others of this store know of. Where these
        cannot be made and there is no log, no process is writing: the file is complete.
        """
        where = Path(self.path).resolve()
        db = self._connect(f"{where.as_uri()}?mode=rw", uri=True)
        try:
            db.execute("PRAGMA query_only = ON")
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as problem:
            db.close()
            kind, log = problem.sqlite_errorcode & 0xFF, where.with_name(f"{where.name}-wal")
            if kind not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or log.exists():
                raise
            return self._connect(f"{where.as_uri()}?mode=ro&immutable=1", uri=True)
        except BaseException:
            db.close()
            raise
        return db

    def _open(self, reading: bool) -> None:
        self._db.execute("BEGIN")  # one look at all three: another process may be making the store
        (n_tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (form,) = self._db.execute("PRAGMA user_version").fetchone()
        self._db.execute("COMMIT")
        if application != _APPLICATION and (n_tables or reading):
            raise error("E502", f"'{self.path}' is no store of sweeps", help=self._advice)
        if n_tables and form != _FORMAT:
            help = "use the version that has written it, or a new store"
            raise error("E502", f"store '{self.path}' is of another version of ptxtool", help=help)
        if reading:
            return
        self._write_ahead()
        self._db.execute("PRAGMA synchronous = FULL")
        if not n_tables:
            with self._transaction():
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {_FORMAT}")

    def _write_ahead(self) -> None:
        """Switch the file to write-ahead logging; SQLite does not wait by itself while another process does so."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def begin(self, name: str, planned: Sequence[Planned]) -> int:
        """Note the runs of a sweep, in the place of those it had; how many of these it has no more."""
        labels, keys = {p.label for p in planned}, {p.key for p in planned}
        rows = [(name, k, p.label, json.dumps(p.configuration.axes), p.key) for k, p in enumerate(planned)]
        with self._explained(), self._transaction():
            had = self._db.execute("SELECT label, key FROM runs WHERE sweep = ?", (name,)).fetchall()
            self._db.execute("DELETE FROM runs WHERE sweep = ?", (name,))
            self._db.execute("DELETE FROM sweeps WHERE name = ?", (name,))
            self._db.execute(
                "INSERT INTO sweeps SELECT ?, coalesce(max(planned), 0) + 1 FROM sweeps", (name,)
            )
            self._db.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", rows)
        return sum(label not in labels and key not in keys for label, key in had)

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that have a result."""
        with self._explained():
            rows = self._db.execute("SELECT key FROM results WHERE status NOT IN (?, ?)", _AGAIN)
            return {key for (key,) in rows} & set(keys)

    def put(self, key: str, outcome: StoredResult) -> None:
        """Keep an outcome; a result that is there stays, as an equal run has an equal one."""
        text = json.dumps(outcome.to_dict())
        with self._explained(), self._transaction():
            self._db.execute(
                "INSERT INTO results VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE "
                "SET status = excluded.status, outcome = excluded.outcome WHERE status IN (?, ?)",
                (key, outcome.status, text, *_AGAIN),
            )

    def names(self) -> tuple[str, ...]:
        """The sweeps, the latest first."""
        with self._explained():
            rows = self._db.execute("SELECT name FROM sweeps ORDER BY planned DESC")
            return tuple(name for (name,) in rows)

    def result(self, name: str | None = None) -> SweepResult:
        """The records of a sweep, by default of the latest one. Raises E502 for one that the store does not have."""
        names = self.names()
        if not names:
            raise error("E502", f"store '{self.path}' has no sweep", help="run one: ptxtool sweep SPEC")
        if name is not None and name not in names:
            help = did_you_mean(name, names, then=f"there are {', '.join(names)}")
            raise error("E502", f"store '{self.path}' has no sweep '{name}'", help=help)
        name = name or names[0]
        with self._explained():
            rows = self._db.execute(
                "SELECT label, axes, key, outcome FROM runs LEFT JOIN results USING (key) "
                "WHERE sweep = ? ORDER BY position",
                (name,),
            ).fetchall()
        return SweepResult(name, tuple(self._record(row) for row in rows))

    def _record(self, row: tuple[Any, ...]) -> Record:
        try:
            return record_of(*row)
        except ValueError as problem:
            message = (
                f"store '{self.path}' is damaged: the row of run '{short(row[0])}': {short(problem, 120)}"
            )
            help = "use a copy of it, or a new store: the same sweep makes all runs again"
            raise error("E502", message, help=help) from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it or nothing; waits for a process that is writing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns errors of SQLite into diagnostics."""
        try:
            yield
        except sqlite3.OperationalError as problem:
            raise error("E503", f"cannot use store '{self.path}': {problem}", help=self._place) from None
        except (
            sqlite3.DatabaseError,
            UnicodeDecodeError,
        ) as problem:  # sqlite3's own messages may be no text
            message = f"'{self.path}' is no store of sweeps: {problem}"
            raise error("E502", message, help=self._advice) from None
