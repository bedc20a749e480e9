"""Queues of batches per partition, in the order in which the batches were opened.

The threads that call `send()` fill the open batches; the loop thread drains the ready ones. A batch
is ready when it is full, linger.ms has passed, a thread waits for it, or memory runs short.
"""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from random import randrange

from barnabas.clients.producer._futures_hot import SendFuture
from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.clients.producer.batch import Driver, ProducerBatch
from barnabas.clients.producer.metrics import ProducerMeters
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import HEADER_SIZE
from barnabas.runtime.clock import Clock
from barnabas.runtime.freed_memory import keep_freed_memory

NewRecord = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int | None]
"""Key, value, headers, timestamp."""

RECORD_OVERHEAD = 32
"""Upper bound of the bytes of a record's varints and attributes."""

GROWTH = 4
"""Factor by which an open batch is enlarged."""

HEADER_OVERHEAD = 16
"""Upper bound of the bytes of a header's two lengths."""


def record_bytes(
    key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]
) -> int:
    """Returns an upper bound of the bytes of a record in its batch."""
    size = RECORD_OVERHEAD + len(key or b"") + len(value or b"")
    if not headers:
        return size
    return size + sum(
        HEADER_OVERHEAD + len(name.encode()) + len(data or b"") for name, data in headers
    )


def check_size(size: int, setting: str, limit: int) -> None:
    """Raises MESSAGE_TOO_LARGE for a record that exceeds the limit of a setting."""
    if size > limit:
        raise BrokerError(
            ErrorCode.MESSAGE_TOO_LARGE, f"the record has {size} bytes, {setting} is {limit}"
        )


class BufferMemory:
    """Counts the bytes of buffer.memory: reserved per batch, released when it is completed.

    Thread-safe; waiting callers are served in order.

    Waiting callers get a callback, so that both a blocked thread and a coroutine can wait.
    """

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.available = total_bytes
        self._lock = threading.Lock()
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    @property
    def waiting_count(self) -> int:
        """Number of callers that wait for memory."""
        return len(self._waiting)

    def try_reserve(self, size: int) -> bool:
        """Reserves `size` bytes if they are available and no other caller waits."""
        with self._lock:
            if self._waiting or size > self.available:
                return False
            self.available -= size
            return True

    def reserve_later(self, size: int, granted: Callable[[], None]) -> None:
        """Queues for `size` bytes; calls `granted()` when they are reserved."""
        with self._lock:
            self._waiting.append((size, granted))
        self._serve()

    def withdraw(self, granted: Callable[[], None]) -> bool:
        """Stops waiting; returns False if the bytes are reserved, which the caller must release."""
        with self._lock:
            before = len(self._waiting)
            self._waiting = deque(entry for entry in self._waiting if entry[1] is not granted)
            return len(self._waiting) < before

    def release(self, size: int) -> None:
        with self._lock:
            self.available += size
            if not self._waiting:
                return
        self._serve()

    def _serve(self) -> None:
        served: list[Callable[[], None]] = []
        with self._lock:
            while self._waiting and self._waiting[0][0] <= self.available:
                size, granted = self._waiting.popleft()
                self.available -= size
                served.append(granted)
        for granted in served:
            granted()


