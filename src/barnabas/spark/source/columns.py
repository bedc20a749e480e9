"""The source's columns as Arrow batches: names, types and order of Spark's own Kafka source.

Fetched batches are decoded into Arrow buffers. This module selects the columns of the requested
schema, in its order, casts them to Spark's types, and decodes keys and values by the query's
options. Other columns are not built. A row that cannot be decoded fails the task, gets null in that
column, or becomes a dead letter.
"""

import functools
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.spark.dead_letters import DeadLetter, take_letters
from barnabas.spark.formats.decoders import Decoder
from barnabas.spark.formats.decoding import DLQ, FAIL, FormatOptions
from barnabas.spark.formats.schemas import RAW, as_nullable

if TYPE_CHECKING:
    from barnabas.clients.simple import FetchedBatches

_HEAD = struct.Struct(">qi4xbxxxxhi")
_HEAD_SIZE = 12
_LOG_APPEND_TIME_BIT = 0x08
_NO_TIMESTAMP_TYPE = -1
_CONSTANTS = ("topic", "partition", "timestampType")
_CONSTANT_ROWS = 16_384
_ATTRIBUTES_BEFORE_V2 = 17


def decoded_names(names: list[str]) -> list[str]:
    """Returns the columns to decode for a query that reads `names`: those that are not constant
    within a fetch, and always the offset, by which a batch is cut."""
    return [*(name for name in names if name not in (*_CONSTANTS, "offset")), "offset"]


def spark_batch(
    fetched: "FetchedBatches",
    batch: pa.RecordBatch,
    names: list[str],
    decoded: Mapping[str, object],
) -> Any:
    """Returns the columns `names` of a batch, in that order and in Spark's types; those in
    `decoded` are taken from there."""
    arrays = [
        decoded[name] if name in decoded else _BUILDERS.get(name, _unchanged(name))(fetched, batch)
        for name in names
    ]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def timestamp_types(data: "memoryview") -> list[tuple[int, int]]:
    """Returns (last offset, timestamp type) of each batch in a fetch, from the headers alone."""
    runs: list[tuple[int, int]] = []
    position = 0
    while position + _HEAD.size <= len(data):
        base, length, magic, attributes, delta = _HEAD.unpack_from(data, position)
        if magic >= 2:
            runs.append((base + delta, int(attributes & _LOG_APPEND_TIME_BIT != 0)))
        elif magic == 1:
            flags = data[position + _ATTRIBUTES_BEFORE_V2]
            runs.append((base, int(flags & _LOG_APPEND_TIME_BIT != 0)))
        else:
            runs.append((base, _NO_TIMESTAMP_TYPE))
        position += _HEAD_SIZE + max(length, 1)
    return runs


def _timestamp(fetched: "FetchedBatches", batch: pa.RecordBatch) -> pa.Array:
    return batch.column("timestamp").cast(pa.timestamp("us", tz="UTC"))


def _topic(fetched: "FetchedBatches", batch: pa.RecordBatch) -> pa.Array:
    return _constant(fetched.partition.topic, "string", batch.num_rows)


def _partition(fetched: "FetchedBatches", batch: pa.RecordBatch) -> pa.Array:
    return _constant(fetched.partition.partition, "int32", batch.num_rows)


def _constant(value: object, kind: str, count: int) -> pa.Array:
    """Returns a column of one value: a slice of a cached array."""
    length = max(_CONSTANT_ROWS, 1 << (count - 1).bit_length()) if count else 1
    return _repeated(value, kind, length).slice(0, count)


@functools.lru_cache(maxsize=64)
def _repeated(value: object, kind: str, length: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.type_for_alias(kind)), length)


def _timestamp_type(fetched: "FetchedBatches", batch: pa.RecordBatch) -> pa.Array:
    runs = timestamp_types(fetched.data)
    if len({kind for _, kind in runs}) <= 1:
        kind = runs[0][1] if runs else 0
        return _constant(kind, "int32", batch.num_rows)
    lasts = np.array([last for last, _ in runs], dtype=np.int64)
    kinds = np.array([kind for _, kind in runs], dtype=np.int32)
    offsets = batch.column("offset").to_numpy()
    return pa.array(kinds[np.searchsorted(lasts, offsets)], pa.int32())


def _headers(fetched: "FetchedBatches", batch: pa.RecordBatch) -> pa.Array:
    """Returns null instead of an empty list, as Spark's own source does."""
    pair = pa.struct([("key", pa.string()), ("value", pa.binary())])
    kind = pa.list_(pa.field("element", pair))
    headers = batch.column("headers")
    lengths = pc.list_value_length(headers)
    if not pc.max(lengths).as_py():
        return pa.nulls(batch.num_rows, kind)
    return pc.if_else(pc.equal(lengths, 0), pa.scalar(None, kind), headers.cast(kind))


def _unchanged(name: str) -> Callable[["FetchedBatches", pa.RecordBatch], pa.Array]:
    return lambda _, batch: batch.column(name)


_BUILDERS = {
    "topic": _topic,
    "partition": _partition,
    "timestamp": _timestamp,
    "timestampType": _timestamp_type,
    "headers": _headers,
}


class DecodeError(BarnabasError):
    """The key or value of a record does not have the format of the query's options."""


@dataclass(slots=True)
class DecodedRows:
    """The remaining rows of a batch, their decoded columns, and the dead letters."""

    batch: pa.RecordBatch
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

    def decode(self, batch: pa.RecordBatch, topic_partition: TopicPartition) -> DecodedRows:
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
    batch: pa.RecordBatch, columns: dict[str, Any], reasons: dict[int, str]
) -> DecodedRows:
    letters = list(take_letters(batch, reasons))
    keep = pa.array([row not in reasons for row in range(batch.num_rows)])
    kept = {name: column.filter(keep) for name, column in columns.items()}
    return DecodedRows(batch.filter(keep), kept, letters)


def _error(
    batch: pa.RecordBatch, topic_partition: TopicPartition, reasons: dict[int, str]
) -> DecodeError:
    first = min(reasons)
    offset = batch.column("offset")[first].as_py()
    return DecodeError(
        f"{topic_partition} at offset {offset}: {reasons[first]}. "
        "With on.decode.error=dlq or null the query continues; in a pipeline, with dead_letters"
    )


def _check_nullable(name: str, kind: DataType) -> None:
    if isinstance(kind, StructType) and as_nullable(kind) != kind:
        raise ConfigError(
            f"column {name!r}: fields cannot be NOT NULL, because decoded values may be null"
        )
