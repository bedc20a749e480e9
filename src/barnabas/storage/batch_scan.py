"""Iterates over the batches of an open file by their headers.

Bodies are skipped: of a 1 MB batch 61 bytes are read. Small batches are read in chunks, so that
thousands of them do not need a system call each. `walk` yields full headers, for recovery, replay
and cleaning; `find` and `span_at` return only positions, for lookups. Messages of the formats 0 and
1, found in old logs, are treated as batches of one record without epoch or producer.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_OFFSET,
    BatchHeader,
    crc_ok,
    parse_header,
)
from barnabas.storage.filesystem import File

_LEAD = struct.Struct(">qiibIhi")
_LEGACY = struct.Struct(">qiIbbq")
_LEGACY_CRC_OFFSET = 12
_LEGACY_MIN_SIZE = 26
# Many small batches are read with one system call.
_CHUNK = 16 * 1024
_SMALL = 4096
_READ_AHEAD = 64


class Span(NamedTuple):
    """Position of a batch in its file and the offsets it covers."""

    position: int
    size: int
    base_offset: int
    last_offset: int

    @property
    def end(self) -> int:
        return self.position + self.size


def span_at(file: File, position: int, end: int) -> Span | None:
    """Returns the batch at `position`, or None if no whole batch starts there."""
    return _span(file.pread(_LEAD.size, position), 0, position, end)


def span_in(data: bytes, position: int, end: int) -> Span | None:
    """Returns the batch at the start of `data`, which was read at `position`; None if invalid."""
    return _span(data, 0, position, end)


def find(file: File, start: int, end: int, offset: int) -> Span | None:
    """Returns the first batch from `start` on whose last offset is at least `offset`, or None.

    Raises CorruptRecordError if the bytes before it are not batches.
    """
    position = start
    chunk, chunk_start = b"", start
    while position < end:
        at = position - chunk_start
        if len(chunk) - at < _LEAD.size:
            chunk, chunk_start, at = file.pread(min(_CHUNK, end - position), position), position, 0
        span = _span(chunk, at, position, end)
        if span is None:
            raise CorruptRecordError(f"no batch begins at position {position}")
        if span.last_offset >= offset:
            return span
        position = span.end
    return None


def walk(file: File, start: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """Yields position and header of each batch in [start, end).

    Raises CorruptRecordError at bytes that are not a batch, and at a batch that exceeds `end`.
    """
    position = start
    chunk, chunk_start, ahead = b"", start, _CHUNK
    while position < end:
        at = position - chunk_start
        if len(chunk) - at < HEADER_SIZE:
            chunk = file.pread(min(ahead, end - position), position)
            chunk_start, at = position, 0
        header = header_at(chunk, at)
        if header.size > end - position:
            raise CorruptRecordError(f"the batch at position {position} is not whole")
        yield position, header
        position += header.size
        ahead = _CHUNK if header.size < _SMALL else _READ_AHEAD


def header_at(buf: bytes, at: int) -> BatchHeader:
    """Parses the header at `at` in any of the three formats."""
    if len(buf) - at > MAGIC_OFFSET and buf[at + MAGIC_OFFSET] < MAGIC:
        return _legacy_header(buf, at)
    return parse_header(buf, at)


def checksum_ok(batch: bytes | memoryview, header: BatchHeader) -> bool:
    """Returns whether a complete batch, in any format, has the right checksum."""
    if header.magic == MAGIC:
        return crc_ok(batch, 0, header)
    return zlib.crc32(memoryview(batch)[MAGIC_OFFSET : header.size]) == header.crc


def _span(buf: bytes, at: int, position: int, end: int) -> Span | None:
    if len(buf) - at < _LEAD.size:
        return None
    base_offset, length, _, magic, _, _, delta = _LEAD.unpack_from(buf, at)
    size = length + LOG_OVERHEAD
    if magic == MAGIC:
        sound = size >= HEADER_SIZE and delta >= 0
    else:
        delta, sound = 0, 0 <= magic < MAGIC and size >= _LEGACY_MIN_SIZE
    if not sound or base_offset < 0 or size > end - position:
        return None
    return Span(position, size, base_offset, base_offset + delta)


def _legacy_header(buf: bytes, at: int) -> BatchHeader:
    if len(buf) - at < _LEGACY.size:
        raise CorruptRecordError(f"{len(buf) - at} bytes are too few for a message")
    offset, length, crc, magic, attributes, timestamp = _LEGACY.unpack_from(buf, at)
    if length + LOG_OVERHEAD < _LEGACY_MIN_SIZE or offset < 0 or magic < 0:
        raise CorruptRecordError(f"no message of format {magic} has {length} bytes")
    if magic == 0:
        timestamp = -1
    # Codec and timestamp type have the same bits in the old and the new attributes.
    return BatchHeader(
        offset, length, -1, magic, crc, attributes & 0x0F, 0, timestamp, timestamp, -1, -1, -1, 1
    )
