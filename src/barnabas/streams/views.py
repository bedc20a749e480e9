"""Tables that can be asked from outside: a file of SQLite, written exactly once, read by anybody.

`ViewFile` is the writer's side, `TableView` the reader's; any other SQLite client can read the file
too: the table has columns key (text), value (JSON text) and timestamp (milliseconds).
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from barnabas.model.errors import LocalError
from barnabas.spark.sink.epochs import claim

WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Change:
    """A key's new value as JSON; None deletes it."""

    key: str
    value: str | None
    timestamp: int


@dataclass(frozen=True, slots=True)
class ViewRow:
    """One row of a table."""

    key: str
    value: dict[str, Any]
    timestamp: int


class ViewFile:
    """The file being written; one writer at a time, readers see whole micro-batches."""

    def __init__(self, path: str, name: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        self._table = _quoted(name)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} "
            "(key TEXT PRIMARY KEY, value TEXT NOT NULL, timestamp INTEGER) WITHOUT ROWID"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def apply(self, query: str, batch_id: int, changes: Iterable[Change]) -> bool:
        """All of a micro-batch or nothing of it; False when it, or a later one, is there."""
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

    def _apply(self, change: Change) -> None:
        if change.value is None:
            self._db.execute(f"DELETE FROM {self._table} WHERE key = ?", (change.key,))
            return
        self._db.execute(
            f"INSERT INTO {self._table} (key, value, timestamp) VALUES (?, ?, ?) ON CONFLICT (key) "
            "DO UPDATE SET value = excluded.value, timestamp = excluded.timestamp",
            (change.key, change.value, change.timestamp),
        )


class TableView:
    """A view to be asked, while it is written or after; use it as a context manager."""

    def __init__(self, path: str, name: str = "view") -> None:
        if not Path(path).exists():
            raise LocalError(f"{path}: there is no such view; has its query run yet?")
        uri = f"{Path(path).absolute().as_uri()}?mode=ro"
        self._db = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS, check_same_thread=False)
        self._table = _quoted(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """The row of a key as it is now. A key of several columns is their JSON text."""
        sql = f"SELECT value FROM {self._table} WHERE key = ?"
        found = self._db.execute(sql, (str(key),)).fetchone()
        return None if found is None else json.loads(found[0])

    def scan(
        self, start: str | None = None, end: str | None = None, limit: int | None = None
    ) -> Iterator[ViewRow]:
        """Rows in the order of their keys, from `start` and before `end`."""
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
    """The number of rows of a view, 0 if there is no such file; `delete` removes them."""
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
