"""Batches that no honest producer sends: their checksums are right and their records are not."""

import struct

from barnabas.model.records import Codec
from barnabas.records.batch import write_crc
from barnabas.records.builder import build_batch
from barnabas.records.compression import compress

NOW = 1_790_000_000_000
HEADER_SIZE = 61
MAX_INT = 2**31 - 1
RECORDS = [(b"a", b"1"), (b"b", b"2"), (b"c", None)]


def batch_with(body, count, codec=Codec.NONE):
    """Returns a batch with `body` as its records section and `count` as its number of records."""
    batch = bytearray(build_batch(RECORDS, timestamp_ms=NOW)[:HEADER_SIZE]) + body
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    struct.pack_into(">h", batch, 21, codec)
    struct.pack_into(">i", batch, 23, count - 1)
    struct.pack_into(">i", batch, 57, count)
    write_crc(batch, 0, len(batch))
    return batch


def varint(number):
    number = ((number << 1) ^ (number >> 63)) & (2**64 - 1)
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def record(delta=0, *, size=None, key_size=1, value_size=1, headers=0, extra=b""):
    """Returns one record with key `k` and value `v` and the given lengths, right or wrong."""
    body = b"\0\0" + varint(delta) + varint(key_size) + b"k" + varint(value_size) + b"v"
    body += varint(headers) + extra
    return varint(len(body) if size is None else size) + body


GOOD = record(0) + record(1) + record(2)


def bad_sections():
    """Records sections by their defect: (the plain bytes, the count in the header)."""
    return {
        "count too high": (GOOD, 5),
        "count too low": (GOOD, 2),
        "count 2^31-1": (GOOD, MAX_INT),
        "no records": (b"", 0),
        "one record claimed, none there": (b"", 1),
        "record length 2^31-1": (record(size=MAX_INT), 1),
        "record length too short": (record(size=3), 1),
        "record length too long": (record(size=60), 1),
        "record length negative": (record(size=-1), 1),
        "key length 2^31-1": (record(key_size=MAX_INT), 1),
        "value length 2^31-1": (record(value_size=MAX_INT), 1),
        "2^31-1 headers": (record(headers=MAX_INT), 1),
        "a header that is not there": (record(headers=1), 1),
        "negative header count": (record(headers=-1), 1),
        "bytes after the headers": (record(extra=b"xx"), 1),
        "bytes after the last record": (GOOD + b"xyz", 3),
        "every offset delta 0": (record(0) * 3, 3),
        "offset deltas out of order": (record(0) + record(2) + record(1), 3),
        "offset deltas from 1": (record(1) + record(2) + record(3), 3),
        "negative offset delta": (record(-1), 1),
    }


def bad_batches():
    """Bad batches by name, plain and in every codec."""
    batches = {}
    for codec in Codec:
        for name, (body, count) in bad_sections().items():
            packed = bytes(compress(codec, body)) if codec and body else body
            batches[f"{name}, {codec.name}"] = batch_with(packed, count, codec)
        if codec:
            good = bytes(compress(codec, GOOD))
            garbage = b"these bytes are not compressed by anything"
            batches[f"not {codec.name}"] = batch_with(garbage, 3, codec)
            batches[f"cut {codec.name}"] = batch_with(good[:-6], 3, codec)
    return batches
