"""Selects the segments of a log that have expired.

Only whole segments expire, oldest first, and only below the high watermark. A segment expires when
it is below the log start offset and, with `cleanup.policy=delete`, when its newest record is older
than `retention.ms` or when the log without it still has `retention.bytes`.
"""

from collections.abc import Callable
from typing import Protocol

from barnabas.storage.local_log import LocalLog
from barnabas.storage.log_config import LogConfig
from barnabas.storage.segment import Segment


class RetainedLog(Protocol):
    """The part of a log that retention reads."""

    log_start_offset: int
    high_watermark: int

    @property
    def local(self) -> LocalLog: ...

    @property
    def config(self) -> LogConfig: ...


def expired_segments(log: RetainedLog, now_ms: int) -> list[Segment]:
    """Returns the segments to remove, oldest first; the last may be the active one."""
    most = _below_start(log)
    if log.config.delete:
        most = max(most, _by_time(log, now_ms), _by_size(log), key=len)
    return most


def _below_start(log: RetainedLog) -> list[Segment]:
    segments, end = log.local.segments, log.local.log_end_offset

    def below(segment: Segment) -> bool:
        return (
            segment is not log.local.active
            and segments.end_of(segment, end) <= log.log_start_offset
        )

    return _oldest_while(log, below)


def _by_time(log: RetainedLog, now_ms: int) -> list[Segment]:
    if log.config.retention_ms < 0:
        return []
    return _oldest_while(
        log, lambda segment: now_ms - newest_timestamp_ms(segment) > log.config.retention_ms
    )


def _by_size(log: RetainedLog) -> list[Segment]:
    if log.config.retention_bytes < 0:
        return []
    surplus = log.local.segments.size_bytes() - log.config.retention_bytes

    def surplus_without(segment: Segment) -> bool:
        nonlocal surplus
        surplus -= segment.size
        return surplus >= 0

    return _oldest_while(log, surplus_without)


def _oldest_while(log: RetainedLog, expired: Callable[[Segment], bool]) -> list[Segment]:
    found = []
    for segment in log.local.segments:
        end = log.local.segments.end_of(segment, log.local.log_end_offset)
        empty_active = segment is log.local.active and segment.size == 0
        # Stops at the first segment that stays, even if a later one has expired: the log must not
        # get a gap. Above the high watermark records are not committed, and a follower may still
        # need them.
        if end > log.high_watermark or empty_active or not expired(segment):
            break
        found.append(segment)
    return found


def newest_timestamp_ms(segment: Segment) -> int:
    """Returns the greatest timestamp of a segment, or its file time without timestamps."""
    largest = segment.largest_timestamp().timestamp
    return largest if largest >= 0 else segment.modified_ms()
