"""Lag of the consumer groups that this broker coordinates, in records and in seconds.

The lag in seconds is the age of the first record that the group has not committed: the coordinator
reads the timestamp of the batch at the committed offset. It uses its own replica of the partition,
or sends a request to the leader if it has none (`LeaderQueries`). The timestamp at an offset is
read once.

A group that has read all records before a transaction marker has no lag in seconds, because a
marker is not a record. The lag in records counts the marker, as Kafka's tools do.

`GroupOffsets` has the committed offsets. It reads those of the groups that this broker coordinates,
and of the groups of the ZooKeeper high-level consumer, which store their offsets in the metadata
tree. Each group of the tree belongs to the broker that would coordinate a group of this name, so
that one broker of the cluster reports it; while there is no topic of committed offsets, this is the
controller. During a migration a group may have offsets in both places: the higher one counts, as
for the consumer.

`LagMonitor.update` runs periodically in slices; readers see the last complete result.
"""

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from barnabas.broker.services import Services
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import OFFSETS_TOPIC, TopicPartition
from barnabas.records.batch import HEADER_SIZE, BatchHeader, parse_header
from barnabas.runtime.clock import Clock
from barnabas.runtime.slices import in_slices
from barnabas.storage.log import Log
from barnabas.zk import paths
from barnabas.zk.tree import MetadataTree, NoNodeError, TreeError
from barnabas.zk.znodes import decode_offset

_logger = logging.getLogger("barnabas.broker")
_TREND_MS = 60_000
_NO_RECORD = -1
"""Instead of a timestamp: only markers of transactions follow. Another record may follow later."""

Position = tuple[TopicPartition, int]
"""An offset in a partition."""
_READS = 20
"""Nodes of the tree that are read at a time."""


class GroupOffset(NamedTuple):
    """A committed offset of a group."""

    group: str
    topic_partition: TopicPartition
    offset: int


class LogBounds(NamedTuple):
    """First offset of a log, and the end of its committed records."""

    start: int
    end: int


class CommittedLag(NamedTuple):
    """Lag of a group in one partition.

    `seconds` is 0 without lag, and None if the timestamp cannot be read.
    """

    group: str
    topic_partition: TopicPartition
    committed: int
    records: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class GroupLag:
    """Lag of a group over all its partitions.

    Attributes:
        records: Sum of the lags.
        seconds: The largest lag in seconds.
        change_per_second: Change of `records` in the last minute; negative: the lag shrinks.
        catch_up_seconds: Estimated time until the lag is 0; None if it does not shrink.
    """

    group: str
    records: int
    seconds: float
    change_per_second: float
    catch_up_seconds: float | None


class LagLogSource(Protocol):
    """Finds the local replica of a partition."""

    def get(self, topic_partition: TopicPartition) -> Log | None: ...


class LeaderQueries(Protocol):
    """Reads from the leaders of partitions that have no replica on this broker.

    Partitions whose leader cannot be reached are missing in the results.
    """

    async def bounds(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LogBounds]: ...

    async def timestamps(self, positions: Collection[Position]) -> Mapping[Position, int]:
        """Returns the timestamps of the batches that contain the offsets."""
        ...


