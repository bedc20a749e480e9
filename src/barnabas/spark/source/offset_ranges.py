"""Ranges of offsets, cut and packed into tasks. Pure, and deterministic on purpose.

A micro-batch that is replayed after a crash must be cut exactly as it was the first time, or a
sink that skips finished tasks would skip the wrong rows. So the result depends on the offsets and
the options only: not on the number of cores, not on what the cluster looks like by now.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from barnabas.model.ids import TopicPartition

PACKED_RECORDS = 10_000
"""Small ranges share a task up to this many offsets: a task costs 10 ms, whatever it reads."""


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets `start` to `end` (exclusive) of one partition.

    `fresh` is a partition that the query has not seen before: it is read from its earliest record
    on, so that what retention took before the query came is no loss to it.
    """

    topic: str
    partition: int
    start: int
    end: int
    fresh: bool = False

    @property
    def size(self) -> int:
        """How many offsets; compaction and transactions may leave fewer records."""
        return self.end - self.start

    @property
    def place(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


def ranges_between(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
) -> list[OffsetRange]:
    """What lies between two sets of offsets, sorted.

    A partition that `start` does not know is new and begins at 0. One that ends before it starts
    was truncated: nothing of it is to be read.
    """
    ranges = [
        OffsetRange(place.topic, place.partition, start.get(place, 0), until, place not in start)
        for place, until in end.items()
    ]
    return sorted(item for item in ranges if item.size > 0)


def split_ranges(
    ranges: Iterable[OffsetRange],
    *,
    min_partitions: int | None = None,
    max_records: int | None = None,
) -> list[OffsetRange]:
    """Cut ranges so that none passes `max_records`, then so that there are about
    `min_partitions`, the larger ones first."""
    cut = list(ranges)
    if max_records is not None:
        cut = [part for item in cut for part in _split(item, -(-item.size // max_records))]
    if min_partitions is not None and len(cut) < min_partitions:
        cut = _split_to(cut, min_partitions)
    return cut


def pack_ranges(
    ranges: Iterable[OffsetRange], limit: int = PACKED_RECORDS
) -> list[tuple[OffsetRange, ...]]:
    """Group neighbouring ranges into tasks of up to `limit` offsets; a larger one stays alone."""
    tasks: list[list[OffsetRange]] = []
    room = 0
    for item in ranges:
        if not tasks or item.size > room:
            tasks.append([])
            room = limit
        tasks[-1].append(item)
        room -= item.size
    return [tuple(task) for task in tasks]


def _split_to(ranges: list[OffsetRange], count: int) -> list[OffsetRange]:
    total = sum(item.size for item in ranges)
    small = {item for item in ranges if item.size * count <= total}
    large_total = total - sum(item.size for item in small)
    left = count - len(small)
    parts: list[OffsetRange] = []
    for item in ranges:
        if item in small:
            parts.append(item)
        else:
            parts.extend(_split(item, max(1, round(item.size * left / large_total))))
    return parts


def _split(item: OffsetRange, count: int) -> list[OffsetRange]:
    count = max(1, min(count, item.size))
    bounds = [item.start + item.size * number // count for number in range(count + 1)]
    return [replace(item, start=low, end=high) for low, high in itertools.pairwise(bounds)]
