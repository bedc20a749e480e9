"""A batch of records of one partition, from the first append to its result.

The functions encode a batch: build it, write sequence and checksum, split one that is too large.
"""

import struct
import threading
from collections.abc import Callable
from typing import Any, Protocol

from barnabas.clients.producer._futures_hot import SendFuture, run_callbacks
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import NO_EPOCH, NO_SEQUENCE
from barnabas.records._append_hot import RecordAppender
from barnabas.records.batch import parse_header, write_crc
from barnabas.records.builder import BatchBuilder
from barnabas.records.reader import iter_raw

SEQUENCES = 2**31
"""Sequences wrap to 0 after the largest 32-bit number."""

_PRODUCER_FIELDS = struct.Struct(">qhi")
_PRODUCER_FIELDS_OFFSET = 43

BatchCallback = SendFuture | tuple[SendFuture, Callable[[SendFuture], Any]]
"""A future, whose `on_delivery` is called, or a future and the function to call with it."""


class Driver(Protocol):
    """Wakes the sender and waits for batches. Thread-safe."""

    def wake(self) -> None:
        """Lets the sender look for ready batches."""
        ...

    def wake_by(self, due_ms: int) -> None:
        """Lets the sender look for ready batches at this monotonic time or earlier."""
        ...

    def wait(self, awaited: "ProducerBatch", timeout_s: float | None) -> bool:
        """Ends the linger of `awaited` and blocks until it is done.

        Returns False when `timeout_s` seconds pass first.
        """
        ...


class ProducerBatch:
    """Records of one partition that are sent and acknowledged together.

    Open while it fills, then closed and in flight, then completed once: with an offset, with an
    error, or by a split into smaller batches that have the results. Appends hold the accumulator's
    lock; all else but `wait` and `add_callback` happens on the sender's loop. `lock` guards the
    hand-over of the result to waiting threads.
    """

    __slots__ = (
        "_driver",
        "_listeners",
        "appender",
        "attempts",
        "base_offset",
        "base_sequence",
        "callbacks",
        "cause",
        "count",
        "created_ms",
        "done",
        "eager",
        "error",
        "lingers",
        "lock",
        "log_append_time",
        "ordinal",
        "partition",
        "parts",
        "payload",
        "producer_epoch",
        "producer_id",
        "read",
        "reserved_bytes",
        "retry_at_ms",
        "unpacked_bytes",
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
        self.payload: bytearray | None = None  # the built batch, until it has its result
        self.count = 0  # records, known when the batch is built
        self.unpacked_bytes = 0  # before compression, known when the batch is built
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
        self.read = False  # the application has seen the error
        self.lingers = True  # sent when linger.ms has passed
        self.urgent = False  # its result is awaited, so linger.ms does not apply
        self.eager = False  # becomes urgent when a coroutine awaits it
        self.parts: list[tuple[int, ProducerBatch]] = []
        self.lock = lock
        self._driver = driver
        self.callbacks: list[BatchCallback] = []
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
        with self.lock:
            if self.done:
                return
            self.base_offset = base_offset
            self.log_append_time = log_append_time
            self.error = error
            self._end()
            callbacks, self.callbacks = self.callbacks, []
        for listener in self._listeners:
            listener()
        if callbacks:
            run_callbacks(self, callbacks)

    def split_into(self, parts: "list[tuple[int, ProducerBatch]]") -> None:
        """Marks the batch as split. `parts` are pairs of first record index and batch."""
        with self.lock:
            self.parts = parts
            self._end()
            callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            run_callback(callback)
        for listener in self._listeners:
            listener()

    def _end(self) -> None:
        self.done = True
        # The futures refer to the batch: one that the application keeps would keep the records.
        self.payload = None

    def notify(self, listener: Callable[[], None]) -> None:
        """Calls `listener()` when the batch is completed or split; immediately if it already is."""
        with self.lock:
            if not self.done:
                self._listeners.append(listener)
                return
        listener()

    def part_of(self, delta: int) -> "tuple[ProducerBatch, int]":
        """Returns the part that has a record of this split batch, and the record's index there."""
        for first, batch in reversed(self.parts):
            if delta >= first:
                return batch, delta - first
        raise AssertionError("the parts of a split batch cover all its records")

    def run_callback(self, callback: BatchCallback) -> None:
        """Runs a callback that was added after the batch had its result."""
        run_callback(callback)

    def wait(self, timeout: float | None) -> bool:
        """Blocks until completed or split; returns False when `timeout` seconds pass first.

        The driver ends the linger with `end_linger`.
        """
        return self._driver.wait(self, timeout)

    def end_linger(self) -> None:
        """Ends the linger: the caller waits for the result."""
        if not self.urgent:
            self.urgent = True
            if self.payload is None and self.lingers:
                self._driver.wake()


def run_callback(callback: BatchCallback) -> None:
    """Runs a callback of a batch with a result; of a split batch, when its part has one."""
    future = callback[0] if isinstance(callback, tuple) else callback
    while True:
        batch = future.final_batch
        with batch.lock:
            if not batch.done:
                batch.callbacks.append(callback)
                return
            if not batch.parts:
                break
    run_callbacks(batch, [callback])


def close(batch: ProducerBatch) -> None:
    """Ends the appends; sets `count` and `unpacked_bytes`."""
    appender = batch.appender
    # First: a thread that encodes headers may still be about to append, and its record would be
    # in the payload but not in the count.
    appender.close()
    batch.count = appender.count
    batch.unpacked_bytes = appender.size


def build(batch: ProducerBatch, builder: BatchBuilder) -> None:
    """Closes the batch and encodes the records into `payload`."""
    close(batch)
    builder.appender = batch.appender
    batch.payload = builder.build_unsealed()


def seal(batch: ProducerBatch) -> None:
    """Writes the producer id, epoch, sequence and checksum into the built batch."""
    assert batch.payload is not None
    _PRODUCER_FIELDS.pack_into(
        batch.payload,
        _PRODUCER_FIELDS_OFFSET,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
    )
    write_crc(batch.payload, 0, len(batch.payload))


def build_sealed(batch: ProducerBatch) -> bytearray:
    """Encodes a batch that is neither compressed nor part of a transaction, with its sequence."""
    appender = batch.appender
    payload = appender.take_sealed(batch.producer_id, batch.producer_epoch, batch.base_sequence)
    batch.payload = payload
    return payload


def split(batch: ProducerBatch, builder: BatchBuilder, driver: Driver) -> list[ProducerBatch]:
    """Splits a batch that is too large into two halves.

    Each part keeps the sequences of its records, so batches that were sent later still follow
    without a gap.
    """
    assert batch.payload is not None
    header = parse_header(batch.payload)
    records = iter_raw(batch.payload, 0, header)
    middle = len(records) // 2
    parts: list[ProducerBatch] = []
    for piece in (records[:middle], records[middle:]):
        part = ProducerBatch(batch.partition, 0, batch.created_ms, threading.Lock(), driver)
        for record in piece:
            part.appender.append(record.timestamp, record.key, record.value, record.headers)
        build(part, builder)
        part.urgent = True
        part.read = batch.read
        parts.append(part)
    if batch.has_sequence:
        for first, part in zip((0, middle), parts, strict=True):
            part.producer_id, part.producer_epoch = batch.producer_id, batch.producer_epoch
            part.base_sequence = (batch.base_sequence + first) % SEQUENCES
    batch.split_into([(0, parts[0]), (middle, parts[1])])
    return parts
