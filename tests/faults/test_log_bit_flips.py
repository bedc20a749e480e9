"""Every bit of a 2 KiB segment flipped, one at a time; in the short form every seventh of the bits
under the checksum.

After recovery no record may be served that was not written. The checksum begins at the attributes,
so the four fields before it need other proof; what has none is listed here, bit for bit.
"""

import logging

import pytest
from support.soak import SOAK
from support.storage.log_world import LOG_DIR, contents, open_at, put

from barnabas.records.batch import iter_batches
from barnabas.testing.memory_fs import MemoryFileSystem

pytestmark = pytest.mark.faults

NAME = "00000000000000000100.log"
BASE = 100
ATTRIBUTES = 21
"""Position in a batch from which the checksum covers its bytes."""
STEP = 1 if SOAK else 7


def written_log() -> bytes:
    fs = MemoryFileSystem()
    fs.make_dirs(LOG_DIR)
    log = open_at(fs, log_start_offset=BASE)
    number = 0
    while log.size_bytes < 2048 - 180:
        put(log, (b"key", b"value-%d" % number), (None, b"x" * 10), epoch=5)
        number += 1
    put(log, (b"pad", b"p" * (2048 - log.size_bytes - 73)), epoch=5)
    return fs.open(LOG_DIR / NAME).pread(10_000, 0)


DATA = written_log()
BATCHES = list(iter_batches(DATA))


def recovered(data: bytes):
    fs = MemoryFileSystem()
    fs.make_dirs(LOG_DIR)
    fs.open(LOG_DIR / NAME, create=True).pwrite(data, 0)
    return open_at(fs, clean=False)


def served(log) -> bytes:
    found = log.read(BASE, 1_000_000, max_offset=log.log_end_offset)
    return b"" if found.slice is None else found.slice.read()


WRITTEN = contents(recovered(DATA))


def flipped(bit: int) -> bytes:
    damaged = bytearray(DATA)
    damaged[bit // 8] ^= 0x80 >> bit % 8
    return bytes(damaged)


def test_the_segment_has_2_kib_and_is_sound():
    assert len(DATA) == 2048
    assert len(WRITTEN) == sum(header.records_count for _, header in BATCHES)


def test_every_bit(caplog):
    caplog.set_level(logging.ERROR)
    unseen: list[tuple[int, str, int]] = []
    for number, (position, header) in enumerate(BATCHES):
        checked = (position + ATTRIBUTES) * 8
        end = (position + header.size) * 8
        for bit in (*range(position * 8, checked), *range(checked, end, STEP)):
            if served(recovered(flipped(bit))) != DATA[:position]:
                unseen.append((number, field_of(bit // 8 - position), bit - position * 8))
    last = len(BATCHES) - 1
    epochs = [(n, "leader epoch", 96 + bit) for n in range(len(BATCHES)) for bit in range(1, 32)]
    # The last batch's base offset, moved up by a power of two that keeps it within the segment's
    # reach: no later batch contradicts it, and compaction makes such gaps.
    base = BATCHES[-1][1].base_offset
    jumps = [(last, "base offset", 63 - bit) for bit in range(31) if not base >> bit & 1]
    assert sorted(unseen) == sorted(epochs + jumps)


def test_a_changed_leader_epoch_keeps_the_records():
    position, _ = BATCHES[3]
    log = recovered(flipped((position + 15) * 8))
    assert contents(log) == WRITTEN


def field_of(byte: int) -> str:
    for end, name in ((8, "base offset"), (12, "length"), (16, "leader epoch"), (17, "magic")):
        if byte < end:
            return name
    return "under the checksum"
