"""The producer's code per record. Cython compiles it; it also runs as plain Python.

`TopicAppender` appends a record to the open batch of its partition; `SendFuture` refers to the
batch and the record's index in it. The result is stored once per batch and read by all its futures,
so acknowledging a million records takes a thousand steps. Code that runs once per batch is in
`batch` and `accumulator`; batches are of type `batch.ProducerBatch`, which imports this module.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterable
from time import time_ns
from typing import TYPE_CHECKING, Any

from barnabas.model.errors import DeadlineError
from barnabas.model.record_metadata import RecordMetadata

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if TYPE_CHECKING:
    from barnabas.records._rows_hot import RowEncoder

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING
    from cython.cimports.posix.time import CLOCK_REALTIME, clock_gettime, timespec

COMPILED: bool = cython.compiled
GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether threads exclude each other in compiled code; not so in a free-threaded Python."""

logger = logging.getLogger(__name__)

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


@cython.ccall
def as_bytes(data: object, field: str) -> bytes | None:
    """Returns the bytes of a key or value; text is encoded as UTF-8.

    Raises:
        TypeError: The type needs a serializer; `field` is "key" or "value".
    """
    if data is None or type(data) is bytes:
        return data
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    wanted = f"encode it, or set {field}.serializer"
    raise TypeError(f"the {field} is {type(data).__name__}, not bytes or str: {wanted}")


def murmur2(data: bytes) -> int:
    """Returns Kafka's hash of a key, as an unsigned 32-bit number (seed 0x9747b28c)."""
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
@cython.no_gc
@cython.freelist(512)
@cython.cclass
class SendFuture:
    """The future of one record: `result()` gives its RecordMetadata.

    Returned by `Producer.send`. Thread-safe. Waiting on it sends the batch before linger.ms.

    The garbage collector does not track futures: a million of them would slow every collection.
    The only reference cycle, by way of the callbacks of the batch, ends with the batch's result.
    """

    _batch: Any
    _on_delivery: Any
    _delta: cython.int
    _timestamp: cython.longlong

    def __init__(self, batch: Any, delta: int, timestamp: int) -> None:
        self._batch = batch
        self._on_delivery = None
        self._delta = delta
        self._timestamp = timestamp

    @property
    def delta(self) -> int:
        """The record's index in its batch."""
        return self._delta

    @property
    def batch(self) -> Any:
        """The batch it was appended to."""
        return self._batch

    @property
    def final_batch(self) -> Any:
        """The batch with the result: the one above, or a part of it after a split."""
        return self._final()[0]

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
        return self._metadata()

    @cython.cfunc
    def _metadata(self) -> object:
        """Returns the metadata of a record that is stored."""
        batch, delta = self._final()
        return _metadata_of(batch, delta, self._timestamp)

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
        self._add((self, callback))

    def notify(self, on_delivery: Callable[[RecordMetadata | None, Exception | None], Any]) -> None:
        """Calls `on_delivery(metadata, error)` as `add_done_callback` does; one of both is None.

        A future has one such function; the producer sets it when it creates the future.
        """
        self._on_delivery = on_delivery
        self._add(self)

    @cython.cfunc
    def _add(self, callback: object) -> object:
        """Registers a callback with the batch: a pair of future and function, or a future."""
        batch: Any = self._batch
        if cython.compiled and GIL:
            # No step between the check and the append releases the GIL.
            if not batch.done:
                batch.callbacks.append(callback)
                return None
        else:
            with batch.lock:
                if not batch.done:
                    batch.callbacks.append(callback)
                    return None
        batch.run_callback(callback)
        return None

    def _final(self) -> tuple[Any, int]:
        """Returns the batch with the result, possibly a part of a split one, and the index."""
        batch: Any = self._batch
        delta: int = self._delta
        while batch.parts:
            batch, delta = batch.part_of(delta)
        return batch, delta


@cython.cfunc
@cython.inline
def _metadata_of(batch: object, delta: cython.longlong, timestamp: cython.longlong) -> object:
    """Returns the metadata of the record with this index in a stored batch."""
    base_offset: cython.longlong = batch.base_offset  # type: ignore[attr-defined]
    append_time: cython.longlong = batch.log_append_time  # type: ignore[attr-defined]
    topic_partition: Any = batch.partition  # type: ignore[attr-defined]
    fields = (
        topic_partition[0],
        topic_partition[1],
        base_offset + delta if base_offset >= 0 else -1,
        append_time if append_time >= 0 else timestamp,
    )
    # Not RecordMetadata(...): the constructor of a named tuple is a function in Python.
    return tuple.__new__(RecordMetadata, fields)


