"""Checkpoints, epochs, properties and markers: text as Kafka writes it, invalid text."""

from pathlib import Path

import pytest

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage import file_names
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.leader_epochs import EpochEntry, LeaderEpochs
from barnabas.storage.small_files import (
    MetaProperties,
    read_meta_properties,
    read_offsets,
    read_topic_id,
    take_clean_marker,
    write_clean_marker,
    write_meta_properties,
    write_offsets,
    write_topic_id,
)
from barnabas.testing.memory_fs import MemoryFileSystem, SimulatedCrash

DIR = Path("/d")
FILE = DIR / "checkpoint"


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_dirs(DIR)
    return fs


def text(fs: MemoryFileSystem, path: Path) -> str:
    return fs.open(path).pread(10_000, 0).decode()


def write(fs: MemoryFileSystem, path: Path, data: bytes) -> None:
    fs.open(path, create=True).pwrite(data, 0)


def test_an_offset_checkpoint_is_read_as_it_was_written(fs):
    offsets = {TopicPartition("b", 1): 7, TopicPartition("a", 0): 12}
    write_offsets(fs, FILE, offsets)
    assert text(fs, FILE) == "0\n2\na 0 12\nb 1 7\n"
    assert read_offsets(fs, FILE) == offsets
    assert read_offsets(fs, DIR / "absent") == {}


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"1\n0\n",
        b"0\n",
        b"0\n2\na 0 1\n",
        b"0\n1\na 0\n",
        b"0\n1\na x 1\n",
        b"0\n-1\n",
        b"\xff",
    ],
)
def test_damaged_checkpoints_are_rejected(fs, damaged):
    write(fs, FILE, damaged)
    with pytest.raises(CorruptFileError):
        read_offsets(fs, FILE)


def test_a_checkpoint_is_the_old_or_the_new_after_any_crash(fs):
    write_offsets(fs, FILE, {TopicPartition("a", 0): 1})
    seen = set()
    for calls in range(10):
        twin = fs.clone()
        twin.crash_after(calls, torn=0.5)
        try:
            write_offsets(twin, FILE, {TopicPartition("a", 0): 2})
        except SimulatedCrash:
            twin.restart()
        seen.add(read_offsets(twin, FILE)[TopicPartition("a", 0)])
    assert seen == {1, 2}


def epochs(fs: MemoryFileSystem, *entries: tuple[int, int]) -> LeaderEpochs:
    found = LeaderEpochs(fs, DIR / "leader-epoch-checkpoint")
    for epoch, start in entries:
        found.assign(epoch, start)
    return found


def test_epochs_are_stored_and_loaded(fs):
    epochs(fs, (0, 0), (2, 10)).store()
    assert text(fs, DIR / "leader-epoch-checkpoint") == "0\n2\n0 0\n2 10\n"
    again = epochs(fs)
    again.load()
    assert again.entries == [EpochEntry(0, 0), EpochEntry(2, 10)]
    assert again.unwritten() is None


@pytest.mark.parametrize("damaged", [b"garbage", b"0\n2\n1 5\n0 9\n", b"0\n1\nx y\n"])
def test_damaged_epochs_count_as_none(fs, damaged):
    write(fs, DIR / "leader-epoch-checkpoint", damaged)
    found = epochs(fs)
    found.load()
    assert found.entries == []


def test_assigning_an_epoch(fs):
    found = epochs(fs, (1, 10))
    assert not found.assign(1, 20)
    assert not found.assign(0, 20)
    assert not found.assign(-1, 20)
    assert found.assign(3, 10)
    assert found.entries == [EpochEntry(3, 10)]
    assert found.latest_epoch == 3


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, (-1, -1)),
        (0, (0, 10)),
        (1, (1, 20)),
        (2, (1, 20)),
        (3, (3, 30)),
        (5, (5, 99)),
        (6, (-1, -1)),
    ],
)
def test_an_epoch_ends_where_the_next_one_starts(fs, asked, answer):
    found = epochs(fs, (1, 10), (3, 20), (5, 30))
    assert found.end_offset_for(asked, 99) == answer


