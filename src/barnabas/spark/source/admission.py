"""How much of what is there one micro-batch takes. Pure; `now` comes from the caller.

Spark's Python API has no composite limit and no delay, so the least, the most and the longest
wait are all decided here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import Offsets


@dataclass(slots=True)
class Admission:
    """Owned by one query's driver side. `last_ms` is when a batch was let through last."""

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
        """The end of the next batch: `start` itself when it is better to wait."""
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
        return sum(latest[place] - begin for place, begin in start.items()) < self.min_offsets


def rate_limit(
    limit: int, start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
) -> Offsets:
    """About `limit` offsets, shared out in proportion to what each partition has waiting.

    A partition with anything waiting gets at least one, so that a small one never starves beside
    a large one; the sum may therefore pass the limit by as many as there are partitions.
    """
    sizes = {place: max(end - start.get(place, 0), 0) for place, end in latest.items()}
    total = sum(sizes.values())
    if total <= limit:
        return dict(latest)
    ends: Offsets = {}
    for place, size in sizes.items():
        share = max(limit * size // total, 1) if size else 0
        ends[place] = start.get(place, 0) + share if size else latest[place]
    return ends
