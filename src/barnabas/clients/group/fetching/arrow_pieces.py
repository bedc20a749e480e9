"""Fetched pieces as Arrow batches; pyarrow is imported when first asked for one."""

from typing import TYPE_CHECKING

from barnabas.clients.group.fetching.buffer import Piece
from barnabas.records.arrow import schema, take_arrow
from barnabas.records.record import Record

if TYPE_CHECKING:
    import pyarrow


def piece_to_batches(piece: Piece) -> "list[pyarrow.RecordBatch]":
    """All that is left of a piece: as a rule one batch, straight from the fetched bytes."""
    rest = piece.take_rest()
    batches = [_from_records(rest)] if rest else []
    batches.append(take_arrow(piece.decoder))
    return batches


def join_batches(batches: "list[pyarrow.RecordBatch]") -> "pyarrow.RecordBatch | None":
    """One batch out of several, a copy only when there is more than one."""
    import pyarrow as pa

    if len(batches) <= 1:
        return batches[0] if batches else None
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def empty_batch() -> "pyarrow.RecordBatch":
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([], schema=schema())


def _from_records(records: list[Record]) -> "pyarrow.RecordBatch":
    """The few records that a poll() before had left of a batch."""
    import pyarrow as pa

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
