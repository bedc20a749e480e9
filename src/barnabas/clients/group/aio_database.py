"""`DatabaseSink` for asyncio: results and offsets in one transaction, off the event loop.

DB-API drivers block, so all statements run in one thread that belongs to the sink. The blocking
sink implements the transaction and its fencing.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from barnabas.clients.group.database import DEFAULT_TABLE, Write
from barnabas.clients.group.database import DatabaseSink as BlockingSink
from barnabas.model.ids import TopicPartition
from barnabas.runtime.closing import AsyncClosesOnExit

if TYPE_CHECKING:
    from barnabas.clients.group.aio_consumer import Consumer

T = TypeVar("T")


class DatabaseSink(AsyncClosesOnExit):
    """Consumes into a database from asyncio; `group` distinguishes the consumers of one table.

    `connect` is called without arguments in the sink's thread and returns a DB-API connection,
    which is used in that thread only. Close the sink, or use `async with`.

    >>> async def main(consumer):
    ...     connect = lambda: sqlite3.connect("totals.db")
    ...     async with DatabaseSink(connect, group="billing") as sink:
    ...         await sink.create_table()
    ...         await sink.subscribe(consumer, ["orders"])
    ...         while True:
    ...             await sink.consume(consumer, write)

    Do not commit to Kafka as well: set enable.auto.commit=false. One task at a time may use it.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        group: str,
        table: str = DEFAULT_TABLE,
        paramstyle: str | None = None,
    ) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="barnabas-database")
        self._connect = connect
        self._options: dict[str, Any] = {"group": group, "table": table, "paramstyle": paramstyle}
        self._connection: Any = None
        self._made: BlockingSink | None = None

    async def create_table(self) -> None:
        """Creates the table of offsets if it does not exist."""
        await self._run(lambda sink: sink.create_table())

    async def offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Returns the stored next offset of each partition that has one."""
        return await self._run(lambda sink: sink.offsets(partitions))

    async def subscribe(self, consumer: "Consumer", topics: Iterable[str]) -> None:
        """Subscribes; every partition continues at its offset in the database."""
        await consumer.subscribe(topics, _AsyncSeekToStored(self, consumer))

    async def consume(self, consumer: "Consumer", write: Write, timeout: float = 1.0) -> int:  # noqa: ASYNC109
        """Polls once, stores records and offsets in one transaction, returns the number of records.

        `write(cursor, records)` runs in the sink's thread. If a step fails, nothing is stored, the
        consumer seeks back to the stored offsets, and the error is raised.
        """
        polled = await consumer.poll(timeout)
        if not polled:
            return 0
        try:
            await self._run(lambda sink: sink.store(polled, write))
        except BaseException:
            begun = {
                topic_partition: records[0].offset for topic_partition, records in polled.items()
            }
            stored = await asyncio.shield(self._run(lambda sink: sink.reload(begun)))
            for topic_partition, offset in begun.items():
                consumer.seek(topic_partition, stored.get(topic_partition, offset))
            raise
        return sum(len(records) for records in polled.values())

    async def take_over(self, consumer: "Consumer", partitions: Sequence[TopicPartition]) -> None:
        """Seeks newly assigned partitions to their stored offsets."""
        stored = await self._run(lambda sink: sink.reload(partitions))
        for topic_partition, offset in stored.items():
            consumer.seek(topic_partition, offset)

    async def close(self) -> None:
        """Closes the connection and ends the thread."""
        if self._connection is not None:
            connection, self._connection, self._made = self._connection, None, None
            await asyncio.get_running_loop().run_in_executor(self._thread, connection.close)
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[BlockingSink], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: work(self._sink())
        )

    def _sink(self) -> BlockingSink:
        """Returns the blocking sink; connects on first use. Runs in the sink's thread."""
        if self._made is None:
            self._connection = self._connect()
            self._made = BlockingSink(self._connection, **self._options)
        return self._made


class _AsyncSeekToStored:
    def __init__(self, sink: DatabaseSink, consumer: "Consumer") -> None:
        self._sink = sink
        self._consumer = consumer

    async def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        await self._sink.take_over(self._consumer, partitions)
