"""Cuts the byte stream of a client connection into frames. Cython compiles it; it also runs as
plain Python.

Small responses share one scratch buffer; a large one is received directly into separate memory.
"""

from __future__ import annotations

import os
from struct import Struct
from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import ProtocolError
from barnabas.net.response_memory import ResponseMemory

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import i32
    from cython.cimports.barnabas.net._socket_calls import barnabas_recv_rest
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING

COMPILED: bool = cython.compiled

LOW_WATER_BYTES = 512 * 1024
"""While a large response arrives, the thread wakes up for this many bytes of it."""
SCRATCH_BYTES = 64 * 1024
DEFAULT_MAX_RESPONSE_BYTES = 1024**3
_unpack_size = Struct(">i").unpack_from
# `receive_rest` ends when the next step has not arrived after this time.
_IDLE_MS = cython.declare(cython.int, 2)
_STEP_BYTES = cython.declare(cython.Py_ssize_t, LOW_WATER_BYTES)


@cython.final
@cython.cclass
class FrameReceiver:
    """Cuts a byte stream into frames: get `buffer()`, fill a part of it, call `filled(n)`.

    A returned frame owns its memory: bytes received later do not overwrite it while a view of it
    exists.
    """

    _max_bytes: cython.Py_ssize_t
    _scratch: bytearray
    _scratch_end: cython.Py_ssize_t
    _frame: Any
    _memory: Any
    _saw_large: cython.bint
    _frame_filled: cython.Py_ssize_t

    def __init__(self, max_bytes: int = DEFAULT_MAX_RESPONSE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._scratch = bytearray(SCRATCH_BYTES)
        self._scratch_end = 0
        self._frame = None  # a memoryview while a large frame is incomplete
        self._memory = ResponseMemory()
        self._saw_large = False
        self._frame_filled = 0

    @property
    def missing_bytes(self) -> int:
        """Bytes of a large frame that have not arrived; 0 if none was begun."""
        return 0 if self._frame is None else len(self._frame) - self._frame_filled

    @property
    def large(self) -> bool:
        """Whether `buffer()` is the rest of one frame, so that it can be filled completely."""
        return self._frame is not None

    def buffer(self) -> memoryview:
        """Returns the buffer for the next bytes of the stream; never empty."""
        if self._frame is not None:
            return self._frame[self._frame_filled :]
        return memoryview(self._scratch)[self._scratch_end :]

    def receive_rest(self, fd: cython.int) -> int:
        """Receives the rest of a large frame from a socket, without the interpreter lock.

        It ends early if the bytes arrive slowly. Call it in a thread that has nothing else to do.
        Returns the number of bytes for `filled()`; 0 if there are none, or not compiled.
        On Linux it changes SO_RCVLOWAT of the socket.

        Raises:
            OSError: the connection has failed.
        """
        if not cython.compiled or self._frame is None:
            return 0
        count: cython.Py_ssize_t
        missing: cython.Py_ssize_t
        target: cython.uchar[::1] = self._frame
        missing = target.shape[0] - self._frame_filled
        data: cython.p_uchar = cython.cast(
            cython.p_uchar, cython.address(target[self._frame_filled])
        )
        with cython.nogil:
            count = barnabas_recv_rest(fd, data, missing, _STEP_BYTES, _IDLE_MS)
        if count < 0:
            raise OSError(-count, os.strerror(-count))
        return count

    def filled(self, count: cython.Py_ssize_t) -> list[memoryview]:
        """Accepts `count` bytes in the last `buffer()`; returns the frames that are complete."""
        if self._frame is not None:
            self._frame_filled += count
            if self._frame_filled < len(self._frame):
                return []
            frame, self._frame = self._frame, None
            return [frame]
        self._scratch_end += count
        return self._cut_scratch()

    @cython.cfunc
    def _cut_scratch(self) -> list:
        frames: list = []
        position: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t = self._scratch_end
        size: cython.Py_ssize_t
        while end - position >= 4:
            size = self._checked_size(position)
            if end - position - 4 < size:
                self._begin_large(position + 4, size)
                return frames
            frames.append(memoryview(self._scratch[position + 4 : position + 4 + size]))
            if self._saw_large:
                self._memory.small_response()
            position += 4 + size
        if end > position:
            self._scratch[: end - position] = self._scratch[position:end]
        self._scratch_end = end - position
        return frames

    @cython.cfunc
    @cython.exceptval(-1)
    def _checked_size(self, position: cython.Py_ssize_t) -> cython.Py_ssize_t:
        size: cython.Py_ssize_t
        if cython.compiled:
            size = i32(cython.cast(cython.p_uchar, PyByteArray_AS_STRING(self._scratch)), position)
        else:
            (size,) = _unpack_size(self._scratch, position)
        if not 4 <= size <= self._max_bytes:
            raise ProtocolError(
                f"a response of {size} bytes: the peer does not use Kafka's protocol"
            )
        return size

    @cython.cfunc
    def _begin_large(self, start: cython.Py_ssize_t, size: cython.Py_ssize_t) -> object:
        have: cython.Py_ssize_t = self._scratch_end - start
        self._saw_large = True
        self._frame = self._memory.take(size)
        self._frame[:have] = self._scratch[start : self._scratch_end]
        self._frame_filled = have
        self._scratch_end = 0
        return None
