"""The types of decoded columns; where no schema is given, by looking at the first records.

What is inferred is what the sample has: a field that comes later is not seen, and a query that is
started again may find another type. It is for looking at data; pipelines say their schema.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.json_values import inferred_type
from barnabas.spark.formats.options import RAW, ColumnFormat
from barnabas.spark.formats.schemas import as_nullable
from barnabas.spark.source.offset_ranges import OffsetRange
from barnabas.spark.source.offsets import EarliestOffsets, LatestOffsets
from barnabas.spark.source.options import SourceOptions

if TYPE_CHECKING:
    import pyarrow as pa


def decoded_types(options: SourceOptions) -> Mapping[str, DataType]:
    """The types of the key and value columns that are not bytes."""
    found: dict[str, DataType] = {}
    for name, column in (("key", options.formats.key), ("value", options.formats.value)):
        if column.inferred:
            found[name] = _inferred(name, column, options)
        elif column.format != RAW:
            found[name] = column.column_type()
    return found


def type_of_sample(values: "pa.Array") -> DataType:
    """The type that JSON values share; ValueError when there is none."""
    import pyarrow as pa

    try:
        kind = inferred_type(values)
    except pa.ArrowInvalid:
        whole = [value for value in values.to_pylist() if _is_json(value)]
        try:
            kind = inferred_type(pa.array(whole, pa.binary()))
        except pa.ArrowInvalid as error:
            raise ValueError(f"its values do not share a type: {error}") from None
    spark = from_arrow_type(_plain(kind))
    return as_nullable(spark) if isinstance(spark, StructType) else spark


def _inferred(name: str, column: ColumnFormat, options: SourceOptions) -> DataType:
    option = f"{name}.schema"
    values = _sample(name, column.sample, options)
    if not len(values):
        raise ConfigError(f"{option}: there is no record to infer it from; give a schema")
    try:
        return type_of_sample(values)
    except ValueError as error:
        raise ConfigError(f"{option}: cannot be inferred, {error}; give a schema") from None


def _sample(name: str, count: int, options: SourceOptions) -> "pa.Array":
    import pyarrow as pa

    from barnabas.spark.source.cluster import SourceCluster
    from barnabas.spark.source.range_reader import read_ranges

    cluster = SourceCluster(options)
    try:
        places = cluster.partitions()
        start = cluster.resolve(EarliestOffsets(), places, "startingOffsets")
        end = cluster.resolve(LatestOffsets(), places, "endingOffsets")
    finally:
        cluster.close()
    parts: list[Any] = []
    each = -(-count // max(len(start), 1))
    for place in sorted(start):
        until = min(end[place], start[place] + each)
        item = OffsetRange(place.topic, place.partition, start[place], until)
        for _, batch in read_ranges([item], options):
            parts.append(batch.column(name).drop_null())
    return pa.concat_arrays(parts) if parts else pa.array([], pa.binary())


def _plain(kind: Any) -> Any:
    """Text stays text where Arrow has seen a time in it, or nothing at all."""
    import pyarrow as pa

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
