"""Compressed frames as other libraries and clients write them."""

import gzip
import itertools
import struct
from collections.abc import Callable, Iterator
from functools import partial

import cramjam
import lz4.frame
import snappy
import zstandard

from barnabas.model.records import Codec
from barnabas.records.compression import compress

LZ4_BLOCK_SIZES = (
    lz4.frame.BLOCKSIZE_MAX64KB,
    lz4.frame.BLOCKSIZE_MAX256KB,
    lz4.frame.BLOCKSIZE_MAX1MB,
    lz4.frame.BLOCKSIZE_MAX4MB,
)
Writer = Callable[[bytes], bytes]


def lz4_writers() -> Iterator[tuple[str, Writer]]:
    """Every combination of the flags of an lz4 frame."""
    flags = itertools.product((False, True), repeat=4)
    for block, (linked, checksum, block_checksum, size) in itertools.product(
        LZ4_BLOCK_SIZES, flags
    ):
        options = {
            "block_size": block,
            "block_linked": linked,
            "content_checksum": checksum,
            "block_checksum": block_checksum,
            "store_size": size,
        }
        name = " ".join(str(int(value)) for value in options.values())
        yield f"lz4 {name}", partial(lz4.frame.compress, **options)
        yield f"lz4 in steps {name}", partial(_lz4_in_steps, options)


def _lz4_in_steps(options: dict, data: bytes) -> bytes:
    """Linked blocks also for small content, because it is not known in advance."""
    options = {**options}
    size = len(data) if options.pop("store_size") else 0
    with lz4.frame.LZ4FrameCompressor(**options, auto_flush=True) as writer:
        parts = [writer.begin(size)]
        parts += [writer.compress(data[at : at + 1000]) for at in range(0, len(data), 1000)]
        return b"".join(parts) + writer.flush()


def xerial(data: bytes, block: int = 1000) -> bytes:
    """The framing of snappy-java, with blocks of python-snappy."""
    out = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    for at in range(0, len(data), block):
        packed = snappy.compress(data[at : at + block])
        out += struct.pack(">i", len(packed)) + packed
    return out


def _zstd(checksum: bool, size: bool, data: bytes) -> bytes:
    writer = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size)
    return writer.compress(data)


def _zstd_in_steps(checksum: bool, data: bytes) -> bytes:
    """Without content size, and with several blocks, like a Java producer."""
    writer = zstandard.ZstdCompressor(write_checksum=checksum).compressobj()
    parts = []
    for at in range(0, len(data), 1000):
        parts.append(writer.compress(data[at : at + 1000]))
        parts.append(writer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    return b"".join(parts) + writer.flush()


def _own(codec: Codec, data: bytes) -> bytes:
    return bytes(compress(codec, data))


WRITERS: dict[Codec, dict[str, Writer]] = {
    Codec.GZIP: {
        "own": partial(_own, Codec.GZIP),
        "gzip": partial(gzip.compress, mtime=1),
        "members": lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),
    },
    Codec.SNAPPY: {
        "own": partial(_own, Codec.SNAPPY),
        "raw": lambda data: bytes(snappy.compress(data)),
        "xerial": xerial,
    },
    Codec.LZ4: {
        "own": partial(_own, Codec.LZ4),
        "cramjam": lambda data: bytes(cramjam.lz4.compress(data)),
        **dict(lz4_writers()),
    },
    Codec.ZSTD: {
        "own": partial(_own, Codec.ZSTD),
        **{
            f"zstandard {checksum:d} {size:d}": partial(_zstd, checksum, size)
            for checksum in (False, True)
            for size in (False, True)
        },
        **{f"steps {checksum:d}": partial(_zstd_in_steps, checksum) for checksum in (False, True)},
    },
}
"""For each codec, functions that write one valid stream of it."""
