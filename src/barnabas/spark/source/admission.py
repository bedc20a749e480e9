"""Decides how many of the available offsets a micro-batch reads. Pure; the caller passes the time.

Spark's Python API has no composite limit and no delay, so the minimum, the maximum and the longest
delay are applied here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import Offsets


@dataclass(slots=True)
class Admission:
    """Owned by the driver side of one query. `last_ms` is the time of the last micro-batch."""

    max_offsets: int | None
    min_offsets: int | None
    max_delay_ms: int
    last_ms: int | None = None

    def admit(
        self,
        start: Mapping[TopicPartition, int],
        latest: Mapping[TopicPartition, int],
        now_ms: int,
    ) -> Offsets:
        """Returns the end of the next micro-batch; `start` if it should wait for more records."""
        if self._too_few(start, latest, now_ms):
            return dict(start)
        self.last_ms = now_ms
        if self.max_offsets is None:
            return dict(latest)
        return rate_limit(self.max_offsets, start, latest)

    def _too_few(
        self,
        start: Mapping[TopicPartition, int],
        latest: Mapping[TopicPartition, int],
        now_ms: int,
    ) -> bool:
        if self.min_offsets is None or self.last_ms is None or start.keys() != latest.keys():
            return False
        if now_ms - self.last_ms >= self.max_delay_ms:
            return False
        return (
            sum(latest[topic_partition] - begin for topic_partition, begin in start.items())
            < self.min_offsets
        )


def rate_limit(
    limit: int, start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
) -> Offsets:
    """Returns the ends of about `limit` offsets, in proportion to the backlog of each partition.

    A partition with a backlog gets at least one offset, so that a small one does not starve beside
    a large one. The sum may therefore exceed the limit by the number of partitions.
    """
    sizes = {
        topic_partition: max(end - start.get(topic_partition, 0), 0)
        for topic_partition, end in latest.items()
    }
    total = sum(sizes.values())
    if total <= limit:
        return dict(latest)
    ends: Offsets = {}
    for topic_partition, size in sizes.items():
        share = max(limit * size // total, 1) if size else 0
        ends[topic_partition] = (
            start.get(topic_partition, 0) + share if size else latest[topic_partition]
        )
    return ends
