"""Spark's schema texts, `id long, tags array<string>`, read without a JVM.

A data source is asked for its schema in a process that has no JVM to parse it. Known are the types
a decoded value can have; every column may be null, since no decoder can promise a value.
"""

import re
from collections.abc import Callable

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

_PRIMITIVES: dict[str, Callable[[], DataType]] = {
    "boolean": BooleanType,
    "byte": ByteType,
    "tinyint": ByteType,
    "short": ShortType,
    "smallint": ShortType,
    "int": IntegerType,
    "integer": IntegerType,
    "long": LongType,
    "bigint": LongType,
    "float": FloatType,
    "real": FloatType,
    "double": DoubleType,
    "string": StringType,
    "binary": BinaryType,
    "date": DateType,
    "timestamp": TimestampType,
    "timestamp_ltz": TimestampType,
    "timestamp_ntz": TimestampNTZType,
}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)+`|'(?:[^'\\]|\\.)*'|\w+|[<>(),:])")
_WORD = re.compile(r"`.*`|\w+", re.DOTALL)
_DECIMAL = (10, 0)


def parse_ddl(text: str) -> StructType:
    """The columns of a schema text; ValueError says what does not fit."""
    tokens = _Tokens(text)
    if tokens.peek().lower() == "struct" and tokens.peek(1) == "<":
        found = _type(tokens)
        assert isinstance(found, StructType)
    else:
        found = _columns(tokens, end="")
    if tokens.peek():
        raise ValueError(f"{tokens.peek()!r} is not expected")
    return found


class _Tokens:
    def __init__(self, text: str) -> None:
        self._found = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise ValueError(f"{text[position:].strip()[:20]!r} cannot be read")
            self._found.append(match[1])
            position = match.end()
        self._at = 0

    def peek(self, ahead: int = 0) -> str:
        """The token that comes; empty at the end."""
        at = self._at + ahead
        return self._found[at] if at < len(self._found) else ""

    def take(self) -> str:
        token = self.peek()
        self._at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Whether these came, in any case; they are taken then."""
        if any(self.peek(n).lower() != token for n, token in enumerate(tokens)):
            return False
        self._at += len(tokens)
        return True

    def expect(self, token: str) -> None:
        if not self.skip(token):
            raise ValueError(f"{token!r} is expected, not {self.peek() or 'the end'!r}")


def _columns(tokens: _Tokens, end: str) -> StructType:
    fields: list[StructField] = []
    while True:
        fields.append(_column(tokens))
        if not tokens.skip(","):
            break
    if tokens.peek() != end:
        raise ValueError(f"',' is expected, not {tokens.peek()!r}")
    return StructType(fields)


def _column(tokens: _Tokens) -> StructField:
    name = tokens.take()
    if not _WORD.fullmatch(name):
        raise ValueError(f"a column's name is expected, not {name or 'the end'!r}")
    if name.startswith("`"):
        name = name[1:-1].replace("``", "`")
    tokens.skip(":")
    kind = _type(tokens)
    if tokens.skip("not", "null"):
        raise ValueError(f"column {name!r} cannot be NOT NULL: what is decoded may be null")
    if tokens.skip("comment"):
        tokens.take()
    return StructField(name, kind)


def _type(tokens: _Tokens) -> DataType:
    word = tokens.take()
    match word.lower():
        case "array":
            tokens.expect("<")
            element = _type(tokens)
            tokens.expect(">")
            return ArrayType(element)
        case "map":
            tokens.expect("<")
            key = _type(tokens)
            tokens.expect(",")
            value = _type(tokens)
            tokens.expect(">")
            return MapType(key, value)
        case "struct":
            tokens.expect("<")
            columns = _columns(tokens, end=">")
            tokens.expect(">")
            return columns
        case "decimal" | "dec" | "numeric":
            return DecimalType(*_precision(tokens))
    return _primitive(tokens, word)


def _primitive(tokens: _Tokens, word: str) -> DataType:
    if word.lower() in ("varchar", "char") and tokens.skip("("):
        tokens.take()
        tokens.expect(")")
        return StringType()
    made = _PRIMITIVES.get(word.lower())
    if made is None:
        known = ", ".join((*_PRIMITIVES, "decimal", "array", "map", "struct"))
        raise ValueError(f"type {word or 'nothing'!r} is not one of: {known}")
    return made()


def _precision(tokens: _Tokens) -> tuple[int, int]:
    if not tokens.skip("("):
        return _DECIMAL
    precision, scale = int(tokens.take()), 0
    if tokens.skip(","):
        scale = int(tokens.take())
    tokens.expect(")")
    return precision, scale
