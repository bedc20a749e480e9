"""The producer's code per record. Cython compiles it; it also runs as plain Python.

`TopicAppender` appends a record to the open batch of its partition; `SendFuture` refers to the
batch and the record's index in it. The result is stored once per batch and read by all its futures,
so acknowledging a million records takes a thousand steps. Code that runs once per batch is in
`batch` and `accumulator`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import time_ns
from typing import TYPE_CHECKING, Any

from barnabas.model.errors import DeadlineError
from barnabas.model.record_metadata import RecordMetadata

try:
    import cython
except ImportError:
    from barnabas.records import _cython_shim as cython

if TYPE_CHECKING:
    from barnabas.clients.producer.batch import ProducerBatch
    from barnabas.records._rows_hot import RowEncoder

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING
    from cython.cimports.posix.time import CLOCK_REALTIME, clock_gettime, timespec

COMPILED: bool = cython.compiled

BytesLike = bytes | bytearray | memoryview
Headers = Iterable[tuple[str, BytesLike | None]]


@cython.cfunc
@cython.exceptval(-1)
def _now_ms() -> cython.longlong:
    if cython.compiled:
        now = cython.declare(timespec)
        clock_gettime(CLOCK_REALTIME, cython.address(now))
        return cython.cast(cython.longlong, now.tv_sec) * 1000 + now.tv_nsec // 1_000_000
    return time_ns() // 1_000_000


def murmur2(data: bytes) -> int:
    """Kafka's hash of a key, as an unsigned 32-bit number (seed 0x9747b28c)."""
    return _hash_key(data)


@cython.cfunc
@cython.inline
def _hash_key(key: bytes) -> cython.uint:
    if cython.compiled:
        return _murmur2(cython.cast(cython.p_uchar, PyBytes_AS_STRING(key)), len(key))
    return _murmur2(key, len(key))


@cython.cfunc
@cython.exceptval(check=False)
def _murmur2(data: cython.p_uchar, length: cython.Py_ssize_t) -> cython.uint:
    mixer: cython.ulonglong = 0x5BD1E995
    mask: cython.ulonglong = 0xFFFFFFFF
    # A typed variable: as a Python integer it would make the hash six times slower.
    seed: cython.ulonglong = 0x9747B28C
    value: cython.ulonglong = (seed ^ cython.cast(cython.ulonglong, length)) & mask
    word: cython.ulonglong
    index: cython.Py_ssize_t = 0
    whole: cython.Py_ssize_t = length - length % 4
    while index < whole:
        word = (
            data[index]
            | (cython.cast(cython.ulonglong, data[index + 1]) << 8)
            | (cython.cast(cython.ulonglong, data[index + 2]) << 16)
            | (cython.cast(cython.ulonglong, data[index + 3]) << 24)
        )
        word = (word * mixer) & mask
        word ^= word >> 24
        word = (word * mixer) & mask
        value = ((value * mixer) & mask) ^ word
        index += 4
    rest: cython.Py_ssize_t = length - whole
    if rest == 3:
        value ^= cython.cast(cython.ulonglong, data[whole + 2]) << 16
    if rest >= 2:
        value ^= cython.cast(cython.ulonglong, data[whole + 1]) << 8
    if rest >= 1:
        value ^= data[whole]
        value = (value * mixer) & mask
    value ^= value >> 13
    value = (value * mixer) & mask
    value ^= value >> 15
    return value


