"""Reads a segment for recovery and verifies every batch.

A batch is valid if its header is valid, the file contains all of it, its checksum is right, and its
offsets are at or after the end so far and within the range of the segment. The checksum covers
the bytes from the attributes on; base offset, length, leader epoch and magic come before them. A
wrong length breaks the checksum, a wrong magic is rejected, and a base offset that is too small or
much too large fails the checks here. Two errors are not detected: a changed leader epoch that is
not negative, and a larger base offset of the last batch within the range of the segment.
"""

from collections.abc import Iterator
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import NO_EPOCH
from barnabas.records.batch import BatchHeader
from barnabas.storage.batch_scan import checksum_ok, header_at
from barnabas.storage.filesystem import File
from barnabas.storage.indexes import MAX_RELATIVE_OFFSET
from barnabas.storage.segment import Segment

_CHUNK = 1024 * 1024


class GoodBatch(NamedTuple):
    """A verified batch and its position."""

    position: int
    header: BatchHeader
    batch: memoryview


def verified_batches(segment: Segment, end_offset: int) -> Iterator[GoodBatch]:
    """Yields the valid batches from the start of a segment; ends before the first invalid one.

    `end_offset` is the log end offset before this segment.
    """
    expected = max(segment.base_offset, end_offset)
    limit = segment.base_offset + MAX_RELATIVE_OFFSET
    held: GoodBatch | None = None
    for found in _sound_batches(segment.open_file(), segment.size):
        header = found.header
        if held is not None:
            if header.base_offset == expected + held.header.last_offset_delta + 1:
                # This batch starts where the previous one would have ended without its jump, so
                # the base offset of the previous one is wrong.
                return
            yield held
            expected, held = held.header.next_offset, None
        if header.base_offset < expected or header.last_offset > limit:
            return
        if header.base_offset > expected:
            held = found
            continue
        yield found
        expected = header.next_offset
    if held is not None:
        yield held


def _sound_batches(file: File, end: int) -> Iterator[GoodBatch]:
    """Yields whole batches with a valid checksum and any offsets."""
    position = 0
    chunk, chunk_start = b"", 0
    while position < end:
        at = position - chunk_start
        size = _size_at(chunk, at)
        if size is None or len(chunk) - at < size:
            wanted = max(_CHUNK, size or 0)
            chunk, chunk_start, at = file.pread(min(wanted, end - position), position), position, 0
            size = _size_at(chunk, at)
            if size is not None and len(chunk) < size <= end - position:
                chunk = file.pread(size, position)
        try:
            header = header_at(chunk, at)
        except CorruptRecordError:
            return
        batch = memoryview(chunk)[at : at + header.size]
        if len(batch) < header.size or not checksum_ok(batch, header):
            return
        if header.partition_leader_epoch < NO_EPOCH:
            return
        yield GoodBatch(position, header, batch)
        position += header.size


def _size_at(chunk: bytes, at: int) -> int | None:
    """Returns the size in the batch's length field; None if its first bytes are missing."""
    if len(chunk) - at < 12:
        return None
    return max(12 + int.from_bytes(chunk[at + 8 : at + 12], "big", signed=True), 0)
