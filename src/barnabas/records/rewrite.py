"""Rewrites stored batches: another codec for the broker, fewer records for the log cleaner.

Both keep offsets, producer fields and timestamps of records, because duplicate detection and the
positions of consumers depend on them.
"""

from collections.abc import Sequence

from barnabas.model.records import Codec, TimestampType
from barnabas.records._append_hot import RecordAppender
from barnabas.records._records_hot import RecordCursor
from barnabas.records.batch import (
    CODEC_MASK,
    DELETE_HORIZON_MASK,
    HEADER_SIZE,
    LOG_OVERHEAD,
    BatchHeader,
    Buffer,
    parse_header,
    write_crc,
)
from barnabas.records.compression import DEFAULT_MAX_DECOMPRESSED, compress
from barnabas.records.reader import iter_raw, records_section


def recompress(
    batch: Buffer,
    codec: Codec,
    level: int | None = None,
    max_decompressed: int = DEFAULT_MAX_DECOMPRESSED,
) -> bytearray:
    """Returns the same batch in another codec, for a topic's `compression.type`."""
    header = parse_header(batch)
    section = records_section(batch, 0, header, max_decompressed)
    return _assemble(header, section, header.records_count, codec, level)


def retain_records(
    batch: Buffer,
    keep: Sequence[bool],
    *,
    delete_horizon_ms: int | None = None,
    max_decompressed: int = DEFAULT_MAX_DECOMPRESSED,
) -> bytearray:
    """Returns the batch with only the records that `keep` marks, their bytes unchanged.

    Base offset, last offset delta and sequence stay, so gaps appear and the count shrinks; if no
    record is kept, only the header remains, with the producer's state. `delete_horizon_ms` is the
    time at which tombstones and markers may be removed (KIP-534): it replaces the base timestamp,
    so the records' deltas are encoded again.
    """
    header = parse_header(batch)
    section = records_section(batch, 0, header, max_decompressed)
    if delete_horizon_ms is not None and not header.has_delete_horizon:
        return _retain_with_horizon(batch, header, keep, delete_horizon_ms)
    spans = RecordCursor(section, header).spans()
    kept = [span for span, wanted in zip(spans, keep, strict=True) if wanted]
    _lower_max_timestamp(header, [timestamp for _start, _end, timestamp in kept])
    with memoryview(section) as view:
        data = b"".join([view[start:end] for start, end, _timestamp in kept])
    return _assemble(header, data, len(kept), header.codec, None)


def _retain_with_horizon(
    batch: Buffer, header: BatchHeader, keep: Sequence[bool], delete_horizon_ms: int
) -> bytearray:
    records = iter_raw(batch, 0, header)
    kept = [record for record, wanted in zip(records, keep, strict=True) if wanted]
    _lower_max_timestamp(header, [record.timestamp for record in kept])
    appender = RecordAppender(len(batch), delete_horizon_ms)
    for offset, timestamp, key, value, headers in kept:
        appender.append_at(offset - header.base_offset, timestamp, key, value, headers)
    header.base_timestamp = delete_horizon_ms
    header.attributes |= DELETE_HORIZON_MASK
    count = appender.count
    body = memoryview(appender.take())[HEADER_SIZE:]
    return _assemble(header, body, count, header.codec, None)


def _lower_max_timestamp(header: BatchHeader, timestamps: Sequence[int]) -> None:
    """Sets the max timestamp of the kept records; log append time and empty batches stay."""
    if timestamps and header.timestamp_type == TimestampType.CREATE_TIME:
        header.max_timestamp = max(timestamps)


def _assemble(
    header: BatchHeader, section: Buffer, count: int, codec: Codec, level: int | None
) -> bytearray:
    # An empty batch is stored as its header alone, with its former codec (KIP-534).
    packed = compress(codec, section, level) if codec != Codec.NONE and count else section
    batch = bytearray(HEADER_SIZE + len(packed))
    batch[HEADER_SIZE:] = packed
    header.attributes = (header.attributes & ~CODEC_MASK) | codec
    header.records_count = count
    header.batch_length = len(batch) - LOG_OVERHEAD
    batch[:HEADER_SIZE] = header.encode()
    write_crc(batch, 0, len(batch))
    return batch
