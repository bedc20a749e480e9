"""Encodes rows of Arrow columns as records. Cython compiles it; it also runs as plain Python.

A producer that gets columns copies keys and values from Arrow's buffers into the body of a batch,
without a Python object per record. This module uses Arrow's layout, not pyarrow: the caller passes
the buffers of its arrays. Headers are not supported. The record format is that of `_append_hot`.

Arrow's layout of a binary or text column: validity bits (absent when nothing is null), 32-bit
ends, of which there is one more than rows, and the bytes; a slice begins at an offset into them.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
    from cython.cimports.libc.string import memcpy

COMPILED: bool = cython.compiled


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _size_of(value: cython.longlong) -> cython.Py_ssize_t:
    """Bytes of a zigzag varint."""
    rest: cython.ulonglong = (value << 1) ^ (value >> 63)
    size: cython.Py_ssize_t = 1
    while rest >= 0x80:
        rest >>= 7
        size += 1
    return size


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _put(out: cython.p_uchar, at: cython.Py_ssize_t, value: cython.longlong) -> cython.Py_ssize_t:
    """Writes a zigzag varint; returns the position after it."""
    rest: cython.ulonglong = (value << 1) ^ (value >> 63)
    while rest >= 0x80:
        out[at] = (rest & 0x7F) | 0x80
        at += 1
        rest >>= 7
    out[at] = rest & 0x7F
    return at + 1


@cython.final
@cython.cclass
class BytesColumn:
    """One column; keeps its buffers alive. `bits` and `data` may be None."""

    _bits_view: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _ends_view: cython.const[cython.int][::1]  # type: ignore[valid-type]
    _data_view: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _data: cython.p_uchar
    _has_bits: cython.bint
    _offset: cython.Py_ssize_t

    def __init__(self, bits: Any, ends: Any, data: Any, offset: int) -> None:
        self._offset = offset
        self._has_bits = bits is not None
        self._bits_view = memoryview(bits).cast("B") if bits is not None else memoryview(b"\0")
        self._ends_view = memoryview(ends).cast("B").cast("i")
        self._data_view = memoryview(data or b"\0").cast("B")
        if cython.compiled:
            self._data = cython.cast(cython.p_uchar, cython.address(self._data_view[0]))
        else:
            self._data = self._data_view

    def get(self, row: int) -> bytes | None:
        """Returns one value as an object, for rows that are sent one by one."""
        size: cython.Py_ssize_t = self._size(row)
        if size < 0:
            return None
        start: cython.Py_ssize_t = self._ends_view[self._offset + row]
        return bytes(self._data_view[start : start + size])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _size(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Bytes of a row's value, -1 for null."""
        at: cython.Py_ssize_t = self._offset + row
        if self._has_bits and not (self._bits_view[at >> 3] >> (at & 7)) & 1:
            return -1
        return self._ends_view[at + 1] - self._ends_view[at]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    @cython.wraparound(False)
    def _copy(
        self, row: cython.Py_ssize_t, out: cython.p_uchar, at: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Writes length and bytes of a row's value; returns the position after them."""
        size: cython.Py_ssize_t = self._size(row)
        at = _put(out, at, size)
        if size <= 0:
            return at
        start: cython.Py_ssize_t = self._ends_view[self._offset + row]
        if cython.compiled:
            memcpy(out + at, self._data + start, size)
        else:
            out[at : at + size] = self._data[start : start + size]
        return at + size


@cython.final
@cython.cclass
class RowEncoder:
    """Encodes rows of keys, values and timestamps in a given order.

    With `keys` None no row has a key; with `times` (64-bit milliseconds) None all rows have the
    time at which they are encoded.
    """

    _keys: BytesColumn
    _values: BytesColumn
    _has_keys: cython.bint
    _has_times: cython.bint
    _order: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _times: cython.const[cython.longlong][::1]  # type: ignore[valid-type]

    def __init__(
        self, keys: BytesColumn | None, values: BytesColumn, order: Any, times: Any = None
    ) -> None:
        self._has_keys = keys is not None
        self._keys = values if keys is None else keys
        self._values = values
        self._order = memoryview(order).cast("B").cast("q")
        self._has_times = times is not None
        self._times = self._order if times is None else memoryview(times).cast("B").cast("q")

    def row(self, index: int) -> tuple[bytes | None, bytes | None]:
        """Returns key and value at an index of the order."""
        row: int = self._order[index]
        return (self._keys.get(row) if self._has_keys else None), self._values.get(row)

    def time(self, index: int, now_ms: int) -> int:
        """Returns the timestamp at an index of the order."""
        return int(self._times[self._order[index]]) if self._has_times else now_ms

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def encode(
        self,
        target: bytearray,
        span: tuple[int, int],
        base: tuple[int, int, int],
        rows: tuple[int, int],
    ) -> tuple[int, int, int]:
        """Writes records into `target` from `span[0]` on, as many of `rows` as end before
        `span[1]`. `base` has the first offset delta, the base timestamp and the current time.
        Returns the end position, the number of records and their largest timestamp.
        """
        at: cython.Py_ssize_t = span[0]
        limit: cython.Py_ssize_t = min(span[1], len(target))
        first: cython.longlong = base[0]
        base_time: cython.longlong = base[1]
        stamp: cython.longlong = base[2]
        latest: cython.longlong = base[1]
        time: cython.longlong = stamp - base_time
        index: cython.Py_ssize_t = rows[0]
        stop: cython.Py_ssize_t = min(rows[1], len(self._order))
        begin: cython.Py_ssize_t = index
        row: cython.Py_ssize_t
        delta: cython.longlong
        body: cython.Py_ssize_t
        out: cython.p_uchar
        if cython.compiled:
            out = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(target))
        else:
            out = target
        while index < stop:
            row = self._order[index]
            delta = first + index - begin
            if self._has_times:
                stamp = self._times[row]
                time = stamp - base_time
            # Attributes and the header count have one byte each.
            body = 2 + _size_of(time) + _size_of(delta) + self._fields(row)
            if at + _size_of(body) + body > limit:
                break
            at = _put(out, at, body)
            out[at] = 0
            at = _put(out, at + 1, time)
            at = _put(out, at, delta)
            at = self._keys._copy(row, out, at) if self._has_keys else _put(out, at, -1)
            at = self._values._copy(row, out, at)
            out[at] = 0
            at += 1
            index += 1
            latest = max(latest, stamp)
        return at, index - begin, latest

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _fields(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Returns the size of key and value with their lengths; the length of null is -1, one
        byte.
        """
        value: cython.Py_ssize_t = self._values._size(row)
        size: cython.Py_ssize_t = _size_of(value) + max(value, 0)
        if not self._has_keys:
            return size + 1
        key: cython.Py_ssize_t = self._keys._size(row)
        return size + _size_of(key) + max(key, 0)
