"""Avro: schemas to and from Spark types, and values by fastavro.

Logical types become Spark's: decimal, date, timestamps in millis, micros and local, uuid as text. A
union may only add null to one type, because a Spark column has one type. A value is one datum
without a file header. Confluent's serializers write five bytes before it, a zero and the id of the
schema in a registry; the id is skipped, and the given schema is used.
"""

import io
import uuid
from collections.abc import Callable
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from barnabas.model.errors import LocalError

Schema = Any
"""A parsed Avro schema: text, list or object."""

_PRIMITIVES: dict[str, DataType] = {
    "boolean": BooleanType(),
    "int": IntegerType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "bytes": BinaryType(),
    "string": StringType(),
    "enum": StringType(),
    "fixed": BinaryType(),
}
_LOGICAL: dict[str, DataType] = {
    "date": DateType(),
    "timestamp-millis": TimestampType(),
    "timestamp-micros": TimestampType(),
    "local-timestamp-millis": TimestampNTZType(),
    "local-timestamp-micros": TimestampNTZType(),
    "uuid": StringType(),
}
_WRITTEN: list[tuple[type[DataType], Schema]] = [
    (BooleanType, "boolean"),
    (ByteType, "int"),
    (ShortType, "int"),
    (IntegerType, "int"),
    (LongType, "long"),
    (FloatType, "float"),
    (DoubleType, "double"),
    (StringType, "string"),
    (BinaryType, "bytes"),
    (DateType, {"type": "int", "logicalType": "date"}),
    (TimestampType, {"type": "long", "logicalType": "timestamp-micros"}),
    (TimestampNTZType, {"type": "long", "logicalType": "local-timestamp-micros"}),
]


def spark_type(schema: Schema, named: dict[str, Schema] | None = None) -> DataType:
    """Returns the Spark type of a schema; ValueError names a type that Spark does not have."""
    named = {} if named is None else named
    if isinstance(schema, list):
        return spark_type(_only_type(schema), named)
    if isinstance(schema, str):
        return _by_name(schema, named)
    kind = schema.get("type")
    logical = schema.get("logicalType")
    if logical == "decimal":
        return DecimalType(int(schema["precision"]), int(schema.get("scale", 0)))
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    match kind:
        case "record":
            return _record(schema, named)
        case "array":
            return ArrayType(spark_type(schema["items"], named))
        case "map":
            return MapType(StringType(), spark_type(schema["values"], named))
        case "enum" | "fixed":
            named[schema["name"]] = schema
            return _PRIMITIVES[kind]
    return spark_type(kind, named)


def record_fields(schema: Schema) -> list[tuple[str, str]] | None:
    """Returns name and Spark type of each field; None if the schema is not that of a record."""
    kind = spark_type(schema)
    if not isinstance(kind, StructType):
        return None
    return [(field.name, field.dataType.simpleString()) for field in kind.fields]


def avro_schema(kind: DataType, name: str = "Record") -> Schema:
    """Returns a schema for values of a Spark type; every field may be null."""
    match kind:
        case StructType():
            fields = [
                {"name": item.name, "type": ["null", avro_schema(item.dataType, name + item.name)]}
                for item in kind.fields
            ]
            return {"type": "record", "name": name, "fields": fields}
        case ArrayType():
            return {"type": "array", "items": ["null", avro_schema(kind.elementType, name)]}
        case MapType():
            return {"type": "map", "values": ["null", avro_schema(kind.valueType, name)]}
        case DecimalType():
            parts = {"precision": kind.precision, "scale": kind.scale}
            return {"type": "bytes", "logicalType": "decimal", **parts}
    for type_, schema in _WRITTEN:
        if isinstance(kind, type_):
            return schema
    raise ValueError(f"Avro has no type for {kind.simpleString()}")


def _only_type(union: list[Schema]) -> Schema:
    others = [item for item in union if item != "null"]
    if len(others) != 1:
        raise ValueError(f"the union {union!r} has more than one type besides null")
    return others[0]


def _by_name(name: str, named: dict[str, Schema]) -> DataType:
    if name in _PRIMITIVES:
        return _PRIMITIVES[name]
    found = named.get(name) or named.get(name.rpartition(".")[2])
    if found is None:
        raise ValueError(f"type {name!r} is not known, or refers to itself")
    return spark_type(found, named)


def _record(schema: Schema, named: dict[str, Schema]) -> StructType:
    fields = [
        StructField(field["name"], spark_type(field["type"], named)) for field in schema["fields"]
    ]
    # Added after its fields, so that a record that refers to itself is an error: Spark has no such
    # type.
    named[schema["name"]] = schema
    return StructType(fields)


_FRAME = 5
_MAGIC = 0


def avro_row(schema: object, *, framed: bool = False) -> Callable[[bytes], Any]:
    """Returns a function that decodes one value; it raises ValueError for invalid bytes."""
    fastavro = _fastavro()
    parsed = fastavro.parse_schema(schema)
    read = fastavro.schemaless_reader
    with_uuids = "'uuid'" in repr(schema)

    def decode(data: bytes) -> Any:
        stream = io.BytesIO(_unframed(data) if framed else data)
        try:
            value = read(stream, parsed, None)
        except Exception as error:  # noqa: BLE001 - invalid bytes raise many kinds of errors
            raise ValueError(f"is not Avro of this schema: {error!r}") from None
        if stream.read(1):
            raise ValueError("has more bytes than the schema describes")
        return _as_text(value) if with_uuids else value

    return decode


def avro_writer(schema: object) -> Callable[[Any], bytes]:
    """Returns a function that encodes one value."""
    fastavro = _fastavro()
    parsed = fastavro.parse_schema(schema)

    def encode(value: object) -> bytes:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed, value)
        return stream.getvalue()

    return encode


def _unframed(data: bytes) -> bytes:
    if len(data) < _FRAME or data[0] != _MAGIC:
        raise ValueError("does not begin with a zero byte and a schema id")
    return data[_FRAME:]


def _as_text(value: object) -> object:
    """Converts UUIDs to text, at any depth."""
    if isinstance(value, dict):
        return {name: _as_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return str(value) if isinstance(value, uuid.UUID) else value


def _fastavro() -> Any:
    try:
        # Optional package: only for Avro.
        import fastavro
    except ImportError:
        raise LocalError("the format avro needs fastavro: pip install fastavro") from None
    return fastavro
