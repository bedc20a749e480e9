"""Reads the few KB at the end of the active segment, the common read of a consumer that keeps up.

`read_small` returns None for every other read, and for everything that is not as expected;
`LogReader.read` then does it, which knows indexes, sealed segments and errors. Both return the same
bytes; a property test compares them.

Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

from itertools import islice
from os import pread
from struct import Struct

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.storage._log_append_hot import REMEMBERED_POSITIONS
from barnabas.storage.filesystem import OsFile

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import i32, i64
    from cython.cimports.barnabas.storage._log_state_hot import LogState, ReaderState, SegmentState
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.posix.unistd import pread as c_pread
else:
    from barnabas.storage._log_state_hot import LogState, ReaderState, SegmentState

COMPILED: bool = cython.compiled

# Base offset, length, leader epoch, magic, checksum, attributes, last offset delta.
_unpack_lead = Struct(">qiibIhi").unpack_from
_HEADER_SIZE = cython.declare(cython.longlong, 61)
_LOG_OVERHEAD = cython.declare(cython.longlong, 12)
_MAGIC = cython.declare(cython.int, 2)
_MOST_BYTES = cython.declare(cython.longlong, 8192)


def read_small(
    log: LogState,
    offset: cython.longlong,
    max_bytes: cython.longlong,
    bound: cython.longlong,
) -> bytes | None:
    """Returns whole batches from `offset` up to `bound` (exclusive), at least one batch.

    The caller has checked the directory, and that `offset` is in the log and below `bound`.
    """
    reader: ReaderState = log.local.reader
    segment: SegmentState = log.local.active
    known = reader._positions.get(offset)
    file = segment._file
    if known is None or known[0] is not segment or type(file) is not OsFile:
        return None
    position: cython.longlong = known[1]
    size: cython.longlong = segment.size - position
    end: cython.longlong = _end(reader, segment, bound)
    if size < _HEADER_SIZE or size > _MOST_BYTES or end < 0:
        return None
    data: bytes | None = _read(file._fd, size, position)
    if data is None:
        return None
    base: cython.longlong
    length: cython.longlong
    magic: cython.longlong
    delta: cython.longlong
    if cython.compiled:
        lead: cython.p_uchar = cython.cast(cython.p_uchar, data)
        base, length, magic, delta = i64(lead, 0), i32(lead, 8), lead[16], i32(lead, 23)
    else:
        base, length, _, magic, _, _, delta = _unpack_lead(data)
    first: cython.longlong = length + _LOG_OVERHEAD
    next_offset: cython.longlong = base + delta + 1
    if magic != _MAGIC or not _HEADER_SIZE <= first <= size or delta < 0 or base < 0:
        return None
    total: cython.longlong = end - position
    if next_offset > bound or total < first:
        return None
    if total <= max_bytes:
        next_offset = bound
    elif first >= max_bytes:
        total = first
    else:
        return None
    segment.used = True
    positions = reader._positions
    positions[next_offset] = (segment, position + total)
    if len(positions) > REMEMBERED_POSITIONS:
        reader._positions = dict(islice(positions.items(), len(positions) // 2, None))
    return data if total == size else data[:total]


@cython.cfunc
def _read(fd: cython.int, size: cython.longlong, position: cython.longlong) -> object:
    """Returns `size` bytes of a file from `position`; None if it has fewer, or after an error."""
    if cython.compiled:
        data: bytes = PyBytes_FromStringAndSize(cython.NULL, size)
        target: cython.p_char = cython.cast(cython.p_char, data)
        count: cython.Py_ssize_t
        with cython.nogil:
            count = c_pread(fd, target, size, position)
        return data if count == size else None
    try:
        found = pread(fd, size, position)
    except OSError:
        return None
    return found if len(found) == size else None


@cython.cfunc
@cython.exceptval(-2, check=False)
def _end(reader: ReaderState, segment: SegmentState, bound: cython.longlong) -> cython.longlong:
    """Returns the position in the active segment at which `bound` begins; -1 if not known."""
    if bound == reader._end_offset and reader._end_segment is segment:
        return segment.size
    known = reader._positions.get(bound)
    if known is None or known[0] is not segment:
        return -1
    return known[1]
