"""Parsed text to the values of Spark's types, one value at a time, with errors a person can use.

For JSON a value is what `json` makes of it, for CSV a piece of text. This path is the judge: what
the fast ones refuse comes here, and what is refused here is an error of the row.
"""

import base64
import datetime as dt
import json
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

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

Convert = Callable[[Any], Any]
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_BOOLEANS = {"true": True, "false": False}


def converter(kind: DataType) -> Convert:
    """A function from a parsed value that is not None; it raises ValueError for one that does not
    fit the type."""
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
    """The same from a piece of text, as in CSV; nested types are JSON there."""
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

    def convert(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"{_show(value)} is no object")
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
    def convert(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"{_show(value)} is no array")
        return [None if item is None else element(item) for item in value]

    return convert


def _map(key: Convert, element: Convert) -> Convert:
    def convert(value: Any) -> list[tuple[Any, Any]]:
        if not isinstance(value, dict):
            raise ValueError(f"{_show(value)} is no object")
        return [
            (key(name), None if item is None else element(item)) for name, item in value.items()
        ]

    return convert


def _integer(name: str) -> Convert:
    limit = 1 << _BITS[name]

    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise ValueError(f"{_show(value)} is no {name}")
        if value != value or value % 1 or not -limit <= value < limit:
            raise ValueError(f"{_show(value)} is no {name}")
        return int(value)

    return convert


def _decimal(kind: DecimalType) -> Convert:
    step = Decimal(1).scaleb(-kind.scale)
    limit = Decimal(10) ** (kind.precision - kind.scale)

    def convert(value: Any) -> Decimal:
        try:
            if isinstance(value, bool | list | dict):
                raise InvalidOperation
            number = Decimal(str(value))
            if not number.is_finite() or abs(number) >= limit:
                raise InvalidOperation
            return number.quantize(step)
        except InvalidOperation:
            raise ValueError(f"{_show(value)} is no {kind.simpleString()}") from None

    return convert


def _fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"{_show(value)} is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # JSON has neither infinity nor NaN, whatever parsers make of such words.
    if not math.isfinite(number):
        raise ValueError(f"{_show(value)} is no number")
    return number


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_show(value)} is neither true nor false")
    return value


def _boolean_text(text: str) -> bool:
    found = _BOOLEANS.get(text.strip().lower())
    if found is None:
        raise ValueError(f"{_show(text)} is neither true nor false")
    return found


def _string(value: Any) -> str:
    """Anything but text as its JSON, as Spark's own reader has it."""
    if isinstance(value, str):
        value.encode()  # half of a surrogate pair is no text, and JSON can say it
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _binary(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        raise ValueError(f"{_show(value)} is no base64 text") from None


def _date(value: Any) -> dt.date:
    try:
        return dt.date.fromisoformat(value)
    except (ValueError, TypeError):
        raise ValueError(f"{_show(value)} is no date") from None


def _timestamp(value: Any) -> dt.datetime:
    """ISO 8601, UTC where it names no zone; a number is seconds since 1970, as in Spark."""
    try:
        if isinstance(value, str):
            found = dt.datetime.fromisoformat(value.strip())
            return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)
        return dt.datetime.fromtimestamp(_fraction(value), dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{_show(value)} is no timestamp") from None


def _local_timestamp(value: Any) -> dt.datetime:
    try:
        found = dt.datetime.fromisoformat(value.strip())
    except (ValueError, AttributeError):
        raise ValueError(f"{_show(value)} is no timestamp") from None
    if found.tzinfo is not None:
        raise ValueError(f"{_show(value)} has a zone, which timestamp_ntz has not")
    return found


def _number(kind: Callable[[str], Any], text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{_show(text)} is no number") from None


def _show(value: Any) -> str:
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
