"""Batches whose records another library compressed."""

from collections.abc import Callable

from barnabas.model.records import Codec
from barnabas.records.batch import HEADER_SIZE, LOG_OVERHEAD, write_crc


def repacked(batch: bytes, codec: Codec, write: Callable[[bytes], bytes]) -> bytearray:
    """Returns an uncompressed batch with its records compressed by `write`."""
    packed = bytearray(batch[:HEADER_SIZE]) + write(bytes(batch[HEADER_SIZE:]))
    packed[8:12] = (len(packed) - LOG_OVERHEAD).to_bytes(4, "big")
    packed[22] |= codec
    write_crc(packed, 0, len(packed))
    return packed
