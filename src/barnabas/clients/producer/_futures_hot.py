"""The futures of sent records. Cython compiles it; it also runs as plain Python.

`SendFuture` is the future of a blocking producer, `Delivery` that of an asyncio producer. Both
refer to the batch and the record's index in it. The result is stored once per batch and read by all
its futures, so acknowledging a million records takes a thousand steps. Batches are of type
`batch.ProducerBatch`, which imports this module. The `.pxd` has the C types: `_send_hot` creates a
future for each record.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import Any

from barnabas.model.errors import DeadlineError
from barnabas.model.record_metadata import RecordMetadata

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

COMPILED: bool = cython.compiled
GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether threads exclude each other in compiled code; not so in a free-threaded Python."""

logger = logging.getLogger(__name__)


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

    def __init__(self, batch: Any, delta: int, timestamp: int) -> None:
        self._batch = batch
        self._on_delivery: Any = None
        self._delta = delta
        self._timestamp = timestamp

    def __repr__(self) -> str:
        batch, _ = self._final()
        topic, number = batch.partition
        where = topic if number < 0 else f"{topic}-{number}"
        if not batch.done:
            return f"<SendFuture {where} pending>"
        if batch.error is not None:
            return f"<SendFuture {where} failed: {batch.error}>"
        return f"<SendFuture {self._metadata()}>"

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
        if error is not None:
            batch.read = True
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


@cython.ccall
def future_of(batch: object, delta: cython.int, timestamp: cython.longlong) -> SendFuture:
    """Returns a future without the call of its constructor from Python."""
    future: SendFuture = SendFuture.__new__(SendFuture)
    future._batch = batch
    future._on_delivery = None
    future._delta = delta
    future._timestamp = timestamp
    return future


@cython.cfunc
@cython.inline
def _metadata_of(batch: object, delta: cython.longlong, timestamp: cython.longlong) -> object:
    """Returns the metadata of the record with this index in a stored batch."""
    base_offset: cython.longlong = batch.base_offset  # type: ignore[attr-defined]
    append_time: cython.longlong = batch.log_append_time  # type: ignore[attr-defined]
    topic_partition: Any = batch.partition  # type: ignore[attr-defined]
    return _new_metadata(
        topic_partition[0],
        topic_partition[1],
        base_offset + delta if base_offset >= 0 else -1,
        append_time if append_time >= 0 else timestamp,
    )


@cython.cfunc
@cython.inline
def _new_metadata(
    topic: object, partition: object, offset: cython.longlong, timestamp: cython.longlong
) -> object:
    # Not RecordMetadata(...): the constructor of a named tuple is a function in Python.
    return tuple.__new__(RecordMetadata, (topic, partition, offset, timestamp))


def run_callbacks(batch: Any, callbacks: list) -> None:
    """Calls the callbacks of a batch that has a result: pairs of future and function, or futures.

    An exception is logged, so that the next callback is still called.
    """
    future: SendFuture
    error: Any = batch.error
    # Read once: to read them for each record took half of the time of a callback.
    base_offset: cython.longlong = batch.base_offset
    append_time: cython.longlong = batch.log_append_time
    topic, number = batch.partition
    for callback in callbacks:
        try:
            if isinstance(callback, tuple):
                callback[1](callback[0])
                continue
            future = callback
            on_delivery, future._on_delivery = future._on_delivery, None
            if error is not None:
                batch.read = True
                on_delivery(None, error)
            elif future._batch is batch:
                on_delivery(
                    _new_metadata(
                        topic,
                        number,
                        base_offset + future._delta if base_offset >= 0 else -1,
                        append_time if append_time >= 0 else future._timestamp,
                    ),
                    None,
                )
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

    def __init__(self, sent: SendFuture, loop: asyncio.AbstractEventLoop) -> None:
        self._batch = sent._batch
        self._delta = sent._delta
        self._timestamp = sent._timestamp
        self._loop: Any = loop
        self._future: Any = None

    @cython.cfunc
    def _sent(self) -> SendFuture:
        """Returns a future of the record that does not depend on asyncio."""
        return future_of(self._batch, self._delta, self._timestamp)

    def __repr__(self) -> str:
        return repr(self._sent()).replace("SendFuture", "Delivery", 1)

    @property
    def _asyncio_future_blocking(self) -> bool:
        """Makes `asyncio.isfuture` true."""
        return False

    def __await__(self) -> Any:
        # A coroutine that sends one record and awaits it would wait for the default linger.ms each
        # time. A configured one is obeyed: many coroutines may await records of one batch.
        if self._batch.eager:
            self._batch.end_linger()
        return self._awaited().__await__()

    def notify(self, on_delivery: Callable[[RecordMetadata | None, Exception | None], Any]) -> None:
        """Calls `on_delivery(metadata, error)` when done; one of both is None."""
        self._sent().notify(on_delivery)

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Returns the event loop of the producer."""
        return self._loop

    def done(self) -> bool:
        """Whether the record is stored or has failed, or this future was cancelled."""
        return self.cancelled() or self._sent().done()

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
            sent = self._sent()
            if sent.done():
                self._settle(sent)
            else:
                sent.add_done_callback(self._settle)
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


@cython.ccall
def delivery_of(
    batch: object, delta: cython.int, timestamp: cython.longlong, loop: object
) -> Delivery:
    """Returns a delivery without the call of its constructor from Python."""
    delivery: Delivery = Delivery.__new__(Delivery)
    delivery._batch = batch
    delivery._loop = loop
    delivery._future = None
    delivery._delta = delta
    delivery._timestamp = timestamp
    return delivery