class LagMonitor:
    """Computes the lags; owned by the broker's loop."""

    def __init__(
        self,
        offsets: Callable[[], Awaitable[Iterable[GroupOffset]]],
        logs: LagLogSource,
        leaders: LeaderQueries,
        clock: Clock,
    ) -> None:
        self._offsets = offsets
        self._logs = logs
        self._leaders = leaders
        self._clock = clock
        self._timestamps: dict[Position, int] = {}
        self._read_logs: dict[TopicPartition, Log | None] = {}
        self._history: dict[str, list[tuple[int, int]]] = {}
        self.partitions: list[CommittedLag] = []
        self.groups: dict[str, GroupLag] = {}

    async def run(self, period_s: float, is_read: Callable[[], bool]) -> None:
        """Updates the lags, while there are readers, until the task is cancelled."""
        while True:
            try:
                if is_read():
                    await self.update()
            except Exception:
                _logger.exception("computing the lag of groups failed")
            await asyncio.sleep(period_s)

    async def update(self) -> None:
        """Computes all lags; other callbacks of the loop run in between."""
        committed = list(await self._offsets())
        bounds = await self._bounds({item.topic_partition for item in committed})
        await self._read_timestamps(
            {
                (item.topic_partition, _next_offset(item, bounds[item.topic_partition]))
                for item in committed
                if _records(item, bounds.get(item.topic_partition)) > 0
            }
        )
        found: list[CommittedLag] = []
        async for item in in_slices(list(committed)):
            if item.topic_partition in bounds:
                found.append(self._partition_lag(item, bounds[item.topic_partition]))
        self.partitions = found
        self._sum_up(found)

    async def _bounds(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LogBounds]:
        found: dict[TopicPartition, LogBounds] = {}
        remote: list[TopicPartition] = []
        async for topic_partition in in_slices(list(partitions)):
            log = self._logs.get(topic_partition)
            if log is None:
                remote.append(topic_partition)
            else:
                found[topic_partition] = LogBounds(log.log_start_offset, log.high_watermark)
        return {**found, **await self._leaders.bounds(remote)} if remote else found

    async def _read_timestamps(self, positions: Collection[Position]) -> None:
        """Reads the timestamps that are not known yet, and forgets those of other positions."""
        known = {
            at: time
            for at, time in self._timestamps.items()
            if at in positions and time != _NO_RECORD and self._is_same_log(at[0])
        }
        self._read_logs = {at[0]: self._logs.get(at[0]) for at in positions}
        remote: list[Position] = []
        async for position in in_slices([at for at in positions if at not in known]):
            log = self._logs.get(position[0])
            if log is None:
                remote.append(position)
                continue
            timestamp = _timestamp_at(log, position[1])
            if timestamp is not None:
                known[position] = timestamp
        if remote:
            known.update(await self._leaders.timestamps(remote))
        self._timestamps = known

    def _is_same_log(self, topic_partition: TopicPartition) -> bool:
        """Whether the log is that of the last update; a topic created again has another one."""
        return self._read_logs.get(topic_partition) is self._logs.get(topic_partition)

    def _partition_lag(self, committed: GroupOffset, bounds: LogBounds) -> CommittedLag:
        records = _records(committed, bounds)
        seconds: float | None = 0.0
        if records:
            at = (committed.topic_partition, _next_offset(committed, bounds))
            timestamp = self._timestamps.get(at)
            if timestamp != _NO_RECORD:
                seconds = None if timestamp is None else self._age(timestamp)
        group, topic_partition, offset = committed
        return CommittedLag(group, topic_partition, offset, records, seconds)

    def _age(self, timestamp: int) -> float:
        return max(self._clock.now_ms() - timestamp, 0) / 1000

    def _sum_up(self, lags: Iterable[CommittedLag]) -> None:
        records: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for lag in lags:
            records[lag.group] = records.get(lag.group, 0) + lag.records
            seconds[lag.group] = max(seconds.get(lag.group, 0.0), lag.seconds or 0.0)
        now_ms = self._clock.monotonic_ms()
        self._history = {group: self._history.get(group, []) for group in records}
        self.groups = {
            group: _group_lag(group, number, seconds[group], self._trend(group, number, now_ms))
            for group, number in records.items()
        }

    def _trend(self, group: str, records: int, now_ms: int) -> float:
        """Returns the change of the lag per second in the last minute, and records the new lag."""
        history = self._history[group]
        while len(history) > 1 and history[1][0] <= now_ms - _TREND_MS:
            history.pop(0)
        history.append((now_ms, records))
        elapsed_ms = now_ms - history[0][0]
        return (records - history[0][1]) * 1000 / elapsed_ms if elapsed_ms else 0.0


def _next_offset(committed: GroupOffset, bounds: LogBounds) -> int:
    """Returns the first offset that the group has not read and that still exists."""
    return max(committed.offset, bounds.start)


def _records(committed: GroupOffset, bounds: LogBounds | None) -> int:
    return 0 if bounds is None else max(bounds.end - _next_offset(committed, bounds), 0)


def _group_lag(group: str, records: int, seconds: float, change: float) -> GroupLag:
    catch_up = None
    if records == 0:
        catch_up = 0.0
    elif change < 0:
        catch_up = records / -change
    return GroupLag(group, records, seconds, change, catch_up)


