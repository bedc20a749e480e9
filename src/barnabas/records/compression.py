"""Compresses and decompresses the records of a batch; every decompression has a size limit.

No function here produces more than `max_size` bytes, so a decompression bomb needs at most one
buffer of that size. A frame that declares a larger size is rejected before the allocation. A
declared size is only a hint: a zstd frame may declare a wrong one, and librdkafka's declare none.

- gzip: zlib, or ISA-L (extra `compression`), which inflates two to four times as fast; several
  members in a row are one stream.
- snappy: raw block (librdkafka) or xerial framing (all other clients), distinguished by its magic:
  `82 53 4e 41 50 50 59 00`, i32 version 1, i32 compatible 1, then (i32 length, raw block)…
  Batches are written with xerial framing in 32 KiB blocks, which old Java consumers require.
- lz4: frame format, independent blocks (Java's reader rejects linked ones); see `lz4_frames`.
- zstd: one or more frames. With `zstandard` (extra `compression`) decompression contexts are used
  again; to make one takes as long as to decompress a batch of 16 KB.
"""

import importlib
import struct
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import cramjam

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records import lz4_frames
from barnabas.records._buffers_hot import new_buffer
from barnabas.records._sections_hot import expand_into

Buffer = bytes | bytearray | memoryview

DEFAULT_MAX_DECOMPRESSED = 64 * 1024 * 1024

_GZIP_RESERVED_FLAGS = 0xE0
# The attributes of an enumeration take 0.1 us each.
_SNAPPY = Codec.SNAPPY
_LZ4 = Codec.LZ4
_ZSTD = Codec.ZSTD

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + struct.pack(">ii", 1, 1)
# The block size of snappy-java, which old Java consumers require.
XERIAL_BLOCK = 32 * 1024
_BLOCK_LENGTH = struct.Struct(">i")

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# The 24 bits of a block header: last block, type, size.
_ZSTD_BLOCK_START = struct.Struct("<HB")
# With its default, Java uses the fast compressor; with any other level the high compression.
_FAST_LZ4_LEVEL = 9
_DEFAULT_ZSTD_LEVEL = 3
# First size of the output when the frame does not declare one.
_MIN_GUESS = 64 * 1024
_GROWTH = 4
_MAX_EXPANSION = 256
# The last large batch of each codec was expanded by less than this factor: a first size that is too
# small means to decompress twice. Shared by all threads, because it is only an estimate.
_expansion: dict[Codec, int] = {}
_INFLATE_STEP = 1024 * 1024
# cramjam reports a full output buffer only by this text; a test verifies it for each codec.
_OUTPUT_FULL = "failed to write whole buffer"

DecompressInto = Callable[[Buffer, bytearray], int]


