"""Schema texts of `value.schema` as Spark types, parsed without a JVM.

A schema is DDL (`id long, tags array<string>`), Spark's own JSON (`StructType.json()`), JSON
Schema, or for Avro an Avro schema. Spark asks a data source for its schema in a process that has no
JVM. Every column may be null, because a decoder cannot guarantee a value.

Of JSON Schema the column types are used: objects, arrays, text, numbers and booleans, `format` date
and date-time, null beside one other type. Restrictions of values (minimum, pattern, required) are
ignored.
"""

import json
import re
from collections.abc import Callable
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

from barnabas.spark.formats import avro

RAW, STRING, JSON, CSV = "raw", "string", "json", "csv"
AVRO = "avro"
CONFLUENT_AVRO = "confluent-avro"
AVRO_FORMATS = (AVRO, CONFLUENT_AVRO)
_NULL_FLAGS = ("nullable", "containsNull", "valueContainsNull")


def parse_schema(format_name: str, text: str) -> DataType:
    """Returns the column type of a schema text; ValueError has the reason if it is invalid."""
    if format_name in AVRO_FORMATS:
        return avro.spark_type(parse_avro(text))
    if not text.lstrip().startswith("{"):
        return parse_ddl(text)
    value = _json_object(text)
    if value.get("type") == "struct" and "fields" in value:
        return as_nullable(StructType.fromJson(value))
    return json_schema_type(value)


def parse_avro(text: str) -> Any:
    """Returns an Avro schema as a JSON value; the name of a primitive type is a schema, too."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')):
        return stripped
    try:
        return json.loads(stripped)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None


def as_nullable(kind: StructType) -> StructType:
    """Returns the same columns, each of which may be null, at every depth."""
    return StructType.fromJson(_nullable(kind.jsonValue()))


def _nullable(value: object) -> Any:
    if isinstance(value, list):
        return [_nullable(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: name in _NULL_FLAGS or _nullable(item) for name, item in value.items()}


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("a JSON object is expected")
    return value


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
    """Returns the columns of a schema text; ValueError names the invalid part."""
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
        """Returns the next token; an empty text at the end."""
        at = self._at + ahead
        return self._found[at] if at < len(self._found) else ""

    def take(self) -> str:
        token = self.peek()
        self._at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Skips these tokens if they are next, in any case; returns whether they were."""
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
        raise ValueError(f"column {name!r} cannot be NOT NULL, because decoded values may be null")
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


_FORMATS: dict[str, DataType] = {"date-time": TimestampType(), "date": DateType()}


def json_schema_type(schema: dict[str, Any]) -> DataType:
    """Returns the Spark type of a JSON Schema; ValueError names a type that Spark does not have."""
    match _kind(schema):
        case "object" if "properties" in schema:
            items = schema["properties"].items()
            return StructType([StructField(name, json_schema_type(item)) for name, item in items])
        case "object":
            values = schema.get("additionalProperties")
            return MapType(
                StringType(), json_schema_type(values) if isinstance(values, dict) else StringType()
            )
        case "array":
            return ArrayType(json_schema_type(schema.get("items", {"type": "string"})))
        case "string":
            return _FORMATS.get(schema.get("format", ""), StringType())
        case "integer":
            return LongType()
        case "number":
            return DoubleType()
        case "boolean":
            return BooleanType()
        case kind:
            raise ValueError(f"{kind!r} has no Spark type")


def _kind(schema: dict[str, Any]) -> object:
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [item for item in kind if item != "null"]
        return others[0] if len(others) == 1 else kind
    return kind
