"""Records over time, counted by offsets: no record is read except the first of each partition.

The broker finds the offset of a time by its time index, so a bucket costs one lookup per partition.
Offsets that compaction or transactions removed are counted as records.
"""

import asyncio

from barnabas.admin import EARLIEST, LATEST, MAX_TIMESTAMP, OffsetSpec
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.topics import Histogram, HistogramBucket
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition

MAX_BUCKETS = 120
MAX_PARTITIONS = 32
_CONCURRENT = 8
_FIRST_FETCH_BYTES = 16 * 1024

Offsets = dict[TopicPartition, int]


class HistogramService:
    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def histogram(
        self, name: str, buckets: int, start_ms: int | None, end_ms: int | None
    ) -> Histogram:
        """Counts the records of a topic by time; without times, over the whole topic."""
        topic = await self._link.admin.describe_topic(name)
        led = [
            TopicPartition(name, item.partition)
            for item in topic.partitions
            if item.leader is not None
        ][:MAX_PARTITIONS]
        starts, ends = await self._offsets(led, EARLIEST), await self._offsets(led, LATEST)
        filled = [
            topic_partition
            for topic_partition in led
            if ends.get(topic_partition, 0) > starts.get(topic_partition, 0)
        ]
        first = start_ms if start_ms is not None else await self._first_time(filled, starts)
        last = end_ms if end_ms is not None else await self._last_time(filled)
        if first is None or last is None or not filled or last < first:
            return Histogram(start_ms=None, end_ms=None, buckets=[], partitions=len(led))
        edges = bucket_edges(first, last + 1 if end_ms is None else last, buckets)
        limit = asyncio.Semaphore(_CONCURRENT)

        async def position(time_ms: int) -> int:
            async with limit:
                found = await self._offsets(filled, OffsetSpec.at(time_ms))
            return sum(
                max(found.get(topic_partition, ends[topic_partition]), starts[topic_partition])
                for topic_partition in filled
            )

        positions = await asyncio.gather(*(position(edge) for edge in edges))
        return Histogram(
            start_ms=edges[0],
            end_ms=edges[-1],
            buckets=[
                HistogramBucket(
                    start_ms=edges[index],
                    end_ms=edges[index + 1],
                    records=max(positions[index + 1] - positions[index], 0),
                )
                for index in range(len(edges) - 1)
            ],
            partitions=len(led),
        )

    async def _offsets(self, partitions: list[TopicPartition], spec: OffsetSpec) -> Offsets:
        if not partitions:
            return {}
        found = (await self._link.admin.list_offsets(dict.fromkeys(partitions, spec))).ok
        return {
            topic_partition: item.offset
            for topic_partition, item in found.items()
            if item.offset is not None
        }

    async def _first_time(self, filled: list[TopicPartition], starts: Offsets) -> int | None:
        """Returns the smallest timestamp of the first records."""
        if not filled:
            return None
        wanted = {topic_partition: starts[topic_partition] for topic_partition in filled}
        found = await self._link.simple_consumer.fetch_many(wanted, _FIRST_FETCH_BYTES)
        times = []
        for batches in found.values():
            if isinstance(batches, BarnabasError):
                continue
            records, _ = batches.decode()
            times += [record.timestamp for record in records[:1] if record.timestamp >= 0]
        return min(times, default=None)

    async def _last_time(self, filled: list[TopicPartition]) -> int | None:
        if not filled:
            return None
        wanted = dict.fromkeys(filled, MAX_TIMESTAMP)
        found = (await self._link.admin.list_offsets(wanted)).ok
        return max(
            (item.timestamp for item in found.values() if item.timestamp is not None), default=None
        )


def bucket_edges(start_ms: int, end_ms: int, buckets: int) -> list[int]:
    """Returns the borders of at most `buckets` equal parts, each at least 1 ms.

    >>> bucket_edges(0, 10, 4), bucket_edges(5, 6, 4)
    ([0, 2, 5, 7, 10], [5, 6])
    """
    span = max(end_ms - start_ms, 1)
    count = max(min(buckets, span), 1)
    return [start_ms + span * index // count for index in range(count + 1)]
