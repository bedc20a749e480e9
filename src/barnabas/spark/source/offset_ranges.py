"""Splits ranges of offsets and packs them into tasks. Pure and deterministic.

A micro-batch that is replayed after a crash must be split as it was the first time; otherwise a
sink that skips finished tasks would skip the wrong rows. So the result depends only on the offsets
and the options, not on the number of cores or the present state of the cluster.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from barnabas.model.ids import TopicPartition

PACKED_RECORDS = 10_000
"""Small ranges share a task up to this many offsets: a task takes at least 10 ms."""


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets `start` to `end` (exclusive) of one partition.

    `fresh` marks a partition that the query has not read before. It is read from its earliest
    record, so records that retention deleted before are not a loss.
    """

    topic: str
    partition: int
    start: int
    end: int
    fresh: bool = False

    @property
    def size(self) -> int:
        """The number of offsets; compaction and transactions may leave fewer records."""
        return self.end - self.start

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


def ranges_between(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
) -> list[OffsetRange]:
    """Returns the sorted ranges between two sets of offsets.

    A partition that is missing in `start` is new and begins at 0. One that ends before it starts
    was truncated: none of it is read.
    """
    ranges = [
        OffsetRange(
            topic_partition.topic,
            topic_partition.partition,
            start.get(topic_partition, 0),
            until,
            topic_partition not in start,
        )
        for topic_partition, until in end.items()
    ]
    return sorted(item for item in ranges if item.size > 0)


def split_ranges(
    ranges: Iterable[OffsetRange],
    *,
    min_partitions: int | None = None,
    max_records: int | None = None,
) -> list[OffsetRange]:
    """Splits ranges so that none exceeds `max_records`, then so that there are about
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
    """Groups neighbouring ranges into tasks of up to `limit` offsets; a larger one stays alone."""
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