@cython.final
@cython.freelist(512)
@cython.cclass
class SendFuture:
    """The future of one record: `result()` gives its RecordMetadata.

    Returned by `Producer.send`. Thread-safe. Waiting on it sends the batch before linger.ms.
    """

    _batch: Any
    _delta: cython.int
    _timestamp: cython.longlong

    def __init__(self, batch: ProducerBatch, delta: int, timestamp: int) -> None:
        self._batch = batch
        self._delta = delta
        self._timestamp = timestamp

    @property
    def delta(self) -> int:
        """The record's index in its batch."""
        return self._delta

    @property
    def batch(self) -> ProducerBatch:
        """The batch it was appended to."""
        return self._batch

    def done(self) -> bool:
        """Whether the record is stored or has failed."""
        return bool(self._final()[0].done)

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Waits for the result.

        Raises:
            BarnabasError: The delivery failed.
            DeadlineError: There is no result after `timeout` seconds."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        batch, delta = self._final()
        return RecordMetadata(
            batch.partition.topic,
            batch.partition.partition,
            batch.base_offset + delta if batch.base_offset >= 0 else -1,
            batch.log_append_time if batch.log_append_time >= 0 else self._timestamp,
        )

    def exception(self, timeout: float | None = None) -> Exception | None:
        """Waits as `result` does; returns the error, or None if the record is stored."""
        batch, _ = self._final()
        while not batch.done:
            if not batch.wait(timeout):
                cause = batch.cause
                reason = "" if cause is None else f": {cause}"
                what = f"no response for {batch.partition} within {timeout:g} s"
                raise DeadlineError(what + reason) from cause
            batch, _ = self._final()
        error: Exception | None = batch.error
        return error

    def add_done_callback(self, callback: Callable[[SendFuture], Any]) -> None:
        """Calls `callback(self)` when done: on the loop thread, or immediately if already done."""
        batch: Any = self._batch
        batch.add_callback(self, callback)

    def _final(self) -> tuple[Any, int]:
        """Returns the batch with the result, possibly a part of a split one, and the index."""
        batch: Any = self._batch
        delta: int = self._delta
        while batch.parts:
            batch, delta = batch.part_of(delta)
        return batch, delta


