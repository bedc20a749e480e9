"""Lookups in one segment, with correct, wrong and missing indexes."""

from pathlib import Path

import pytest
from support.storage.log_world import NOW, batch_of

from barnabas.records.batch import assign_offsets
from barnabas.storage.segment import Segment
from barnabas.testing.memory_fs import MemoryFileSystem

BASE, COUNT = 100, 12


@pytest.fixture
def segment() -> Segment:
    """A segment in which every third batch is indexed."""
    return make_segment(index_interval=200)


def make_segment(*, index_interval: int) -> Segment:
    """Returns a segment with batches of one record, one size and one timestamp."""
    fs = MemoryFileSystem()
    fs.make_dirs(Path("/d"))
    made = Segment(fs, Path("/d"), BASE, index_interval)
    made.create(NOW)
    for number in range(COUNT):
        batch = batch_of([(b"k", b"v" * 20)])
        assign_offsets(batch, 0, BASE + number, 0)
        made.note_batch(made.write(batch), len(batch), BASE + number, NOW)
    return made


def lie(segment: Segment) -> None:
    """Index entries with the right offsets and positions within batches."""
    segment.offsets.entries.replace(bytearray())
    for number in range(1, COUNT):
        segment.offsets.append(BASE + number, number * segment.size // COUNT + 5)


@pytest.mark.parametrize("damage", [lambda segment: None, lie])
def test_every_offset_is_found(segment, damage):
    damage(segment)
    each = segment.size // COUNT
    for number in range(COUNT):
        assert segment.find(BASE + number).position == number * each
    assert segment.find(BASE + COUNT) is None
    damage(segment)
    assert segment.next_offset() == BASE + COUNT


@pytest.mark.parametrize("damage", [lambda segment: None, lie])
def test_cut_takes_whole_batches_up_to_the_limit(segment, damage):
    first = segment.find(BASE)
    each = first.size
    for limit in range(each, segment.size + 1, 7):
        damage(segment)
        last = segment.last_batch_within(first, limit)
        assert last.end == limit // each * each
        assert last.last_offset == BASE + limit // each - 1


def test_a_limit_within_the_second_batch_reads_one_header(monkeypatch):
    """A consumer of values of 1 MB with the default limit reads like this each time."""
    segment = make_segment(index_interval=0)
    first = segment.find(BASE + 3)
    reads = []
    file = segment.open_file()
    pread = file.pread
    monkeypatch.setattr(
        type(file), "pread", lambda _, size, position: reads.append(size) or pread(size, position)
    )
    assert segment.last_batch_within(first, first.end + 50) == first
    assert reads == [27]


def test_a_time_entry_of_another_time_is_not_believed(segment):
    segment.times.replace(bytearray())
    segment.times.maybe_append(NOW - 5, BASE + 3)
    assert segment.time_position(NOW) == 0
    assert segment.times.last() == (NOW, BASE)


def test_the_largest_timestamp_is_that_of_a_batch(segment):
    segment.times.maybe_append(NOW + 10**6, BASE + COUNT - 1)
    assert segment.largest_timestamp() == (NOW, BASE)
    assert segment.first_batch_timestamp() == NOW


def test_an_empty_segment_has_no_times():
    fs = MemoryFileSystem()
    fs.make_dirs(Path("/d"))
    empty = Segment(fs, Path("/d"), BASE, 200)
    empty.create(NOW)
    assert empty.largest_timestamp() == (-1, BASE)
    assert empty.first_batch_timestamp() == -1
    assert empty.next_offset() == BASE