def test_end_offset_without_any_epoch(fs):
    assert epochs(fs).end_offset_for(0, 99) == (-1, -1)


def test_a_truncation_removes_epochs_outside_the_log(fs):
    found = epochs(fs, (1, 10), (3, 20), (5, 30))
    found.truncate_from_end(30)
    assert found.entries == [EpochEntry(1, 10), EpochEntry(3, 20)]
    found.truncate_from_start(15)
    assert found.entries == [EpochEntry(1, 15), EpochEntry(3, 20)]
    found.truncate_from_start(20)
    assert found.entries == [EpochEntry(3, 20)]
    assert found.epoch_for_offset(19) == -1
    assert found.epoch_for_offset(25) == 3


def test_an_older_version_of_the_epochs_does_not_overwrite_a_newer(fs):
    found = epochs(fs, (1, 10))
    older = found.unwritten()
    found.assign(2, 20)
    found.store()
    found.write(older)
    again = epochs(fs)
    again.load()
    assert [entry.epoch for entry in again.entries] == [1, 2]


def test_meta_properties_are_read_as_they_were_written(fs):
    assert read_meta_properties(fs, DIR) is None
    write_meta_properties(fs, DIR, MetaProperties(3, "abc"))
    assert "version=0\nbroker.id=3\ncluster.id=abc\n" in text(fs, DIR / "meta.properties")
    assert read_meta_properties(fs, DIR) == MetaProperties(3, "abc")


def test_meta_properties_as_kafka_writes_them(fs):
    write(fs, DIR / "meta.properties", b"#\n#Sun Nov 15 2026\nversion=0\nbroker.id=1\n")
    assert read_meta_properties(fs, DIR) == MetaProperties(1, None)
    write(fs, DIR / "meta.properties", b"version=1\nnode.id=12\ncluster.id=x\n".ljust(44))
    assert read_meta_properties(fs, DIR) == MetaProperties(12, "x")


def test_meta_properties_of_the_future_are_rejected(fs):
    write(fs, DIR / "meta.properties", b"version=9\nbroker.id=1\n")
    with pytest.raises(CorruptFileError):
        read_meta_properties(fs, DIR)


def test_the_topic_id_is_read_as_it_was_written(fs):
    topic_id = Uuid(bytes(range(16)))
    write_topic_id(fs, DIR, topic_id)
    assert text(fs, DIR / "partition.metadata") == f"version: 0\ntopic_id: {topic_id}"
    assert read_topic_id(fs, DIR) == topic_id


@pytest.mark.parametrize("damaged", [b"", b"version: 0\ntopic_id: short", b"\0" * 40, b"\xff\xfe"])
def test_unreadable_partition_metadata_counts_as_absent(fs, damaged):
    assert read_topic_id(fs, DIR) is None
    write(fs, DIR / "partition.metadata", damaged)
    assert read_topic_id(fs, DIR) is None


def test_the_clean_marker_is_gone_once_it_was_seen(fs):
    assert not take_clean_marker(fs, DIR)
    write_clean_marker(fs, DIR)
    assert text(fs, DIR / ".kafka_cleanshutdown") == '{"version":0,"brokerEpoch":-1}'
    assert take_clean_marker(fs, DIR)
    assert not take_clean_marker(fs, DIR)


def test_names_of_files_and_directories():
    parse = file_names.parse_offset_file
    assert parse("00000000000000000042.log") == (42, ".log", "")
    assert parse("00000000000000000042.timeindex.swap") == (42, ".timeindex", ".swap")
    assert parse("leader-epoch-checkpoint") is None
    assert parse("42.log") is None
    found = file_names.parse_partition_dir
    assert found("__consumer_offsets-49") == TopicPartition("__consumer_offsets", 49)
    assert found("t-0.0123456789abcdef0123456789abcdef-delete") is None
    assert found("t-0-stray") is None
    assert found("t-x") is None
    assert found("nodash") is None
    assert found("..-1") is None


def test_the_name_of_a_doomed_directory_fits_a_name():
    long = file_names.deleted_dir(TopicPartition("t" * 249, 1234), "f" * 32)
    assert len(long) == 255
    assert long.endswith("-1234." + "f" * 32 + "-delete")
