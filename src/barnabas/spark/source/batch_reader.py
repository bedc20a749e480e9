"""The batch source: a fixed set of ranges, decided once, with filters turned into bounds.

Filters on topic, partition, offset and timestamp become bounds of the read. Bounds may leave out
only records that a filter rejects. A timestamp bounds the first offset, by the cluster's time
index. Timestamps need not increase with offsets, so Spark still applies the filter.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.types import StructType

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.columns import RowDecoder
from barnabas.spark.source.offsets import Offsets, TimestampOffsets
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import OffsetRange, RangesPartition, ranges_between, split_ranges
from barnabas.spark.source.range_reader import read_task
from barnabas.spark.source.schema import check_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.spark.source.cluster import SourceCluster


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of some filters; None means no bound."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first_offset: int = 0
    end_offset: int | None = None
    first_time_ms: int | None = None

    def narrow(
        self, start: Offsets, end: Offsets, cluster: "SourceCluster"
    ) -> tuple[Offsets, Offsets]:
        """Returns offsets within the bounds; partitions outside them are left out."""
        first, last = self.first_offset, self.end_offset
        start = {
            topic_partition: max(at, first)
            for topic_partition, at in start.items()
            if self._is_selected(topic_partition)
        }
        end = {
            topic_partition: at if last is None else min(at, last)
            for topic_partition, at in end.items()
        }
        if self.first_time_ms is not None and start:
            limit = TimestampOffsets(self.first_time_ms)
            # The name of an ending option: a partition without records after the time is read from
            # its end, that is not at all. For a starting option this would be an error.
            by_time = cluster.resolve(limit, start, "endingTimestamp")
            start = {
                topic_partition: max(at, by_time[topic_partition])
                for topic_partition, at in start.items()
            }
        return start, {topic_partition: end[topic_partition] for topic_partition in start}

    def _is_selected(self, topic_partition: TopicPartition) -> bool:
        topic_ok = self.topics is None or topic_partition.topic in self.topics
        return topic_ok and (
            self.partitions is None or topic_partition.partition in self.partitions
        )


def bounds_of(filters: Iterable[Filter]) -> tuple[Bounds, list[Filter]]:
    """Returns the bounds, and the filters that Spark must still apply."""
    bounds = Bounds()
    rest: list[Filter] = []
    for item in filters:
        narrowed = _narrow(bounds, item)
        if narrowed is None or narrowed.first_time_ms != bounds.first_time_ms:
            rest.append(item)
        bounds = narrowed or bounds
    return bounds, rest


def _narrow(bounds: Bounds, item: Filter) -> Bounds | None:
    attribute = getattr(item, "attribute", None)
    if attribute == ("partition",):
        return _partition(bounds, item)
    if attribute == ("topic",):
        return _topic(bounds, item)
    if attribute == ("offset",):
        return _offset(bounds, item)
    if attribute == ("timestamp",):
        return _timestamp(bounds, item)
    return None


def _values(item: Filter) -> tuple[object, ...] | None:
    if isinstance(item, EqualTo):
        return (item.value,)
    return tuple(item.value) if isinstance(item, In) else None


def _partition(bounds: Bounds, item: Filter) -> Bounds | None:
    values = _values(item)
    if values is None:
        return None
    numbers = frozenset(value for value in values if isinstance(value, int))
    old = bounds.partitions
    return replace(bounds, partitions=numbers if old is None else old & numbers)


def _topic(bounds: Bounds, item: Filter) -> Bounds | None:
    values = _values(item)
    if values is None:
        return None
    names = frozenset(value for value in values if isinstance(value, str))
    return replace(bounds, topics=names if bounds.topics is None else bounds.topics & names)


def _offset(bounds: Bounds, item: Filter) -> Bounds | None:
    value = getattr(item, "value", None)
    if not isinstance(value, int):
        return None
    low, end = bounds.first_offset, bounds.end_offset
    match item:
        case EqualTo():
            return replace(bounds, first_offset=max(low, value), end_offset=_least(end, value + 1))
        case GreaterThan():
            return replace(bounds, first_offset=max(low, value + 1))
        case GreaterThanOrEqual():
            return replace(bounds, first_offset=max(low, value))
        case LessThan():
            return replace(bounds, end_offset=_least(end, value))
        case LessThanOrEqual():
            return replace(bounds, end_offset=_least(end, value + 1))
    return None


def _timestamp(bounds: Bounds, item: Filter) -> Bounds | None:
    value = getattr(item, "value", None)
    if not isinstance(item, EqualTo | GreaterThan | GreaterThanOrEqual):
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    time_ms = max(int(value.timestamp() * 1000) - 1, 0)
    return replace(bounds, first_time_ms=max(bounds.first_time_ms or 0, time_ms))


def _least(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)


class BatchReader(DataSourceReader):
    """Plans on the driver, reads on executors; pickled in between."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options = options
        check_schema(schema, RowDecoder.of(options.formats, schema).decoders)
        self._schema = schema
        self._bounds = Bounds()

    def partitions(self) -> Sequence[InputPartition]:
        # Start-up time: only the driver needs it.
        from barnabas.spark.source.cluster import SourceCluster

        options = self._options
        cluster = SourceCluster(options)
        try:
            topic_partitions = cluster.partitions()
            end = cluster.resolve(options.ending, topic_partitions, "endingOffsets")
            start = cluster.resolve(options.starting, topic_partitions, "startingOffsets")
            start, end = self._bounds.narrow(start, end, cluster)
        finally:
            cluster.close()
        ranges = split_ranges(
            ranges_between(start, end),
            min_partitions=options.min_partitions,
            max_records=options.max_records_per_partition,
        )
        # Spark would create a partition itself if the list were empty.
        tasks: list[tuple[OffsetRange, ...]] = [(item,) for item in ranges]
        return [RangesPartition(task, index) for index, task in enumerate(tasks or [()])]

    def read(self, partition: InputPartition) -> Iterator["pa.RecordBatch"]:
        assert isinstance(partition, RangesPartition)
        return read_task(partition, self._options, self._schema)


class FilteringBatchReader(BatchReader):
    """Turns filters into seeks. A separate class, because Spark rejects a reader that accepts
    filters while spark.sql.python.filterPushdown.enabled is false, the default."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        self._bounds, rest = bounds_of(filters)
        return rest
