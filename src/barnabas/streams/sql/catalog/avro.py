"""Avro as the format of values: the schema by which a relation's records are read and written.

The schema is given in WITH, or follows from the columns: a record in which every field may be null.
A value is one datum. `AVRO` is the datum alone; `CONFLUENT_AVRO` has five bytes before it, a zero
and the number of the schema in a registry, as ksqlDB and Confluent's serializers write it. There is
no registry here, so the number is skipped when reading, and such values are not written.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Column


def given_schema(text: str) -> str:
    """The schema of `avro_schema=`: its JSON, or the name of a file that has it."""
    if not text.lstrip().startswith("{"):
        try:
            text = Path(text).read_text(encoding="utf-8")
        except OSError as error:
            raise SqlError(
                f"avro_schema is a record in JSON, or a file that has one: {text}: {error.strerror}"
            ) from None
    _fields(text)
    return json.dumps(json.loads(text), separators=(",", ":"))


def derived_schema(columns: Sequence[Column]) -> str:
    """A schema of columns; SqlError for what Avro has no type or no name for."""
    from barnabas.spark.formats.avro_schemas import avro_schema
    from barnabas.spark.formats.ddl import parse_ddl

    for column in columns:
        if not column.name.isidentifier() or not column.name.isascii():
            raise SqlError(f"Avro has no field of the name {column.name!r}: give it another")
    ddl = ", ".join(f"`{column.name}` {column.type}" for column in columns)
    try:
        return json.dumps(avro_schema(parse_ddl(ddl)), separators=(",", ":"))
    except ValueError as error:
        raise SqlError(f"value_format AVRO: {error}") from None


def schema_columns(text: str) -> tuple[Column, ...]:
    """The columns that a schema's fields are."""
    from barnabas.streams.sql.language.parser import spark_type

    return tuple(Column(name, spark_type(kind)) for name, kind in _fields(text))


def field_of(text: str, column: Column) -> Column:
    """The field that a column is read from, in the schema's own spelling and type."""
    for field in schema_columns(text):
        if field.name.lower() == column.name.lower():
            return field
    raise SqlError(f"avro_schema has no field {column.name!r}")


def _fields(text: str) -> list[tuple[str, str]]:
    from pyspark.sql.types import StructType

    from barnabas.spark.formats.avro_schemas import spark_type

    try:
        schema: Any = json.loads(text)
        kind = spark_type(schema)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SqlError(f"avro_schema cannot be read: {error}") from None
    if not isinstance(kind, StructType):
        raise SqlError("avro_schema is the schema of a record")
    return [(field.name, field.dataType.simpleString()) for field in kind.fields]
