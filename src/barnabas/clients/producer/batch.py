"""A batch of records of one partition, from the first append to its result."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import NO_EPOCH, NO_SEQUENCE
from barnabas.records._append_hot import RecordAppender

if TYPE_CHECKING:
    from barnabas.clients.producer._send_hot import SendFuture

logger = logging.getLogger(__name__)

Callback = Callable[["SendFuture"], Any]
LENGTH_OVERHEAD = 12


class Driver(Protocol):
    """Wakes the sender and waits for batches. Thread-safe."""

    def wake(self) -> None:
        """Lets the sender look for ready batches."""
        ...

    def wait(self, awaited: "ProducerBatch", timeout_s: float | None) -> bool:
        """Blocks until `awaited` is done; returns False when `timeout_s` seconds pass first."""
        ...


class ProducerBatch:
    """Records of one partition that are sent and acknowledged together.

    Open while it fills, then closed and in flight, then completed once: with an offset, with an
    error, or by a split into smaller batches that have the results. Appends hold the accumulator's
    lock; all else but `wait` and `add_callback` happens on the sender's loop. `lock` guards the
    hand-over of the result to waiting threads.
    """

    __slots__ = (
        "_callbacks",
        "_driver",
        "_listeners",
        "_lock",
        "appender",
        "attempts",
        "base_offset",
        "base_sequence",
        "cause",
        "count",
        "created_ms",
        "done",
        "error",
        "lingers",
        "log_append_time",
        "ordinal",
        "partition",
        "parts",
        "payload",
        "producer_epoch",
        "producer_id",
        "reserved_bytes",
        "retry_at_ms",
        "urgent",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        capacity: int,
        created_ms: int,
        lock: threading.Lock,
        driver: Driver,
        appender: RecordAppender | None = None,
    ) -> None:
        self.partition = topic_partition
        self.appender = RecordAppender(capacity) if appender is None else appender
        self.created_ms = created_ms
        self.reserved_bytes = capacity
        self.ordinal: tuple[int, ...] = ()  # its place among the partition's batches
        self.payload: bytearray | None = None  # the built batch; None while it is open
        self.count = 0  # records, known when the batch is built
        self.attempts = 0
        self.retry_at_ms = 0
        self.producer_id = -1
        self.producer_epoch = NO_EPOCH
        self.base_sequence = NO_SEQUENCE
        self.base_offset = -1
        self.log_append_time = -1
        self.error: Exception | None = None
        self.cause: BarnabasError | None = None  # why the last attempt failed
        self.done = False
        self.lingers = True  # sent when linger.ms has passed
        self.urgent = False  # a thread waits for it, so linger.ms does not apply
        self.parts: list[tuple[int, ProducerBatch]] = []
        self._lock = lock
        self._driver = driver
        self._callbacks: list[tuple[SendFuture, Callback]] = []
        self._listeners: list[Callable[[], None]] = []

    @property
    def has_sequence(self) -> bool:
        return self.base_sequence != NO_SEQUENCE

    @property
    def record_count(self) -> int:
        """The number of records, also while the batch is open."""
        return self.count or self.appender.count

    def undelivered(self) -> "list[ProducerBatch]":
        """This batch if it has failed, or the failed parts it was split into."""
        if self.parts:
            return [failed for _, part in self.parts for failed in part.undelivered()]
        return [self] if self.error is not None else []

    def complete(self, base_offset: int, log_append_time: int, error: Exception | None) -> None:
        """Sets the result and notifies the waiting threads. Later calls have no effect."""
        with self._lock:
            if self.done:
                return
            self.base_offset = base_offset
            self.log_append_time = log_append_time
            self.error = error
            self.done = True
            callbacks, self._callbacks = self._callbacks, []
        self._announce()
        for future, callback in callbacks:
            _call(callback, future)

    def split_into(self, parts: "list[tuple[int, ProducerBatch]]") -> None:
        """Marks the batch as split. `parts` are pairs of first record index and batch."""
        with self._lock:
            self.parts = parts
            self.done = True
            callbacks, self._callbacks = self._callbacks, []
        for future, callback in callbacks:
            self.part_of(future.delta)[0].add_callback(future, callback)
        self._announce()

    def notify(self, listener: Callable[[], None]) -> None:
        """Calls `listener()` when the batch is completed or split; immediately if it already is."""
        with self._lock:
            if not self.done:
                self._listeners.append(listener)
                return
        listener()

    def _announce(self) -> None:
        for listener in self._listeners:
            listener()

    def part_of(self, delta: int) -> "tuple[ProducerBatch, int]":
        """Returns the part that has a record of this split batch, and the record's index there."""
        for first, batch in reversed(self.parts):
            if delta >= first:
                return batch, delta - first
        raise AssertionError("the parts of a split batch cover all its records")

    def add_callback(self, future: "SendFuture", callback: Callback) -> None:
        """Calls `callback(future)` when the batch has a result; immediately if it already has."""
        with self._lock:
            if not self.done:
                self._callbacks.append((future, callback))
                return
        if self.parts:
            self.part_of(future.delta)[0].add_callback(future, callback)
        else:
            _call(callback, future)

    def wait(self, timeout: float | None) -> bool:
        """Blocks until completed or split; returns False when `timeout` seconds pass first."""
        if not self.urgent:
            self.urgent = True
            if self.payload is None and self.lingers:
                self._driver.wake()
        return self._driver.wait(self, timeout)


def _call(callback: Callback, future: "SendFuture") -> None:
    """Calls a user's callback; logs its exception, so that the next callback is still called."""
    try:
        callback(future)
    except Exception:
        logger.exception("a delivery callback failed: %r", callback)