def run_callbacks(batch: Any, callbacks: list) -> None:
    """Calls the callbacks of a batch that has a result: pairs of future and function, or futures.

    An exception is logged, so that the next callback is still called.
    """
    future: SendFuture
    error: Any = batch.error
    for callback in callbacks:
        try:
            if isinstance(callback, tuple):
                callback[1](callback[0])
                continue
            future = callback
            on_delivery, future._on_delivery = future._on_delivery, None
            if error is not None:
                on_delivery(None, error)
            elif future._batch is batch:
                on_delivery(_metadata_of(batch, future._delta, future._timestamp), None)
            else:
                on_delivery(future._metadata(), None)
        except Exception:
            logger.exception("a delivery callback failed: %r", callback)


@cython.final
@cython.no_gc
@cython.freelist(512)
@cython.cclass
class Delivery:
    """The future of one record in asyncio: `await` it for the RecordMetadata.

    Returned by `await Producer.send(...)`. It has the methods of an `asyncio.Future` and can be
    passed to `asyncio.gather`, `asyncio.wait` and `asyncio.wait_for`. The future of asyncio behind
    it is created on first use: most records are only flushed, and need none.
    """

    _sent: SendFuture
    _loop: Any
    _future: Any

    def __init__(self, sent: SendFuture, loop: asyncio.AbstractEventLoop) -> None:
        self._sent = sent
        self._loop = loop
        self._future = None

    @property
    def _asyncio_future_blocking(self) -> bool:
        """Makes `asyncio.isfuture` true."""
        return False

    def __await__(self) -> Any:
        return self._awaited().__await__()

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Returns the event loop of the producer."""
        return self._loop

    def done(self) -> bool:
        """Whether the record is stored or has failed, or this future was cancelled."""
        return self.cancelled() or self._sent.done()

    def cancelled(self) -> bool:
        """Whether this future was cancelled; the record is sent nevertheless."""
        return self._future is not None and bool(self._future.cancelled())

    def cancel(self, msg: object = None) -> bool:
        """Cancels the wait for the delivery; the record is sent nevertheless."""
        return bool(self._awaited().cancel(msg))

    def result(self) -> RecordMetadata:
        """Returns the metadata of a record that is stored; raises its error if it has failed.

        Raises:
            asyncio.InvalidStateError: There is no result yet.
        """
        return self._awaited().result()

    def exception(self) -> Exception | None:
        """Returns the error of the record, or None; raises as `result` does without a result."""
        return self._awaited().exception()

    def add_done_callback(self, callback: Callable[[Any], Any], *, context: object = None) -> None:
        """Calls `callback(future)` on the event loop when the record is stored or has failed."""
        self._awaited().add_done_callback(callback, context=context)

    def remove_done_callback(self, callback: Callable[[Any], Any]) -> int:
        """Removes a callback; returns how often it had been added."""
        return int(self._awaited().remove_done_callback(callback))

    @cython.ccall
    def _awaited(self) -> Any:
        """Returns the asyncio future of the delivery."""
        if self._future is None:
            self._future = self._loop.create_future()
            if self._sent.done():
                self._settle(self._sent)
            else:
                self._sent.add_done_callback(self._settle)
        return self._future

    def _settle(self, sent: SendFuture) -> None:
        future: Any = self._future
        if future.done():
            return
        error = sent.exception(0)
        if error is None:
            future.set_result(sent._metadata())
            return
        future.set_exception(error)
        # An application that only flushes does not retrieve the error: asyncio must not warn.
        future.exception()


@cython.final
@cython.cclass
class TopicAppender:
    """The open batches of one topic, at most one per partition.

    The sending threads append and the loop thread closes; both exclude each other.
    """

    _lock: Any
    _limits: list
    _batches: list
    _appenders: list
    _count: cython.Py_ssize_t
    _sticky: cython.Py_ssize_t
    _sticky_bytes: cython.Py_ssize_t
    _available: tuple
    _hash_keys: cython.bint

    def __init__(self, partitions: int, hash_keys: bool) -> None:
        self._lock = threading.Lock()
        self._limits = [0] * partitions
        self._count = partitions
        self._batches = [None] * partitions
        self._appenders = [None] * partitions
        self._sticky = 0
        self._sticky_bytes = 0
        self._available = ()
        self._hash_keys = hash_keys

    @property
    def count(self) -> int:
        """The number of partitions."""
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
        """Sets the partition of records without a key."""
        appender: Any = self._appenders[partition]
        # Bytes that its open batch already has do not count.
        self._sticky_bytes = 0 if appender is None else -appender.size
        self._sticky = partition

    def resize(self, partitions: int) -> None:
        """Sets the number of partitions.

        The lists never get shorter: a thread may be using an index from before.
        """
        more = partitions - len(self._batches)
        if more > 0:
            self._batches.extend([None] * more)
            self._appenders.extend([None] * more)
            self._limits.extend([0] * more)
        self._count = partitions

    def partition_for(self, key: bytes | None) -> int:
        """Returns the partition by the hash of the key, which equals Java's, or the sticky one."""
        return self._partition_for(key)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _partition_for(self, key: bytes | None) -> cython.Py_ssize_t:
        if key is None or not self._hash_keys:
            return self._sticky
        return (_hash_key(key) & 0x7FFFFFFF) % self._count

    def open(self, batch: Any, limit: int) -> None:
        """Makes this the open batch of its partition, for up to `limit` bytes."""
        self._limits[batch.partition.partition] = limit
        self._put(batch.partition.partition, batch, batch.appender)

    def enlarge(self, partition: int, limit: int) -> None:
        """Lets the open batch of a partition grow up to `limit` bytes."""
        self._limits[partition] = limit

    def close(self, partition: int) -> None:
        """Closes the open batch of a partition to appends."""
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

    def batch_of(self, partition: int) -> Any:
        """Returns the open batch of a partition, or None."""
        return self._batches[partition]

    def try_send(
        self,
        key: BytesLike | str | None,
        value: BytesLike | str | None,
        headers: Headers,
        partition: int | None,
        timestamp_ms: int | None,
    ) -> SendFuture | None:
        """Appends to the open batch; returns None if there is none, or the record does not fit."""
        key_bytes: bytes | None = as_bytes(key, "key")
        value_bytes: bytes | None = as_bytes(value, "value")
        place: cython.Py_ssize_t
        if partition is None:
            place = self._partition_for(key_bytes)
        else:
            place = partition
            if place < 0 or place >= self._count:
                return None
        stamp: cython.longlong = _now_ms() if timestamp_ms is None else timestamp_ms
        if cython.compiled:
            # No step below releases the GIL. In a build without GIL the critical section locks.
            with cython.critical_section(self):
                return self._append(place, stamp, key_bytes, value_bytes, headers)
        with self._lock:
            return self._append(place, stamp, key_bytes, value_bytes, headers)

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def partitions_of(self, ends: memoryview, data: memoryview) -> bytearray:
        """Returns the partition of each key of an Arrow column, as 32-bit numbers."""
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
    ) -> tuple[int, Any]:
        """Appends rows of columns to the open batch of a partition while they fit.

        Returns the number of appended rows, and the batch or None.
        """
        if cython.compiled:
            with cython.critical_section(self):
                return self._append_rows(partition, encoder, start, stop)
        with self._lock:
            return self._append_rows(partition, encoder, start, stop)

    @cython.cfunc
    def _append_rows(
        self, partition: int, encoder: RowEncoder, start: int, stop: int
    ) -> tuple[int, Any]:
        appender = self._appenders[partition]
        batch = self._batches[partition]
        if appender is None:
            return 0, None
        count = appender.try_append_rows(_now_ms(), encoder, start, stop, self._limits[partition])
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
        # Read now: creating the future may collect garbage, during which the loop may close this.
        batch = self._batches[place]
        if appender is None:
            return None
        delta: cython.int = appender.try_append(stamp, key, value, headers, self._limits[place])
        if delta < 0:
            return None
        future: SendFuture = SendFuture.__new__(SendFuture)
        future._batch = batch
        future._on_delivery = None
        future._delta = delta
        future._timestamp = stamp
        return future
