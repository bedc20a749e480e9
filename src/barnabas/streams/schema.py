"""Typed records: columns with Spark SQL types, from dataclasses or from DDL.

Pure: types are texts, so that definitions do not import Spark. `Schema.of` accepts a dataclass, a
DDL text (`"user string, tags array<string>"`), pairs of name and type, or a schema.
"""

import dataclasses
import datetime
import decimal
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Union

from barnabas.model.errors import ConfigError

RESERVED = ("_key", "_timestamp", "_tombstone", "_partition", "_offset")
"""Columns that every row has in addition to its own: see `barnabas.streams.nodes`."""

_SIMPLE: dict[Any, str] = {
    str: "string",
    int: "bigint",
    float: "double",
    bool: "boolean",
    bytes: "binary",
    datetime.datetime: "timestamp",
    datetime.date: "date",
    decimal.Decimal: "decimal(38,18)",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name and its Spark SQL type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a record's value; `record` is the dataclass they were derived from, if any."""

    fields: tuple[Field, ...]
    record: type | None = None

    @classmethod
    def of(cls, source: "SchemaLike") -> "Schema":
        """Returns a schema; ConfigError names the part that cannot be converted.

        >>> Schema.of("user string, at struct<x:int,y:int>").names
        ('user', 'at')
        """
        if isinstance(source, Schema):
            return source
        if isinstance(source, str):
            made = cls(tuple(_ddl_field(part) for part in _split(source)))
        elif isinstance(source, type) and dataclasses.is_dataclass(source):
            made = cls(_record_fields(source), source)
        elif isinstance(source, type):
            raise ConfigError(f"{source.__name__} is not a dataclass: it gives no schema")
        else:
            made = cls(tuple(Field(name, kind) for name, kind in source))
        return made._checked()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(field.name for field in self.fields)

    @property
    def ddl(self) -> str:
        """The columns as DDL for Spark.

        >>> Schema.of([("a", "int"), ("b c", "string")]).ddl
        '`a` int, `b c` string'
        """
        return ", ".join(f"{quoted(field.name)} {field.type}" for field in self.fields)

    @property
    def struct(self) -> str:
        """The columns as one struct type."""
        return f"struct<{','.join(f'{quoted(f.name)}:{f.type}' for f in self.fields)}>"

    def _checked(self) -> "Schema":
        if not self.fields:
            raise ConfigError("a schema needs at least one column")
        taken = [name for name in self.names if name in RESERVED]
        if taken:
            raise ConfigError(
                f"column {taken[0]!r}: the name is reserved for a column of every row"
            )
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ConfigError(f"column {twice!r} occurs twice")
        return self


SchemaLike = Schema | str | type | Iterable[tuple[str, str]]


def quoted(name: str) -> str:
    """Returns a column name quoted for an expression."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def sql_type(annotation: object) -> str:
    """Returns the Spark SQL type of a Python annotation.

    >>> sql_type(dict[str, list[int]]), sql_type(float | None)
    ('map<string,array<bigint>>', 'double')
    """
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return Schema(_record_fields(annotation)).struct
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        present = [item for item in arguments if item is not types.NoneType]
        if len(present) == 1:
            return sql_type(present[0])
    if origin in (list, tuple, set, frozenset) and arguments:
        return f"array<{sql_type(arguments[0])}>"
    if origin is dict and len(arguments) == 2:
        return f"map<{sql_type(arguments[0])},{sql_type(arguments[1])}>"
    raise ConfigError(f"{annotation!r} has no Spark SQL type: give the schema as DDL")


def _record_fields(record: type) -> tuple[Field, ...]:
    hints = typing.get_type_hints(record)
    fields = dataclasses.fields(record)
    return tuple(Field(field.name, sql_type(hints[field.name])) for field in fields)


def _split(text: str) -> list[str]:
    """Splits a text at the commas that are outside brackets."""
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _ddl_field(part: str) -> Field:
    if part.startswith("`"):
        name, _, kind = part[1:].partition("`")
    else:
        name, _, kind = part.partition(" ")
    kind = kind.strip().removeprefix(":").strip()
    name = name.rstrip(":")
    if not name or not kind:
        raise ConfigError(f"{part!r}: a column needs a name and a type")
    return Field(name, kind)


def schema_of_result(
    function: Callable[..., object], into: SchemaLike | None, *, many: bool = False
) -> Schema:
    """Returns the given schema, or that of the dataclass in the function's return annotation."""
    if into is not None:
        return Schema.of(into)
    hints = typing.get_type_hints(function) if hasattr(function, "__annotations__") else {}
    found = hints.get("return")
    if many and typing.get_args(found):
        found = typing.get_args(found)[0]
    arguments = [item for item in typing.get_args(found) if item is not type(None)]
    found = arguments[0] if len(arguments) == 1 and not many else found
    if isinstance(found, type) and dataclasses.is_dataclass(found):
        return Schema.of(found)
    name = getattr(function, "__name__", "the function")
    raise ConfigError(f"{name} has no dataclass as return annotation: give into=")
