"""The text of `value.schema`, in whichever of its forms, as the type of the decoded column.

DDL (`id long, name string`), Spark's own JSON (`StructType.json()`), JSON Schema, or for Avro an
Avro schema. None of them needs a JVM.
"""

import json
from typing import Any

from pyspark.sql.types import DataType, StructType

from barnabas.spark.formats import avro_schemas, json_schemas
from barnabas.spark.formats.ddl import parse_ddl

AVRO = "avro"
CONFLUENT_AVRO = "confluent-avro"
AVRO_FORMATS = (AVRO, CONFLUENT_AVRO)
_NULL_FLAGS = ("nullable", "containsNull", "valueContainsNull")


def parse_schema(format_name: str, text: str) -> DataType:
    """The column type that a schema text gives; ValueError says what is wrong with it."""
    if format_name in AVRO_FORMATS:
        return avro_schemas.spark_type(parse_avro(text))
    if not text.lstrip().startswith("{"):
        return parse_ddl(text)
    value = _json_object(text)
    if value.get("type") == "struct" and "fields" in value:
        return as_nullable(StructType.fromJson(value))
    return json_schemas.spark_type(value)


def parse_avro(text: str) -> Any:
    """An Avro schema's JSON; a bare name of a primitive type is one, too."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')):
        return stripped
    try:
        return json.loads(stripped)
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None


def as_nullable(kind: StructType) -> StructType:
    """The same columns, each of which may be null, and so on below: no decoder can promise one."""
    return StructType.fromJson(_nullable(kind.jsonValue()))


def _nullable(value: Any) -> Any:
    if isinstance(value, list):
        return [_nullable(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: name in _NULL_FLAGS or _nullable(item) for name, item in value.items()}


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("a JSON object is expected")
    return value