def _optional(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# The extra `compression`.
_inflate: Any = _optional("isal.isal_zlib") or zlib
_zstandard: Any = _optional("zstandard")

# Contexts that no thread uses now; the GIL makes `pop` and `append` atomic.
_zstd_contexts: list[Any] = []


class DecompressedTooLargeError(CorruptRecordError):
    """A compressed batch exceeds the size limit; it was rejected before it was expanded.

    It is a `CorruptRecordError` for readers that do not distinguish the causes. The broker does:
    after MESSAGE_TOO_LARGE a producer would split the batch.
    """

    def __init__(self, compressed_size: int, max_size: int) -> None:
        super().__init__(
            f"{compressed_size} compressed bytes hold more than the {max_size} bytes allowed"
        )
        self.compressed_size = compressed_size
        self.max_size = max_size


def compress(codec: Codec, data: Buffer, level: int | None = None) -> bytes | memoryview:
    """Compresses `data` in the framing that Kafka's clients expect."""
    if codec == Codec.GZIP:
        return _compress_gzip(data, level)
    if codec == Codec.SNAPPY:
        return _compress_xerial(data)
    if codec == Codec.LZ4:
        return _compress_lz4(data, level)
    if codec == Codec.ZSTD:
        return memoryview(
            cramjam.zstd.compress(data, _DEFAULT_ZSTD_LEVEL if level is None else level)
        )
    return bytes(data)


def decompress(codec: Codec, data: Buffer, max_size: int = DEFAULT_MAX_DECOMPRESSED) -> Buffer:
    """Decompresses `data` and produces at most `max_size` bytes.

    Raises DecompressedTooLargeError above the limit, CorruptRecordError if it cannot be decoded.
    """
    decompressor = _DECOMPRESSORS.get(codec)
    if decompressor is not None:
        return decompressor(data, max_size)
    if len(data) > max_size:
        raise DecompressedTooLargeError(len(data), max_size)
    return data


def _compress_gzip(data: Buffer, level: int | None) -> bytes:
    # wbits 31 writes a gzip header with mtime 0, so equal input gives equal bytes.
    deflater = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
    return deflater.compress(data) + deflater.flush()


def _compress_xerial(data: Buffer) -> bytes:
    parts: list[Buffer] = [XERIAL_HEADER]
    with memoryview(data) as view:
        for start in range(0, len(view), XERIAL_BLOCK):
            block = bytes(cramjam.snappy.compress_raw(view[start : start + XERIAL_BLOCK]))
            parts.append(_BLOCK_LENGTH.pack(len(block)))
            parts.append(block)
    return b"".join(parts)


def _compress_lz4(data: Buffer, level: int | None) -> bytes:
    if level is None or level == _FAST_LZ4_LEVEL:
        return lz4_frames.compress_fast(data)
    compressor = cramjam.lz4.Compressor(content_checksum=False, block_linked=False, level=level)
    compressor.compress(bytes(data))
    return bytes(compressor.finish())


def _decompress_gzip(data: Buffer, max_size: int) -> Buffer:
    if not data:
        raise CorruptRecordError("gzip: empty input")
    parts: list[bytes] = []
    room = max_size
    rest: Buffer = data
    try:
        while rest:
            if len(rest) > 3 and rest[3] & _GZIP_RESERVED_FLAGS:  # ISA-L ignores them
                raise CorruptRecordError("gzip: unknown header flags set")
            inflater = _inflate.decompressobj(31)
            while not inflater.eof:
                part = _inflate_some(inflater, rest, room)
                room -= len(part)
                if room < 0:
                    raise DecompressedTooLargeError(len(data), max_size)
                parts.append(part)
                rest = inflater.unconsumed_tail
            rest = inflater.unused_data
    except (zlib.error, _inflate.error) as error:
        raise CorruptRecordError(f"gzip: {error}") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _inflate_some(inflater: Any, data: Buffer, room: int) -> bytes:
    """Returns the next piece; small steps, because zlib holds each step twice."""
    # One additional byte distinguishes an exactly full buffer from more data.
    part: bytes = inflater.decompress(data, min(room + 1, _INFLATE_STEP))
    if not part and not inflater.eof:
        raise CorruptRecordError("gzip: the stream is incomplete")
    return part


def _decompress_snappy(data: Buffer, max_size: int) -> bytearray:
    blocks = _xerial_blocks(memoryview(data)) if data[:8] == XERIAL_MAGIC else [data]
    sizes = _snappy_sizes(blocks)
    total = sum(sizes)
    if total > max_size:
        raise DecompressedTooLargeError(len(data), max_size)
    # A block has at least about 1/22 of the size of its content (64-byte copies of 3 bytes). A
    # larger declared size is wrong and is rejected before the allocation.
    if total > 64 * (len(data) + 1):
        raise CorruptRecordError(f"snappy: {len(data)} bytes cannot contain the declared {total}")
    out = new_buffer(total)
    if expand_into(_SNAPPY, data, out) == total:
        return out
    if len(blocks) == 1:
        _expand_snappy(blocks[0], out)
    else:
        _expand_in_a_row(blocks, sizes, out)
    return out


def _expand_in_a_row(blocks: list[Buffer], sizes: list[int], out: bytearray) -> None:
    at = 0
    with memoryview(out) as target:
        for block, size in zip(blocks, sizes, strict=True):
            _expand_snappy(block, target[at : at + size])
            at += size


def _xerial_blocks(view: memoryview) -> list[Buffer]:
    if len(view) < len(XERIAL_HEADER):
        raise CorruptRecordError("snappy: the xerial header is incomplete")
    blocks: list[Buffer] = []
    pos = len(XERIAL_HEADER)
    while pos < len(view):
        length = _BLOCK_LENGTH.unpack_from(view, pos)[0] if len(view) - pos >= 4 else -1
        pos += 4
        if length <= 0 or length > len(view) - pos:
            raise CorruptRecordError(f"snappy: xerial block of {length} bytes does not fit")
        blocks.append(view[pos : pos + length])
        pos += length
    return blocks


def _snappy_sizes(blocks: list[Buffer]) -> list[int]:
    """Returns the content size that each raw block declares."""
    try:
        return [cramjam.snappy.decompress_raw_len(block) for block in blocks]
    except cramjam.DecompressionError as error:
        raise CorruptRecordError(str(error)) from None


def _expand_snappy(block: Buffer, target: bytearray | memoryview) -> None:
    """Fills `target`, which has the declared size, with the content of a raw block."""
    try:
        size = cramjam.snappy.decompress_raw_into(block, target)
    except cramjam.DecompressionError as error:
        raise CorruptRecordError(str(error)) from None
    if size != len(target):
        raise CorruptRecordError(f"snappy: {size} bytes instead of the declared {len(target)}")


def _decompress_lz4(data: Buffer, max_size: int) -> bytearray:
    header = lz4_frames.parse_header(data)
    if header is not None:
        capacity = _first_capacity(_LZ4, len(data), header.content_size, max_size)
        found = lz4_frames.decompress_blocks(data, header, capacity)
        if found is not None:
            _note_expansion(_LZ4, len(data), len(found))
            return found
    return _grow_into(_LZ4, data, lz4_frames.content_size(data), max_size)


def _decompress_zstd(data: Buffer, max_size: int) -> Buffer:
    if _zstandard is not None:
        found = _decompress_zstd_frame(data, max_size)
        if found:
            return found
    return _grow_into(_ZSTD, data, _zstd_content_size(data), max_size)


def _decompress_zstd_frame(data: Buffer, max_size: int) -> bytes | None:
    """Decompresses one frame with `zstandard`; returns None if the general way must decide.

    The library ignores what follows the first frame, and allocates the declared size.
    """
    try:
        declared = _zstandard.frame_content_size(data)
        capacity = _first_capacity(_ZSTD, len(data), None if declared < 0 else declared, max_size)
        if declared > capacity or _zstd_frame_size(data) != len(data):
            return None
        found = _decompress_with_context(data, capacity)
    except _zstandard.ZstdError:  # corrupt, or more bytes than estimated
        return None
    _note_expansion(_ZSTD, len(data), len(found))
    return found


def _decompress_with_context(data: Buffer, capacity: int) -> bytes:
    try:
        context = _zstd_contexts.pop()
    except IndexError:
        context = _zstandard.ZstdDecompressor()
    try:
        found: bytes = context.decompress(data, max_output_size=capacity)
    finally:
        _zstd_contexts.append(context)
    return found


def _zstd_frame_size(data: Buffer) -> int:
    """Returns the size of the first zstd frame, by its block headers (RFC 8878, 3.1.1.2)."""
    size = len(data)
    pos: int = _zstandard.frame_header_size(data)
    last = 0
    while not last:
        if pos + _ZSTD_BLOCK_START.size > size:
            return 0
        low, high = _ZSTD_BLOCK_START.unpack_from(data, pos)
        last = low & 1
        # A block of type 1 has one byte, which is repeated.
        pos += 3 + (1 if low >> 1 & 3 == 1 else (high << 16 | low) >> 3)
    return pos + (4 if data[4] & 0x04 else 0)


def _grow_into(codec: Codec, data: Buffer, declared: int | None, max_size: int) -> bytearray:
    """Decompresses into a buffer that grows in steps from the estimated size up to the limit."""
    if declared is not None and declared > max_size:
        raise DecompressedTooLargeError(len(data), max_size)
    decompress_into: DecompressInto = (
        cramjam.lz4.decompress_into if codec == _LZ4 else cramjam.zstd.decompress_into
    )
    capacity = _first_capacity(codec, len(data), declared, max_size)
    while True:
        out = new_buffer(capacity)
        try:
            size = decompress_into(data, out)
        except cramjam.DecompressionError as error:
            if str(error) != _OUTPUT_FULL:
                raise CorruptRecordError(str(error)) from None
            if capacity >= max_size:
                raise DecompressedTooLargeError(len(data), max_size) from None
            capacity = min(max_size, max(_MIN_GUESS, capacity * _GROWTH))
        else:
            del out[size:]
            _note_expansion(codec, len(data), size)
            return out


def _first_capacity(codec: Codec, compressed: int, declared: int | None, max_size: int) -> int:
    """Returns the declared size, or an estimate by the last large batch of the codec."""
    wanted = declared
    if wanted is None:
        wanted = max(_MIN_GUESS, _expansion.get(codec, _GROWTH) * compressed)
    elif wanted > _MIN_GUESS:
        # The declared size is not trusted: it never allocates more than an estimate may.
        wanted = min(wanted, max(_MIN_GUESS, _MAX_EXPANSION * compressed))
    return wanted if wanted < max_size else max_size


def _note_expansion(codec: Codec, compressed: int, size: int) -> None:
    # The least first size is enough for smaller batches, whatever their factor is.
    if size > _MIN_GUESS:
        _expansion[codec] = min(_MAX_EXPANSION, max(_GROWTH, size // compressed + 1))


def _zstd_content_size(data: Buffer) -> int | None:
    """Returns the content size in a zstd frame header, if present (RFC 8878, 3.1.1.1)."""
    head = bytes(data[:18])
    if head[:4] != _ZSTD_MAGIC or len(head) < 18:
        return None
    start, width = _zstd_size_field(head[4])
    if width == 0:
        return None
    size = int.from_bytes(head[start : start + width], "little")
    return size + 256 if width == 2 else size


def _zstd_size_field(descriptor: int) -> tuple[int, int]:
    """Returns position and size of the content size in a frame header, whose last field it is."""
    single_segment = bool(descriptor & 0x20)
    width = (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
    return 5 + (0 if single_segment else 1) + (0, 1, 2, 4)[descriptor & 0x03], width


_DECOMPRESSORS: dict[Codec, Callable[[Buffer, int], Buffer]] = {
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: _decompress_snappy,
    Codec.LZ4: _decompress_lz4,
    Codec.ZSTD: _decompress_zstd,
}
