"""CSV: one value is one line of fields, in the order of the schema's columns.

Fields are apart by commas and may be quoted. An empty field is null; a line of fewer or more
fields than there are columns is an error.
"""

import csv
from collections.abc import Callable
from typing import Any

from pyspark.sql.types import StructType

from barnabas.spark.formats.conversions import text_converter
from barnabas.spark.formats.text import decode_text


def csv_row(kind: StructType) -> Callable[[bytes], dict[str, Any]]:
    """A function from one value's bytes; ValueError says what is wrong with them."""
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
        raise ValueError(f"is no CSV: {error}") from None
    if len(lines) != 1:
        raise ValueError(f"is {len(lines)} lines, not one")
    return lines[0]
