"""The WITH clause: its properties, their meaning, and checks of the relation that it declares."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Column, Create, KeyRole, RelationKind
from barnabas.streams.sql.relations import (
    AVRO_FORMATS,
    Format,
    Relation,
    close_name,
    derived_schema,
    field_of,
    given_schema,
    schema_columns,
)

KNOWN = (
    "kafka_topic",
    "value_format",
    "key_format",
    "format",
    "key",
    "timestamp",
    "timestamp_format",
    "partitions",
    "replicas",
    "value_delimiter",
    "key_delimiter",
    "retention_ms",
    "wrap_single_value",
    "avro_schema",
)
DELIMITERS = {"SPACE": " ", "TAB": "\t"}
_FOREIGN_FORMATS = ("PROTOBUF", "PROTOBUF_NOSR", "JSON_SR")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewTopicSettings:
    """How a missing topic is created; None means the default."""

    partitions: int | None = None
    replicas: int | None = None
    retention_ms: int | None = None


def check_names(properties: Mapping[str, str]) -> None:
    """Raises SqlError for an unknown property."""
    for name in properties:
        if name not in KNOWN:
            raise SqlError(f"no property {name!r}{close_name(name, KNOWN)}")


def new_topic_settings(properties: Mapping[str, str]) -> NewTopicSettings:
    return NewTopicSettings(
        _number(properties, "partitions"),
        _number(properties, "replicas"),
        _number(properties, "retention_ms", forever=-1),
    )


def _number(properties: Mapping[str, str], name: str, forever: int | None = None) -> int | None:
    text = properties.get(name)
    if text is None:
        return None
    if text == str(forever):
        return forever
    if not text.isdigit() or int(text) < 1:
        raise SqlError(f"{name} must be a number above 0, not {text!r}")
    return int(text)


def formats(
    properties: Mapping[str, str], *, value: Format = Format.JSON, key: Format = Format.KAFKA
) -> tuple[Format, Format]:
    """Returns the formats of values and keys; `value` and `key` are the defaults."""
    both = properties.get("format")
    value_name = properties.get("value_format", both)
    key_name = properties.get("key_format", both)
    return (
        value if value_name is None else _format(value_name, "value_format"),
        key if key_name is None else _format(key_name, "key_format"),
    )


def _format(text: str, name: str) -> Format:
    upper = text.upper()
    if upper in _FOREIGN_FORMATS:
        raise UnsupportedError(
            f"{name} {upper} is not supported, since there is no schema registry: use JSON or AVRO"
        )
    try:
        found = Format(upper)
    except ValueError:
        known = ", ".join(item.value for item in Format)
        raise SqlError(f"no format {text!r}; there are {known}") from None
    if name == "key_format" and found in AVRO_FORMATS:
        raise UnsupportedError(
            f"key_format {upper} is not supported: keys are KAFKA, DELIMITED or JSON; "
            f"value_format='{upper}' is"
        )
    return found


def delimiter(properties: Mapping[str, str]) -> str:
    text = properties.get("value_delimiter", ",")
    found = DELIMITERS.get(text.upper(), text)
    if len(found) != 1:
        raise SqlError(f"value_delimiter must be one character, SPACE or TAB, not {text!r}")
    return found


def declared(statement: Create) -> Relation:
    """Returns the relation that CREATE STREAM or TABLE declares over a topic."""
    properties = statement.properties
    check_names(properties)
    value_format, key_format = formats(properties)
    schema = given_avro(properties, value_format)
    columns = _with_key(_with_columns(statement, schema))
    relation = Relation(
        name=statement.name,
        kind=statement.kind,
        topic=properties.get("kafka_topic", statement.name),
        columns=columns,
        value_format=value_format,
        key_format=key_format,
        delimiter=delimiter(properties),
        timestamp=properties.get("timestamp"),
        timestamp_format=properties.get("timestamp_format"),
        keys_in_value="key" in properties,
        avro_schema=schema,
    )
    check(relation)
    return relation


def given_avro(properties: Mapping[str, str], value_format: Format) -> str | None:
    """Returns the Avro schema of the WITH clause, or None."""
    text = properties.get("avro_schema")
    if text is None:
        return None
    if value_format not in AVRO_FORMATS:
        raise SqlError("avro_schema needs value_format AVRO or CONFLUENT_AVRO")
    return given_schema(text)


def _with_columns(statement: Create, schema: str | None) -> Create:
    """Returns the statement with its columns; those of an Avro schema need not be repeated.

    A key column is never a field of the schema, so the statement must declare it.
    """
    values = [column for column in statement.columns if column.role is KeyRole.NONE]
    if schema is not None and not values:
        return replace(statement, columns=(*statement.columns, *schema_columns(schema)))
    if not statement.columns:
        raise SqlError("the columns are missing: CREATE STREAM name (column TYPE, …) WITH (…)")
    return statement


def _with_key(statement: Create) -> tuple[Column, ...]:
    """Returns the columns with their roles; `WITH (key='c')` is KSQL's syntax before key
    columns."""
    columns = statement.columns
    named = statement.properties.get("key")
    if named is None:
        return columns
    if named.lower() not in (column.name.lower() for column in columns):
        raise SqlError(f"key: no column {named!r}{close_name(named, [c.name for c in columns])}")
    if any(column.role is not KeyRole.NONE for column in columns):
        raise SqlError("the key is given twice: as a column, and as WITH (key=…)")
    role = KeyRole.PRIMARY if statement.kind is RelationKind.TABLE else KeyRole.KEY
    return tuple(
        replace(column, role=role) if column.name.lower() == named.lower() else column
        for column in columns
    )


def check(relation: Relation) -> None:
    """Raises SqlError for a relation that contradicts itself."""
    _check_columns(relation)
    _check_key(relation)
    if relation.timestamp is not None and relation.column(relation.timestamp) is None:
        names = [column.name for column in relation.columns]
        hint = close_name(relation.timestamp, names)
        raise SqlError(f"timestamp: no column {relation.timestamp!r}{hint}")
    if relation.timestamp_format is not None and relation.timestamp is None:
        raise SqlError("timestamp_format needs timestamp, the name of the column")
    if relation.value_format is Format.KAFKA and len(relation.value_columns) > 1:
        raise SqlError("value_format KAFKA holds one column; use JSON for several")
    check_avro(relation)
    several = len(relation.key_columns) > 1 and not relation.keys_in_value
    if several and relation.key_format in (Format.KAFKA, Format.DELIMITED):
        raise SqlError("a key of several columns needs key_format='JSON'")


def check_avro(relation: Relation) -> None:
    """Raises SqlError if columns and Avro schema do not match."""
    if relation.value_format not in AVRO_FORMATS:
        return
    if relation.avro_schema is None:
        derived_schema(relation.value_columns)
        return
    for column in relation.value_columns:
        field_of(relation.avro_schema, column)


def check_written(relation: Relation) -> None:
    """Raises UnsupportedError for a relation that can only be read."""
    if relation.value_format is Format.CONFLUENT_AVRO:
        raise UnsupportedError(
            "CONFLUENT_AVRO can only be read, because writing needs the schema id of a registry: "
            "value_format='AVRO' writes values without an id"
        )


def _check_columns(relation: Relation) -> None:
    seen: set[str] = set()
    for column in relation.columns:
        if column.name.lower() in seen:
            raise SqlError(f"two columns have the name {column.name!r}")
        if column.name.lower() in PSEUDO_COLUMNS:
            raise SqlError(f"{column.name} is reserved: every row has a column of this name")
        seen.add(column.name.lower())


def _check_key(relation: Relation) -> None:
    roles = {column.role for column in relation.key_columns}
    if relation.kind is RelationKind.TABLE:
        if KeyRole.KEY in roles:
            raise SqlError("a table needs PRIMARY KEY instead of KEY")
        if not roles:
            raise SqlError("a table needs a key: mark a column as PRIMARY KEY")
    elif KeyRole.PRIMARY in roles:
        raise SqlError("a stream has no PRIMARY KEY, because its keys can repeat: write KEY")


PSEUDO_COLUMNS = frozenset({"rowtime", "rowpartition", "rowoffset", "windowstart", "windowend"})
"""Columns that every row, or every row of a windowed table, has."""
