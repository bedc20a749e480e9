"""Rates and lag of topics and groups from samples of all offsets, and records over time.

Rates are differences of two samples, so they work with any Kafka cluster. Samples are taken only
while a page or a client requests them, and less often if one takes long: on a large cluster the
console uses at most a tenth of the time for sampling. Offsets are requested for some partitions at
a time, so that neither the brokers nor the pages wait long for a sample.

A histogram counts records by offsets, too: no record is read except the first of each partition.
The broker finds the offset of a time by its time index, so a bucket costs one lookup per partition.
Offsets that compaction or transactions removed are counted as records.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from barnabas.admin import EARLIEST, LATEST, MAX_TIMESTAMP, OffsetSpec
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import RatePoint
from barnabas.console.models.topics import HistogramBucket, RecordHistogram
from barnabas.console.services.group_listing import list_broker_groups
from barnabas.console.services.snapshots import ClusterSnapshots
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition

_log = logging.getLogger("barnabas.console")
INTERVAL_S = 2.0
_SHARE = 0.1
_UNUSED_S = 30.0
_HISTORY = 300
_PARTITIONS_AT_ONCE = 2000

Offsets = dict[TopicPartition, int]
MAX_BUCKETS = 120
MAX_PARTITIONS = 32
_CONCURRENT = 8
_FIRST_FETCH_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class TopicRate:
    """Rate, groups and lag of a topic.

    `groups` is the number of groups with committed offsets in the topic.
    """

    records_per_second: float
    groups: int
    lag: int


@dataclass(frozen=True, slots=True)
class OffsetSample:
    """End offsets and committed offsets at one time, in monotonic seconds."""

    taken_s: float
    time_ms: int
    ends: Offsets
    committed: dict[str, Offsets] = field(default_factory=dict)
    bytes_on_disk: int = 0


class RateSampler:
    """Takes samples while they are used; `now` is monotonic seconds, `time_ms` the wall clock."""

    def __init__(
        self,
        link: ClusterLink,
        snapshots: ClusterSnapshots,
        now: Callable[[], float],
        time_ms: Callable[[], int],
    ) -> None:
        self._link = link
        self._snapshots = snapshots
        self._now = now
        self._time_ms = time_ms
        self._used_s = 0.0
        self._followers = 0
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._last: OffsetSample | None = None
        self._changed = asyncio.Condition()
        self.points: deque[RatePoint] = deque(maxlen=_HISTORY)
        self.topics: dict[str, TopicRate] = {}

    @property
    def committed(self) -> dict[str, Offsets]:
        """The committed offsets of the last sample by group."""
        return {} if self._last is None else self._last.committed

    def touch(self) -> None:
        """Starts sampling, or keeps it running, unless the sampler is closed."""
        self._used_s = self._now()
        if not self._closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run())

    async def follow(self) -> AsyncIterator[RatePoint]:
        """Yields the newest point, then each new one."""
        self._followers += 1
        try:
            seen: RatePoint | None = None
            while True:
                self.touch()
                while (newest := self._newest()) is seen:
                    async with self._changed:
                        await self._changed.wait()
                seen = newest
                if newest is not None:
                    yield newest
        finally:
            self._followers -= 1

    async def close(self) -> None:
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _newest(self) -> RatePoint | None:
        return self.points[-1] if self.points else None

    async def _run(self) -> None:
        self._last = None  # the last sample may be old: its rates would be averages
        while self._followers or self._now() - self._used_s < _UNUSED_S:
            started = self._now()
            try:
                await self._take(started)
            except BarnabasError as error:
                _log.warning("rates cannot be sampled: %s", error)
            elapsed = self._now() - started
            await asyncio.sleep(max(INTERVAL_S - elapsed, elapsed / _SHARE - elapsed, 0.1))

    async def _take(self, started: float) -> None:
        sample = await self._sample(started)
        previous, self._last = self._last, sample
        if previous is None:
            self.topics = topic_rates(sample, sample)
            return
        self.topics = topic_rates(previous, sample)
        self.points.append(rate_point(previous, sample))
        async with self._changed:
            self._changed.notify_all()

    async def _sample(self, started: float) -> OffsetSample:
        admin = self._link.admin
        snapshot = await self._snapshots.current()
        ends: Offsets = {}
        led = [
            TopicPartition(topic.name, item.partition)
            for topic in snapshot.topics.values()
            for item in topic.partitions
            if item.leader is not None
        ]
        for start in range(0, len(led), _PARTITIONS_AT_ONCE):
            part = led[start : start + _PARTITIONS_AT_ONCE]
            listed = await admin.list_offsets(dict.fromkeys(part, LATEST))
            for topic_partition, found in listed.ok.items():
                if found.offset is not None:
                    ends[topic_partition] = found.offset
        committed = {
            group.name: {
                topic_partition: item.offset for topic_partition, item in group.offsets.items()
            }
            for group in await list_broker_groups(self._link)
        }
        size = sum(snapshot.sizes.values())
        return OffsetSample(started, self._time_ms(), ends, committed, size)


def topic_rates(before: OffsetSample, after: OffsetSample) -> dict[str, TopicRate]:
    """Returns rate, groups and lag of each topic."""
    elapsed = max(after.taken_s - before.taken_s, 1e-3)
    added: dict[str, int] = {}
    for topic_partition, end in after.ends.items():
        added[topic_partition.topic] = added.get(topic_partition.topic, 0) + max(
            end - before.ends.get(topic_partition, end), 0
        )
    groups: dict[str, set[str]] = {}
    lags: dict[str, int] = {}
    for group, offsets in after.committed.items():
        for topic_partition, offset in offsets.items():
            if topic_partition in after.ends:
                groups.setdefault(topic_partition.topic, set()).add(group)
                lags[topic_partition.topic] = lags.get(topic_partition.topic, 0) + max(
                    after.ends[topic_partition] - offset, 0
                )
    return {
        topic: TopicRate(round(count / elapsed, 2), len(groups.get(topic, ())), lags.get(topic, 0))
        for topic, count in added.items()
    }


def rate_point(before: OffsetSample, after: OffsetSample) -> RatePoint:
    """Returns the rates of the whole cluster, internal topics included."""
    elapsed = max(after.taken_s - before.taken_s, 1e-3)
    produced = sum(
        max(end - before.ends.get(topic_partition, end), 0)
        for topic_partition, end in after.ends.items()
    )
    consumed = lag = 0
    for group, offsets in after.committed.items():
        old = before.committed.get(group, {})
        consumed += sum(
            max(offset - old.get(topic_partition, offset), 0)
            for topic_partition, offset in offsets.items()
        )
        lag += sum(
            max(after.ends[topic_partition] - offset, 0)
            for topic_partition, offset in offsets.items()
            if topic_partition in after.ends
        )
    return RatePoint(
        time_ms=after.time_ms,
        records_in=round(produced / elapsed, 1),
        records_out=round(consumed / elapsed, 1),
        lag=lag,
        bytes_on_disk=after.bytes_on_disk,
    )


class HistogramService:
    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def histogram(
        self, name: str, buckets: int, start_ms: int | None, end_ms: int | None
    ) -> RecordHistogram:
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
            return RecordHistogram(start_ms=None, end_ms=None, buckets=[], partitions=len(led))
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
        return RecordHistogram(
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
