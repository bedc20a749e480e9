"""Fetch responses straight to `pyarrow.RecordBatch`: no Python object per record.

Columns: topic (string), partition (int32), offset (int64), timestamp (timestamp[ms, UTC], null
when a record has none), key (binary), value (binary), headers (list<struct<key: string,
value: binary>>). pyarrow is imported on first use only: most processes never need it.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from barnabas.records._columns_hot import ArrowColumns
from barnabas.records.reader import FetchDecoder

if TYPE_CHECKING:
    import pyarrow as pa

_UNLIMITED = 2**63 - 1


def schema() -> "pa.Schema":
    """The schema of every batch made here."""
    import pyarrow as pa

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
) -> "pa.RecordBatch":
    """The records that follow in `decoder` as one batch; whole record batches, so it may pass
    `max_records` by one of them. With `names`, only these columns are built."""
    columns = ArrowColumns()
    decoder.take_columns(columns, max_records)
    return _record_batch(columns, decoder.topic, decoder.partition, names)


def _record_batch(
    columns: ArrowColumns, topic: str, partition: int, names: Collection[str] | None
) -> "pa.RecordBatch":
    import pyarrow as pa

    count, buffers = columns.count, columns.take()
    fields = [field for field in schema() if names is None or field.name in names]

    def build(name: str, kind: Any) -> "pa.Array":
        match name:
            case "topic":
                return pa.repeat(pa.scalar(topic, kind), count)
            case "partition":
                return pa.repeat(pa.scalar(partition, kind), count)
            case "offset":
                return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(buffers[name])])
            case "timestamp":
                return _timestamps(kind, buffers[name], count)
            case "headers":
                return _headers(kind, buffers, count)
        return _binary(kind, buffers[name])

    arrays = [build(field.name, field.type) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _timestamps(kind: Any, data: bytearray, count: int) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    times = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(data)])
    if count and pc.min(times).as_py() < 0:
        times = pc.if_else(pc.less(times, 0), pa.scalar(None, pa.int64()), times)
    return times.view(kind)


def _binary(kind: Any, column: tuple[Any, ...]) -> "pa.Array":
    import pyarrow as pa

    bits, ends, data, count, nulls = column
    validity = None if bits is None else pa.py_buffer(bits)
    parts = [validity, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, count, parts, null_count=nulls)


def _headers(kind: Any, buffers: dict[str, Any], count: int) -> "pa.Array":
    import pyarrow as pa

    pair = pa.StructArray.from_arrays(
        [
            _binary(pa.string(), buffers["header_key"]),
            _binary(pa.binary(), buffers["header_value"]),
        ],
        fields=list(kind.value_type),
    )
    ends = pa.py_buffer(buffers["header_ends"])
    return pa.Array.from_buffers(kind, count, [None, ends], children=[pair])
