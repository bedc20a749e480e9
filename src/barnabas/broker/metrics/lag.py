"""Lag of the consumer groups that this broker coordinates, in records and in seconds.

The lag in seconds is the age of the first record that the group has not committed: the coordinator
reads the timestamp of the batch at the committed offset from its own replica of the partition. A
committed offset that has not moved is not read again. Partitions without a replica on this broker
are left out; with as many replicas as brokers there are none.

`LagMonitor.update` runs periodically in slices; readers see the last complete result.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from barnabas.model.clock import Clock
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import parse_header
from barnabas.storage.log import Log

_logger = logging.getLogger("barnabas.broker")
_SLICE = 50
_TREND_MS = 60_000


class GroupOffset(NamedTuple):
    """A committed offset of a group."""

    group: str
    topic_partition: TopicPartition
    offset: int


class PartitionLag(NamedTuple):
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


class LogSource(Protocol):
    """Finds the local replica of a partition."""

    def get(self, topic_partition: TopicPartition) -> Log | None: ...


class LagMonitor:
    """Computes the lags; owned by the broker's loop."""

    def __init__(
        self, offsets: Callable[[], Iterable[GroupOffset]], logs: LogSource, clock: Clock
    ) -> None:
        self._offsets = offsets
        self._logs = logs
        self._clock = clock
        self._timestamps: dict[tuple[str, TopicPartition], tuple[int, int | None]] = {}
        self._history: dict[str, list[tuple[int, int]]] = {}
        self.partitions: list[PartitionLag] = []
        self.groups: dict[str, GroupLag] = {}

    async def run(self, period_s: float) -> None:
        """Updates the lags until the task is cancelled."""
        while True:
            await self.update()
            await asyncio.sleep(period_s)

    async def update(self) -> None:
        """Computes all lags; other callbacks of the loop run in between."""
        found: list[PartitionLag] = []
        timestamps: dict[tuple[str, TopicPartition], tuple[int, int | None]] = {}
        for number, committed in enumerate(list(self._offsets())):
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
            lag = self._partition_lag(committed, timestamps)
            if lag is not None:
                found.append(lag)
        self._timestamps = timestamps
        self.partitions = found
        self._sum_up(found)

    def _partition_lag(
        self,
        committed: GroupOffset,
        timestamps: dict[tuple[str, TopicPartition], tuple[int, int | None]],
    ) -> PartitionLag | None:
        log = self._logs.get(committed.topic_partition)
        if log is None:
            return None
        offset = max(committed.offset, log.log_start_offset)
        records = max(log.high_watermark - offset, 0)
        seconds: float | None = 0.0
        if records:
            key = (committed.group, committed.topic_partition)
            known = self._timestamps.get(key)
            if known is None or known[0] != offset or known[1] is None:
                known = (offset, _timestamp_at(log, offset))
            timestamps[key] = known
            seconds = None if known[1] is None else self._age(known[1])
        return PartitionLag(
            committed.group, committed.topic_partition, committed.offset, records, seconds
        )

    def _age(self, timestamp: int) -> float:
        return max(self._clock.now_ms() - timestamp, 0) / 1000

    def _sum_up(self, lags: Iterable[PartitionLag]) -> None:
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


def _group_lag(group: str, records: int, seconds: float, change: float) -> GroupLag:
    catch_up = None
    if records == 0:
        catch_up = 0.0
    elif change < 0:
        catch_up = records / -change
    return GroupLag(group, records, seconds, change, catch_up)


def _timestamp_at(log: Log, offset: int) -> int | None:
    """Returns the timestamp of the batch that contains an offset; None if it cannot be read."""
    try:
        found = log.read(offset, 1, max_offset=log.high_watermark)
    except BrokerError:
        return None  # the segment was deleted meanwhile, or the directory is offline
    if found.slice is None:
        return None
    try:
        header = parse_header(found.slice.read())
    finally:
        found.slice.release()
    return header.base_timestamp if header.base_timestamp >= 0 else None


def lag_samples(
    lags: Iterable[PartitionLag],
) -> Iterator[tuple[tuple[str, str, str], PartitionLag]]:
    """Yields each lag with the values of the labels group, topic and partition."""
    for lag in lags:
        topic, partition = lag.topic_partition
        yield (lag.group, topic, str(partition)), lag
