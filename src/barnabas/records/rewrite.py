"""Rewrites stored batches: another codec for the broker, fewer records for the log cleaner.

Both keep offsets, producer fields and timestamps as they are, since duplicate detection and
consumers' positions rest on them.
"""

from collections.abc import Sequence

from barnabas.model.records import Codec
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
    """The same batch in another codec: what a topic's `compression.type` asks for."""
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
    """The batch with only the records that `keep` marks, their bytes unchanged.

    Base offset, last offset delta and sequence stay, so gaps appear and the count shrinks; with
    nothing kept, the header alone remains and still carries the producer's state.
    `delete_horizon_ms` stamps when tombstones and markers may go (KIP-534): it replaces the base
    timestamp, so the records' deltas are then written anew.
    """
    header = parse_header(batch)
    section = records_section(batch, 0, header, max_decompressed)
    if delete_horizon_ms is not None and not header.has_delete_horizon:
        return _retain_with_horizon(batch, header, keep, delete_horizon_ms)
    spans = RecordCursor(section, header).spans()
    with memoryview(section) as view:
        kept = [view[start:end] for (start, end), wanted in zip(spans, keep, strict=True) if wanted]
        data = b"".join(kept)
        count = len(kept)
        del kept
    return _assemble(header, data, count, header.codec, None)


def _retain_with_horizon(
    batch: Buffer, header: BatchHeader, keep: Sequence[bool], delete_horizon_ms: int
) -> bytearray:
    appender = RecordAppender(len(batch), delete_horizon_ms)
    for record, wanted in zip(iter_raw(batch, 0, header), keep, strict=True):
        if wanted:
            delta = record.offset - header.base_offset
            appender.append_at(delta, record.timestamp, record.key, record.value, record.headers)
    header.base_timestamp = delete_horizon_ms
    header.attributes |= DELETE_HORIZON_MASK
    count = appender.count
    body = memoryview(appender.take())[HEADER_SIZE:]
    return _assemble(header, body, count, header.codec, None)


def _assemble(
    header: BatchHeader, section: Buffer, count: int, codec: Codec, level: int | None
) -> bytearray:
    # An empty batch is stored as its header alone, in whatever codec it once had (KIP-534).
    packed = compress(codec, section, level) if codec != Codec.NONE and count else section
    batch = bytearray(HEADER_SIZE + len(packed))
    batch[HEADER_SIZE:] = packed
    header.attributes = (header.attributes & ~CODEC_MASK) | codec
    header.records_count = count
    header.batch_length = len(batch) - LOG_OVERHEAD
    batch[:HEADER_SIZE] = header.encode()
    write_crc(batch, 0, len(batch))
    return batch
