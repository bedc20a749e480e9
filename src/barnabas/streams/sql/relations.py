"""Streams and tables of the catalog, and the Avro schemas of their values.

An Avro schema is given in WITH, or derived from the columns: a record in which every field may be
null. A value is one datum. `AVRO` is the datum alone; `CONFLUENT_AVRO` has five bytes before it, a
zero and the id of the schema in a registry, as ksqlDB and Confluent's serializers write it. There
is no schema registry here, so the id is skipped when reading, and such values cannot be written.
"""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from barnabas.spark import formats
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import spark_type
from barnabas.streams.sql.language.statements import (
    Column,
    KeyRole,
    RelationKind,
    WindowClause,
    WindowKind,
)


class Format(Enum):
    """How a key or a value is encoded in the record.

    KAFKA stands for Kafka's serializers of single values: text as UTF-8, numbers as big-endian
    bytes. The two Avro formats are for values only.
    """

    JSON = "JSON"
    DELIMITED = "DELIMITED"
    KAFKA = "KAFKA"
    AVRO = "AVRO"
    CONFLUENT_AVRO = "CONFLUENT_AVRO"
    NONE = "NONE"


AVRO_FORMATS = (Format.AVRO, Format.CONFLUENT_AVRO)


@dataclass(frozen=True, slots=True)
class Relation:
    """A stream or a table over a topic.

    `window` is the window of the query that writes it: a windowed table has one row for each key
    and window. `keys_in_value` means that the key columns are read from the value and the record's
    key repeats them: in windowed tables, and with KSQL's older `WITH (key='c')`.
    """

    name: str
    kind: RelationKind
    topic: str
    columns: tuple[Column, ...]
    value_format: Format = Format.JSON
    key_format: Format = Format.KAFKA
    delimiter: str = ","
    timestamp: str | None = None
    timestamp_format: str | None = None
    keys_in_value: bool = False
    window: WindowClause | None = None
    avro_schema: str | None = None
    """The schema of the WITH clause; None if it is derived from the columns."""

    @property
    def key_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is not KeyRole.NONE)

    @property
    def value_columns(self) -> tuple[Column, ...]:
        """The columns that are in the record's value."""
        if self.keys_in_value:
            return self.columns
        return tuple(column for column in self.columns if column.role is KeyRole.NONE)

    def column(self, name: str) -> Column | None:
        """Returns a column by its name in any case."""
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)

    def as_document(self) -> dict[str, object]:
        """Returns a JSON value that `relation_of` reads."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "topic": self.topic,
            "columns": [
                {"name": c.name, "type": c.type, "role": c.role.value} for c in self.columns
            ],
            "value_format": self.value_format.value,
            "key_format": self.key_format.value,
            "delimiter": self.delimiter,
            "timestamp": self.timestamp,
            "timestamp_format": self.timestamp_format,
            "keys_in_value": self.keys_in_value,
            "window": _window_document(self.window),
            "avro_schema": self.avro_schema,
        }


def relation_of(document: Mapping[str, Any]) -> Relation:
    """Returns the relation of a JSON value that `as_document` wrote."""
    columns = tuple(
        Column(item["name"], item["type"], KeyRole(item["role"])) for item in document["columns"]
    )
    window = document["window"]
    return Relation(
        name=document["name"],
        kind=RelationKind(document["kind"]),
        topic=document["topic"],
        columns=columns,
        value_format=Format(document["value_format"]),
        key_format=Format(document["key_format"]),
        delimiter=document["delimiter"],
        timestamp=document["timestamp"],
        timestamp_format=document["timestamp_format"],
        keys_in_value=document["keys_in_value"],
        window=None
        if window is None
        else WindowClause(WindowKind(window["kind"]), *window["lengths"]),
        avro_schema=document.get("avro_schema"),
    )


def _window_document(window: WindowClause | None) -> dict[str, object] | None:
    if window is None:
        return None
    lengths = [window.size_ms, window.advance_ms, window.grace_ms]
    return {"kind": window.kind.value, "lengths": lengths}


def close_name(name: str, known: Iterable[str]) -> str:
    """Returns `; did you mean 'x'?` for an error message, or an empty text."""
    by_lower = {item.lower(): item for item in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def json_text(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def unknown_relation(name: str, known: Iterable[str]) -> SqlError:
    return SqlError(f"no stream or table {name!r}{close_name(name, known)}")


def given_schema(text: str) -> str:
    """Returns the schema of `avro_schema=`: JSON, or the name of a file with JSON."""
    if not text.lstrip().startswith("{"):
        try:
            text = Path(text).read_text(encoding="utf-8")
        except OSError as error:
            raise SqlError(
                "avro_schema must be a record schema in JSON, or the path of a file with one: "
                f"{text}: {error.strerror}"
            ) from None
    _fields(text)
    return json.dumps(json.loads(text), separators=(",", ":"))


def derived_schema(columns: Sequence[Column]) -> str:
    """Returns a schema for columns; SqlError for a type or a name that Avro does not have."""
    for column in columns:
        if not column.name.isidentifier() or not column.name.isascii():
            raise SqlError(
                f"{column.name!r} cannot be the name of an Avro field: rename the column"
            )
    ddl = ", ".join(f"`{column.name}` {column.type}" for column in columns)
    try:
        return json.dumps(formats.avro_schema(formats.parse_ddl(ddl)), separators=(",", ":"))
    except ValueError as error:
        raise SqlError(f"value_format AVRO: {error}") from None


def schema_columns(text: str) -> tuple[Column, ...]:
    """Returns the columns of a schema's fields."""
    return tuple(Column(name, spark_type(kind)) for name, kind in _fields(text))


def field_of(text: str, column: Column) -> Column:
    """Returns the field that a column is read from, with the schema's spelling and type."""
    for field in schema_columns(text):
        if field.name.lower() == column.name.lower():
            return field
    raise SqlError(f"avro_schema has no field {column.name!r}")


def _fields(text: str) -> list[tuple[str, str]]:
    try:
        fields = formats.record_fields(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SqlError(f"avro_schema cannot be read: {error}") from None
    if fields is None:
        raise SqlError("avro_schema must be the schema of a record")
    return fields