@cython.final
@cython.cclass
class TopicAppender:
    """The open batches of one topic, one per partition at the most.

    Used by the sending threads and the loop thread: appends and closes exclude each other.
    """

    _lock: Any
    _limit: cython.Py_ssize_t
    _batches: list
    _appenders: list
    _count: cython.Py_ssize_t
    _sticky: cython.Py_ssize_t
    _sticky_bytes: cython.Py_ssize_t
    _available: tuple
    _hash_keys: cython.bint

    def __init__(self, partitions: int, limit: int, hash_keys: bool) -> None:
        self._lock = threading.Lock()
        self._limit = limit
        self._count = partitions
        self._batches = [None] * partitions
        self._appenders = [None] * partitions
        self._sticky = 0
        self._sticky_bytes = 0
        self._available = ()
        self._hash_keys = hash_keys

    @property
    def count(self) -> int:
        """How many partitions the topic has."""
        return self._count

    @property
    def sticky(self) -> int:
        """The partition of records without a key."""
        return self._sticky

    @property
    def sticky_bytes(self) -> int:
        """Bytes in batches of the sticky partition since it was chosen."""
        appender: Any = self._appenders[self._sticky]
        return self._sticky_bytes + (0 if appender is None else appender.size)

    @property
    def available(self) -> tuple[int, ...]:
        """The partitions that have a leader; empty when no partition is known to have one."""
        return self._available

    @available.setter
    def available(self, partitions: tuple[int, ...]) -> None:
        self._available = partitions

    def stick_to(self, partition: int) -> None:
        """Records without a key go to this partition from now on."""
        appender: Any = self._appenders[partition]
        # Bytes that its open batch already has do not count.
        self._sticky_bytes = 0 if appender is None else -appender.size
        self._sticky = partition

    def resize(self, partitions: int) -> None:
        """The topic has another number of partitions.

        The lists never get shorter: a thread may be about to use a number from before.
        """
        more = partitions - len(self._batches)
        if more > 0:
            self._batches.extend([None] * more)
            self._appenders.extend([None] * more)
        self._count = partitions

    def partition_for(self, key: bytes | None) -> int:
        """By the hash of the key, or the sticky one. The hash must equal Java's to the bit."""
        return self._partition_for(key)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _partition_for(self, key: bytes | None) -> cython.Py_ssize_t:
        if key is None or not self._hash_keys:
            return self._sticky
        return (_hash_key(key) & 0x7FFFFFFF) % self._count

    def open(self, batch: ProducerBatch) -> None:
        """Records of the batch's partition go there from now on."""
        self._put(batch.partition.partition, batch, batch.appender)

    def close(self, partition: int) -> None:
        """No more records go into the open batch."""
        appender: Any = self._appenders[partition]
        if appender is not None and partition == self._sticky:
            self._sticky_bytes += appender.size
        self._put(partition, None, None)

    @cython.cfunc
    def _put(self, partition: cython.Py_ssize_t, batch: object, appender: object) -> None:
        if cython.compiled:
            with cython.critical_section(self):
                self._batches[partition] = batch
                self._appenders[partition] = appender
            return
        with self._lock:
            self._batches[partition] = batch
            self._appenders[partition] = appender

    def batch_of(self, partition: int) -> ProducerBatch | None:
        """The open batch of a partition."""
        return self._batches[partition]

    def try_send(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        partition: int | None,
        timestamp_ms: int | None,
    ) -> SendFuture | None:
        """Append to an open batch; None when there is none with room (the slow path makes one)."""
        place: cython.Py_ssize_t
        if partition is None:
            place = self._partition_for(key)
        else:
            place = partition
            if place < 0 or place >= self._count:
                return None
        stamp: cython.longlong = _now_ms() if timestamp_ms is None else timestamp_ms
        if cython.compiled:
            # No step below gives up the interpreter's lock, and without one the section holds.
            with cython.critical_section(self):
                return self._append(place, stamp, key, value, headers)
        with self._lock:
            return self._append(place, stamp, key, value, headers)

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def partitions_of(self, ends: memoryview, data: memoryview) -> bytearray:
        """The partition of each key of an Arrow column, as 32-bit numbers; keys are hashed."""
        bounds: cython.const[cython.int][::1] = ends.cast("B").cast("i")  # type: ignore[valid-type]
        keys: cython.const[cython.uchar][::1] = data.cast("B")  # type: ignore[valid-type]
        count: cython.Py_ssize_t = len(bounds) - 1
        found = bytearray(4 * count)
        places: cython.int[::1] = memoryview(found).cast("i")
        row: cython.Py_ssize_t
        value: cython.uint
        for row in range(count):
            if cython.compiled:
                key = cython.cast(cython.p_uchar, cython.address(keys[0])) + bounds[row]
                value = _murmur2(key, bounds[row + 1] - bounds[row])
            else:
                value = _hash_key(bytes(keys[bounds[row] : bounds[row + 1]]))
            places[row] = (value & 0x7FFFFFFF) % self._count
        return found

    def try_send_rows(
        self, partition: int, encoder: RowEncoder, start: int, stop: int
    ) -> tuple[int, ProducerBatch | None]:
        """Append rows of columns to the open batch of a partition while there is room.

        How many went in, and the batch; none when there is no open batch, or no room in it.
        """
        if cython.compiled:
            with cython.critical_section(self):
                return self._append_rows(partition, encoder, start, stop)
        with self._lock:
            return self._append_rows(partition, encoder, start, stop)

    @cython.cfunc
    def _append_rows(
        self, partition: int, encoder: RowEncoder, start: int, stop: int
    ) -> tuple[int, ProducerBatch | None]:
        appender = self._appenders[partition]
        batch = self._batches[partition]
        if appender is None:
            return 0, None
        count = appender.try_append_rows(_now_ms(), encoder, start, stop, self._limit)
        return count, batch

    @cython.cfunc
    def _append(
        self,
        place: cython.Py_ssize_t,
        stamp: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> SendFuture | None:
        appender = self._appenders[place]
        # Now: making the future may collect garbage, which may let the loop close this batch.
        batch = self._batches[place]
        if appender is None:
            return None
        delta: cython.int = appender.try_append(stamp, key, value, headers, self._limit)
        if delta < 0:
            return None
        future: SendFuture = SendFuture.__new__(SendFuture)
        future._batch = batch
        future._delta = delta
        future._timestamp = stamp
        return future
