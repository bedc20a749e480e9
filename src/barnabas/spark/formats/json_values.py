"""JSON in two ways: Arrow's reader for whole batches, Python's for the rows it refuses.

Each value becomes a line `{"v":<value>}`. A value can end its line early and so make two of one,
but none can swallow the next line: with as many rows as values, each row is its own value's.
Arrow reads text, numbers, booleans, arrays and structs; times are read as text and then cast.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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

from barnabas.spark.formats.conversions import converter
from barnabas.spark.formats.text import decode_text, decode_texts

if TYPE_CHECKING:
    import pyarrow as pa

_DIRECT = (StringType, BooleanType, IntegralType, FloatType, DoubleType)
_CAST = (TimestampType, DateType)


def json_row(kind: DataType) -> Callable[[bytes], Any]:
    """A function from one value's bytes; ValueError says what is wrong with them."""
    convert = converter(kind)
    # Only decimals need numbers as they are written.
    load: Any = json.loads
    if _holds(kind, DecimalType):
        load = json.JSONDecoder(parse_float=Decimal).decode

    def decode(data: bytes) -> Any:
        try:
            value = load(decode_text(data))
        except json.JSONDecodeError as error:
            raise ValueError(f"is no JSON: {error}") from None
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        return None if value is None else convert(value)

    return decode


def json_batch(kind: DataType) -> Callable[["pa.Array"], "pa.Array | None"] | None:
    """A function for whole batches, or None where the type needs more than Arrow's reader."""
    if not _readable(kind):
        return None
    reading, wanted = _reading_type(kind), to_arrow_type(kind, timezone="UTC")

    def decode(array: "pa.Array") -> "pa.Array | None":
        import pyarrow as pa

        try:
            read = _read(array, reading)
            if read is None or not _finite(read):
                return None
            return _finish(read, wanted)
        except pa.ArrowInvalid:
            return None

    return decode


def inferred_type(array: "pa.Array") -> Any:
    """The Arrow type that all values of an array share; ArrowInvalid when there is none."""
    return _table(_lines(array), None).schema.field("v").type


def _read(array: "pa.Array", kind: Any) -> "pa.Array | None":
    import pyarrow as pa
    import pyarrow.compute as pc

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
    places = pc.subtract(pc.cumulative_sum(pc.cast(array.is_valid(), pa.int64())), 1)
    return values.take(pc.if_else(array.is_valid(), places, pa.scalar(None, pa.int64())))


def _lines(array: "pa.Array") -> "pa.Buffer":
    import pyarrow as pa
    import pyarrow.compute as pc

    begin, end, nothing = pa.scalar(b'{"v":'), pa.scalar(b"}\n"), pa.scalar(b"")
    lines = pc.binary_join_element_wise(begin, array.cast(pa.binary()), end, nothing)
    return lines.buffers()[2]


def _table(lines: "pa.Buffer", kind: Any) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.json as pj

    schema = None if kind is None else pa.schema([("v", kind)])
    unknown = "infer" if kind is None else "ignore"
    return pj.read_json(
        pa.BufferReader(lines),
        # One block: else the end of a value could be looked for in the next one.
        read_options=pj.ReadOptions(use_threads=False, block_size=max(len(lines), 1)),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unknown),
    )


def _finite(array: "pa.Array") -> bool:
    """Whether no number is infinite or NaN, which Arrow reads and JSON does not have."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_struct(array.type):
        return all(_finite(column) for column in array.flatten())
    if pa.types.is_list(array.type):
        return _finite(array.flatten())
    if not pa.types.is_floating(array.type):
        return True
    return pc.all(pc.is_finite(array)).as_py() is not False


def _finish(array: "pa.Array", wanted: Any) -> "pa.Array":
    """Text to times, where the type has them."""
    import pyarrow as pa

    if array.type == wanted:
        return array
    if pa.types.is_struct(wanted):
        pairs = zip(array.flatten(), wanted, strict=True)
        columns = [_finish(column, item.type) for column, item in pairs]
        return pa.StructArray.from_arrays(columns, fields=list(wanted), mask=array.is_null())
    if pa.types.is_timestamp(wanted):
        return _times(array, wanted)
    return array.cast(wanted)


def _times(array: "pa.Array", wanted: Any) -> "pa.Array":
    """All with a zone, or all without: Arrow casts either, not both at once."""
    import pyarrow as pa

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


def _reading_type(kind: DataType) -> Any:
    import pyarrow as pa

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
