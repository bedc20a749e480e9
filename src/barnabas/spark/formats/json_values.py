"""Decodes JSON: Arrow's reader for whole batches, Python's for the rows that it rejects.

Each value becomes a line `{"v":<value>}`. A value can end its line early and so make two lines of
one, but cannot consume the next line: if there are as many rows as values, each row belongs to its
value. Arrow reads text, numbers, booleans, arrays and structs; times are read as text and then
cast.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StringType,
    StructType,
    TimestampType,
)

from barnabas.spark.formats.conversions import converter, decode_text, decode_texts

_DIRECT = (StringType, BooleanType, IntegralType, FloatType, DoubleType)
_CAST = (TimestampType, DateType)


def json_row(kind: DataType) -> Callable[[bytes], Any]:
    """Returns a function that decodes one value; it raises ValueError for invalid bytes."""
    convert = converter(kind)
    # Only decimals need the exact text of numbers.
    load: Any = json.loads
    if _holds(kind, DecimalType):
        load = json.JSONDecoder(parse_float=Decimal).decode

    def decode(data: bytes) -> Any:
        try:
            value = load(decode_text(data))
        except json.JSONDecodeError as error:
            raise ValueError(f"is not JSON: {error}") from None
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        return None if value is None else convert(value)

    return decode


def json_batch(kind: DataType) -> Callable[[pa.Array], pa.Array | None] | None:
    """Returns a function for whole batches, or None if Arrow's reader cannot read the type."""
    if not _readable(kind):
        return None
    reading, wanted = _reading_type(kind), to_arrow_type(kind, timezone="UTC")

    def decode(array: pa.Array) -> pa.Array | None:
        try:
            read = _read(array, reading)
            if read is None or not _finite(read):
                return None
            return _finish(read, wanted)
        except pa.ArrowInvalid:
            return None

    return decode


def inferred_type(array: pa.Array) -> Any:
    """Returns the common Arrow type of all values; ArrowInvalid if there is none."""
    return _table(_lines(array), None).schema.field("v").type


def _read(array: pa.Array, kind: object) -> pa.Array | None:
    if decode_texts(array) is None:
        return None
    there = array.drop_null() if array.null_count else array
    if not len(there):
        return pa.nulls(len(array), kind)
    table = _table(_lines(there), kind)
    if table.num_rows != len(there):
        return None
    values = table.column("v").combine_chunks()
    if not array.null_count:
        return values
    indexes = pc.subtract(pc.cumulative_sum(pc.cast(array.is_valid(), pa.int64())), 1)
    return values.take(pc.if_else(array.is_valid(), indexes, pa.scalar(None, pa.int64())))


def _lines(array: pa.Array) -> pa.Buffer:
    begin, end, nothing = pa.scalar(b'{"v":'), pa.scalar(b"}\n"), pa.scalar(b"")
    lines = pc.binary_join_element_wise(begin, array.cast(pa.binary()), end, nothing)
    return lines.buffers()[2]


def _table(lines: pa.Buffer, kind: object) -> pa.Table:
    schema = None if kind is None else pa.schema([("v", kind)])
    unknown = "infer" if kind is None else "ignore"
    return pj.read_json(
        pa.BufferReader(lines),
        # One block, because a value must not extend into the next block.
        read_options=pj.ReadOptions(use_threads=False, block_size=max(len(lines), 1)),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unknown),
    )


def _finite(array: pa.Array) -> bool:
    """Returns whether all numbers are finite: Arrow accepts infinity and NaN, JSON does not have
    them.
    """
    if pa.types.is_struct(array.type):
        return all(_finite(column) for column in array.flatten())
    if pa.types.is_list(array.type):
        return _finite(array.flatten())
    if not pa.types.is_floating(array.type):
        return True
    return pc.all(pc.is_finite(array)).as_py() is not False


def _finish(array: pa.Array, wanted: Any) -> pa.Array:
    """Casts text to times, where the type has them."""
    if array.type == wanted:
        return array
    if pa.types.is_struct(wanted):
        pairs = zip(array.flatten(), wanted, strict=True)
        columns = [_finish(column, item.type) for column, item in pairs]
        return pa.StructArray.from_arrays(columns, fields=list(wanted), mask=array.is_null())
    if pa.types.is_timestamp(wanted):
        return _times(array, wanted)
    return array.cast(wanted)


def _times(array: pa.Array, wanted: object) -> pa.Array:
    """Casts text to timestamps, all with a time zone or all without: Arrow does not cast a
    mixture."""
    try:
        return array.cast(wanted)
    except pa.ArrowInvalid:
        return array.cast(pa.timestamp("us")).cast(pa.int64()).cast(wanted)


def _readable(kind: DataType) -> bool:
    match kind:
        case StructType():
            return bool(kind.fields) and all(_readable(item.dataType) for item in kind.fields)
        case ArrayType():
            return _readable(kind.elementType) and not _holds(kind.elementType, *_CAST)
    return isinstance(kind, (*_DIRECT, *_CAST))


def _reading_type(kind: DataType) -> object:
    if isinstance(kind, StructType):
        return pa.struct([(item.name, _reading_type(item.dataType)) for item in kind.fields])
    if isinstance(kind, _CAST):
        return pa.string()
    return to_arrow_type(kind, timezone="UTC")


def _holds(kind: DataType, *wanted: type[DataType]) -> bool:
    match kind:
        case StructType():
            return any(_holds(item.dataType, *wanted) for item in kind.fields)
        case ArrayType():
            return _holds(kind.elementType, *wanted)
    value = getattr(kind, "valueType", None)
    return isinstance(kind, wanted) or (value is not None and _holds(value, *wanted))
