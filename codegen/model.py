"""The content of a declaration: messages, structs and fields with their version ranges.

This module is independent of Python code and bytes; `layout` resolves a struct for one version and
the `emit_*` modules write code from the result.
"""

from collections.abc import Iterator
from dataclasses import dataclass

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
WIDTH = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
}
VARIABLE = ("string", "bytes", "records")
NEVER_FLEXIBLE = 32767


@dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range of versions."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field; `type` names a primitive or a struct of the same file."""

    name: str
    type: str
    is_array: bool
    versions: Versions
    nullable: Versions | None
    tag: int | None
    default: str | None
    doc: str | None

    @property
    def is_struct(self) -> bool:
        return self.type not in FIXED and self.type not in VARIABLE


@dataclass(frozen=True, slots=True)
class StructDecl:
    """A named group of fields: a message body or an element of an array."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class MessageDecl:
    """A request, a response or a stored record."""

    kind: str
    api_key: int | None
    versions: Versions
    flexible_from: int
    body: StructDecl


@dataclass(frozen=True, slots=True)
class Schema:
    """One declaration file. `structs` lists nested structs, contained structs first."""

    stem: str
    doc: str
    messages: tuple[MessageDecl, ...]
    structs: dict[str, StructDecl]
