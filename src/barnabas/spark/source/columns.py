"""The source's columns: Spark's own Kafka source's names, types and order, as Arrow batches.

Fetched batches are decoded into Arrow buffers. This module selects the columns of the requested
schema, in its order, and casts them to Spark's types. Other columns are not built.
"""

import functools
import struct
from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.clients.simple import FetchedBatches

_HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
_COLUMNS: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": ArrayType(_HEADER),
}
_HEAD = struct.Struct(">qi4xbxxxxhi")
_HEAD_SIZE = 12
_LOG_APPEND_TIME_BIT = 0x08
_NO_TIMESTAMP_TYPE = -1
_CONSTANTS = ("topic", "partition", "timestampType")
_CONSTANT_ROWS = 16_384
_ATTRIBUTES_BEFORE_V2 = 17


def source_schema(
    include_headers: bool, decoded: Mapping[str, DataType] | None = None
) -> StructType:
    """Returns the default schema of a query; `decoded` has the types of decoded columns."""
    kinds = {**_COLUMNS, **(decoded or {})}
    names = [name for name in _COLUMNS if name != "headers" or include_headers]
    return StructType([StructField(name, kinds[name]) for name in names])


def check_schema(schema: StructType, decoded: Container[str] = ()) -> None:
    """Raises ConfigError for an unknown column or a wrong type.

    The columns in `decoded` may have any type.
    """
    for field in schema.fields:
        kind = _COLUMNS.get(field.name)
        if kind is None:
            raise ConfigError(f"column {field.name!r} is not one of: {', '.join(_COLUMNS)}")
        if field.name in decoded:
            continue
        if field.dataType.simpleString() != kind.simpleString():
            given, wanted = field.dataType.simpleString(), kind.simpleString()
            raise ConfigError(f"column {field.name!r} is {wanted}, not {given}")


def decoded_names(names: list[str]) -> list[str]:
    """Returns the columns to decode for a query that reads `names`: those that are not constant
    within a fetch, and always the offset, by which a batch is cut."""
    return [*(name for name in names if name not in (*_CONSTANTS, "offset")), "offset"]


def spark_batch(
    fetched: "FetchedBatches",
    batch: "pa.RecordBatch",
    names: list[str],
    decoded: Mapping[str, Any],
) -> Any:
    """Returns the columns `names` of a batch, in that order and in Spark's types; those in
    `decoded` are taken from there."""
    import pyarrow as pa

    arrays = [
        decoded[name] if name in decoded else _BUILDERS.get(name, _as_it_is(name))(fetched, batch)
        for name in names
    ]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def timestamp_types(data: "memoryview") -> list[tuple[int, int]]:
    """(last offset, timestamp type) of each batch in a fetch, from the headers alone."""
    runs: list[tuple[int, int]] = []
    position = 0
    while position + _HEAD.size <= len(data):
        base, length, magic, attributes, delta = _HEAD.unpack_from(data, position)
        if magic >= 2:
            runs.append((base + delta, int(attributes & _LOG_APPEND_TIME_BIT != 0)))
        elif magic == 1:
            flags = data[position + _ATTRIBUTES_BEFORE_V2]
            runs.append((base, int(flags & _LOG_APPEND_TIME_BIT != 0)))
        else:
            runs.append((base, _NO_TIMESTAMP_TYPE))
        position += _HEAD_SIZE + max(length, 1)
    return runs


def _timestamp(fetched: "FetchedBatches", batch: "pa.RecordBatch") -> "pa.Array":
    import pyarrow as pa

    return batch.column("timestamp").cast(pa.timestamp("us", tz="UTC"))


def _topic(fetched: "FetchedBatches", batch: "pa.RecordBatch") -> "pa.Array":
    return _constant(fetched.partition.topic, "string", batch.num_rows)


def _partition(fetched: "FetchedBatches", batch: "pa.RecordBatch") -> "pa.Array":
    return _constant(fetched.partition.partition, "int32", batch.num_rows)


def _constant(value: object, kind: str, count: int) -> "pa.Array":
    """Returns a column of one value: a slice of a cached array."""
    length = max(_CONSTANT_ROWS, 1 << (count - 1).bit_length()) if count else 1
    return _repeated(value, kind, length).slice(0, count)


@functools.lru_cache(maxsize=64)
def _repeated(value: object, kind: str, length: int) -> "pa.Array":
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, pa.type_for_alias(kind)), length)


def _timestamp_type(fetched: "FetchedBatches", batch: "pa.RecordBatch") -> "pa.Array":
    import numpy as np
    import pyarrow as pa

    runs = timestamp_types(fetched.data)
    if len({kind for _, kind in runs}) <= 1:
        kind = runs[0][1] if runs else 0
        return _constant(kind, "int32", batch.num_rows)
    lasts = np.array([last for last, _ in runs], dtype=np.int64)
    kinds = np.array([kind for _, kind in runs], dtype=np.int32)
    offsets = batch.column("offset").to_numpy()
    return pa.array(kinds[np.searchsorted(lasts, offsets)], pa.int32())


def _headers(fetched: "FetchedBatches", batch: "pa.RecordBatch") -> "pa.Array":
    """Returns null instead of an empty list, as Spark's own source does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pair = pa.struct([("key", pa.string()), ("value", pa.binary())])
    kind = pa.list_(pa.field("element", pair))
    headers = batch.column("headers")
    lengths = pc.list_value_length(headers)
    if not pc.max(lengths).as_py():
        return pa.nulls(batch.num_rows, kind)
    return pc.if_else(pc.equal(lengths, 0), pa.scalar(None, kind), headers.cast(kind))


def _as_it_is(name: str) -> Callable[["FetchedBatches", "pa.RecordBatch"], "pa.Array"]:
    return lambda _, batch: batch.column(name)


_BUILDERS = {
    "topic": _topic,
    "partition": _partition,
    "timestamp": _timestamp,
    "timestampType": _timestamp_type,
    "headers": _headers,
}
