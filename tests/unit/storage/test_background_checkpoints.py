"""Checkpoints written in a thread: renamed only if their values are still valid."""

from pathlib import Path

import pytest

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.batch import parse_header
from barnabas.records.builder import build_batch
from barnabas.storage import file_names
from barnabas.storage.checkpoints import BackgroundCheckpoints
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_manager import LogManager
from barnabas.storage.small_files import read_offsets
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

DIRECTORY = Path("/data")
PARTITION = TopicPartition("t", 0)


@pytest.fixture
def fs():
    return MemoryFileSystem()


@pytest.fixture
def logs(fs):
    manager = LogManager(fs, [DIRECTORY], VirtualClock())
    manager.start()
    manager.get_or_create(PARTITION, Uuid(b"1" * 16), LogConfig.from_values())
    append(manager, 10)
    return manager


@pytest.fixture
def background(logs):
    return BackgroundCheckpoints(logs.dirs, logs.checkpoints)


def append(logs, count):
    log = logs.get(PARTITION)
    for _ in range(count):
        batch = build_batch([(None, b"x")], timestamp_ms=1)
        log.append_as_leader(batch, parse_header(batch), leader_epoch=0, now_ms=1)
    log.update_high_watermark(log.log_end_offset)


def stored(fs, name=file_names.HIGH_WATERMARKS):
    return read_offsets(fs, DIRECTORY / name).get(PARTITION)


@pytest.mark.parametrize(
    "name",
    [file_names.RECOVERY_POINTS, file_names.LOG_START_OFFSETS, file_names.HIGH_WATERMARKS],
)
def test_a_round_writes_what_changed_and_nothing_else(fs, logs, background, name):
    logs.get(PARTITION).flush()
    for task in background.begin(name):
        task.run()
        assert background.finish(task)
    assert stored(fs, name) == (0 if name == file_names.LOG_START_OFFSETS else 10)
    assert background.begin(name) == []


def test_a_later_checkpoint_is_not_overwritten(fs, logs, background):
    (task,) = background.begin(file_names.HIGH_WATERMARKS)
    task.run()
    append(logs, 5)
    logs.checkpoints.high_watermarks()
    assert not background.finish(task)
    assert stored(fs) == 15


def test_a_truncation_meanwhile_makes_it_void(fs, logs, background):
    (task,) = background.begin(file_names.HIGH_WATERMARKS)
    task.run()
    logs.get(PARTITION).truncate_to(4)
    assert not background.finish(task)
    assert stored(fs) in (None, 0, 4)


def test_a_deletion_meanwhile_makes_it_void(fs, logs, background):
    (task,) = background.begin(file_names.HIGH_WATERMARKS)
    task.run()
    logs.delete(PARTITION)
    assert not background.finish(task)
    assert stored(fs) is None


def test_offsets_are_read_again_only_after_a_truncation_or_removal(logs, background, monkeypatch):
    """The check runs in one callback of the loop, so it must not depend on the number of logs."""
    read = []
    value = logs.checkpoints.value

    def counted(*arguments):
        read.append(arguments)
        return value(*arguments)

    monkeypatch.setattr(logs.checkpoints, "value", counted)
    (task,) = background.begin(file_names.HIGH_WATERMARKS)
    task.run()
    append(logs, 1)
    assert background.finish(task)
    assert read == []
    (task,) = background.begin(file_names.HIGH_WATERMARKS)
    task.run()
    logs.get(PARTITION).truncate_to(5)
    assert not background.finish(task)
