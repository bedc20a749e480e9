"""Views: tables in a SQLite file that other processes read, written exactly once.

`ViewFile` writes, `TableView` reads; any other SQLite client can read the file too: the table has
the columns key (text), value (JSON text) and timestamp (milliseconds).
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.model.errors import LocalError
from barnabas.runtime.closing import ClosesOnExit
from barnabas.spark.sink.database import claim

WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ViewChange:
    """The new value of a key as JSON; None deletes the key."""

    key: str
    value: str | None
    timestamp: int


@dataclass(frozen=True, slots=True)
class ViewRow:
    """One row of a table."""

    key: str
    value: dict[str, Any]
    timestamp: int


class ViewFile(ClosesOnExit):
    """Writes a view. One writer at a time; readers see complete micro-batches."""

    def __init__(self, path: str, name: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        self._table = _quoted(name)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} "
            "(key TEXT PRIMARY KEY, value TEXT NOT NULL, timestamp INTEGER) WITHOUT ROWID"
        )

    def close(self) -> None:
        self._db.close()

    def apply(self, query: str, batch_id: int, changes: Iterable[ViewChange]) -> bool:
        """Writes a micro-batch in one transaction; returns False if it, or a later one, was written
        before.
        """
        cursor = self._db.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        try:
            new = claim(cursor, query, batch_id)
            for change in changes if new else ():
                self._apply(change)
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute("COMMIT")
        return new

    def _apply(self, change: ViewChange) -> None:
        if change.value is None:
            self._db.execute(f"DELETE FROM {self._table} WHERE key = ?", (change.key,))
            return
        self._db.execute(
            f"INSERT INTO {self._table} (key, value, timestamp) VALUES (?, ?, ?) ON CONFLICT (key) "
            "DO UPDATE SET value = excluded.value, timestamp = excluded.timestamp",
            (change.key, change.value, change.timestamp),
        )


class TableView(ClosesOnExit):
    """Reads a view while it is written or afterwards. A context manager.

    Args:
        path: The SQLite file.
        name: The name of the view.

    Raises:
        LocalError: The file does not exist.
    """

    def __init__(self, path: str, name: str = "view") -> None:
        if not Path(path).exists():
            raise LocalError(f"{path}: the file does not exist; the view's query creates it")
        uri = f"{Path(path).absolute().as_uri()}?mode=ro"
        self._db = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS, check_same_thread=False)
        self._table = _quoted(name)

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """Returns the current row of a key, or None. A key of several columns is their JSON
        text."""
        sql = f"SELECT value FROM {self._table} WHERE key = ?"
        found = self._db.execute(sql, (str(key),)).fetchone()
        return None if found is None else json.loads(found[0])

    def scan(
        self, start: str | None = None, end: str | None = None, limit: int | None = None
    ) -> Iterator[ViewRow]:
        """Yields rows in the order of their keys, from `start` (inclusive) to `end` (exclusive)."""
        sql = f"SELECT key, value, timestamp FROM {self._table} WHERE key >= ?"
        values: list[Any] = [start or ""]
        if end is not None:
            sql, values = f"{sql} AND key < ?", [*values, end]
        sql = f"{sql} ORDER BY key LIMIT ?"
        rows = self._db.execute(sql, (*values, -1 if limit is None else limit))
        return (ViewRow(key, json.loads(value), time) for key, value, time in rows)

    def __len__(self) -> int:
        found = self._db.execute(f"SELECT count(*) FROM {self._table}").fetchone()
        return int(found[0])

    def __contains__(self, key: object) -> bool:
        return self.get(str(key)) is not None


def count_rows(path: str, name: str, *, delete: bool = False) -> int:
    """Returns the number of rows of a view, 0 if the file does not exist; `delete` removes them."""
    if not Path(path).exists():
        return 0
    db = sqlite3.connect(path, timeout=WAIT_SECONDS)
    try:
        known = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
        if not db.execute(known, (name,)).fetchone()[0]:
            return 0
        found = int(db.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()[0])
        if delete:
            db.execute(f"DELETE FROM {_quoted(name)}")
            db.commit()
    finally:
        db.close()
    return found


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
