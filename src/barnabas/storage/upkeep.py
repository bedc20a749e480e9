"""Changes to a log other than appends: truncation, retention, the end of a compaction pass.

Each keeps segments, epochs, snapshots, producers and watermarks in step, and turns disk errors
into the log's own. They run on the loop, between appends.
"""

from typing import TYPE_CHECKING

from barnabas.storage.compaction.cleaner import CleanResult
from barnabas.storage.errors import storage_error
from barnabas.storage.producers.producer_state import ProducerStates
from barnabas.storage.producers.replay import replay_producers
from barnabas.storage.retention import expired_segments

if TYPE_CHECKING:
    from barnabas.storage.log import Log


def truncate(log: "Log", offset: int) -> None:
    """Drop everything from `offset` on, which is within the log."""
    log.request_flush()
    try:
        log.local.truncate_to(offset)
        end = log.log_end_offset
        log.epochs.truncate_from_end(end)
        log.epochs.store()
        log.snapshots.remove_above(end)
    except OSError as error:
        raise log.health.judge(error) from error
    log.log_start_offset = min(log.log_start_offset, end)
    log.cleaned_offset = min(log.cleaned_offset, end)
    log.producers = _rebuilt_producers(log)
    log.update_high_watermark(log.high_watermark)


def start_over(log: "Log", offset: int, now_ms: int) -> None:
    """Drop everything and go on at `offset`."""
    log.request_flush()
    try:
        log.local.truncate_fully(offset, now_ms)
        log.epochs.clear()
        log.epochs.store()
        log.snapshots.clear()
    except OSError as error:
        raise log.health.judge(error) from error
    log.producers.clear()
    log.log_start_offset = offset
    log.cleaned_offset = -1
    log.update_high_watermark(offset)


def delete_expired(log: "Log", now_ms: int) -> int:
    """Remove what retention no longer holds; returns how many segments."""
    expired = expired_segments(log, now_ms)
    if not expired:
        return 0
    try:
        if expired[-1] is log.local.active:
            log.roll(now_ms)
        for segment in expired:
            log.local.remove_segments([segment])
        first = log.local.segments.first.base_offset
        log.log_start_offset = max(log.log_start_offset, first)
        log.epochs.truncate_from_start(log.log_start_offset)
        _drop_snapshots(log, beyond=first)
    except OSError as error:
        raise log.health.judge(error) from error
    return len(expired)


def replace_cleaned(log: "Log", result: CleanResult) -> bool:
    """Put cleaned segments in place; False, and nothing done, when the log has changed since."""
    if result.plan.generation != log.local.generation:
        return False
    try:
        for group in result.groups:
            log.local.replace_segments(group.replaced, group.cleaned)
        _drop_snapshots(log, beyond=log.local.active.base_offset)
    except OSError as error:
        # Half-way through the swap only a restart knows how to go on.
        log.health.fail(error)
        raise storage_error(error) from error
    return True


def _drop_snapshots(log: "Log", *, beyond: int) -> None:
    """Remove snapshots of segments that are gone; those behind an offset stay anyway."""
    bases = {segment.base_offset for segment in log.local.segments}
    log.snapshots.keep(o for o in log.snapshots.offsets if o in bases or o > beyond)


def _rebuilt_producers(log: "Log") -> ProducerStates:
    producers, start = log.snapshots.restore(log.log_end_offset)
    start = max(start, log.local.segments.first.base_offset)
    replay_producers(producers, log.local.segments, start, log.log_end_offset)
    producers.on_high_watermark(min(log.high_watermark, log.log_end_offset))
    return producers
