"""Avro schemas as Spark types, and Spark types as Avro schemas.

Logical types become Spark's: decimal, date, timestamps in millis, micros and local, uuid as text.
A union may only add null to one type: Spark has no column of two types.
"""

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
    """What a value of this schema is in Spark; ValueError names what Spark has no type for."""
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


def avro_schema(kind: DataType, name: str = "Record") -> Schema:
    """A schema for values of a Spark type; every field may be null."""
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
        raise ValueError(f"the union {union!r} is more than one type and null")
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
    # Known by name only once it is complete: Spark has no type that contains itself.
    named[schema["name"]] = schema
    return StructType(fields)
