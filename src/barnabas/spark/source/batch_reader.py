"""The batch source: a fixed set of ranges, decided once when the query is planned."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from barnabas.spark.source.columns import check_schema
from barnabas.spark.source.decoded_rows import RowDecoder
from barnabas.spark.source.filters import Bounds, bounds_of
from barnabas.spark.source.input_partition import RangesPartition
from barnabas.spark.source.offset_ranges import OffsetRange, ranges_between, split_ranges
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.range_reader import read_task

if TYPE_CHECKING:
    import pyarrow as pa


class BatchReader(DataSourceReader):
    """Plans on the driver, reads on executors; pickled in between."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options = options
        check_schema(schema, RowDecoder.of(options.formats, schema).decoders)
        self._schema = schema
        self._bounds = Bounds()

    def partitions(self) -> Sequence[InputPartition]:
        from barnabas.spark.source.cluster import (
            SourceCluster,
        )  # start-up time: only the driver needs it

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
