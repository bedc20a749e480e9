"""JSON Schema as Spark types: the part of it that says what columns there are.

Objects, arrays, text, numbers and booleans, `format` date and date-time, null beside one other
type. What only restricts values (minimum, pattern, required) is left to whoever validates.
"""

from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_FORMATS: dict[str, DataType] = {"date-time": TimestampType(), "date": DateType()}


def spark_type(schema: dict[str, Any]) -> DataType:
    """What a value of this schema is in Spark; ValueError names what Spark has no type for."""
    match _kind(schema):
        case "object" if "properties" in schema:
            items = schema["properties"].items()
            return StructType([StructField(name, spark_type(item)) for name, item in items])
        case "object":
            values = schema.get("additionalProperties")
            return MapType(
                StringType(), spark_type(values) if isinstance(values, dict) else StringType()
            )
        case "array":
            return ArrayType(spark_type(schema.get("items", {"type": "string"})))
        case "string":
            return _FORMATS.get(schema.get("format", ""), StringType())
        case "integer":
            return LongType()
        case "number":
            return DoubleType()
        case "boolean":
            return BooleanType()
        case kind:
            raise ValueError(f"there is no column type for {kind!r}")


def _kind(schema: dict[str, Any]) -> object:
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [item for item in kind if item != "null"]
        return others[0] if len(others) == 1 else kind
    return kind