class Accumulator:
    """Open and ready batches of a producer, in one queue per partition.

    Shared by sending threads and the sender's loop; `lock` guards the queues.

    Appends to open batches do not take `lock`: the `TopicAppender` excludes them during `close`,
    which the loop calls before it builds a batch.
    """

    def __init__(self, settings: ProducerSettings, clock: Clock, driver: Driver) -> None:
        self.memory = BufferMemory(settings.buffer_memory)
        # Twice the memory, because a batch exists twice while it is enlarged.
        keep_freed_memory(2 * settings.buffer_memory)
        self.meters = ProducerMeters(clock, debug=settings.metrics.debug)
        self._settings = settings
        self._clock = clock
        self.driver = driver
        self._lock = threading.Lock()
        self.topics: dict[str, TopicAppender] = {}
        """The topics in use. Any thread may read it; changes need `_lock`."""
        self._used_ms: dict[str, int] = {}  # when a topic was last used, in monotonic time
        self._queues: dict[TopicPartition, deque[ProducerBatch]] = {}
        self._flushing = 0
        self._opened = itertools.count()
        self._incomplete: set[ProducerBatch] = set()
        self._enlarged: dict[TopicPartition, int] = {}
        """Bytes to which the last batch of a partition was enlarged."""

    # -- calls of the sending threads ----------------------------------------------------------

    def topic(self, name: str, partitions: int, now: int) -> TopicAppender:
        """Returns the appender of a topic; creates it with this number of partitions if needed."""
        with self._lock:
            appender = self.topics.get(name)
            if appender is None:
                appender = TopicAppender(partitions, self._settings.hash_keys)
                appender.stick_to(randrange(partitions))
                self.topics[name] = appender
            self._used_ms[name] = now
            return appender

    def queue_lengths(self, topic: str) -> dict[int, int]:
        """Returns the number of queued batches of each partition of a topic that has any."""
        with self._lock:
            return {
                topic_partition.partition: len(queue)
                for topic_partition, queue in self._queues.items()
                if topic_partition.topic == topic
            }

    def batch_bytes(self, record_size: int) -> int:
        """Returns the memory to reserve for a new batch whose first record has this size."""
        size = HEADER_SIZE + record_size
        total = self.memory.total_bytes
        check_size(size, "buffer.memory", total)
        return max(min(self._settings.batch_size, total), size)

    def try_reserve(self, topic_partition: TopicPartition, record_size: int) -> int:
        """Reserves memory for a new batch; returns its bytes, or 0 if memory is short.

        While earlier batches are in flight, a batch gets the size to which the last one of its
        partition was enlarged: it will be enlarged too, which copies its records. The responses
        wake the sender, so a batch of batch.size bytes does not wait until it is full.
        """
        size = self._settings.batch_size
        if HEADER_SIZE + record_size > size or size > self.memory.total_bytes:
            size = self.batch_bytes(record_size)
        expected = self._enlarged.get(topic_partition, 0)
        if expected > size and self._incomplete and self.memory.try_reserve(expected):
            return expected
        return size if self.memory.try_reserve(size) else 0

    def append_to_enlarged(
        self, topic: TopicAppender, topic_partition: TopicPartition, record: NewRecord, size: int
    ) -> SendFuture | None:
        """Enlarges the open batch of a partition and appends a record of `size` bytes to it.

        The sender drains a batch of batch.size bytes as soon as it can. While it cannot, because
        earlier requests are in flight, a larger batch saves requests and delays no record.

        Returns None if there is no open batch, its size is at the limit, or memory is short.
        """
        limit = self._settings.max_batch_size
        with self._lock:
            queue = self._queues.get(topic_partition)
            batch = topic.batch_of(topic_partition.partition)
            if batch is None or not queue or queue[-1] is not batch:
                return None
            needed = batch.appender.size + size
            enlarged = min(max(GROWTH * batch.reserved_bytes, needed), limit)
            more = enlarged - batch.reserved_bytes
            if needed > limit or not self.memory.try_reserve(more):
                return None
            batch.reserved_bytes = enlarged
            topic.enlarge(topic_partition.partition, enlarged)
            key, value, headers, timestamp = record
            future = topic.try_send(key, value, headers, topic_partition.partition, timestamp)
        self.driver.wake()
        return future

    def append_to_new(
        self,
        topic: TopicAppender,
        topic_partition: TopicPartition,
        record: NewRecord,
        reserved: int,
    ) -> SendFuture:
        """Opens a batch with reserved memory and appends its first record.

        If another thread has opened one since, appends there and releases the memory.
        """
        key, value, headers, timestamp = record
        with self._lock:
            # The topic may have been dropped as idle since the caller looked it up.
            topic = self.topics.setdefault(topic_partition.topic, topic)
            future = topic.try_send(key, value, headers, topic_partition.partition, timestamp)
            opened = future is None
            if future is None:
                future = self._open(topic, topic_partition, record, reserved)
                # Of the oldest batch: a new one makes the one before it ready.
                due_ms = self.ready_at_ms(self._queues[topic_partition][0])
        if opened:
            self.driver.wake_by(due_ms)
        else:
            self.memory.release(reserved)
        return future

    def _open(
        self,
        topic: TopicAppender,
        topic_partition: TopicPartition,
        record: NewRecord,
        reserved: int,
    ) -> SendFuture:
        key, value, headers, timestamp = record
        now = self._clock.monotonic_ms()
        batch = ProducerBatch(topic_partition, reserved, now, threading.Lock(), self.driver)
        batch.ordinal = (next(self._opened),)
        batch.lingers = self._settings.linger_ms > 0
        batch.eager = self._settings.linger_is_default
        # The order matters: two open batches of one partition could receive records out of order.
        topic.close(topic_partition.partition)
        expected = self._enlarged.get(topic_partition)
        limit = reserved if reserved == expected else self._settings.batch_size
        topic.open(batch, min(limit, self._settings.max_request_size))
        self._queues.setdefault(topic_partition, deque()).append(batch)
        self._incomplete.add(batch)
        self._used_ms[topic_partition.topic] = now
        future = topic.try_send(key, value, headers, topic_partition.partition, timestamp)
        assert future is not None, "the first record of a batch always fits"
        return future

    # -- calls of the sender -------------------------------------------------------------------

    @property
    def has_waiting(self) -> bool:
        return bool(self._queues)

    def waiting(self) -> list[ProducerBatch]:
        """Returns the oldest queued batch of every partition."""
        with self._lock:
            return [queue[0] for queue in self._queues.values()]

    def only_batch(self) -> ProducerBatch | None:
        """Returns the only queued batch if it is new and ready; None in every other case."""
        with self._lock:
            if len(self._queues) != 1:
                return None
            (queue,) = self._queues.values()
            batch = queue[0]
            if len(queue) > 1 or batch.attempts or batch.payload is not None:
                return None
            return batch if batch.urgent or not batch.lingers else None

    def oldest(self, topic_partition: TopicPartition) -> ProducerBatch | None:
        """Returns the oldest queued batch of a partition, or None."""
        queue = self._queues.get(topic_partition)
        return queue[0] if queue else None

    def ready_at_ms(self, batch: ProducerBatch) -> int:
        """Returns the monotonic time in ms at which the batch may be sent."""
        # A retry waits for its back-off only: it was full or had lingered before its first attempt.
        if batch.attempts:
            return batch.retry_at_ms
        if not batch.lingers:
            return 0
        queue = self._queues[batch.partition]
        # A later batch exists only because no more records fitted into this one.
        full = len(queue) > 1 or batch.appender.size >= self._settings.batch_size
        pressed = (
            self._flushing or batch.urgent or self.memory.available < self._settings.batch_size
        )
        if full or pressed or batch.payload is not None:
            return 0
        return batch.created_ms + self._settings.linger_ms

    def drain(self, topic_partition: TopicPartition) -> ProducerBatch:
        """Removes the oldest batch of a partition from its queue and closes it to appends."""
        with self._lock:
            queue = self._queues[topic_partition]
            batch = queue.popleft()
            if not queue:
                del self._queues[topic_partition]
            if batch.reserved_bytes > self._settings.batch_size:
                self._note_size(batch)
            else:
                self._enlarged.pop(topic_partition, None)
            # Under the lock: a thread could otherwise open the next batch between the check and
            # the close, which would then close that one before it has its first record.
            topic = self.topics[topic_partition.topic]
            if topic.batch_of(topic_partition.partition) is batch:
                topic.close(topic_partition.partition)
        return batch

    def _note_size(self, batch: ProducerBatch) -> None:
        """Stores the size of an enlarged batch for the next one, unless it was not filled."""
        size = batch.reserved_bytes
        if size <= 2 * batch.appender.size:
            self._enlarged[batch.partition] = min(size, self._settings.max_batch_size)
        else:
            self._enlarged.pop(batch.partition, None)

    def requeue(self, batch: ProducerBatch) -> None:
        """Queues a batch for a retry, in the original order of the partition."""
        with self._lock:
            self._insert(batch)

    def replace(self, batch: ProducerBatch, parts: list[ProducerBatch]) -> None:
        """Replaces a split batch by its parts, in the order of the partition."""
        with self._lock:
            for number, part in enumerate(parts):
                part.ordinal = (*batch.ordinal, number)
                self._insert(part)
            self._incomplete.update(parts)
        self.finished(batch)

    def _insert(self, batch: ProducerBatch) -> None:
        queue = self._queues.setdefault(batch.partition, deque())
        index = 0
        while index < len(queue) and queue[index].ordinal < batch.ordinal:
            index += 1
        queue.insert(index, batch)

    def discard(self, batch: ProducerBatch) -> None:
        """Removes a batch that will not be sent from its queue."""
        with self._lock:
            queue = self._queues[batch.partition]
            queue.remove(batch)
            if not queue:
                del self._queues[batch.partition]
        topic = self.topics[batch.partition.topic]
        if topic.batch_of(batch.partition.partition) is batch:
            topic.close(batch.partition.partition)

    def drop_idle(self, since_ms: int) -> list[str]:
        """Removes topics that are unused since this time and have no batch; returns them."""
        with self._lock:
            busy = {batch.partition.topic for batch in self._incomplete}
            idle = [name for name, used in self._used_ms.items() if used < since_ms]
            idle = [name for name in idle if name not in busy]
            for name in idle:
                del self._used_ms[name]
                self.topics.pop(name, None)
            for topic_partition in list(self._enlarged):
                if topic_partition.topic in idle:
                    del self._enlarged[topic_partition]
        return idle

    def queued(self, topic_partition: TopicPartition) -> list[ProducerBatch]:
        """Returns the queued batches of a partition."""
        with self._lock:
            return list(self._queues.get(topic_partition, ()))

    def finished(self, batch: ProducerBatch) -> None:
        """Releases the memory of a completed batch."""
        if batch.reserved_bytes:
            self.memory.release(batch.reserved_bytes)
            batch.reserved_bytes = 0
        with self._lock:
            self._incomplete.discard(batch)

    # -- flushing ------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether every batch is completed."""
        return not self._incomplete

    def incomplete(self) -> list[ProducerBatch]:
        """Returns the incomplete batches, including the open ones."""
        with self._lock:
            return list(self._incomplete)

    def track(self, batch: ProducerBatch) -> None:
        """Counts a batch that is in no queue as incomplete, so that `flush()` waits for it."""
        with self._lock:
            self._incomplete.add(batch)

    def incomplete_records(self) -> int:
        """Returns the number of records in incomplete batches."""
        return sum(batch.record_count for batch in self.incomplete())

    @contextmanager
    def no_lingering(self) -> Iterator[list[ProducerBatch]]:
        """Turns linger.ms off within the context; yields the incomplete batches."""
        with self._lock:
            self._flushing += 1
            batches = list(self._incomplete)
        self.driver.wake()
        try:
            yield batches
        finally:
            with self._lock:
                self._flushing -= 1
