"""Returns the records of a decoded block one by one: `for` and `async for record in consumer`.

Cython compiles it; it also runs as plain Python. `__next__` runs for every record, so it only
compares two fields; it does not read the clock. Everything else that poll() does (rebalance steps,
automatic commits, callbacks, wakeup) happens in `refill`, which runs at the end of a block and
after `interrupt()`. The loop thread interrupts for each of these events, so the next record after
an event goes through `refill`.

`position()` is exact at any moment: the offset after the last record that was returned. The
compiled methods run under the GIL without a switch to another thread. Plain Python takes the lock
of the subscription instead, which the callers of `stop()` and `position()` hold.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.clients.core._direct_call_hot import (
        DirectCall,
        DirectCaller,
        new_call,
    )
    from cython.cimports.cpython.ref import Py_REFCNT
    from cython.cimports.cpython.time import monotonic
else:
    from barnabas.clients.core._direct_call_hot import DirectCall, DirectCaller, new_call

    monotonic = time.monotonic

COMPILED: bool = cython.compiled

_NO_EPOCH = -1
# Without the GIL a reference count does not show whether other threads use an object.
_GIL = cython.declare(cython.bint, getattr(sys, "_is_gil_enabled", lambda: True)())
_UNUSED = cython.declare(cython.Py_ssize_t, 2)  # references: the attribute and the local variable
_RECORDS_PER_CHECK = cython.declare(cython.Py_ssize_t, 32)


@cython.final
@cython.cclass
class RecordIterator:
    """Iterator of one consumer; the polling thread uses it.

    `refill()` returns the next record after it has loaded another block, or raises StopIteration.
    Without it the iteration ends with each block, and after `slice_s` seconds or `slice_records`
    records. `convert(record)` deserializes a record, None skips it; if it raises, the record is not
    consumed and the next call converts it again.
    """

    _records: list[Any]
    _index: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    _end_offset: cython.longlong
    _check_at: cython.Py_ssize_t
    _interrupted: cython.bint
    _returned: cython.longlong
    _slice_s: cython.double
    _until_s: cython.double
    _slice_records: cython.Py_ssize_t
    _slice_end: cython.Py_ssize_t
    _refill: Any
    _convert: Any
    _lock: Any

    def __init__(
        self,
        lock: Any,
        convert: Callable[[Any], Any] | None = None,
        refill: Callable[[], Any] | None = None,
        slice_s: float | None = None,
        slice_records: int = 0,
    ) -> None:
        self._lock = lock
        self._convert = convert
        self._refill = refill
        self._slice_s = -1.0 if slice_s is None else slice_s
        self._slice_records = slice_records
        self._slice_end = 0
        self._records = []
        self._index = 0
        self._count = 0
        self._end_offset = 0
        self._check_at = 0
        self._interrupted = False
        self._returned = 0
        self._until_s = 0.0

    def __iter__(self) -> RecordIterator:
        return self

    def __next__(self) -> Any:
        record = self._next_record()
        if record is not None:
            return record
        if self._refill is None:
            raise StopIteration
        return self._refill()

    @cython.cfunc
    @cython.inline
    def _next_record(self) -> object:
        """Returns None at the end of the block or time slice, and after `interrupt()`."""
        if not self._interrupted and (self._index < self._check_at or self._in_time()):
            return self._take()
        return None

    def take(self) -> Any:
        """Returns the next record of the block, None at its end."""
        return self._take()

    @cython.cfunc
    def _in_time(self) -> cython.bint:
        """Returns whether the time slice has not ended; its end is noticed at every 32nd record."""
        end = min(self._slice_end, self._count)
        if self._slice_s < 0.0 or self._index >= end or monotonic() >= self._until_s:
            return False
        self._check_at = min(self._index + _RECORDS_PER_CHECK, end)
        return True

    @cython.cfunc
    def _take(self) -> object:
        while self._index < self._count:
            record = self._records[self._index]
            if self._convert is not None:
                record = self._convert(record)
            if not self._advance():
                return None  # The loop thread has stopped the block in the meantime.
            if record is not None:
                return record
        return None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _advance(self) -> cython.bint:
        more: cython.bint
        if cython.compiled:
            more = self._index < self._count
            self._index += 1 if more else 0
            return more
        with self._lock:
            more = self._index < self._count
            self._index += 1 if more else 0
            return more

    def load(self, records: list[Any], index: int, end_offset: int) -> None:
        """Begins a block: `records` from `index` on, followed by the offset `end_offset`."""
        self._records = records
        self._index = index
        self._count = len(records)
        self._end_offset = end_offset
        self._returned -= index
        self._check_at = self._count
        if self._slice_s >= 0.0:
            self._check_at = 0
            self._slice_end = index + self._slice_records
            self._until_s = monotonic() + self._slice_s

    def unload(self) -> int:
        """Ends the block; returns the index of the first record that was not returned."""
        index = self._index
        self._returned += index
        self._records = []
        self._index = self._count = self._check_at = 0
        return index

    def stop(self) -> tuple[int, int]:
        """Returns no more records of this block; returns `position()`. Any thread, with the lock.

        The records stay until `unload()`, which returns how many of them were returned.
        """
        found = self.position()
        self._count = self._check_at = self._index
        self._interrupted = True
        return found

    def position(self) -> tuple[int, int]:
        """Returns the offset and leader epoch after the last record that was returned."""
        epoch = _NO_EPOCH
        if self._index > 0:
            epoch = self._records[self._index - 1].leader_epoch
        if self._index < self._count:
            return self._records[self._index].offset, epoch
        return self._end_offset, epoch

    def interrupt(self) -> None:
        """Makes the next call of `__next__` run `refill`. Any thread may call it."""
        self._interrupted = True

    def resume(self) -> None:
        """Forgets earlier interrupts; the polling thread handles their causes afterwards."""
        self._interrupted = False

    @property
    def returned(self) -> int:
        """Number of records that were returned so far. Any thread may read it."""
        return self._returned + self._index


@cython.final
@cython.cclass
class AsyncRecords(DirectCaller):  # type: ignore[misc]
    """Asynchronous iterator over the records of all blocks that `load()` gives to `reader`.

    `load()` is awaited at the end of a block; the iteration ends when it returns False. No
    asynchronous generator: it has a frame to resume and allocates an object for each record.
    """

    _reader: RecordIterator
    _load: Any
    _last: DirectCall | None

    def __init__(self, reader: RecordIterator, load: Callable[[], Awaitable[bool]]) -> None:
        self._reader = reader
        self._load = load
        self._last = None  # used again if the caller has no reference: saves a fifth of the time

    def __aiter__(self) -> AsyncRecords:
        return self

    def __anext__(self) -> Coroutine[Any, Any, Any]:
        call: DirectCall | None = self._last
        if cython.compiled and _GIL and call is not None and Py_REFCNT(call) == _UNUSED:
            call._begun = False
            call._coroutine = None
            return call
        call = new_call(self, None, None, None, None)
        self._last = call
        return call

    @cython.ccall
    def _complete(self, call: DirectCall) -> object:
        return self._reader._next_record()

    @cython.ccall
    def _continue(self, call: DirectCall) -> object:
        return self._load_next()

    def _describe(self, call: DirectCall) -> str:
        return "__anext__() of a consumer"

    async def _load_next(self) -> Any:
        """Returns the first record of the next block."""
        while await self._load():
            record = self._reader._next_record()
            if record is not None:
                return record
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Does nothing; asynchronous generators have this method."""
