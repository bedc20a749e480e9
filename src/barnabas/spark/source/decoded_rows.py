"""Decodes the keys and values of a fetched batch by the query's options.

A row that cannot be decoded fails the task, gets null in that column, or becomes a dead letter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.spark.formats.dead_letters import DeadLetter, take_letters
from barnabas.spark.formats.decoding import Decoder
from barnabas.spark.formats.options import DLQ, FAIL, RAW, FormatOptions
from barnabas.spark.formats.schemas import as_nullable

if TYPE_CHECKING:
    import pyarrow as pa


class DecodeError(BarnabasError):
    """The key or value of a record does not have the format of the query's options."""


@dataclass(slots=True)
class DecodedRows:
    """The remaining rows of a batch, their decoded columns, and the dead letters."""

    batch: "pa.RecordBatch"
    columns: Mapping[str, Any]
    letters: list[DeadLetter]


@dataclass(frozen=True, slots=True)
class RowDecoder:
    """The decoders of the columns that a query reads; empty for raw bytes."""

    decoders: Mapping[str, Decoder]
    on_error: str

    @classmethod
    def of(cls, formats: FormatOptions, schema: StructType) -> "RowDecoder":
        """Returns the decoders of a schema; ConfigError names a column with an impossible type."""
        wanted = {"key": formats.key, "value": formats.value}
        decoders: dict[str, Decoder] = {}
        for field in schema.fields:
            column = wanted.get(field.name)
            if column is not None and column.format != RAW:
                _check_nullable(field.name, field.dataType)
                decoders[field.name] = column.decoder(field.dataType)
        return cls(decoders, formats.on_error)

    def decode(self, batch: "pa.RecordBatch", topic_partition: TopicPartition) -> DecodedRows:
        """Returns the decoded rows of a batch of one partition."""
        if not self.decoders:
            return DecodedRows(batch, {}, [])
        columns: dict[str, Any] = {}
        reasons: dict[int, str] = {}
        for name, decoder in self.decoders.items():
            found = decoder.decode(batch.column(name))
            columns[name] = found.values
            for row, reason in found.errors.items():
                reasons.setdefault(row, f"{name} {reason}")
        if reasons and self.on_error == FAIL:
            raise _error(batch, topic_partition, reasons)
        if not reasons or self.on_error != DLQ:
            return DecodedRows(batch, columns, [])
        return _without(batch, columns, reasons)


def _without(
    batch: "pa.RecordBatch", columns: dict[str, Any], reasons: dict[int, str]
) -> DecodedRows:
    import pyarrow as pa

    letters = list(take_letters(batch, reasons))
    keep = pa.array([row not in reasons for row in range(batch.num_rows)])
    kept = {name: column.filter(keep) for name, column in columns.items()}
    return DecodedRows(batch.filter(keep), kept, letters)


def _error(
    batch: "pa.RecordBatch", topic_partition: TopicPartition, reasons: dict[int, str]
) -> DecodeError:
    first = min(reasons)
    offset = batch.column("offset")[first].as_py()
    return DecodeError(
        f"{topic_partition} at offset {offset}: {reasons[first]}. "
        "With on.decode.error=dlq or null the query continues"
    )


def _check_nullable(name: str, kind: DataType) -> None:
    if isinstance(kind, StructType) and as_nullable(kind) != kind:
        raise ConfigError(
            f"column {name!r}: fields cannot be NOT NULL, because decoded values may be null"
        )
