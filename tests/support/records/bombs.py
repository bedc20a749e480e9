"""Small inputs that decompress to very much, one per codec and trick."""

import struct
import zlib

import cramjam

from barnabas.model.records import Codec
from barnabas.records.compression import XERIAL_HEADER

MIB = 1024 * 1024
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_BLOCK = 128 * 1024


def zstd_bomb(size, *, declared, window=b"\x58"):
    """Blocks of one repeated byte: 4 bytes stand for 128 KiB; `window` 0x58 is 2 MiB."""
    count = size // _ZSTD_BLOCK
    head = _ZSTD_MAGIC + (b"\xc0" if declared else b"\x00") + window
    head += struct.pack("<Q", size) if declared else b""
    body = b"".join(
        struct.pack("<I", (_ZSTD_BLOCK << 3) | (1 << 1) | (index == count - 1))[:3] + b"\0"
        for index in range(count)
    )
    return head + body


def lz4_bomb(size):
    compressor = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
    for _ in range(size // MIB):
        compressor.compress(bytes(MIB))
    return bytes(compressor.finish())


def gzip_bomb(size):
    deflater = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(deflater.compress(bytes(MIB)) for _ in range(size // MIB)) + deflater.flush()


def xerial_bomb(size):
    block = bytes(cramjam.snappy.compress_raw(bytes(MIB)))
    return XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * (size // MIB)


def snappy_claim(size):
    """Returns a raw block with `size` in its header and almost no content."""
    out = bytearray()
    while size >= 0x80:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(out) + bytes([size]) + bytes(100)


BOMBS = {
    "gzip": (Codec.GZIP, lambda: gzip_bomb(64 * MIB)),
    "zstd declared": (Codec.ZSTD, lambda: zstd_bomb(256 * MIB, declared=True)),
    "zstd undeclared": (Codec.ZSTD, lambda: zstd_bomb(256 * MIB, declared=False)),
    "zstd wide window": (
        Codec.ZSTD,
        lambda: zstd_bomb(256 * MIB, declared=False, window=b"\x88"),
    ),
    "zstd widest window": (
        Codec.ZSTD,
        lambda: zstd_bomb(256 * MIB, declared=False, window=b"\xf8"),
    ),
    "lz4": (Codec.LZ4, lambda: lz4_bomb(64 * MIB)),
    "snappy 4 GiB": (Codec.SNAPPY, lambda: snappy_claim(2**32 - 1)),
    "snappy 15 MiB": (Codec.SNAPPY, lambda: snappy_claim(15 * MIB)),
    "xerial": (Codec.SNAPPY, lambda: xerial_bomb(256 * MIB)),
}
"""Name to (codec, function that makes the bytes). Some take half a second to make."""
