"""Decoders of columns: whole batches, and row by row where that fails.

A decoder converts an Arrow array of bytes to an array of the same length in the type that Spark
expects. It decodes whole batches, and row by row where that fails. Null stays null; a row that
cannot be decoded becomes null and is reported with the reason.
Needs pyarrow, so planning processes of Spark do not import this module.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BinaryType, DataType, StringType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.avro import avro_row
from barnabas.spark.formats.conversions import csv_row, decode_text, decode_texts
from barnabas.spark.formats.json_values import json_batch, json_row
from barnabas.spark.formats.schemas import CONFLUENT_AVRO, CSV, JSON, RAW, STRING, parse_avro

CHUNK = 256
"""Number of rows that are decoded one by one if one of them cannot be decoded."""

Row = Callable[[bytes], Any]
Batch = Callable[[pa.Array], pa.Array | None]


@dataclass(slots=True)
class DecodedValues:
    """The decoded values, and the reasons of rows that could not be decoded."""

    values: pa.Array
    errors: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decoder:
    """Decodes one column. If `batch` returns None, the rows are decoded one by one."""

    arrow_type: Any
    row: Row
    batch: Batch | None = None

    def decode(self, array: pa.Array) -> DecodedValues:
        """Decodes an array of bytes or text."""
        whole = self._whole(array)
        if whole is not None:
            return DecodedValues(whole)
        parts: list[Any] = []
        errors: dict[int, str] = {}
        for start in range(0, len(array), CHUNK):
            chunk = array.slice(start, CHUNK)
            values = self._whole(chunk)
            if values is None:
                values, reasons = self._rows(chunk)
                errors.update({start + at: reason for at, reason in reasons.items()})
            parts.append(values)
        return DecodedValues(pa.concat_arrays(parts) if parts else self._empty(), errors)

    def _whole(self, array: pa.Array) -> pa.Array | None:
        return self.batch(array) if self.batch is not None and len(array) else None

    def _rows(self, array: pa.Array) -> tuple[pa.Array, dict[int, str]]:
        values: list[Any] = []
        errors: dict[int, str] = {}
        for at, data in enumerate(array.cast(pa.binary()).to_pylist()):
            value = None
            if data is not None:
                try:
                    value = self.row(data)
                except ValueError as error:
                    errors[at] = str(error) or type(error).__name__
            values.append(value)
        try:
            return pa.array(values, self.arrow_type), errors
        except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
            return self._one_by_one(values, errors)

    def _one_by_one(
        self, values: list[Any], errors: dict[int, str]
    ) -> tuple[pa.Array, dict[int, str]]:
        """Builds the array value by value, because one value does not match the column's type."""
        parts: list[Any] = []
        for at, value in enumerate(values):
            try:
                parts.append(pa.array([value], self.arrow_type))
            except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
                errors[at] = str(error)
                parts.append(pa.nulls(1, self.arrow_type))
        return pa.concat_arrays(parts), errors

    def _empty(self) -> pa.Array:
        return pa.array([], self.arrow_type)


def decoder_for(format_name: str, kind: DataType, schema: str | None = None) -> Decoder:
    """Returns the decoder of a format to a Spark type; `schema` is the text that Avro needs."""
    arrow_type = to_arrow_type(kind, timezone="UTC")
    if format_name == RAW:
        _expect(format_name, kind, BinaryType)
        return Decoder(arrow_type, bytes, lambda array: array.cast(arrow_type))
    if format_name == STRING:
        _expect(format_name, kind, StringType)
        return Decoder(arrow_type, decode_text, decode_texts)
    if format_name == JSON:
        return Decoder(arrow_type, json_row(kind), json_batch(kind))
    if format_name == CSV:
        if not isinstance(kind, StructType):
            raise ConfigError(f"format csv needs a struct, not {kind.simpleString()}")
        return Decoder(arrow_type, csv_row(kind))
    return _avro(format_name, arrow_type, schema)


def _avro(format_name: str, arrow_type: object, schema: str | None) -> Decoder:
    if schema is None:
        raise ConfigError(f"format {format_name} needs the Avro schema of the writer")
    row = avro_row(parse_avro(schema), framed=format_name == CONFLUENT_AVRO)
    return Decoder(arrow_type, row)


def _expect(format_name: str, kind: DataType, wanted: type[DataType]) -> None:
    if not isinstance(kind, wanted):
        name = wanted().simpleString()
        raise ConfigError(f"format {format_name} gives {name}, not {kind.simpleString()}")
