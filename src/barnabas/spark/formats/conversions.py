"""Converts text, CSV fields and parsed JSON to values of Spark's types, one value at a time.

This is the reference path: rows that the faster batch readers reject are converted here, and an
error here is the error of the row, with a message for users. A CSV value is one line of fields in
the order of the schema's columns; fields are separated by commas and may be quoted. An empty field
is null; a line with fewer or more fields than columns is an error.
"""

import base64
import csv
import datetime as dt
import json
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FractionalType,
    IntegralType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)


def decode_text(data: bytes) -> str:
    """Decodes UTF-8; ValueError names the first invalid byte."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}"
        ) from None


def decode_texts(array: pa.Array) -> pa.Array | None:
    """Decodes a whole batch; returns None if any row is not valid UTF-8."""
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return None


Convert = Callable[[Any], Any]
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_BOOLEANS = {"true": True, "false": False}


def converter(kind: DataType) -> Convert:
    """Returns a function that converts a parsed value other than None.

    It raises ValueError for a value that does not match the type.
    """
    match kind:
        case StructType():
            return _struct(kind)
        case ArrayType():
            return _array(converter(kind.elementType))
        case MapType():
            return _map(converter(kind.keyType), converter(kind.valueType))
        case IntegralType():
            return _integer(kind.simpleString())
        case DecimalType():
            return _decimal(kind)
    for type_, convert in _SIMPLE:
        if isinstance(kind, type_):
            return convert
    raise ValueError(f"{kind.simpleString()} cannot be decoded")


def text_converter(kind: DataType) -> Convert:
    """Returns the same for a piece of text, as in CSV; nested types are JSON there."""
    convert = converter(kind)
    if isinstance(kind, StringType | BinaryType | DateType | TimestampType | TimestampNTZType):
        return convert
    if isinstance(kind, BooleanType):
        return _boolean_text
    if isinstance(kind, DecimalType):
        return lambda text: convert(text.strip())
    if isinstance(kind, IntegralType):
        return lambda text: convert(_number(int, text))
    if isinstance(kind, FractionalType):
        return lambda text: convert(_number(float, text))
    return lambda text: convert(json.loads(text))


def _struct(kind: StructType) -> Convert:
    fields = [(item.name, converter(item.dataType)) for item in kind.fields]

    def convert(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"{_show(value)} is not an object")
        found: dict[str, Any] = {}
        for name, convert_field in fields:
            item = value.get(name)
            try:
                found[name] = None if item is None else convert_field(item)
            except ValueError as error:
                raise ValueError(f"field {name!r}: {error}") from None
        return found

    return convert


def _array(element: Convert) -> Convert:
    def convert(value: object) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"{_show(value)} is not an array")
        return [None if item is None else element(item) for item in value]

    return convert


def _map(key: Convert, element: Convert) -> Convert:
    def convert(value: object) -> list[tuple[object, object]]:
        if not isinstance(value, dict):
            raise ValueError(f"{_show(value)} is not an object")
        return [
            (key(name), None if item is None else element(item)) for name, item in value.items()
        ]

    return convert


def _integer(name: str) -> Convert:
    limit = 1 << _BITS[name]

    def convert(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise ValueError(f"{_show(value)} is not of type {name}")
        if value != value or value % 1 or not -limit <= value < limit:
            raise ValueError(f"{_show(value)} is not of type {name}")
        return int(value)

    return convert


def _decimal(kind: DecimalType) -> Convert:
    step = Decimal(1).scaleb(-kind.scale)
    limit = Decimal(10) ** (kind.precision - kind.scale)

    def convert(value: object) -> Decimal:
        try:
            if isinstance(value, bool | list | dict):
                raise InvalidOperation
            number = Decimal(str(value))
            if not number.is_finite() or abs(number) >= limit:
                raise InvalidOperation
            return number.quantize(step)
        except InvalidOperation:
            raise ValueError(f"{_show(value)} is not of type {kind.simpleString()}") from None

    return convert


def _fraction(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"{_show(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # JSON has neither infinity nor NaN, although some parsers accept them.
    if not math.isfinite(number):
        raise ValueError(f"{_show(value)} is not a number")
    return number


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_show(value)} is neither true nor false")
    return value


def _boolean_text(text: str) -> bool:
    found = _BOOLEANS.get(text.strip().lower())
    if found is None:
        raise ValueError(f"{_show(text)} is neither true nor false")
    return found


def _string(value: object) -> str:
    """Returns text as it is and any other value as JSON, as Spark's own reader does."""
    if isinstance(value, str):
        value.encode()  # raises for half of a surrogate pair, which JSON can contain
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _binary(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        raise ValueError(f"{_show(value)} is not base64 text") from None


def _date(value: Any) -> dt.date:
    try:
        return dt.date.fromisoformat(value)
    except (ValueError, TypeError):
        raise ValueError(f"{_show(value)} is not a date") from None


def _timestamp(value: object) -> dt.datetime:
    """Reads ISO 8601, by default in UTC; a number is seconds since 1970, as in Spark."""
    try:
        if isinstance(value, str):
            found = dt.datetime.fromisoformat(value.strip())
            return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)
        return dt.datetime.fromtimestamp(_fraction(value), dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{_show(value)} is not a timestamp") from None


def _local_timestamp(value: Any) -> dt.datetime:
    try:
        found = dt.datetime.fromisoformat(value.strip())
    except (ValueError, AttributeError):
        raise ValueError(f"{_show(value)} is not a timestamp") from None
    if found.tzinfo is not None:
        raise ValueError(f"{_show(value)} has a time zone, which timestamp_ntz does not allow")
    return found


def _number(kind: Callable[[str], object], text: str) -> object:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{_show(text)} is not a number") from None


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


_SIMPLE: list[tuple[type[DataType], Convert]] = [
    (StringType, _string),
    (BooleanType, _boolean),
    (FractionalType, _fraction),
    (BinaryType, _binary),
    (DateType, _date),
    (TimestampType, _timestamp),
    (TimestampNTZType, _local_timestamp),
]


def csv_row(kind: StructType) -> Callable[[bytes], dict[str, Any]]:
    """Returns a function that decodes one value; it raises ValueError for invalid bytes."""
    names = kind.fieldNames()
    converters = [text_converter(item.dataType) for item in kind.fields]

    def decode(data: bytes) -> dict[str, Any]:
        texts = _fields(decode_text(data))
        if len(texts) != len(names):
            raise ValueError(f"has {len(texts)} fields, not {len(names)}")
        found: dict[str, Any] = {}
        for name, convert, text in zip(names, converters, texts, strict=True):
            try:
                found[name] = convert(text) if text else None
            except ValueError as error:
                raise ValueError(f"field {name!r}: {error}") from None
        return found

    return decode


def _fields(text: str) -> list[str]:
    try:
        lines = list(csv.reader(text.splitlines(keepends=True), strict=True))
    except csv.Error as error:
        raise ValueError(f"is not CSV: {error}") from None
    if len(lines) != 1:
        raise ValueError(f"has {len(lines)} lines instead of one")
    return lines[0]
