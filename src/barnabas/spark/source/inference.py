"""Infers the type of a decoded column from the first records of the topics.

The inferred type has only the fields of the sample, and a query that is started again may infer
another type. Inference is for interactive use; pipelines should declare a schema.
"""

import json
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.decoding import ColumnFormat
from barnabas.spark.formats.json_values import inferred_type
from barnabas.spark.formats.schemas import as_nullable
from barnabas.spark.source.cluster import SourceCluster
from barnabas.spark.source.offsets import EarliestOffsets, LatestOffsets
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import OffsetRange
from barnabas.spark.source.range_reader import read_ranges


def type_of_sample(values: pa.Array) -> DataType:
    """Returns the common type of JSON values; ValueError if there is none."""
    try:
        kind = inferred_type(values)
    except pa.ArrowInvalid:
        whole = [value for value in values.to_pylist() if _is_json(value)]
        try:
            kind = inferred_type(pa.array(whole, pa.binary()))
        except pa.ArrowInvalid as error:
            raise ValueError(f"the values have no common type: {error}") from None
    spark = from_arrow_type(_plain(kind))
    return as_nullable(spark) if isinstance(spark, StructType) else spark


def inferred_column(name: str, column: ColumnFormat, options: SourceOptions) -> DataType:
    """Returns the inferred type of a column; ConfigError names its option."""
    option = f"{name}.schema"
    values = _sample(name, column.sample, options)
    if not len(values):
        raise ConfigError(f"{option}: the topics have no record to infer it from; give a schema")
    try:
        return type_of_sample(values)
    except ValueError as error:
        raise ConfigError(f"{option}: cannot be inferred, {error}; give a schema") from None


def _sample(name: str, count: int, options: SourceOptions) -> pa.Array:
    cluster = SourceCluster(options)
    try:
        topic_partitions = cluster.partitions()
        start = cluster.resolve(EarliestOffsets(), topic_partitions, "startingOffsets")
        end = cluster.resolve(LatestOffsets(), topic_partitions, "endingOffsets")
    finally:
        cluster.close()
    parts: list[Any] = []
    each = -(-count // max(len(start), 1))
    for topic_partition in sorted(start):
        until = min(end[topic_partition], start[topic_partition] + each)
        item = OffsetRange(
            topic_partition.topic, topic_partition.partition, start[topic_partition], until
        )
        for _, batch in read_ranges([item], options):
            parts.append(batch.column(name).drop_null())
    return pa.concat_arrays(parts) if parts else pa.array([], pa.binary())


def _plain(kind: Any) -> Any:
    """Returns a type in which timestamps and nulls that Arrow inferred are strings."""
    if pa.types.is_struct(kind):
        return pa.struct([(item.name, _plain(item.type)) for item in kind])
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_timestamp(kind) or pa.types.is_null(kind):
        return pa.string()
    return kind


def _is_json(data: bytes | None) -> bool:
    try:
        return data is not None and json.loads(data) is not None
    except ValueError:
        return False
