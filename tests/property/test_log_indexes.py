"""Index files that are missing, cut, padded, garbage or foreign: lookups equal a full scan."""

import logging
from random import Random

import pytest
from support.storage.log_world import LOG_DIR, NOW, append, batch_of, open_at

from barnabas.records.batch import iter_batches
from barnabas.records.reader import iter_raw
from barnabas.storage import Log, LogConfig
from barnabas.testing.memory_fs import MemoryFileSystem

CONFIG = LogConfig.from_values({"segment.bytes": "9000", "index.interval.bytes": "300"})
EXTENSIONS = (".index", ".timeindex")


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


def stopped_log(seed: int) -> tuple[MemoryFileSystem, list[int]]:
    """Three segments of random batches, closed in order."""
    dice = Random(seed)
    fs = MemoryFileSystem()
    fs.make_dirs(LOG_DIR)
    log = open_at(fs, config=CONFIG)
    while len(log.local.segments) < 4:
        timestamp = NOW + log.log_end_offset * 10 + dice.randint(-200, 200)
        records = [(b"k", dice.randbytes(dice.randint(1, 200)))] * dice.randint(1, 5)
        append(log, batch_of(records, timestamp_ms=timestamp))
    bases = [segment.base_offset for segment in log.local.segments]
    log.close()
    return fs, bases


def file_of(base: int, extension: str):
    return LOG_DIR / f"{base:020d}{extension}"


def read(fs: MemoryFileSystem, path) -> bytes:
    file = fs.open(path)
    return file.pread(file.size(), 0)


def rewrite(fs: MemoryFileSystem, path, data: bytes) -> None:
    file = fs.open(path, create=True)
    file.truncate(0)
    file.pwrite(data, 0)


def delete(fs, path, dice, bases):
    fs.remove(path)


def empty(fs, path, dice, bases):
    rewrite(fs, path, b"")


def zero_pad(fs, path, dice, bases):
    rewrite(fs, path, read(fs, path) + bytes(24 * dice.randint(1, 50)))


def garbage(fs, path, dice, bases):
    rewrite(fs, path, dice.randbytes(24 * dice.randint(1, 20)))


def odd_size(fs, path, dice, bases):
    rewrite(fs, path, read(fs, path)[:-1])


def garbage_in_the_middle(fs, path, dice, bases):
    data = bytearray(read(fs, path))
    at = dice.randrange(max(len(data) - 8, 1))
    data[at : at + 8] = dice.randbytes(8)
    rewrite(fs, path, bytes(data))


def from_another_segment(fs, path, dice, bases):
    other = file_of(dice.choice(bases), path.suffix)
    rewrite(fs, path, read(fs, other))


def swapped(fs, path, dice, bases):
    other = file_of(
        int(path.name.split(".")[0]), ".timeindex" if path.suffix == ".index" else ".index"
    )
    mine, theirs = read(fs, path), read(fs, other)
    rewrite(fs, path, theirs)
    rewrite(fs, other, mine)


DAMAGES = [
    delete,
    empty,
    zero_pad,
    garbage,
    odd_size,
    garbage_in_the_middle,
    from_another_segment,
    swapped,
]


def scan(log: Log) -> list[tuple[int, int, int, int]]:
    """(base, last offset, offset, timestamp) of every record, from the files alone."""
    found = []
    for segment in log.local.segments:
        data = segment.open_file().pread(segment.size, 0)
        for position, header in iter_batches(data):
            for record in iter_raw(data, position, header):
                found.append(
                    (header.base_offset, header.last_offset, record.offset, record.timestamp)
                )
    return found


def check(log: Log, dice: Random, lookups: int) -> None:
    records = scan(log)
    for _ in range(lookups):
        base, _, offset, _ = dice.choice(records)
        got = log.read(offset, dice.choice([1, 500, 5000]), max_offset=log.log_end_offset)
        assert got.first_batch_base_offset == base
        got = log.read(offset, 10**9, max_offset=dice.randint(offset, log.log_end_offset))
        data = b"" if got.slice is None else got.slice.read()
        assert [header.size for _, header in iter_batches(data)] != [] or got.size == 0
        assert sum(header.size for _, header in iter_batches(data)) == got.size
        wanted = dice.choice(records)[3] + dice.randint(-300, 300)
        hit = log.offset_for_timestamp(wanted)
        expected = next((item for item in records if item[3] >= wanted), None)
        assert (None if hit is None else (hit.offset, hit.timestamp)) == (
            None if expected is None else (expected[2], expected[3])
        )
    newest = max(item[3] for item in records)
    assert log.max_timestamp_offset().timestamp == newest


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("damage", DAMAGES)
def test_lookups_equal_a_full_scan(damage, clean):
    for seed in range(20):
        dice = Random(seed)
        fs, bases = stopped_log(seed)
        for extension in EXTENSIONS:
            victim = file_of(dice.choice(bases), extension)
            if fs.exists(victim):
                damage(fs, victim, dice, bases)
        log = open_at(fs, config=CONFIG, clean=clean, recovery_point=dice.choice([0, 10**9]))
        check(log, dice, 60)


def test_an_undamaged_log_is_not_rebuilt():
    fs, _ = stopped_log(1)
    log = open_at(fs, config=CONFIG)
    check(log, Random(1), 200)
    before = len(fs.calls)
    check(log, Random(2), 100)
    assert len(fs.calls) == before
