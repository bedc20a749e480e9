"""The offset after fetched batches, from the batch headers alone."""

import struct

from barnabas.records._batch_header_hot import next_fetch_offset
from barnabas.records.builder import BatchBuilder


def batches(*sizes, start=0):
    out, offset = bytearray(), start
    for size in sizes:
        builder = BatchBuilder(base_offset=offset)
        for _ in range(size):
            builder.append(None, b"v", (), timestamp_ms=1)
        out += builder.build()
        offset += size
    return memoryview(bytes(out))


def test_only_whole_batches_count():
    data = batches(3, 4, 2, start=10)
    assert next_fetch_offset(data, 10) == 19
    assert next_fetch_offset(data[:-1], 10) == 17, "a batch cut off at the end does not count"
    assert next_fetch_offset(data[:40], 10) == 10
    assert next_fetch_offset(memoryview(b""), 10) == 10
    assert next_fetch_offset(memoryview(b"\xff" * 200), 10) == 10
    assert next_fetch_offset(data, 11) == 19


def test_the_smallest_message_of_format_0_counts():
    message = struct.pack(">qiIbbii", 41, 14, 0, 0, 0, -1, -1)
    assert next_fetch_offset(memoryview(message), 40) == 42
