"""A column of bytes to a column of values: whole batches first, row by row where that fails.

A decoder takes an Arrow array of bytes and gives an array of the same length in the type Spark
expects. A null stays null. A row that does not decode is null too, and told with its reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BinaryType, DataType, StringType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.schemas import AVRO_FORMATS, CONFLUENT_AVRO, parse_avro

if TYPE_CHECKING:
    import pyarrow as pa

RAW, STRING, JSON, CSV = "raw", "string", "json", "csv"
FORMATS = (RAW, STRING, JSON, CSV, *AVRO_FORMATS)
CHUNK = 256
"""Rows that are decoded one by one because one among them does not decode."""

Row = Callable[[bytes], Any]
Batch = Callable[["pa.Array"], "pa.Array | None"]


@dataclass(slots=True)
class Decoded:
    """The values, and why some rows have none."""

    values: "pa.Array"
    errors: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decoder:
    """One column's decoding. `batch` may give None: then the rows are decoded one by one."""

    arrow_type: Any
    row: Row
    batch: Batch | None = None

    def decode(self, array: "pa.Array") -> Decoded:
        """`array` is of bytes or text."""
        import pyarrow as pa

        whole = self._whole(array)
        if whole is not None:
            return Decoded(whole)
        parts: list[Any] = []
        errors: dict[int, str] = {}
        for start in range(0, len(array), CHUNK):
            chunk = array.slice(start, CHUNK)
            values = self._whole(chunk)
            if values is None:
                values, reasons = self._rows(chunk)
                errors.update({start + at: reason for at, reason in reasons.items()})
            parts.append(values)
        return Decoded(pa.concat_arrays(parts) if parts else self._empty(), errors)

    def _whole(self, array: "pa.Array") -> "pa.Array | None":
        return self.batch(array) if self.batch is not None and len(array) else None

    def _rows(self, array: "pa.Array") -> tuple["pa.Array", dict[int, str]]:
        import pyarrow as pa

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
    ) -> tuple["pa.Array", dict[int, str]]:
        """For values that were read, but that some column cannot hold: one must not stop all."""
        import pyarrow as pa

        parts: list[Any] = []
        for at, value in enumerate(values):
            try:
                parts.append(pa.array([value], self.arrow_type))
            except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
                errors[at] = str(error)
                parts.append(pa.nulls(1, self.arrow_type))
        return pa.concat_arrays(parts), errors

    def _empty(self) -> "pa.Array":
        import pyarrow as pa

        return pa.array([], self.arrow_type)


def decoder_for(format_name: str, kind: DataType, schema: str | None = None) -> Decoder:
    """The decoder of a format to a Spark type; `schema` is the text that Avro needs."""
    arrow_type = to_arrow_type(kind, timezone="UTC")
    if format_name == RAW:
        _expect(format_name, kind, BinaryType)
        return Decoder(arrow_type, bytes, lambda array: array.cast(arrow_type))
    if format_name == STRING:
        from barnabas.spark.formats.text import decode_text, decode_texts

        _expect(format_name, kind, StringType)
        return Decoder(arrow_type, decode_text, decode_texts)
    if format_name == JSON:
        from barnabas.spark.formats.json_values import json_batch, json_row

        return Decoder(arrow_type, json_row(kind), json_batch(kind))
    if format_name == CSV:
        from barnabas.spark.formats.csv_values import csv_row

        if not isinstance(kind, StructType):
            raise ConfigError(f"format csv needs a struct, not {kind.simpleString()}")
        return Decoder(arrow_type, csv_row(kind))
    return _avro(format_name, arrow_type, schema)


def _avro(format_name: str, arrow_type: Any, schema: str | None) -> Decoder:
    from barnabas.spark.formats.avro_values import avro_row

    if schema is None:
        raise ConfigError(f"format {format_name} needs the Avro schema it was written with")
    row = avro_row(parse_avro(schema), framed=format_name == CONFLUENT_AVRO)
    return Decoder(arrow_type, row)


def _expect(format_name: str, kind: DataType, wanted: type[DataType]) -> None:
    if not isinstance(kind, wanted):
        name = wanted().simpleString()
        raise ConfigError(f"format {format_name} gives {name}, not {kind.simpleString()}")
