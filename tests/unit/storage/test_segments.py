"""One segment, its walk and its neighbours; old message formats; the cleaner's parts."""

import errno
import struct
import zlib
from pathlib import Path

import pytest
from support.storage.log_world import LOG_DIR, NOW, World, batch_of, open_at, put

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import assign_offsets, parse_header
from barnabas.storage import batch_scan
from barnabas.storage.cleaning_filter import OffsetMap
from barnabas.storage.cleaning_pass import CleanPlan, SourceSegment, group_sources
from barnabas.storage.indexes import MAX_RELATIVE_OFFSET
from barnabas.storage.log_config import LogConfig
from barnabas.storage.segment import Segment, SegmentList
from barnabas.testing.memory_fs import MemoryFileSystem

DIR = Path("/d")


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_dirs(DIR)
    return fs


def segment_of(fs: MemoryFileSystem, *values: bytes, base: int = 100) -> Segment:
    segment = Segment(fs, DIR, base, 100)
    segment.create(NOW)
    for number, value in enumerate(values):
        batch = batch_of([(b"k", value)])
        assign_offsets(batch, 0, base + number, 0)
        segment.note_batch(segment.write(batch), len(batch), base + number, NOW + number)
    return segment


def message(offset: int, value: bytes, magic: int) -> bytes:
    """A message of the formats before batches."""
    timestamp = struct.pack(">q", NOW) if magic else b""
    body = struct.pack(">bb", magic, 0) + timestamp + struct.pack(">ii", -1, len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def test_a_walk_reads_headers_and_not_bodies(fs):
    segment = segment_of(fs, b"small", b"x" * 50_000, b"y" * 50_000, b"end")
    reads: list[int] = []

    class Counting:
        def pread(self, size: int, position: int) -> bytes:
            reads.append(size)
            return segment.open_file().pread(size, position)

    found = list(batch_scan.walk(Counting(), 0, segment.size))
    assert [header.base_offset for _, header in found] == [100, 101, 102, 103]
    assert sum(reads) < 40_000


def test_a_walk_stops_at_what_is_no_batch(fs):
    segment = segment_of(fs, b"1", b"2")
    file = segment.open_file()
    with pytest.raises(CorruptRecordError, match="not whole"):
        list(batch_scan.walk(file, 0, segment.size - 1))
    with pytest.raises(CorruptRecordError):
        list(batch_scan.walk(file, 1, segment.size))
    assert batch_scan.span_at(file, 1, segment.size) is None
    assert batch_scan.span_at(file, segment.size, segment.size) is None


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages_survive_recovery(magic):
    fs = MemoryFileSystem()
    fs.make_dirs(LOG_DIR)
    data = b"".join(message(number, b"old-%d" % number, magic) for number in range(3))
    fs.open(LOG_DIR / f"{0:020d}.log", create=True).pwrite(data + data[:30], 0)
    log = open_at(fs, clean=False)
    assert log.log_end_offset == 3
    assert log.size_bytes == len(data)
    assert log.read(1, 10**6, max_offset=3).first_batch_base_offset == 1
    assert put(log, (b"k", b"new")).first_offset == 3
    damaged = bytearray(data)
    damaged[-1] ^= 1
    fs.open(LOG_DIR / f"{0:020d}.log").pwrite(bytes(damaged), 0)
    assert open_at(fs, clean=False).log_end_offset == 2


def test_a_failed_write_is_cut_off(fs):
    segment = segment_of(fs, b"1")
    size = segment.size
    fs.capacity_bytes = fs.used_bytes() + 10
    with pytest.raises(OSError, match="space") as caught:
        segment.write(bytes(batch_of([(b"k", b"2")])))
    assert caught.value.errno == errno.ENOSPC
    assert segment.size == segment.open_file().size() == size


def test_an_index_must_be_able_to_take_the_offset(fs):
    segment = segment_of(fs)
    assert segment.fits(100 + MAX_RELATIVE_OFFSET, 10, 1000)
    assert not segment.fits(101 + MAX_RELATIVE_OFFSET, 10, 1000)
    assert not segment.fits(100, MAX_RELATIVE_OFFSET + 1, 1000)


def test_truncating_a_segment(fs):
    segment = segment_of(fs, b"1", b"2", b"3")
    size = segment.size
    segment.truncate_at(size // 3, 101)
    assert segment.size == segment.open_file().size() == size // 3
    assert segment.next_offset() == 101
    assert segment.largest_timestamp().offset == 100


def test_segments_in_their_order(fs):
    segments = SegmentList()
    made = [Segment(fs, DIR, base, 100) for base in (20, 0, 10)]
    for segment in made:
        segments.add(segment)
    assert [segment.base_offset for segment in segments] == [0, 10, 20]
    assert segments.floor(19).base_offset == 10
    assert segments.floor(-1) is None
    assert segments.following(segments.active) is None
    assert segments.end_of(segments.first, 99) == 10
    assert segments.end_of(segments.active, 99) == 99
    assert [segment.base_offset for segment in segments.between(15, 20)] == [10]
    with pytest.raises(ValueError, match="two segments"):
        segments.add(Segment(fs, DIR, 10, 100))
    with pytest.raises(ValueError, match="not in the log"):
        segments.remove(Segment(fs, DIR, 10, 100))


def test_groups_fit_one_segment_by_size_and_by_offset(fs):
    def source(base: int, end: int, size: int) -> SourceSegment:
        return SourceSegment(Segment(fs, DIR, base, 100), None, size, end)

    wide = 3 * 2**30
    plan = CleanPlan.__new__(CleanPlan)
    for name, value in {
        "config": LogConfig.from_values({"segment.bytes": "100"}),
        "sources": [
            source(0, 10, 40),
            source(10, 20, 40),
            source(20, 30, 40),
            source(30, wide, 10),
            source(wide, wide + 5, 10),
            source(wide + 5, wide + 9, 10),
        ],
    }.items():
        object.__setattr__(plan, name, value)
    groups = [[s.segment.base_offset for s in group] for group in group_sources(plan, wide + 5)]
    assert groups == [[0, 10], [20], [30], [wide]]


def test_the_offset_map_has_a_limit():
    newest = OffsetMap(2)
    assert newest.try_put(b"a", 1)
    assert newest.try_put(b"b", 2)
    assert not newest.try_put(b"c", 3)
    assert newest.try_put(b"a", 4)
    assert (newest.get(b"a"), newest.get(b"b"), newest.get(b"c")) == (4, 2, -1)
    assert len(newest) == 2


def test_a_compacted_batch_keeps_its_place():
    world = World(**{"cleanup.policy": "compact"})
    put(world.log, (b"a", b"1"), (b"b", b"2"), (b"c", b"3"))
    put(world.log, (b"a", b"4"), (b"c", b"5"))
    world.log.roll()
    put(world.log, (b"z", b"9"))
    world.commit_all()
    assert world.manager.maintenance.clean(NOW, force=True)
    batch = world.log.read(0, 1, max_offset=6).slice.read()
    header = parse_header(batch)
    assert (header.base_offset, header.last_offset, header.records_count) == (0, 2, 1)
