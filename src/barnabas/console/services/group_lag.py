"""Lag of groups, in records and in seconds, with its trend.

Pure computations on offsets that a caller has read. The lag in seconds is the age of the first
record that is not committed, so it is 0 for a group that has read all records.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition

TREND_S = 60.0
_MAX_SAMPLES = 120


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """The lag of one partition; values are None while they are not known."""

    topic_partition: TopicPartition
    committed: int | None
    log_end: int | None
    seconds: float | None = None

    @property
    def records(self) -> int | None:
        if self.committed is None or self.log_end is None:
            return None
        return max(self.log_end - self.committed, 0)


@dataclass(frozen=True, slots=True)
class LagTotal:
    """The lag of a group over its partitions."""

    records: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class LagTrend:
    """Change of the lag in the last minute, and the estimated time until it is 0."""

    change_per_second: float | None
    catch_up_seconds: float | None


def partition_lags(
    committed: Mapping[TopicPartition, int],
    assigned: Iterable[TopicPartition],
    ends: Mapping[TopicPartition, int],
    oldest_ms: Mapping[TopicPartition, int],
    now_ms: int,
) -> list[PartitionLag]:
    """Returns the lag of each partition with a committed offset or a member.

    Args:
        oldest_ms: timestamps of the first records that are not committed, where known.
    """
    found = []
    for topic_partition in sorted({*committed, *assigned}):
        lag = PartitionLag(
            topic_partition, committed.get(topic_partition), ends.get(topic_partition)
        )
        seconds = 0.0 if lag.records == 0 else None
        timestamp = oldest_ms.get(topic_partition)
        if lag.records and timestamp is not None:
            seconds = max(now_ms - timestamp, 0) / 1000
        found.append(PartitionLag(topic_partition, lag.committed, lag.log_end, seconds))
    return found


def total_lag(lags: Iterable[PartitionLag]) -> LagTotal:
    """Returns the sum of records and the largest lag in seconds."""
    records = 0
    seconds: float | None = 0.0
    for lag in lags:
        records += lag.records or 0
        if lag.records and lag.seconds is None:
            seconds = None
        elif seconds is not None and lag.seconds is not None:
            seconds = max(seconds, lag.seconds)
    return LagTotal(records, seconds)


class LagHistory:
    """Lags of groups in the last minute, from which the trend is computed."""

    def __init__(self) -> None:
        self._samples: dict[str, list[tuple[float, int]]] = {}

    def add(self, group: str, records: int, now_s: float) -> LagTrend:
        """Adds a sample and returns the trend; it is unknown before the second sample."""
        samples = self._samples.setdefault(group, [])
        while len(samples) > 1 and samples[1][0] <= now_s - TREND_S:
            samples.pop(0)
        if len(samples) < _MAX_SAMPLES:
            samples.append((now_s, records))
        first_s, first = samples[0]
        if now_s <= first_s:
            return LagTrend(None, 0.0 if records == 0 else None)
        change = (records - first) / (now_s - first_s)
        return LagTrend(change, catch_up_seconds(records, change))

    def keep(self, groups: Iterable[str]) -> None:
        """Discards the samples of other groups."""
        wanted = set(groups)
        self._samples = {name: item for name, item in self._samples.items() if name in wanted}


def catch_up_seconds(records: int, change_per_second: float) -> float | None:
    """Returns the time until the lag is 0; None if the lag does not shrink.

    >>> catch_up_seconds(100, -20.0)
    5.0
    """
    if records == 0:
        return 0.0
    return records / -change_per_second if change_per_second < 0 else None
