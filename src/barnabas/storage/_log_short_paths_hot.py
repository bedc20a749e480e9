"""Short paths of a log: the common append and the common read, each in one compiled call.

`append_to_active` writes one batch to the active segment and updates segment, reader and producer
state. It returns False, and has changed nothing, if the batch needs a new segment or the segment's
file is not open; `Log` then takes the ordinary steps, which decide about every rare case.

`read_small` reads the few KB at the end of the active segment, for a consumer that keeps up. It
returns None for every other read, and for everything that is not as expected; `LogReader.read` then
does it, which knows indexes, sealed segments and errors.

Short paths and ordinary steps must leave the same state behind and return the same bytes; a
property test compares them. Compiled by Cython as it stands; works uncompiled too. As separate
methods of log, segment, indexes and reader the steps of an append took a quarter of the time of a
produce request of one record.
"""

from __future__ import annotations

from itertools import islice
from os import pread
from struct import Struct
from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import BrokerError
from barnabas.storage.filesystem import OsFile
from barnabas.storage.indexes import TimestampOffset

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import i32, i64, put_i32, put_i64
    from cython.cimports.barnabas.records._batch_header_hot import BatchHeader
    from cython.cimports.barnabas.storage._log_state_hot import (
        LocalState,
        LogState,
        ReaderState,
        SegmentState,
        note_change,
    )
    from cython.cimports.cpython.buffer import (
        Py_buffer,
        PyBUF_WRITABLE,
        PyBuffer_Release,
        PyObject_GetBuffer,
    )
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.posix.unistd import pread as c_pread
    from cython.cimports.posix.unistd import pwrite
else:
    from barnabas.records._batch_header_hot import BatchHeader
    from barnabas.storage._log_state_hot import (
        LocalState,
        LogState,
        ReaderState,
        SegmentState,
        note_change,
    )

if TYPE_CHECKING:
    from barnabas.storage.log_config import LogConfig

COMPILED: bool = cython.compiled

REMEMBERED_POSITIONS = 512
"""Positions of appends and reads that a reader remembers."""
_REMEMBERED = cython.declare(cython.Py_ssize_t, 512)
_LOG_OVERHEAD = cython.declare(cython.longlong, 12)
# Base offset, length, leader epoch, magic, checksum, attributes, last offset delta.
_unpack_lead = Struct(">qiibIhi").unpack_from
_HEADER_SIZE = cython.declare(cython.longlong, 61)
_MAGIC = cython.declare(cython.int, 2)
_MOST_BYTES = cython.declare(cython.longlong, 8192)
_MAX_RELATIVE = cython.declare(cython.longlong, 2**31 - 1)
_OFFSET_ENTRY_BYTES = cython.declare(cython.Py_ssize_t, 8)
_TIME_ENTRY_BYTES = cython.declare(cython.Py_ssize_t, 12)
_pack_offset = Struct(">q").pack_into
_pack_epoch = Struct(">i").pack_into


