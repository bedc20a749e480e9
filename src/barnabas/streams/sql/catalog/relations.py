"""Streams and tables as the catalog knows them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import (
    Column,
    KeyRole,
    RelationKind,
    Window,
    WindowKind,
)


class Format(Enum):
    """How a key or a value is written in the record.

    KAFKA is Kafka's own serializers of single values: text as UTF-8, numbers as big-endian bytes.
    `catalog.avro` has the two forms of Avro, which are for values only.
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

    `window` is that of the query which fills it: a windowed table has one row for each key and
    window. `keys_in_value` says that the key columns are read from the value and the record's key
    repeats them: of windows, and of KSQL's older `WITH (key='c')`.
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
    window: Window | None = None
    avro_schema: str | None = None
    """As WITH gave it; None where it follows from the columns."""

    @property
    def key_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is not KeyRole.NONE)

    @property
    def value_columns(self) -> tuple[Column, ...]:
        """The columns that the record's value holds."""
        if self.keys_in_value:
            return self.columns
        return tuple(column for column in self.columns if column.role is KeyRole.NONE)

    def column(self, name: str) -> Column | None:
        """A column by its name in any case."""
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)

    def as_document(self) -> dict[str, Any]:
        """JSON's form of it; `relation_of` reads it."""
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
    """The relation that `as_document` wrote down."""
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
        window=None if window is None else Window(WindowKind(window["kind"]), *window["lengths"]),
        avro_schema=document.get("avro_schema"),
    )


def _window_document(window: Window | None) -> dict[str, Any] | None:
    if window is None:
        return None
    lengths = [window.size_ms, window.advance_ms, window.grace_ms]
    return {"kind": window.kind.value, "lengths": lengths}


def close_name(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for an error, or nothing."""
    import difflib

    by_lower = {item.lower(): item for item in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def json_text(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def unknown_relation(name: str, known: Iterable[str]) -> SqlError:
    return SqlError(f"no stream or table {name!r}{close_name(name, known)}")
