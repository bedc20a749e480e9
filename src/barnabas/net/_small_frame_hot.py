"""Serves a request that arrived alone and completely: the short path of a server connection.

A client that waits for each response sends one small frame at a time. `serve_small` receives it,
calls the handler and sends the response, in one compiled call. It serves a connection only in the
common state: it is not muted, no part of a frame has been received, all replies are complete, and
all bytes are sent. In any other state it returns the remaining work, and `ServerConnection`
continues with its ordinary steps. Exceptions are those of the ordinary steps.

Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import i32
    from cython.cimports.barnabas.net._connection_state_hot import ConnectionState, ReaderState
    from cython.cimports.barnabas.net._socket_calls import barnabas_recv, barnabas_send
    from cython.cimports.barnabas.runtime._clock_hot import perf_ns
    from cython.cimports.barnabas.runtime._histogram_hot import Histogram
    from cython.cimports.cpython.bytearray import PyByteArray_FromStringAndSize
else:
    from barnabas.net._connection_state_hot import ConnectionState, ReaderState
    from barnabas.runtime._clock_hot import perf_ns
    from barnabas.runtime._histogram_hot import Histogram

COMPILED: bool = cython.compiled

NOTHING_DONE = 0
"""Nothing was received: the caller receives."""
RECEIVED = 1
"""The reader holds the received bytes: the caller takes frames, then sends."""
HANDLED = 2
"""A frame was handled: the caller sends what is queued."""
DONE = 3
"""The response was sent, or the connection is closed."""

_SIZE_BYTES = cython.declare(cython.Py_ssize_t, 4)


def serve_small(connection: ConnectionState) -> int:
    """Receives and serves one request; returns one of the constants above.

    Raises BlockingIOError when no bytes are available.
    """
    reader: ReaderState = connection._reader
    if connection._paused or connection._closing or connection._writing:
        return NOTHING_DONE
    if reader._frame is not None or reader._leftover or reader._saw_large or reader.stalled:
        return NOTHING_DONE
    if connection._output.unsent_bytes or connection._pending:
        return NOTHING_DONE
    count: cython.Py_ssize_t = _receive(connection, reader)
    connection._progress._bytes += count
    connection._progress.last_ms = reader._now_ms()
    if count == 0:
        connection.close()
        return DONE
    connection.received_ns = perf_ns()
    size: cython.Py_ssize_t = count - _SIZE_BYTES
    if size <= 0 or size > reader.max_frame_bytes or _size_of(reader) != size:
        reader._data = reader._scratch[:count]
        return RECEIVED
    frame = memoryview(_copy(reader, size))
    connection.frames_received += 1
    reply = None
    if connection._short is not None:
        reply = connection._short(connection, frame)
    if reply is None:
        reply = connection._handler(connection, frame)
    if type(reply) is not list or len(reply) != 1 or type(reply[0]) is not bytes:
        connection._replies.add(reply, connection.send_time)
        if connection.closed:
            connection._replies.clear()
        return HANDLED
    result: int = _send(connection, reply)
    return result


@cython.cfunc
@cython.exceptval(-1)
def _receive(connection: ConnectionState, reader: ReaderState) -> cython.Py_ssize_t:
    """Receives into the scratch buffer; returns the number of bytes, 0 at the end."""
    count: cython.Py_ssize_t
    if cython.compiled and connection._fd >= 0 and reader._scratch_bytes is not None:
        scratch: cython.p_uchar = cython.cast(cython.p_uchar, reader._scratch_bytes)
        count = barnabas_recv(connection._fd, scratch, len(reader._scratch_bytes))
        if count >= 0:
            return count
    # Python's function raises the exception for the error, or receives after a signal.
    count = reader._recv_into(reader._scratch)
    return count


@cython.cfunc
def _size_of(reader: ReaderState) -> cython.Py_ssize_t:
    """Returns the size in the first four bytes, which a frame begins with."""
    if cython.compiled and reader._scratch_bytes is not None:
        return i32(cython.cast(cython.p_uchar, reader._scratch_bytes), 0)
    size: cython.Py_ssize_t = int.from_bytes(reader._scratch[:_SIZE_BYTES], "big", signed=True)
    return size


@cython.cfunc
def _copy(reader: ReaderState, size: cython.Py_ssize_t) -> bytearray:
    """Returns the frame of `size` bytes in memory of its own."""
    if cython.compiled and reader._scratch_bytes is not None:
        scratch: cython.p_char = cython.cast(cython.p_char, reader._scratch_bytes)
        return PyByteArray_FromStringAndSize(scratch + _SIZE_BYTES, size)
    return bytearray(reader._scratch[_SIZE_BYTES : _SIZE_BYTES + size])


@cython.cfunc
def _send(connection: ConnectionState, reply: list) -> object:
    """Sends a response of one byte string; what cannot be sent now is queued."""
    if connection.closed:
        return DONE
    data: bytes = reply[0]
    size: cython.Py_ssize_t = len(data)
    send_time: Histogram | None = connection.send_time
    started_ns: cython.longlong = perf_ns()
    sent: cython.Py_ssize_t = -1
    if cython.compiled and connection._fd >= 0:
        sent = barnabas_send(connection._fd, cython.cast(cython.p_uchar, data), size)
    if sent < 0:
        try:
            sent = connection._send_bytes(data)
        except BlockingIOError:
            sent = 0
    if sent != size:
        connection._replies.add(reply, send_time)
        connection._output.drop(sent)
        return HANDLED
    connection._output.queued_bytes += size
    connection._progress._bytes += size
    if send_time is not None:
        send_time.record(perf_ns() - started_ns)
    return HANDLED if connection._closing else DONE
