"""Rates and lag of topics and groups, from samples of all offsets.

Rates are differences of two samples, so they work with any Kafka cluster. Samples are taken only
while a page or a client asks for them, and less often if one takes long: on a large cluster the
console uses at most a tenth of the time for sampling. Offsets are requested for some partitions at
a time, so that neither the brokers nor the pages wait long for a sample.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from barnabas.admin import LATEST
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import RatePoint
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


@dataclass(frozen=True, slots=True)
class TopicRate:
    """`groups` is the number of groups with committed offsets in the topic."""

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
        self._last: OffsetSample | None = None
        self._changed = asyncio.Condition()
        self.points: deque[RatePoint] = deque(maxlen=_HISTORY)
        self.topics: dict[str, TopicRate] = {}

    @property
    def committed(self) -> dict[str, Offsets]:
        """The committed offsets of the last sample by group."""
        return {} if self._last is None else self._last.committed

    def touch(self) -> None:
        """Starts sampling, or keeps it running."""
        self._used_s = self._now()
        if self._task is None or self._task.done():
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
