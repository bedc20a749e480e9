"""One task of the source: some ranges of offsets."""

from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

from barnabas.spark.source.offset_ranges import OffsetRange


@dataclass
class RangesPartition(InputPartition):
    """Pickled to an executor; holds no connection and no data. `index` is its place in the plan."""

    ranges: tuple[OffsetRange, ...]
    index: int
