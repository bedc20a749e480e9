"""Encodes rows of Arrow columns as records. Compiled by Cython as it stands; works as it stands.

The way of a producer that is given columns: keys and values go from Arrow's buffers into the body
of a batch, no Python object per record. Knows Arrow's layout, not pyarrow: whoever has arrays
hands over their buffers. Headers have no such way. The record format is that of `_append_hot`.

Arrow's layout of a binary or text column: validity bits (absent when nothing is null), 32-bit
ends, of which there is one more than rows, and the bytes; a slice begins at an offset into them.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from barnabas.records import _cython_shim as cython

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
    """Write a zigzag varint; where the next byte goes."""
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
        """One value as an object, for the rows that take another way."""
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
        """Write length and bytes of a row's value; where the next byte goes."""
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
    """Rows of keys, values and times in a given order.

    `keys` None means that none has a key; `times` (64-bit milliseconds) None, that all have the
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
        """Key and value at a place of the order."""
        row: int = self._order[index]
        return (self._keys.get(row) if self._has_keys else None), self._values.get(row)

    def time(self, index: int, now_ms: int) -> int:
        """The time of the row at a place of the order."""
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
        """Write records into `target` from `span[0]` on, as many of `rows` as end before
        `span[1]`. `base` has the first offset delta, the time that deltas count from, and now.
        Returns where they end, how many they are, and their latest time.
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
            # Attributes and the count of headers take a byte each.
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
        """Bytes of key and value with their lengths; the length of null is -1, one byte."""
        value: cython.Py_ssize_t = self._values._size(row)
        size: cython.Py_ssize_t = _size_of(value) + max(value, 0)
        if not self._has_keys:
            return size + 1
        key: cython.Py_ssize_t = self._keys._size(row)
        return size + _size_of(key) + max(key, 0)
