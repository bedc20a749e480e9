"""The segments of one log in order of their base offsets."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from barnabas.storage.segment import Segment


class SegmentList:
    """Segments of an open log, at least one; the last one is active. Owned by the loop."""

    __slots__ = ("_bases", "_segments")

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._segments: list[Segment] = []

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(list(self._segments))

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def active(self) -> Segment:
        return self._segments[-1]

    def add(self, segment: Segment) -> None:
        at = bisect_left(self._bases, segment.base_offset)
        if at < len(self._bases) and self._bases[at] == segment.base_offset:
            raise ValueError(f"two segments at offset {segment.base_offset}")
        self._bases.insert(at, segment.base_offset)
        self._segments.insert(at, segment)

    def remove(self, segment: Segment) -> None:
        at = bisect_left(self._bases, segment.base_offset)
        if at == len(self._segments) or self._segments[at] is not segment:
            raise ValueError(f"{segment!r} is not in the log")
        del self._bases[at], self._segments[at]

    def holds(self, segment: Segment) -> bool:
        at = bisect_left(self._bases, segment.base_offset)
        return at < len(self._segments) and self._segments[at] is segment

    def floor(self, offset: int) -> Segment | None:
        """Returns the segment whose range contains `offset`."""
        at = bisect_right(self._bases, offset) - 1
        return None if at < 0 else self._segments[at]

    def following(self, segment: Segment) -> Segment | None:
        at = bisect_right(self._bases, segment.base_offset)
        return self._segments[at] if at < len(self._segments) else None

    def between(self, start: int, end: int) -> list[Segment]:
        """Returns the segments that may contain offsets in [start, end)."""
        low = max(bisect_right(self._bases, start) - 1, 0)
        high = bisect_left(self._bases, end)
        return self._segments[low:high]

    def end_of(self, segment: Segment, log_end_offset: int) -> int:
        """Returns the end of a segment's range: the next base offset, or the log end offset."""
        following = self.following(segment)
        return log_end_offset if following is None else following.base_offset

    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)