def _timestamp_at(log: Log, offset: int) -> int | None:
    """Returns the timestamp of the first record at an offset or after it.

    Returns `_NO_RECORD` if only markers follow, None if the log or the timestamp cannot be read.
    """
    try:
        while offset < log.high_watermark:
            found = log.read(offset, 1, max_offset=log.high_watermark)
            if found.slice is None:
                return None
            try:
                header = parse_header(found.slice.read(HEADER_SIZE))
            finally:
                found.slice.release()
            if not header.is_control:
                return _first_timestamp(header)
            offset = header.next_offset
    except BarnabasError:
        return None  # the segment was deleted meanwhile, or the directory is offline
    return _NO_RECORD


def batch_timestamp(data: bytes | memoryview) -> int | None:
    """Returns the timestamp of the first record of some batches; None if it has none.

    Markers of transactions are skipped. Raises CorruptRecordError if the bytes are no batch.
    """
    header = parse_header(data)
    while header.is_control:
        data = data[header.size :]
        if len(data) < HEADER_SIZE:
            return None  # the record after the marker is not in this response
        header = parse_header(data)
    return _first_timestamp(header)


def _first_timestamp(header: BatchHeader) -> int | None:
    """Returns the timestamp of a batch's first record; None if the producer has set none.

    If compaction has stored a delete horizon in its place (KIP-534), returns the largest one.
    """
    found = header.max_timestamp if header.has_delete_horizon else header.base_timestamp
    return found if found >= 0 else None


def lag_samples(
    lags: Iterable[CommittedLag],
) -> Iterator[tuple[tuple[str, str, str], CommittedLag]]:
    """Yields each lag with the values of the labels group, topic and partition."""
    for lag in lags:
        topic, partition = lag.topic_partition
        yield (lag.group, topic, str(partition)), lag


def coordinated_offsets(services: Services) -> Iterator[GroupOffset]:
    """Yields the offsets of the groups that this broker coordinates."""
    for driver in list(services.groups.active_shards()):
        for group, topic_partition, committed in driver.shard.committed_offsets():
            yield GroupOffset(group, topic_partition, committed.offset)


class GroupOffsets:
    """Reads the offsets of both kinds of groups; owned by the broker's loop."""

    def __init__(self, services: Services, tree: MetadataTree) -> None:
        self._services = services
        self._tree = tree
        self._last: list[GroupOffset] = []

    async def read(self) -> list[GroupOffset]:
        """Returns all offsets; those of the tree are the last known ones while it fails."""
        try:
            self._last = [item async for item in self._tree_offsets()]
        except TreeError as error:
            _logger.debug("the groups in the metadata tree cannot be read: %s", error)
        found = {(item.group, item.topic_partition): item for item in self._last}
        for item in coordinated_offsets(self._services):
            other = found.get((item.group, item.topic_partition))
            if other is None or other.offset < item.offset:
                found[item.group, item.topic_partition] = item
        return list(found.values())

    async def _tree_offsets(self) -> AsyncIterator[GroupOffset]:
        for group in await self._children(paths.CONSUMERS):
            if not self._is_reported_here(group):
                continue
            root = paths.consumer_offsets(group)
            for topic in await self._children(root):
                numbers = await self._children(f"{root}/{topic}")
                partitions = [TopicPartition(topic, int(n)) for n in numbers if n.isdecimal()]
                for start in range(0, len(partitions), _READS):
                    chunk = partitions[start : start + _READS]
                    for item in await asyncio.gather(
                        *(self._read(group, topic_partition) for topic_partition in chunk)
                    ):
                        if item is not None:
                            yield item

    def _is_reported_here(self, group: str) -> bool:
        services = self._services
        if not services.internal_topics.exists(OFFSETS_TOPIC):
            return services.cluster.controller.is_active
        offsets_partition = services.internal_topics.partition_of(OFFSETS_TOPIC, group)
        state = services.metadata.partition(offsets_partition)
        return state is not None and state.leader == services.broker_id

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNodeError:
            return []

    async def _read(self, group: str, topic_partition: TopicPartition) -> GroupOffset | None:
        try:
            data, _ = await self._tree.get(paths.consumer_offset(group, topic_partition))
            return GroupOffset(group, topic_partition, decode_offset(data))
        except (NoNodeError, ValueError):  # deleted meanwhile, or not a number
            return None
