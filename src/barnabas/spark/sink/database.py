"""Writes to a database exactly once, from `foreachBatch`: rows and epoch in one transaction.

Works with any DB-API connection to a database that supports `INSERT ... ON CONFLICT`, such as
SQLite and PostgreSQL. The driver collects the rows of a micro-batch and writes them in one
transaction with the number of the micro-batch, so a replayed micro-batch is recognised and skipped.
Meant for small results, not for copying the records of a topic to a database.

The number is written before the rows. If two drivers write the same micro-batch, because one was
wrongly considered dead, the second waits for the first and then skips it. The number never
decreases, so a late driver changes nothing.

>>> sink = DatabaseSink.at("sqlite:///counts.db", "counts", keys=["user", "minute"])
>>> frame.writeStream.outputMode("update").foreachBatch(sink).start()       # doctest: +SKIP
"""

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from barnabas.model.errors import ConfigError, LocalError
from barnabas.spark.sink.options import QUERY_ID

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHUNK = 1000
SQLITE_SECONDS = 60.0
"""How long a write waits for another writer of the same file."""
_PLACEHOLDERS = {"qmark": "?", "format": "%s", "pyformat": "%s"}
EPOCHS = "barnabas_epochs"


class DatabaseSink:
    """A function for `foreachBatch`. Opens a connection per micro-batch, on the driver.

    >>> sink = DatabaseSink.at("sqlite:///counts.db", "counts", keys=["page"])
    >>> frame.writeStream.outputMode("update").foreachBatch(sink).start()  # doctest: +SKIP

    Args:
        connect: Opens a DB-API connection.
        table: The table to write to.
        keys: Columns of a unique index. A row replaces an earlier row with the same keys; without
            `keys` rows are inserted.
        paramstyle: The parameter style of the DB-API module.
        query: Names the writer in the table of epochs; by default the id of the streaming query.

    Raises:
        ConfigError: The paramstyle is not supported.
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
        if paramstyle not in _PLACEHOLDERS:
            raise ConfigError(
                f"paramstyle={paramstyle!r}: must be one of: {', '.join(_PLACEHOLDERS)}"
            )
        self._connect = connect
        self._table = table
        self._keys = list(keys)
        self._placeholder = _PLACEHOLDERS[paramstyle]
        self._query = query

    @classmethod
    def at(
        cls, url: str, table: str, *, keys: Sequence[str] = (), query: str | None = None
    ) -> "DatabaseSink":
        """Returns the sink of a database address: `sqlite:///counts.db` (a fourth slash begins an
        absolute path), or `postgresql://user@host/name`, which needs psycopg."""
        connect, paramstyle = connection_to(url)
        return cls(connect, table, keys=keys, paramstyle=paramstyle, query=query)

    def __call__(self, frame: "DataFrame", batch_id: int) -> None:
        """Writes one micro-batch, unless it was written before."""
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
        if claim(cursor, query, batch_id, self._placeholder):
            for chunk in _chunks(frame.toLocalIterator()):
                cursor.executemany(insert, chunk)

    def _insert(self, columns: list[str]) -> str:
        missing = [key for key in self._keys if key not in columns]
        if missing:
            raise ConfigError(f"key column {missing[0]!r} is not among: {', '.join(columns)}")
        names = ", ".join(self._quoted(name) for name in columns)
        placeholders = ", ".join([self._placeholder] * len(columns))
        insert = f"INSERT INTO {self._quoted(self._table)} ({names}) VALUES ({placeholders})"
        if not self._keys:
            return insert
        keys = ", ".join(self._quoted(name) for name in self._keys)
        rest = [self._quoted(name) for name in columns if name not in self._keys]
        changes = ", ".join(f"{name} = excluded.{name}" for name in rest)
        action = f"DO UPDATE SET {changes}" if rest else "DO NOTHING"
        return f"{insert} ON CONFLICT ({keys}) {action}"

    def _quoted(self, name: str) -> str:
        """Quotes an identifier; doubles percent signs if the driver's placeholder is `%s`."""
        escaped = name.replace('"', '""')
        return '"' + (escaped if self._placeholder == "?" else escaped.replace("%", "%%")) + '"'


def connection_to(url: str) -> tuple[Callable[[], Any], str]:
    """Returns a function that connects, and the paramstyle; ConfigError for an invalid address."""
    kind, separator, rest = url.partition("://")
    if kind == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return partial(sqlite3.connect, rest[1:], timeout=SQLITE_SECONDS), "qmark"
    if separator and kind in ("postgresql", "postgres"):
        try:
            # Optional extra postgres.
            import psycopg
        except ImportError:
            raise ConfigError(
                "PostgreSQL needs psycopg: pip install 'barnabas[postgres]'"
            ) from None
        return partial(psycopg.connect, url), "pyformat"
    raise ConfigError(f"{url!r} is not a database address (sqlite:///PATH or postgresql://...)")


def query_id(frame: "DataFrame") -> str:
    """Returns the id of the streaming query that a frame is a micro-batch of."""
    found = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
    if found is None:
        raise LocalError("not in a streaming query: give the sink a name with query=")
    return found


def _chunks(rows: Iterable[Any]) -> Iterator[list[tuple[Any, ...]]]:
    iterator = (tuple(row) for row in rows)
    return iter(lambda: list(itertools.islice(iterator, CHUNK)), [])


def claim(cursor: Any, query: str, batch_id: int, placeholder: str = "?") -> bool:
    """Records the micro-batch; returns False if it, or a later one, was recorded before.

    `cursor` is a DB-API cursor in a transaction, `placeholder` its sign for a value.
    """
    cursor.execute(
        f"CREATE TABLE IF NOT EXISTS {EPOCHS} (query TEXT PRIMARY KEY, epoch BIGINT NOT NULL)"
    )
    cursor.execute(
        f"INSERT INTO {EPOCHS} (query, epoch) VALUES ({placeholder}, -1) ON CONFLICT DO NOTHING",
        (query,),
    )
    cursor.execute(
        f"UPDATE {EPOCHS} SET epoch = {placeholder} "
        f"WHERE query = {placeholder} AND epoch < {placeholder}",
        (batch_id, query, batch_id),
    )
    return int(cursor.rowcount) == 1
