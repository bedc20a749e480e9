"""Converts fetch responses to `pyarrow.RecordBatch`, without a Python object per record.

Columns: topic (string), partition (int32), offset (int64), timestamp (timestamp[ms, UTC], null if a
record has none), key (binary), value (binary), headers (list<struct<key: string, value: binary>>).
Callers import this module on first use, because pyarrow is an optional extra and slow to import.
"""

import functools
from collections.abc import Collection
from typing import Any

from barnabas.model.lazy_exports import optional_import
from barnabas.records._columns_hot import ArrowColumns
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record

with optional_import():
    import pyarrow as pa
    import pyarrow.compute as pc

_UNLIMITED = 2**63 - 1
_SHARED_BYTES = 2 * 1024 * 1024
"""A topic or partition column up to this size is shared by the batches that have the same value."""


@functools.cache
def schema() -> pa.Schema:
    """Returns the schema of every batch that this module builds."""
    header = pa.struct([pa.field("key", pa.string(), nullable=False), ("value", pa.binary())])
    return pa.schema(
        [
            pa.field("topic", pa.string(), nullable=False),
            pa.field("partition", pa.int32(), nullable=False),
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("timestamp", pa.timestamp("ms", tz="UTC")),
            pa.field("key", pa.binary()),
            pa.field("value", pa.binary()),
            pa.field("headers", pa.list_(pa.field("item", header, nullable=False))),
        ]
    )


def take_arrow(
    decoder: FetchDecoder,
    max_records: int = _UNLIMITED,
    names: Collection[str] | None = None,
) -> pa.RecordBatch:
    """Returns the next records of `decoder` as one Arrow batch. It decodes whole record batches,
    so the result may exceed `max_records` by the size of one of them. With `names`, only these
    columns are built.
    """
    rows = ArrowRows()
    rows.take_from(decoder, max_records)
    return rows.build(names)


class ArrowRows:
    """Collects the records of several decoders, of any partitions, for one Arrow batch."""

    __slots__ = ("_columns", "_runs")

    def __init__(self) -> None:
        self._columns = ArrowColumns()
        self._runs: list[tuple[str, int, int]] = []  # topic, partition, number of rows

    @property
    def count(self) -> int:
        return self._columns.count

    def take_from(self, decoder: FetchDecoder, max_records: int = _UNLIMITED) -> None:
        """Adds the records that follow in `decoder`; raises CorruptRecordError if none does."""
        before = self._columns.count
        decoder.take_columns(self._columns, min(before + max_records, _UNLIMITED))
        added = self._columns.count - before
        if self._runs and self._runs[-1][:2] == (decoder.topic, decoder.partition):
            added += self._runs.pop()[2]
        self._runs.append((decoder.topic, decoder.partition, added))

    def build(self, names: Collection[str] | None = None) -> pa.RecordBatch:
        """Returns the batch, with only the columns `names` if given; call it once."""
        count, buffers = self._columns.count, self._columns.take()
        fields = [field for field in schema() if names is None or field.name in names]

        def array(name: str, kind: pa.DataType) -> pa.Array:
            match name:
                case "topic":
                    return _repeated(kind, [(topic, rows) for topic, _, rows in self._runs])
                case "partition":
                    return _repeated(kind, [(number, rows) for _, number, rows in self._runs])
                case "offset":
                    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(buffers[name])])
                case "timestamp":
                    return _timestamps(kind, buffers, count)
                case "headers":
                    return _headers(kind, buffers, count)
            return _binary(kind, buffers[name])

        arrays = [array(field.name, field.type) for field in fields]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def join_batches(batches: list[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Joins batches of this schema; returns None if there are none."""
    if len(batches) <= 1:
        return batches[0] if batches else None
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def empty_batch() -> pa.RecordBatch:
    """Returns an Arrow batch without rows."""
    return pa.RecordBatch.from_pylist([], schema=schema())


def from_records(records: list[Record]) -> pa.RecordBatch:
    """Returns decoded records as an Arrow batch."""
    rows = [
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.timestamp if record.timestamp >= 0 else None,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": name, "value": value} for name, value in record.headers],
        }
        for record in records
    ]
    return pa.RecordBatch.from_pylist(rows, schema=schema())


def _repeated(kind: pa.DataType, runs: list[tuple[str | int, int]]) -> pa.Array:
    parts = [_constant(kind, value, rows) for value, rows in runs if rows]
    if len(parts) == 1:
        return parts[0]
    return pa.concat_arrays(parts) if parts else pa.array([], kind)


def _constant(kind: pa.DataType, value: str | int, rows: int) -> pa.Array:
    """Returns a column that has `value` in each row.

    To build it for each batch would take as long as to decode the records. Arrow data is immutable,
    so batches share a column; its number of rows is a power of two, and each batch has a slice.
    """
    width = len(value) if isinstance(value, str) else 4
    shared_rows = 1 << (rows - 1).bit_length()
    if shared_rows * width > _SHARED_BYTES:
        return pa.repeat(pa.scalar(value, kind), rows)
    return _shared(kind, value, shared_rows).slice(0, rows)


@functools.lru_cache(maxsize=16)
def _shared(kind: pa.DataType, value: str | int, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), rows)


def _timestamps(kind: pa.DataType, buffers: dict[str, object], count: int) -> pa.Array:
    times = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(buffers["timestamp"])])
    if buffers["has_negative_timestamps"]:
        times = pc.if_else(pc.less(times, 0), pa.scalar(None, pa.int64()), times)
    return times.view(kind)


def _binary(kind: pa.DataType, column: tuple[Any, ...]) -> pa.Array:
    bits, ends, data, count, nulls = column
    validity = None if bits is None else pa.py_buffer(bits)
    parts = [validity, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, count, parts, null_count=nulls)


def _headers(kind: pa.DataType, buffers: dict[str, Any], count: int) -> pa.Array:
    pair = pa.StructArray.from_arrays(
        [
            _binary(pa.string(), buffers["header_key"]),
            _binary(pa.binary(), buffers["header_value"]),
        ],
        fields=list(kind.value_type),
    )
    ends = pa.py_buffer(buffers["header_ends"])
    return pa.Array.from_buffers(kind, count, [None, ends], children=[pair])
