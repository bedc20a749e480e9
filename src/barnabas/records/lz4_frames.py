"""Writes lz4 frames, and reads the ones of most producers block by block.

The frame decoder of cramjam makes a context for each frame and copies each block. To decompress the
blocks alone takes a quarter of its time for a batch of 2 KB, and less than half for 16 KB; compiled
code (`_sections_hot`) reads a whole frame in one call. Only frames that fill the input, with
independent blocks and without checksums, are read here: those of Java and librdkafka, and the small
ones of kafka-python. For every other frame, and for every error, the functions return None: then
the frame decoder must decide.

Frame: magic, flags, block size, content size u64 (optional), header checksum; blocks of (u32
length, bytes), with the highest bit of the length set if the block is not compressed; u32 0.
Numbers are little-endian.
"""

import functools
import struct
from typing import NamedTuple

import cramjam

from barnabas.model.records import Codec
from barnabas.records._buffers_hot import new_buffer
from barnabas.records._sections_hot import NO_ROOM, expand_into

Buffer = bytes | bytearray | memoryview

_MAGIC = b"\x04\x22\x4d\x18"
# Flags: version 1, independent blocks, no checksums, as the batch has one.
_FLAGS = 0x60
_CONTENT_SIZE = 0x08
# The header without content size, and the size of one that has it.
_HEAD = struct.Struct("7s")
_SIZED = 15
_MAX_BLOCKS = {0x40: 64 * 1024, 0x50: 256 * 1024, 0x60: 1024 * 1024, 0x70: 4 * 1024 * 1024}
_BLOCK = 64 * 1024
_HEADER = _MAGIC + b"\x60\x40\x82"
_LENGTH = struct.Struct("<I")
# The length of a block, and its first four bytes.
_BLOCK_START = struct.Struct("<II")
_UNCOMPRESSED = 1 << 31
_END = bytes(4)

_UINT32 = 0xFFFFFFFF
_PRIME_1, _PRIME_2, _PRIME_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_PRIME_4, _PRIME_5 = 0x27D4EB2F, 0x165667B1

_decompress_block = cramjam.lz4.decompress_block_into
# cramjam 2.10 and older read the size of the content from the first bytes of a block.
_SUPPORTED = "output_len" in (getattr(_decompress_block, "__text_signature__", None) or "")


class FrameHeader(NamedTuple):
    """The header of a frame that can be read block by block."""

    size: int
    max_block: int
    content_size: int | None


def compress_fast(data: Buffer) -> bytes:
    """Writes a frame of blocks that are compressed one by one.

    `cramjam.lz4.Compressor` would hold the GIL, copy its input and write a checksum for each block;
    its default level is one of the high compression, which takes six times as long.
    """
    parts: list[Buffer] = [_HEADER]
    with memoryview(data) as view:
        for start in range(0, len(view), _BLOCK):
            plain = view[start : start + _BLOCK]
            packed = memoryview(cramjam.lz4.compress_block(plain, store_size=False))
            if len(packed) < len(plain):
                parts += (_LENGTH.pack(len(packed)), packed)
            else:
                parts += (_LENGTH.pack(len(plain) | _UNCOMPRESSED), bytes(plain))
    parts.append(_END)
    return b"".join(parts)


def content_size(data: Buffer) -> int | None:
    """Returns the content size in the header of any lz4 frame; None if it is absent or 0.

    For the frame decoder, too, 0 means that the size is unknown.
    """
    head = bytes(data[: _SIZED - 1])
    if head[:4] != _MAGIC or len(head) < _SIZED - 1 or not head[4] & _CONTENT_SIZE:
        return None
    return int.from_bytes(head[6:], "little") or None


def parse_header(data: Buffer) -> FrameHeader | None:
    """Returns the header of the frame; None if the frame decoder must read it."""
    if len(data) < _SIZED or not _SUPPORTED:
        return None
    (head,) = _HEAD.unpack_from(data)
    return _parse_header(bytes(data[:_SIZED]) if head[4] & _CONTENT_SIZE else head)


@functools.lru_cache(maxsize=64)
def _parse_header(head: bytes) -> FrameHeader | None:
    max_block = _MAX_BLOCKS.get(head[5])
    if head[:4] != _MAGIC or head[4] & ~_CONTENT_SIZE != _FLAGS or max_block is None:
        return None
    if head[-1] != _xxh32(head[4:-1]) >> 8 & 0xFF:
        return None
    return FrameHeader(len(head), max_block, int.from_bytes(head[6:-1], "little") or None)


def _xxh32(data: bytes) -> int:
    """Returns the XXH32 hash of less than 16 bytes, with the seed 0."""
    words = len(data) & ~3
    value = _PRIME_5 + len(data)
    for (word,) in _LENGTH.iter_unpack(data[:words]):
        value = _rotate(value + word * _PRIME_3, 17) * _PRIME_4
    for byte in data[words:]:
        value = _rotate(value + byte * _PRIME_5, 11) * _PRIME_1
    value &= _UINT32
    value = (value ^ value >> 15) * _PRIME_2 & _UINT32
    value = (value ^ value >> 13) * _PRIME_3 & _UINT32
    return value ^ value >> 16


def _rotate(value: int, bits: int) -> int:
    value &= _UINT32
    return value << bits | value >> 32 - bits


def decompress_blocks(data: Buffer, header: FrameHeader, capacity: int) -> bytearray | None:
    """Returns the content of the frame; None if it is invalid or longer than `capacity`."""
    out = new_buffer(capacity)
    size = expand_into(Codec.LZ4, data, out)
    if size < 0 and size != NO_ROOM:
        size = _fill(memoryview(data), header, out)
    if size < 0 or header.content_size not in (None, size):
        return None
    del out[size:]
    return out


def _fill(source: memoryview, header: FrameHeader, out: bytearray) -> int:
    """Decompresses all blocks to the start of `out`; returns their size, -1 if it cannot."""
    pos, max_block, _ = header
    at, end = 0, len(source) - len(_END)
    room: bytearray | memoryview = out if len(out) <= max_block else memoryview(out)[:max_block]
    while pos + len(_END) <= end:
        length, first = _BLOCK_START.unpack_from(source, pos)
        pos += _LENGTH.size
        stop = pos + (length & ~_UNCOMPRESSED)
        if not pos < stop <= min(end, pos + max_block):
            return -1
        count = _expand(source[pos:stop], length, first, room)
        if count < 0:
            return -1
        at += count
        pos = stop
        if pos < end:
            room = memoryview(out)[at : at + max_block]
    return at if pos == end and source[end:] == _END else -1


def _expand(block: memoryview, length: int, first: int, room: bytearray | memoryview) -> int:
    """Writes the content of one block to `room`; returns its size, -1 if it is not possible."""
    if length & _UNCOMPRESSED:
        if len(block) > len(room):
            return -1
        room[: len(block)] = block
        return len(block)
    # If cramjam cannot decompress a block, it takes the first four bytes for the size of the
    # content and tries the others. It fails if this size is greater than the room.
    if first <= len(room):
        return -1
    try:
        return _decompress_block(block, room, output_len=len(room))
    except cramjam.DecompressionError:
        return -1
