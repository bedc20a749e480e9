"""Appends prepared records to batches, and waits where that is necessary.

A record may have to wait for the metadata of its topic, and for buffer memory. A thread of the
application blocks, a coroutine awaits. A delivery callback of the blocking producer can do neither:
it runs on the loop thread, which receives the metadata and releases the memory. Its records are
appended after the callback has returned.
"""

import asyncio
import threading
from collections import deque
from time import monotonic, monotonic_ns
from typing import Any

from barnabas.clients.producer._futures_hot import SendFuture
from barnabas.clients.producer._send_hot import NO_HEADERS, TopicAppender, as_bytes
from barnabas.clients.producer.accumulator import RECORD_OVERHEAD
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.core import ProducerCore
from barnabas.clients.producer.records import RecordMaker, SentRecord, is_delivery_failure
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

UNKNOWN_PARTITION = -1
NEW_PARTITION_WAIT_S = 1.0
"""How long a record waits for a partition that the brokers do not have (max.block.ms in Java).

Shorter than in Java, because most such numbers are mistakes of the application.
"""
NEW_PARTITION_RETRY_S = 0.1
Deferred = tuple[SentRecord, ProducerBatch]
"""A record that waits, and the empty batch to which its future refers until then."""


class RecordAppends:
    """Appends the records of one producer. Thread-safe."""

    def __init__(self, core: ProducerCore, records: RecordMaker) -> None:
        self._core = core
        self._accumulator = core.accumulator
        self._records = records
        self._clock = SystemClock()
        self._max_block_s = core.settings.max_block_ms / 1000
        self._deferred: dict[str, deque[Deferred]] = {}
        """Waiting records of delivery callbacks, by topic. Used on the loop thread only."""
        self._tasks: set[asyncio.Task[None]] = set()

    def append(self, record: SentRecord) -> SendFuture:
        """Appends a record; blocks for up to max.block.ms, except in a delivery callback."""
        if self._core.is_loop_thread():
            return self._append_in_callback(record)
        future = self._append_now(record)
        if future is not None:
            return future
        appender = self._core.call(self._appender(record))
        topic_partition = self._records.topic_partition_of(record, appender)
        size = self._accumulator.batch_bytes(record.size)
        if not self._accumulator.memory.try_reserve(size):
            self._block_for_memory(size)
        return self._append(record, appender, topic_partition, size)

    def try_open(
        self,
        appender: TopicAppender,
        topic: str,
        key: Any,
        value: Any,
        partition: int | None,
        timestamp: int | None,
    ) -> SendFuture | None:
        """Opens a batch with a record that has no headers and needs no conversion or waiting.

        Returns None, without effect, for every other record; `append` then takes it.
        """
        if self._core.is_loop_thread():
            return None
        key, value = as_bytes(key, "key"), as_bytes(value, "value")
        size = RECORD_OVERHEAD + len(key or b"") + len(value or b"")
        settings = self._core.settings
        topic_partition = appender.partition_to_open(
            topic, key, partition, size, settings.batch_size
        )
        if topic_partition is None or size > settings.max_request_size:
            return None
        reserved = self._accumulator.try_reserve(topic_partition, size)
        if not reserved:
            return None
        record = (key, value, NO_HEADERS, timestamp)
        return self._accumulator.append_to_new(appender, topic_partition, record, reserved)

    async def append_async(self, record: SentRecord) -> SendFuture:
        """Appends a record; waits for up to max.block.ms."""
        future = self._append_now(record)
        if future is not None:
            return future
        appender = await self._appender(record)
        topic_partition = self._records.topic_partition_of(record, appender)
        size = self._accumulator.batch_bytes(record.size)
        if not self._accumulator.memory.try_reserve(size):
            await self._await_memory(size)
        return self._append(record, appender, topic_partition, size)

    def rejected(self, record: SentRecord, error: Exception) -> SendFuture:
        """Returns the future of a record that cannot be delivered; raises other errors."""
        self._records.rejected(record, error)
        if not is_delivery_failure(error):
            raise error
        batch = self._placeholder(record)
        batch.complete(-1, -1, error)
        if not self._fail_transaction(error):
            self._report_failure(batch)
        return self._future(record, batch)

    # -- appends that do not wait --------------------------------------------------------------

    def _append_now(self, record: SentRecord) -> SendFuture | None:
        """Appends a record if that needs no waiting."""
        appender = self._accumulator.topics.get(record.topic)
        if appender is None or _needs_refresh(record, appender):
            return None
        topic_partition = self._records.topic_partition_of(record, appender)
        if appender.batch_of(topic_partition.partition) is not None:
            future = self._append_to_open(record, appender, topic_partition)
            if future is not None:
                return future
        size = self._accumulator.try_reserve(topic_partition, record.size)
        return self._append(record, appender, topic_partition, size) if size else None

    def _append_to_open(
        self, record: SentRecord, appender: TopicAppender, topic_partition: TopicPartition
    ) -> SendFuture | None:
        """Appends a record to the open batch if it fits, or if the batch may be enlarged."""
        new = (record.key, record.value, record.headers, record.timestamp)
        key, value, headers, timestamp = new
        future = appender.try_send(key, value, headers, topic_partition.partition, timestamp)
        if future is None and self._core.settings.adaptive:
            future = self._accumulator.append_to_enlarged(
                appender, topic_partition, new, record.size
            )
        return future

    def _append(
        self,
        record: SentRecord,
        appender: TopicAppender,
        topic_partition: TopicPartition,
        reserved: int,
    ) -> SendFuture:
        new = (record.key, record.value, record.headers, record.timestamp)
        return self._accumulator.append_to_new(appender, topic_partition, new, reserved)

    # -- appends that wait ---------------------------------------------------------------------

    async def _appender(self, record: SentRecord) -> TopicAppender:
        appender = self._accumulator.topics.get(record.topic)
        if appender is None:
            appender = await self._core.appender(record.topic)
        if _needs_refresh(record, appender):
            appender = await self._with_new_partitions(record)
        return appender

    async def _with_new_partitions(self, record: SentRecord) -> TopicAppender:
        """Refreshes the metadata until it has the partition of the record, a few times.

        The brokers of a cluster learn about new partitions one after another, so the first one
        that responds may not know a partition that already exists.
        """
        deadline = monotonic() + min(NEW_PARTITION_WAIT_S, self._max_block_s)
        appender = await self._core.refreshed(record.topic)
        while _needs_refresh(record, appender) and monotonic() < deadline:
            await asyncio.sleep(NEW_PARTITION_RETRY_S)
            appender = await self._core.refreshed(record.topic)
        return appender

    def _block_for_memory(self, size: int) -> None:
        granted = threading.Event()
        grant = granted.set  # one object: a waiter is identified by its callback
        memory = self._accumulator.memory
        memory.reserve_later(size, grant)
        self._core.wake()
        started_ns = monotonic_ns()
        try:
            if granted.wait(self._max_block_s):
                return
        except BaseException:
            if not memory.withdraw(grant):
                memory.release(size)
            raise
        finally:
            self._accumulator.meters.waited("bufferpool-wait", started_ns)
        if memory.withdraw(grant):
            raise self._core.no_memory()

    async def _await_memory(self, size: int) -> None:
        granted = asyncio.Event()
        grant = granted.set
        memory = self._accumulator.memory
        memory.reserve_later(size, grant)
        self._core.wake()
        started_ns = monotonic_ns()
        try:
            async with asyncio.timeout(self._max_block_s):
                await granted.wait()
        except TimeoutError:
            if memory.withdraw(grant):
                error = self._core.no_memory()
                raise error from error.__cause__
        except BaseException:
            if not memory.withdraw(grant):
                memory.release(size)
            raise
        finally:
            self._accumulator.meters.waited("bufferpool-wait", started_ns)

    # -- in a delivery callback ----------------------------------------------------------------

    def _append_in_callback(self, record: SentRecord) -> SendFuture:
        """Appends at once, or after earlier records of the topic that wait."""
        waiting = self._deferred.get(record.topic)
        if waiting is None:
            future = self._append_now(record)
            if future is not None:
                return future
            waiting = self._deferred[record.topic] = deque()
            task = asyncio.get_running_loop().create_task(self._append_deferred(record.topic))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        batch = self._placeholder(record)
        self._accumulator.track(batch)
        waiting.append((record, batch))
        return self._future(record, batch)

    async def _append_deferred(self, topic: str) -> None:
        """Appends the waiting records of a topic, in order."""
        waiting = self._deferred[topic]
        try:
            while waiting:
                record, batch = waiting[0]
                await self._resolve(record, batch)
                waiting.popleft()
        finally:
            del self._deferred[topic]

    async def _resolve(self, record: SentRecord, batch: ProducerBatch) -> None:
        """Appends one record and makes the future of its placeholder refer to the result."""
        try:
            future = await self.append_async(record)
        except Exception as error:  # noqa: BLE001 - also of the application's partitioner
            batch.complete(-1, -1, error)
            if not self._fail_transaction(error):
                self._report_failure(batch)
        else:
            # The future has index 0 in the placeholder and `future.delta` in its real batch.
            batch.split_into([(-future.delta, future.batch)])
        self._accumulator.finished(batch)

    def _placeholder(self, record: SentRecord) -> ProducerBatch:
        """Returns a batch of one record that is never sent."""
        partition = UNKNOWN_PARTITION if record.partition is None else record.partition
        topic_partition = TopicPartition(record.topic, partition)
        now = self._clock.monotonic_ms()
        batch = ProducerBatch(topic_partition, 0, now, threading.Lock(), self._accumulator.driver)
        batch.count = 1
        return batch

    def _future(self, record: SentRecord, batch: ProducerBatch) -> SendFuture:
        timestamp = self._clock.now_ms() if record.timestamp is None else record.timestamp
        return SendFuture(batch, 0, timestamp)

    def _report_failure(self, batch: ProducerBatch) -> None:
        failures = self._core.sender.failures
        if self._core.is_loop_thread():
            failures.failed(batch)
        else:
            failures.failed_in_thread(batch)

    def _fail_transaction(self, error: Exception) -> bool:
        """Fails the transaction of the record; returns False if there is none."""
        transaction = self._core.transaction
        if transaction is None:
            return False
        if isinstance(error, BarnabasError):
            transaction.batch_failed(error)
        return True


def _needs_refresh(record: SentRecord, appender: TopicAppender) -> bool:
    """Whether the record names a partition that the cached metadata does not have."""
    try:
        return record.partition is not None and record.partition >= appender.count
    except TypeError:  # the check of the partition number raises a better error
        return False
