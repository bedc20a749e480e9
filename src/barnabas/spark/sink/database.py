"""Exactly once into a database, from `foreachBatch`: the rows and the epoch in one transaction.

Works with any DB-API connection to a database that knows `INSERT ... ON CONFLICT`, as SQLite and
PostgreSQL do. The rows of a micro-batch come to the driver and go to the database in one
transaction with the number of the micro-batch (`epochs`), so a replayed one is recognised and
skipped. Meant for results, which are small; not for moving a topic's records into a database.

>>> sink = DatabaseSink.at("sqlite:///counts.db", "counts", keys=["user", "minute"])
>>> frame.writeStream.outputMode("update").foreachBatch(sink).start()       # doctest: +SKIP
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from barnabas.model.errors import ConfigError, LocalError
from barnabas.spark.sink.epochs import claim

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHUNK = 1000
SQLITE_SECONDS = 60.0
"""How long to wait for another writer of the same file."""
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

    @classmethod
    def at(
        cls, url: str, table: str, *, keys: Sequence[str] = (), query: str | None = None
    ) -> "DatabaseSink":
        """`sqlite:///counts.db` (a fourth slash begins an absolute path), or
        `postgresql://user@host/name`, which needs psycopg."""
        connect, paramstyle = connection_to(url)
        return cls(connect, table, keys=keys, paramstyle=paramstyle, query=query)

    def __call__(self, frame: "DataFrame", batch_id: int) -> None:
        """Write one micro-batch, unless it is there."""
        query = self._query or query_id(frame)
        with closing(self._connect()) as connection:
            try:
                self._write(connection.cursor(), query, batch_id, frame)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def _write(self, cursor: Any, query: str, batch_id: int, frame: "DataFrame") -> None:
        insert = self._insert(frame.columns)
        if claim(cursor, query, batch_id, self._mark):
            for chunk in _chunks(frame.toLocalIterator()):
                cursor.executemany(insert, chunk)

    def _insert(self, columns: list[str]) -> str:
        missing = [key for key in self._keys if key not in columns]
        if missing:
            raise ConfigError(f"key column {missing[0]!r} is not among: {', '.join(columns)}")
        names = ", ".join(self._quoted(name) for name in columns)
        marks = ", ".join([self._mark] * len(columns))
        insert = f"INSERT INTO {self._quoted(self._table)} ({names}) VALUES ({marks})"
        if not self._keys:
            return insert
        keys = ", ".join(self._quoted(name) for name in self._keys)
        rest = [self._quoted(name) for name in columns if name not in self._keys]
        changes = ", ".join(f"{name} = excluded.{name}" for name in rest)
        action = f"DO UPDATE SET {changes}" if rest else "DO NOTHING"
        return f"{insert} ON CONFLICT ({keys}) {action}"

    def _quoted(self, name: str) -> str:
        """An identifier; where marks are `%s`, a percent sign is doubled."""
        escaped = name.replace('"', '""')
        return '"' + (escaped if self._mark == "?" else escaped.replace("%", "%%")) + '"'


def connection_to(url: str) -> tuple[Callable[[], Any], str]:
    """How to connect, and the driver's paramstyle; ConfigError when that cannot be."""
    kind, separator, rest = url.partition("://")
    if kind == "sqlite" and rest.startswith("/") and len(rest) > 1:
        import sqlite3

        return partial(sqlite3.connect, rest[1:], timeout=SQLITE_SECONDS), "qmark"
    if separator and kind in ("postgresql", "postgres"):
        try:
            import psycopg
        except ImportError:
            raise ConfigError(
                "PostgreSQL needs psycopg: pip install 'barnabas[postgres]'"
            ) from None
        return partial(psycopg.connect, url), "pyformat"
    raise ConfigError(f"{url!r} is not a database address (sqlite:///PATH or postgresql://...)")


def query_id(frame: "DataFrame") -> str:
    """The streaming query whose micro-batch a frame is."""
    found = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    if found is None:
        raise LocalError("not in a streaming query: give the sink a name with query=")
    return found


def _chunks(rows: Iterable[Any]) -> Iterator[list[tuple[Any, ...]]]:
    iterator = (tuple(row) for row in rows)
    return iter(lambda: list(itertools.islice(iterator, CHUNK)), [])
