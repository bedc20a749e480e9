"""Reads of a log: from an offset to a slice of one segment's file.

A read returns whole batches of one segment. Two bounds hold: `max_offset`, never passed by a byte
(it is a high watermark, a last stable offset or the log end, and exclusive), and `max_bytes`,
passed only when the first batch alone is larger and the caller wants at least one.

Consumers read on where they stopped, and most stand at the end. So the positions of the latest
appends and of the ends of the latest reads are remembered, and a lookup that hits them touches no
index: one header is read to make sure.
"""

from collections import deque
from typing import NamedTuple

from barnabas.storage.file_slice import FileSlice
from barnabas.storage.segments import batch_scan, lookup
from barnabas.storage.segments.batch_scan import Span
from barnabas.storage.segments.segment import Segment
from barnabas.storage.segments.segment_list import SegmentList

_REMEMBERED = 512
_HELD_OPEN = 4


class LogRead(NamedTuple):
    """What a read found. `slice` is None, and `size` 0, when there was nothing to return."""

    slice: FileSlice | None
    size: int
    first_batch_base_offset: int
    next_offset: int
    """Where the reader goes on; equal to the asked offset when nothing was returned."""


class TimestampHit(NamedTuple):
    """The record a search by time found."""

    timestamp: int
    offset: int
    leader_epoch: int


class LogReader:
    """Lookups over the segments of one log; loop-owned."""

    __slots__ = ("_held", "_places", "_segments")

    def __init__(self, segments: SegmentList) -> None:
        self._segments = segments
        self._held: deque[Segment] = deque()
        """Closed segments read of late: their files stay open, those of the others do not."""
        self._places: dict[int, tuple[Segment, int]] = {}

    def remember(self, offset: int, segment: Segment, position: int) -> None:
        """Keep in mind that a reader of `offset` begins at this place."""
        places = self._places
        places[offset] = (segment, position)
        if len(places) > _REMEMBERED:
            del places[next(iter(places))]

    def forget(self) -> None:
        """After segments changed: no remembered place is good."""
        self._places.clear()

    def read(self, offset: int, max_bytes: int, bound: int, min_one_batch: bool) -> LogRead:
        """Batches from the one that holds `offset` up to the exclusive offset `bound`."""
        found = self.locate(offset)
        if found is None or found[1].last_offset >= bound:
            return LogRead(None, 0, offset, offset)
        segment, first = found
        end = self._end_position(segment, first, bound)
        next_offset = bound
        if end - first.position > max_bytes:
            if first.size > max_bytes and not min_one_batch:
                return LogRead(None, 0, first.base_offset, offset)
            last = self._cut(segment, first, end, max_bytes)
            end, next_offset = last.end, last.last_offset + 1
        elif end == segment.size:
            next_offset = min(bound, self._segments.end_of(segment, bound))
        self.remember(next_offset, segment, end)
        size = end - first.position
        piece = FileSlice(segment.open_file(), first.position, size)
        if segment.sealed:
            self._hold(segment)
        return LogRead(piece, size, first.base_offset, next_offset)

    def locate(self, offset: int) -> tuple[Segment, Span] | None:
        """The segment and the first batch whose last offset is at least `offset`."""
        place = self._places.get(offset)
        if place is not None:
            segment, position = place
            span = batch_scan.span_at(segment.open_file(), position, segment.size)
            if span is not None:
                return segment, span
        return self._search(offset)

    def _hold(self, segment: Segment) -> None:
        if segment not in self._held:
            self._held.append(segment)
            if len(self._held) > _HELD_OPEN:
                self._held.popleft().release()

    def _search(self, offset: int) -> tuple[Segment, Span] | None:
        segment = self._segments.floor(offset) or self._segments.first
        while True:
            span = lookup.find(segment, offset) if segment.size else None
            if span is not None:
                return segment, span
            # Compaction may leave a segment without anything at or after an offset of its range.
            following = self._segments.following(segment)
            if following is None:
                return None
            segment = following

    def _end_position(self, segment: Segment, first: Span, bound: int) -> int:
        """Where the first batch that reaches `bound` begins, or the end of the segment."""
        place = self._places.get(bound)
        if place is not None and place[0] is segment:
            return place[1]
        following = self._segments.following(segment)
        if following is not None and bound >= following.base_offset:
            return segment.size
        span = lookup.find(segment, bound)
        return segment.size if span is None else max(span.position, first.end)

    def _cut(self, segment: Segment, first: Span, end: int, max_bytes: int) -> Span:
        if first.size >= max_bytes:
            return first
        return lookup.cut(segment, first, min(first.position + max_bytes, end))
