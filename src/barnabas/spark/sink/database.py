"""Exactly once into a database, from `foreachBatch`: the rows and the epoch in one transaction.

Works with any DB-API connection to a database that knows `INSERT ... ON CONFLICT`, as SQLite and
PostgreSQL do. The rows of a micro-batch come to the driver and go to the database in one
transaction with the number of the micro-batch, so a replayed one is recognised and skipped. Meant
for results, which are small; not for moving a topic's records into a database.

>>> import sqlite3                                                          # doctest: +SKIP
>>> sink = DatabaseSink(lambda: sqlite3.connect("counts.db"), "counts", keys=["user", "minute"])
>>> frame.writeStream.outputMode("update").foreachBatch(sink).start()       # doctest: +SKIP
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from barnabas.model.errors import ConfigError, LocalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EPOCHS = "barnabas_epochs"
CHUNK = 1000
_MARKS = {"qmark": "?", "format": "%s", "pyformat": "%s"}


class DatabaseSink:
    """A function for `foreachBatch`. Opens a connection per micro-batch, on the driver.

    Without `keys` rows are inserted; with them a row takes the place of an earlier one with the
    same keys, for which the table needs a unique index. `paramstyle` is the DB-API module's.
    `query` names the writer in the table of epochs; by default the streaming query's own id.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        table: str,
        *,
        keys: Sequence[str] = (),
        paramstyle: str = "qmark",
        query: str | None = None,
    ) -> None:
        if paramstyle not in _MARKS:
            raise ConfigError(f"paramstyle={paramstyle!r}: must be one of: {', '.join(_MARKS)}")
        self._connect = connect
        self._table = table
        self._keys = list(keys)
        self._mark = _MARKS[paramstyle]
        self._query = query

    def __call__(self, frame: "DataFrame", batch_id: int) -> None:
        """Write one micro-batch, unless it is there."""
        query = self._query or _query_id(frame)
        with closing(self._connect()) as connection:
            try:
                self._write(connection.cursor(), query, batch_id, frame)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def _write(self, cursor: Any, query: str, batch_id: int, frame: "DataFrame") -> None:
        mark = self._mark
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {EPOCHS} (query TEXT PRIMARY KEY, epoch BIGINT NOT NULL)"
        )
        cursor.execute(f"SELECT epoch FROM {EPOCHS} WHERE query = {mark}", (query,))
        found = cursor.fetchone()
        if found is not None and found[0] >= batch_id:
            return
        insert = self._insert(frame.columns)
        for chunk in _chunks(frame.toLocalIterator()):
            cursor.executemany(insert, chunk)
        cursor.execute(
            f"INSERT INTO {EPOCHS} (query, epoch) VALUES ({mark}, {mark}) "
            "ON CONFLICT (query) DO UPDATE SET epoch = excluded.epoch",
            (query, batch_id),
        )

    def _insert(self, columns: list[str]) -> str:
        missing = [key for key in self._keys if key not in columns]
        if missing:
            raise ConfigError(f"key column {missing[0]!r} is not among: {', '.join(columns)}")
        names = ", ".join(_quoted(name) for name in columns)
        marks = ", ".join([self._mark] * len(columns))
        insert = f"INSERT INTO {_quoted(self._table)} ({names}) VALUES ({marks})"
        if not self._keys:
            return insert
        keys = ", ".join(_quoted(name) for name in self._keys)
        rest = [_quoted(name) for name in columns if name not in self._keys]
        changes = ", ".join(f"{name} = excluded.{name}" for name in rest)
        action = f"DO UPDATE SET {changes}" if rest else "DO NOTHING"
        return f"{insert} ON CONFLICT ({keys}) {action}"


def _query_id(frame: "DataFrame") -> str:
    found = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    if found is None:
        raise LocalError("not in a streaming query: give the sink a name with query=")
    return found


def _chunks(rows: Iterable[Any]) -> Iterator[list[tuple[Any, ...]]]:
    iterator = (tuple(row) for row in rows)
    return iter(lambda: list(itertools.islice(iterator, CHUNK)), [])


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