@cython.cfunc
@cython.inline
@cython.exceptval(check=True)
def _remember(
    reader: ReaderState,
    offset: cython.longlong,
    segment: SegmentState,
    position: cython.longlong,
) -> cython.void:
    """Stores where a batch begins; drops the older half of the positions above the limit."""
    positions = reader._positions
    positions[offset] = (segment, position)
    if len(positions) > _REMEMBERED:
        reader._positions = dict(islice(positions.items(), len(positions) // 2, None))


# --- Append ---------------------------------------------------------------------------------------


def append_to_active(
    log: LogState,
    batch: Any,
    header: BatchHeader,
    leader_epoch: cython.longlong,
    now_ms: cython.longlong,
) -> cython.bint:
    """Assigns offsets to a validated batch and writes it; False if it is not the common case.

    The caller has checked directory, producer and size. `batch`, a writable buffer, contains
    nothing but the batch.
    """
    local: LocalState = log.local
    segment: SegmentState = local.active
    size: cython.longlong = len(batch)
    position: cython.longlong = segment.size
    first: cython.longlong = local.log_end_offset
    last: cython.longlong = first + header.last_offset_delta
    if size != _LOG_OVERHEAD + header.batch_length:
        return False
    config: LogConfig = local.config
    file = segment._file
    if file is None or not _has_room(config, segment, size, last):
        return False
    # An empty segment has no age: `LocalLog.must_roll` decides the same.
    if position and _is_too_old(config, local.jitter_ms, segment, header.max_timestamp, now_ms):
        return False
    header.base_offset = first
    header.partition_leader_epoch = leader_epoch
    try:
        _write(file, batch, size, position, first, leader_epoch)
    except OSError as error:
        raise _write_failed(log, file, position, error, size) from error
    if log.health.failing:
        log.health.write_succeeded(size)
    segment.used = True
    segment.size = position + size
    _note(log, local, segment, header, position, last)
    return True


@cython.cfunc
@cython.exceptval(check=True)
def _write(
    file: Any,
    batch: Any,
    size: cython.longlong,
    position: cython.longlong,
    first: cython.longlong,
    leader_epoch: cython.longlong,
) -> cython.void:
    """Sets offset and leader epoch of the batch and writes it."""
    # In place, without a copy: base offset and leader epoch are in front of the bytes that the
    # checksum covers.
    if not cython.compiled or type(file) is not OsFile:
        _pack_offset(batch, 0, first)
        _pack_epoch(batch, 12, leader_epoch)
        file.pwrite(batch, position)
        return
    view = cython.declare(Py_buffer)
    fd: cython.int = file._fd
    written: cython.longlong = 0
    PyObject_GetBuffer(batch, cython.address(view), PyBUF_WRITABLE)
    try:
        put_i64(cython.cast(cython.p_uchar, view.buf), 0, first)
        put_i32(cython.cast(cython.p_uchar, view.buf), 12, leader_epoch)
        with cython.nogil:
            written = pwrite(fd, view.buf, size, position)
    finally:
        PyBuffer_Release(cython.address(view))
    if written != size:
        # Repeats a failed call, which raises the exception for its error.
        written = max(written, 0)
        file._write_rest(memoryview(batch)[written:], position + written)


def _write_failed(log: LogState, file: Any, position: int, error: OSError, size: int) -> Exception:
    """Removes a partial write; returns the error to raise."""
    try:
        file.truncate(position)
    except OSError as second:
        return log.health.write_failed(second, size)
    return log.health.write_failed(error, size)


@cython.cfunc
def _has_room(
    config: LogConfig, segment: SegmentState, size: cython.longlong, last: cython.longlong
) -> cython.bint:
    """Whether size, relative offsets and indexes allow a batch that ends at offset `last`."""
    total: cython.longlong = segment.size + size
    if total > config.segment_bytes or total > _MAX_RELATIVE:
        return False
    if last - segment.base_offset > _MAX_RELATIVE:
        return False
    offsets, times = segment.offsets.entries._memory, segment.times.entries._memory
    if offsets is None or times is None:
        return False
    limit: cython.Py_ssize_t = config.max_index_bytes
    if len(offsets) // _OFFSET_ENTRY_BYTES >= limit // _OFFSET_ENTRY_BYTES:
        return False
    # One slot of the time index stays free for the entry that closing the segment may add.
    return len(times) // _TIME_ENTRY_BYTES < limit // _TIME_ENTRY_BYTES - 1


@cython.cfunc
def _is_too_old(
    config: LogConfig,
    jitter_ms: cython.longlong,
    segment: SegmentState,
    newest: cython.longlong,
    now_ms: cython.longlong,
) -> cython.bint:
    """Whether the segment is older than `segment.ms`, measured as `LocalLog.must_roll` does."""
    begin: cython.longlong = segment.first_timestamp
    if begin < 0 or newest < 0:
        begin, newest = segment.created_ms, now_ms
    limit: cython.longlong = config.segment_ms
    return newest - begin > limit - jitter_ms


@cython.cfunc
@cython.exceptval(check=True)
def _note(
    log: LogState,
    local: LocalState,
    segment: SegmentState,
    header: BatchHeader,
    position: cython.longlong,
    last: cython.longlong,
) -> cython.void:
    """Updates all state for a batch that is in the segment's file."""
    end: cython.longlong = last + 1
    first: cython.longlong = header.base_offset
    if position == 0:
        segment.first_timestamp = header.max_timestamp
    if segment._bytes_since_index > segment.index_interval:
        segment.note_batch(position, segment.size - position, last, header.max_timestamp)
    else:
        largest = segment._largest
        # The cast: Cython calls the item method of a class that is not tuple itself.
        if largest is None or header.max_timestamp > cython.cast(tuple, largest)[0]:
            # Not TimestampOffset(...): the generated __new__ is a Python function.
            fields = (header.max_timestamp, last)
            segment._largest = tuple.__new__(TimestampOffset, fields)
        segment._bytes_since_index += segment.size - position
    epochs: list[Any] = log.epochs.entries
    if not epochs or header.partition_leader_epoch > cython.cast(tuple, epochs[-1])[0]:
        log.epochs.assign(header.partition_leader_epoch, first)
    local.log_end_offset = end
    reader: ReaderState = local.reader
    reader._end_offset = end
    reader._end_segment = segment
    _remember(reader, first, segment, position)
    log._flusher.unflushed_records += header.records_count
    log._modified = True
    note_change(log)
    if header.producer_id >= 0:
        log.producers.apply_data(header, first, last)


def append_single(
    log: LogState,
    batch: Any,
    header: BatchHeader,
    leader_epoch: cython.longlong,
    now_ms: cython.longlong,
) -> cython.longlong:
    """Appends a client's batch of records; returns its first offset.

    Returns -1, and has changed nothing, for everything that `Log.append_as_leader` must decide: a
    closed log, a repeated batch, a wrong sequence, LogAppendTime. Raises BrokerError if the write
    fails.
    """
    config: LogConfig = log.local.config
    if log.health.failed or log._flusher.closed or config.log_append_time:
        return -1
    if len(batch) > config.segment_bytes:
        return -1
    if header.producer_id >= 0:
        try:
            if log.producers.check_data(header) is not None:
                return -1
        except BrokerError:
            return -1
    if not append_to_active(log, batch, header, leader_epoch, now_ms):
        return -1
    return header.base_offset


# --- Read -----------------------------------------------------------------------------------------


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
    _remember(reader, next_offset, segment, position + total)
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
