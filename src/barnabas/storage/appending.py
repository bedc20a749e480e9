"""Appends to a log: offsets given, bytes written, producers accounted for.

Rules that appends keep:
- memory changes only after the bytes are in the file;
- a write that fails is cut off again; lack of space fails that append only, any other error takes
  the directory offline for good.

They run on the loop. Whether a batch is well formed is `records.validation`'s business and whether
this broker leads `replication`'s; both have said yes before.
"""

from typing import TYPE_CHECKING

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.records.batch import BatchHeader, assign_offsets, stamp_log_append_time
from barnabas.records.control import EndMarker
from barnabas.storage.append_info import AppendInfo, AppendOrigin, end_marker_of, follower_batches
from barnabas.storage.indexes.offset_index import MAX_RELATIVE_OFFSET
from barnabas.storage.indexes.transaction_index import AbortedTxn
from barnabas.storage.producers.producer_state import BatchMetadata

if TYPE_CHECKING:
    from barnabas.storage.log import Log


def as_leader(
    log: "Log",
    batch: bytearray | memoryview,
    header: BatchHeader,
    leader_epoch: int,
    now_ms: int,
    origin: AppendOrigin,
) -> AppendInfo:
    """Give one batch the next offsets and write it, unless it is a retry of a remembered one."""
    config = log.local.config
    if header.size > config.segment_bytes:
        raise BrokerError(ErrorCode.RECORD_LIST_TOO_LARGE)
    marker = None
    if header.producer_id >= 0:
        if header.is_control:
            marker = _checked_marker(log, batch, header)
        elif origin is AppendOrigin.CLIENT:
            duplicate = log.producers.check_data(header)
            if duplicate is not None:
                return _as_before(log, duplicate)
    append_time = -1
    if config.log_append_time:
        stamp_log_append_time(batch, 0, header, now_ms)
        append_time = now_ms
    first = log.local.log_end_offset
    assign_offsets(batch, 0, first, leader_epoch)
    header.base_offset = first
    header.partition_leader_epoch = leader_epoch
    _note(log, header, _write(log, batch, header, now_ms), marker)
    last = first + header.last_offset_delta
    return AppendInfo(first, last, header.max_timestamp, append_time, log.log_start_offset, False)


def as_follower(log: "Log", batches: memoryview | bytes, now_ms: int) -> AppendInfo:
    """Write the whole batches among these bytes as they are."""
    headers = follower_batches(batches, log.log_end_offset)
    if not headers:
        end = log.log_end_offset
        return AppendInfo(end, end - 1, -1, -1, log.log_start_offset, False)
    parsed = [header for _, header in headers]
    written = _write_all(log, memoryview(batches), headers, now_ms)
    for position, header in headers:
        marker = None
        if header.is_control and header.producer_id >= 0:
            marker = end_marker_of(memoryview(batches)[position:], header)
        _note(log, header, written + position, marker)
    first, last = parsed[0].base_offset, parsed[-1].last_offset
    newest = max(header.max_timestamp for header in parsed)
    return AppendInfo(first, last, newest, -1, log.log_start_offset, False)


def _checked_marker(
    log: "Log", batch: bytearray | memoryview, header: BatchHeader
) -> EndMarker | None:
    marker = end_marker_of(batch, header)
    if marker is not None:
        log.producers.check_marker(header, marker)
    return marker


def _as_before(log: "Log", batch: BatchMetadata) -> AppendInfo:
    append_time = batch.timestamp if log.config.log_append_time else -1
    return AppendInfo(
        batch.first_offset,
        batch.last_offset,
        batch.timestamp,
        append_time,
        log.log_start_offset,
        True,
    )


def _write(log: "Log", batch: bytearray | memoryview, header: BatchHeader, now_ms: int) -> int:
    """One batch into the active segment, or a new one; where it begins."""
    local, size = log.local, header.size
    last = header.base_offset + header.last_offset_delta
    try:
        if local.must_roll(size, last, header.max_timestamp, now_ms):
            log.roll_at(header.base_offset, now_ms)
        data = batch if len(batch) == size else memoryview(batch)[:size]
        position = local.active.write(data)
    except OSError as error:
        raise log.health.judge(error, size) from error
    if log.health.failing:
        log.health.written(size)
    return position


def _write_all(
    log: "Log", batches: memoryview, headers: list[tuple[int, BatchHeader]], now_ms: int
) -> int:
    """All of a leader's batches in one write into one segment; where they begin."""
    position, final = headers[-1]
    total = position + final.size
    end, first, last = log.log_end_offset, headers[0][1].base_offset, final.last_offset
    newest = max(header.max_timestamp for _, header in headers)
    try:
        if log.local.must_roll(total, last, newest, now_ms):
            # Segments follow each other without a gap unless a gap could not be addressed.
            log.roll_at(first if last - end > MAX_RELATIVE_OFFSET else end, now_ms)
        written = log.local.active.write(batches[:total])
    except OSError as error:
        raise log.health.judge(error, total) from error
    if log.health.failing:
        log.health.written(total)
    return written


def _note(log: "Log", header: BatchHeader, position: int, marker: EndMarker | None) -> None:
    """Account for a batch that is in the file."""
    log.appended(header, position)
    if header.producer_id < 0:
        return
    last = header.base_offset + header.last_offset_delta
    if marker is not None:
        _end_transaction(log, header, marker, last)
    elif not header.is_control:
        log.producers.apply_data(header, header.base_offset, last)


def _end_transaction(log: "Log", header: BatchHeader, marker: EndMarker, last: int) -> None:
    ended = log.producers.apply_marker(header, marker, last)
    if ended is None:
        return
    if ended.aborted:
        stable = log.producers.stable_offset_after(ended)
        log.local.active.aborted.append(
            AbortedTxn(ended.producer_id, ended.first_offset, ended.last_offset, stable)
        )
    log.producers.complete(ended)
