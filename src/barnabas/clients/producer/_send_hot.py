"""The producer's code per record. Cython compiles it; it also runs as plain Python.

`TopicAppender` appends a record to the open batch of its partition and creates its future
(`_futures_hot`). Code that runs once per batch is in `batch` and `accumulator`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from time import time_ns
from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.clients.producer._futures_hot import Delivery, SendFuture
    from barnabas.model.record_metadata import RecordMetadata
    from barnabas.records._rows_hot import RowEncoder

if cython.compiled:
    from cython.cimports.barnabas.clients.core._direct_call_hot import (
        DirectCall,
        DirectCaller,
        new_call,
    )
    from cython.cimports.barnabas.clients.producer._futures_hot import delivery_of, future_of
    from cython.cimports.barnabas.clients.producer._key_hash_hot import hash_bytes, hash_key
    from cython.cimports.barnabas.records._append_hot import RecordAppender
    from cython.cimports.posix.time import CLOCK_REALTIME, clock_gettime, timespec
else:
    from barnabas.clients.core._direct_call_hot import DirectCall, DirectCaller, new_call
    from barnabas.clients.producer._futures_hot import delivery_of, future_of
    from barnabas.clients.producer._key_hash_hot import hash_key
    from barnabas.records._append_hot import RecordAppender

COMPILED: bool = cython.compiled

BytesLike = bytes | bytearray | memoryview
HeaderValue = BytesLike | str | None
HeaderPairs = Iterable[tuple[str, HeaderValue]]
Headers = HeaderPairs | Mapping[str, HeaderValue] | None
"""Headers as the application passes them to `send()`."""
OnDelivery = Callable[["RecordMetadata | None", Exception | None], Any]
NO_HEADERS: list[tuple[str, Any]] = []
"""The headers of records without any; never changed."""
UNLIMITED = 2**62
RECORDS_PER_CHECK = 1024
"""After so many records `send()` of an asyncio producer makes a coroutine that checks the time."""
_RECORDS_PER_CHECK = cython.declare(cython.int, 1024)


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
    _sticky_limit: cython.Py_ssize_t
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
        self._sticky_limit = UNLIMITED
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
    def sticky_batch_is_open(self) -> bool:
        """Whether all bytes of `sticky_bytes` are in the open batch."""
        return self._sticky_bytes <= 0 and self._appenders[self._sticky] is not None

    @property
    def available(self) -> tuple[int, ...]:
        """The partitions that have a leader; empty when no partition is known to have one."""
        return self._available

    @available.setter
    def available(self, partitions: tuple[int, ...]) -> None:
        self._available = partitions

    def stick_to(self, partition: int, limit: int = UNLIMITED) -> None:
        """Sets the partition of the next records without a key, for about `limit` bytes."""
        appender: Any = self._appenders[partition]
        # Bytes that its open batch already has do not count.
        self._sticky_bytes = 0 if appender is None else -appender.size
        self._sticky_limit = limit
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
        return (hash_key(key) & 0x7FFFFFFF) % self._count

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

    # Without C types for the application's arguments: the general path explains wrong ones.
    def partition_to_open(
        self,
        topic: object,
        key: bytes | None,
        partition: object,
        size: cython.Py_ssize_t,
        sticky_limit: cython.Py_ssize_t,
    ) -> TopicPartition | None:
        """Returns the partition of a record that needs a new batch.

        None if the partition has an open batch, if it does not exist, and if the chooser has to
        choose another sticky one because this one has received `sticky_limit` bytes.
        """
        index: cython.Py_ssize_t
        if type(partition) is int:
            index = partition
            if index < 0 or index >= self._count:
                return None
        elif partition is not None:
            return None
        else:
            index = self._partition_for(key)
            if (key is None or not self._hash_keys) and not self._may_stick(size, sticky_limit):
                return None
        if self._batches[index] is not None:
            return None
        # Not TopicPartition(...): the constructor of a named tuple is a function in Python.
        return tuple.__new__(TopicPartition, (topic, index))

    @cython.cfunc
    def _may_stick(self, size: cython.Py_ssize_t, limit: cython.Py_ssize_t) -> cython.bint:
        """Whether the sticky partition has a leader and takes a record of this size."""
        if self._available and self._sticky not in self._available:
            return False
        return self._sticky_bytes <= 0 or self._sticky_bytes + size <= limit

    def try_send(
        self,
        key: BytesLike | str | None,
        value: BytesLike | str | None,
        headers: HeaderPairs,
        partition: int | None,
        timestamp_ms: int | None,
    ) -> SendFuture | None:
        """Appends to the open batch; returns None without an open batch with room for the record.

        A record without a partition and a key also gets None if the sticky partition has received
        its bytes, so that the chooser chooses another one.
        """
        return self._append(key, value, headers, partition, timestamp_ms, None)

    def try_deliver(
        self,
        key: BytesLike | str | None,
        value: BytesLike | str | None,
        headers: HeaderPairs,
        partition: int | None,
        timestamp_ms: int | None,
        loop: asyncio.AbstractEventLoop,
    ) -> Delivery | None:
        """Does what `try_send` does, but returns the future of an asyncio producer."""
        return self._append(key, value, headers, partition, timestamp_ms, loop)

    @cython.cfunc
    def _append(
        self,
        key: object,
        value: object,
        headers: object,
        partition: object,
        timestamp_ms: object,
        loop: object,
    ) -> Any:
        """Appends a record; returns a SendFuture, with a loop a Delivery, or None."""
        key_bytes: bytes | None = as_bytes(key, "key")
        value_bytes: bytes | None = as_bytes(value, "value")
        index: cython.Py_ssize_t
        if partition is None:
            index = self._partition_for(key_bytes)
            if (key_bytes is None or not self._hash_keys) and self._sticky_room() <= 0:
                return None
        else:
            index = partition
            if index < 0 or index >= self._count:
                return None
        stamp: cython.longlong
        if timestamp_ms is None:  # noqa: SIM108 - an expression of both would be a Python number
            stamp = _now_ms()
        else:
            stamp = timestamp_ms
        if cython.compiled:
            # No step of it releases the GIL. In a build without GIL the critical section locks.
            with cython.critical_section(self):
                return self._append_at(index, stamp, key_bytes, value_bytes, headers, loop)
        with self._lock:
            return self._append_at(index, stamp, key_bytes, value_bytes, headers, loop)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def _sticky_room(self) -> cython.Py_ssize_t:
        """Returns the bytes that the sticky partition still takes before another one is chosen."""
        appender: RecordAppender | None = self._appenders[self._sticky]
        if appender is None:
            return self._sticky_limit
        size: cython.Py_ssize_t = appender._size if cython.compiled else appender.size
        return self._sticky_limit - self._sticky_bytes - size

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def partitions_of(self, ends: memoryview, data: memoryview) -> bytearray:
        """Returns the partition of each key of an Arrow column, as 32-bit numbers."""
        bounds: cython.const[cython.int][::1] = ends.cast("B").cast("i")  # type: ignore[valid-type]
        keys: cython.const[cython.uchar][::1] = data.cast("B")  # type: ignore[valid-type]
        count: cython.Py_ssize_t = len(bounds) - 1
        found = bytearray(4 * count)
        partitions: cython.int[::1] = memoryview(found).cast("i")
        row: cython.Py_ssize_t
        value: cython.uint
        for row in range(count):
            if cython.compiled:
                key = cython.cast(cython.p_uchar, cython.address(keys[0])) + bounds[row]
                value = hash_bytes(key, bounds[row + 1] - bounds[row])
            else:
                value = hash_key(bytes(keys[bounds[row] : bounds[row + 1]]))
            partitions[row] = (value & 0x7FFFFFFF) % self._count
        return found

    def try_send_rows(
        self, partition: int | None, encoder: RowEncoder, start: int, stop: int
    ) -> tuple[int, Any]:
        """Appends rows of columns to the open batch of a partition while they fit.

        None is the sticky partition, which takes rows up to its limit. Returns the number of
        appended rows, and the batch or None.
        """
        if cython.compiled:
            with cython.critical_section(self):
                return self._append_rows(partition, encoder, start, stop)
        with self._lock:
            return self._append_rows(partition, encoder, start, stop)

    @cython.cfunc
    def _append_rows(
        self, partition: int | None, encoder: RowEncoder, start: int, stop: int
    ) -> tuple[int, Any]:
        index: cython.Py_ssize_t = self._sticky if partition is None else partition
        appender: Any = self._appenders[index]
        batch = self._batches[index]
        if appender is None:
            return 0, None
        limit: cython.Py_ssize_t = self._limits[index]
        if partition is None:
            limit = min(limit, appender.size + self._sticky_room())
        return appender.try_append_rows(_now_ms(), encoder, start, stop, limit), batch

    @cython.cfunc
    def _append_at(
        self,
        index: cython.Py_ssize_t,
        stamp: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: object,
        loop: object,
    ) -> Any:
        appender: RecordAppender | None = self._appenders[index]
        # Read now: creating the future may collect garbage, during which the loop may close this.
        batch = self._batches[index]
        if appender is None:
            return None
        delta: cython.int = appender.try_append(stamp, key, value, headers, self._limits[index])
        if delta < 0:
            return None
        if loop is None:
            return future_of(batch, delta, stamp)
        return delivery_of(batch, delta, stamp, loop)


@cython.cclass
class SendState:
    """Base class of the state that a producer reads for each record."""

    direct = cython.declare(cython.bint, visibility="public")
    """Whether `send()` may append to an open batch without further checks."""

    def __init__(self) -> None:
        self.direct = False


@cython.cclass
class BlockingSender:
    """Base class of the blocking producer: `send()` of a record that fits into an open batch."""

    _open_topics: dict
    _state: SendState

    def _enable_sends(self, topics: dict[str, TopicAppender], state: SendState) -> None:
        """Must be called before `send`."""
        self._open_topics = topics
        self._state = state

    # Without C types: arguments of a wrong type get the errors of `producer._send()`.
    @cython.annotation_typing(False)
    def send(  # noqa: PLR0913 - a record has this many fields
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> SendFuture:
        """Appends a record to a batch and returns its future.

        Args:
            topic: The topic; a new one is created if the brokers allow it.
            value: Bytes, text (stored as UTF-8), None, or an object for value.serializer.
            key: As `value`, for key.serializer. Records with the same key use one partition.
            headers: Pairs of a name and bytes or text (stored as UTF-8), or a mapping.
            partition: The partition; by default the partitioner chooses it.
            timestamp: Milliseconds since 1970; by default the current time.
            on_delivery: Called as `on_delivery(metadata, error)` when the record is stored or has
                failed; one of the arguments is None. It runs on the producer's thread: keep it
                short.

        Raises:
            TypeError: An argument has a wrong type; the message names it.
            SerializationError: A serializer raised.
            ClosedError: The producer is closed.
            LocalError: No transaction is open, or the open one has failed.

        A record that cannot be delivered fails the future and `on_delivery`.

        >>> future = producer.send("orders", "paid", key="customer 7")  # doctest: +SKIP
        >>> future.result(timeout=10).offset  # doctest: +SKIP
        0
        """
        future: Any = self._append_to_open(topic, value, key, headers, partition, timestamp)
        if future is None:
            producer: Any = self
            future = producer._send(topic, value, key, headers, partition, timestamp)
        if on_delivery is not None:
            future.notify(on_delivery)
        return future

    @cython.cfunc
    def _append_to_open(
        self,
        topic: object,
        value: object,
        key: object,
        headers: object,
        partition: object,
        timestamp: object,
    ) -> Any:
        """Returns the future of a record that fits into the open batch of its partition."""
        state: SendState | None = self._state
        if timestamp is not None or state is None or not state.direct:
            return None
        if not headers:
            headers = NO_HEADERS
        elif not isinstance(headers, (list, tuple)):
            return None
        try:
            appender: TopicAppender | None = self._open_topics.get(topic)
            if appender is None:
                return None
            return appender._append(key, value, headers, partition, None, None)
        except (TypeError, ValueError, AttributeError):
            return None  # `producer._send()` raises the error again and names the wrong argument.


@cython.cclass
class DirectSender(DirectCaller):  # type: ignore[misc]
    """Base class of the asyncio producer: `send()` of a record that needs no coroutine.

    A call completes without a coroutine if the record has no timestamp and fits into the open batch
    of its partition, and its headers are empty, a list or a tuple. The coroutine `_send()` sends
    all other records, and lets the event loop run if it is time: a loop of sends never suspends by
    itself, and a batch may take ten thousands of small records.
    """

    _topics: dict
    _state: SendState
    _event_loop: Any
    _unchecked: cython.int

    def _enable_sends(
        self,
        topics: dict[str, TopicAppender],
        state: SendState,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Must be called before `send`."""
        self._unchecked = 0
        self._topics = topics
        self._state = state
        self._event_loop = loop

    # Without C types: arguments of a wrong type get the errors of `producer._send()`.
    @cython.annotation_typing(False)
    def send(  # noqa: PLR0913 - a record has this many fields
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> Coroutine[Any, Any, Delivery]:
        """Appends a record to a batch and returns the future of its delivery.

        The arguments and errors are those of the blocking `Producer.send`. `on_delivery` is called
        on the event loop.
        """
        others: tuple[Any, ...] | None = None
        if headers or partition is not None or timestamp is not None or on_delivery is not None:
            others = (headers, partition, timestamp, on_delivery)
        return new_call(self, topic, value, key, others)

    @cython.ccall
    def _complete(self, call: DirectCall) -> object:
        state: SendState | None = self._state
        if state is None or not state.direct:
            return None
        self._unchecked += 1
        if self._unchecked >= _RECORDS_PER_CHECK:
            self._unchecked = 0
            return None
        others = call._others
        if others is not None:
            return self._complete_with(call, others)
        try:
            appender: TopicAppender | None = self._topics.get(call._first)
            if appender is None:
                return None
            return appender._append(
                call._third, call._second, NO_HEADERS, None, None, self._event_loop
            )
        except (TypeError, ValueError, AttributeError):
            return None  # The coroutine raises the error again and names the wrong argument.

    @cython.cfunc
    def _complete_with(self, call: DirectCall, others: object) -> object:
        """Returns the result of a call with more arguments than topic, value and key."""
        fields: tuple = others  # type: ignore[assignment]
        headers, partition, timestamp, on_delivery = fields
        if timestamp is not None:
            return None
        if not headers:
            headers = NO_HEADERS
        elif not isinstance(headers, (list, tuple)):
            return None
        try:
            appender: TopicAppender | None = self._topics.get(call._first)
            if appender is None:
                return None
            delivery = appender._append(
                call._third, call._second, headers, partition, None, self._event_loop
            )
        except (TypeError, ValueError, AttributeError):
            return None
        if delivery is not None and on_delivery is not None:
            delivery.notify(on_delivery)
        return delivery

    @cython.ccall
    def _continue(self, call: DirectCall) -> object:
        producer: Any = self
        others = ((), None, None, None) if call._others is None else call._others
        return producer._send(call._first, call._second, call._third, *others)

    def _describe(self, call: DirectCall) -> str:
        return f"send({call._first!r}, ...) of an asyncio producer"
