"""Stores results and offsets in one database transaction, so each record is counted exactly once.

The offsets are in a table beside the results, so both are stored or neither is. A member that has
lost its partitions without noticing is fenced: the new owner has changed the table's offset, the
update of the old one finds no row, and its transaction is rolled back. Works with sqlite3 and any
DB-API 2.0 connection; the only statements are CREATE TABLE, INSERT, UPDATE and SELECT.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

DEFAULT_TABLE = "consumer_offsets"
Write = Callable[[Any, list[Record]], Any]
"""`write(cursor, records)`: runs the application's statements inside the transaction."""


class Reader(Protocol):
    """The part of `barnabas.Consumer` that the sink uses."""

    def poll(self, timeout: float = ...) -> dict[TopicPartition, list[Record]]: ...

    def seek(self, topic_partition: TopicPartition, offset: int) -> None: ...

    def subscribe(self, topics: Any, listener: Any = ...) -> None: ...


class FencedError(BarnabasError):
    """Another consumer has stored records of this partition and owns it now."""

    def __init__(self, topic_partition: TopicPartition) -> None:
        super().__init__(f"{topic_partition}: another consumer has stored a later offset")
        self.partition = topic_partition


class DatabaseSink:
    """Consumes into a database; `group` distinguishes the consumers of one table.

    >>> import sqlite3
    >>> sink = DatabaseSink(sqlite3.connect(":memory:"), group="billing")
    >>> sink.create_table()
    >>> sink.offsets([TopicPartition("orders", 0)])
    {}

    Do not commit to Kafka as well: set enable.auto.commit=false. One thread at a time may use it.
    """

    def __init__(
        self,
        connection: Any,
        *,
        group: str,
        table: str = DEFAULT_TABLE,
        paramstyle: str | None = None,
    ) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", table):
            raise LocalError(f"table={table!r} is not a plain name")
        self._connection = connection
        self._group = group
        self._table = table
        self._paramstyle = paramstyle or _paramstyle_of(connection)
        self._next: dict[TopicPartition, int | None] = {}

    def create_table(self) -> None:
        """Creates the table of offsets if it does not exist."""
        self._execute(
            self._connection.cursor(),
            f"CREATE TABLE IF NOT EXISTS {self._table} (consumer_group VARCHAR(255) NOT NULL, "
            "topic VARCHAR(255) NOT NULL, topic_partition INTEGER NOT NULL, "
            "next_offset BIGINT NOT NULL, PRIMARY KEY (consumer_group, topic, topic_partition))",
        )
        self._connection.commit()

    def subscribe(self, consumer: Reader, topics: Iterable[str]) -> None:
        """Subscribes; every partition continues at its offset in the database."""
        consumer.subscribe(topics, _SeekToStored(self, consumer))

    def offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Returns the stored next offset of each partition that has one."""
        cursor = self._connection.cursor()
        self._execute(
            cursor,
            f"SELECT topic, topic_partition, next_offset FROM {self._table} "
            "WHERE consumer_group = {}",
            self._group,
        )
        stored = {TopicPartition(topic, int(n)): int(at) for topic, n, at in cursor.fetchall()}
        self._connection.rollback()
        return {
            topic_partition: stored[topic_partition]
            for topic_partition in partitions
            if topic_partition in stored
        }

    def consume(self, consumer: Reader, write: Write, timeout: float = 1.0) -> int:
        """Polls once, stores records and offsets in one transaction, returns the number of records.

        If a step fails, nothing is stored, the consumer seeks back to the stored offsets, and the
        error is raised.
        """
        polled = consumer.poll(timeout)
        if not polled:
            return 0
        try:
            self.store(polled, write)
        except BaseException:
            self.go_back(
                consumer,
                {topic_partition: records[0].offset for topic_partition, records in polled.items()},
            )
            raise
        return sum(len(records) for records in polled.values())

    def store(self, polled: Mapping[TopicPartition, list[Record]], write: Write) -> None:
        """Stores records and their offsets in one transaction; rolls it back if a step fails."""
        cursor = self._connection.cursor()
        try:
            for records in polled.values():
                write(cursor, records)
            moved = {
                topic_partition: records[-1].offset + 1
                for topic_partition, records in polled.items()
            }
            for topic_partition, offset in moved.items():
                self._move(cursor, topic_partition, offset)
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        self._next.update(moved)

    def go_back(self, consumer: Reader, begun: Mapping[TopicPartition, int]) -> None:
        """Seeks to the stored offsets; without one, to the first offset of the failed poll."""
        stored = self.reload(begun)
        for topic_partition, offset in begun.items():
            consumer.seek(topic_partition, stored.get(topic_partition, offset))

    def take_over(self, consumer: Reader, partitions: Sequence[TopicPartition]) -> None:
        """Seeks newly assigned partitions to their stored offsets."""
        for topic_partition, offset in self.reload(partitions).items():
            consumer.seek(topic_partition, offset)

    def reload(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Reads the stored offsets again, which the next `store` expects in the table."""
        stored = self.offsets(partitions)
        self._next.update(
            (topic_partition, stored.get(topic_partition)) for topic_partition in partitions
        )
        return stored

    def _move(self, cursor: Any, topic_partition: TopicPartition, offset: int) -> None:
        expected = self._next.get(topic_partition)
        if expected is None:
            # Fails on the primary key if another consumer has inserted a row.
            self._execute(
                cursor,
                f"INSERT INTO {self._table} VALUES ({{}}, {{}}, {{}}, {{}})",
                self._group,
                *topic_partition,
                offset,
            )
            return
        self._execute(
            cursor,
            f"UPDATE {self._table} SET next_offset = {{}} WHERE consumer_group = {{}} "
            "AND topic = {} AND topic_partition = {} AND next_offset = {}",
            offset,
            self._group,
            *topic_partition,
            expected,
        )
        if cursor.rowcount != 1:
            raise FencedError(topic_partition)

    def _execute(self, cursor: Any, statement: str, *values: object) -> None:
        marks, arguments = _parameters(self._paramstyle, values)
        text = statement.format(*marks) if values else statement
        if values:
            cursor.execute(text, arguments)
        else:
            cursor.execute(text)


class _SeekToStored:
    def __init__(self, sink: DatabaseSink, consumer: Reader) -> None:
        self._sink = sink
        self._consumer = consumer

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        self._sink.take_over(self._consumer, partitions)


def _paramstyle_of(connection: Any) -> str:
    """Returns the placeholder style that the driver declares (PEP 249)."""
    package = type(connection).__module__.partition(".")[0]
    style = getattr(sys.modules.get(package), "paramstyle", None)
    if not isinstance(style, str):
        raise LocalError(f"{package} does not declare its paramstyle: pass paramstyle=")
    return style


def _parameters(style: str, values: Sequence[object]) -> tuple[list[str], Any]:
    """Returns the placeholders and the arguments of a statement with these values."""
    match style:
        case "qmark":
            return ["?"] * len(values), tuple(values)
        case "format" | "pyformat":
            return ["%s"] * len(values), tuple(values)
        case "numeric":
            return [f":{index + 1}" for index in range(len(values))], tuple(values)
        case "named":
            names = [f"p{index}" for index in range(len(values))]
            return [f":{name}" for name in names], dict(zip(names, values, strict=True))
    raise LocalError(f"paramstyle={style!r} is not a style of PEP 249")
