"""Logs for replicas: whose they are, and when none may be made."""

import errno
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.disk_jobs import CheckpointWriter
from barnabas.broker.storage import LogConfigs, LogStore, StorageJobs, run_in_threads
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.batch import parse_header
from barnabas.records.builder import build_batch
from barnabas.storage import LogConfig, LogManager, file_names, log_manager
from barnabas.storage.log_manager import run_in_turn
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

TOPIC_PARTITION = TopicPartition("t", 0)
TOPIC_ID, ANOTHER_ID = Uuid(bytes(range(16))), Uuid(bytes(range(1, 17)))


@pytest.fixture
def logs():
    manager = LogManager(MemoryFileSystem(), ["/one", "/two"], VirtualClock())
    manager.start()
    return manager


@pytest.fixture
def store(logs):
    return LogStore(logs, SimpleNamespace(of=lambda topic: LogConfig.from_values()))


def fail_one(logs):
    next(iter(logs.dirs)).health.fail(OSError(errno.EIO, "gone"))


def test_a_log_is_made_and_found_again(store):
    log = store.get_or_create(TOPIC_PARTITION, TOPIC_ID, is_new=False)
    assert store.get_or_create(TOPIC_PARTITION, TOPIC_ID, is_new=False) is log


def test_the_log_of_a_dead_topic_of_that_name_is_replaced(store):
    log = store.get_or_create(TOPIC_PARTITION, TOPIC_ID, is_new=True)
    assert store.get_or_create(TOPIC_PARTITION, ANOTHER_ID, is_new=True) is not log


def test_a_log_that_may_be_on_a_failed_disk_is_not_made_anew(store, logs):
    fail_one(logs)
    with pytest.raises(BrokerError, match="may be in /one") as caught:
        store.get_or_create(TOPIC_PARTITION, TOPIC_ID, is_new=False)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (
        store.get_or_create(TOPIC_PARTITION, TOPIC_ID, is_new=True).directory.parent.name == "two"
    )


async def test_the_directory_of_the_only_log_is_removed_after_its_deletion():
    """No other log is left, so no slice of logs has anything to purge."""
    files, clock = MemoryFileSystem(), VirtualClock()
    logs = LogManager(files, ["/one"], clock)
    logs.start()
    store = LogStore(logs, SimpleNamespace(of=lambda topic: LogConfig.from_values()))
    log = store.get_or_create(TOPIC_PARTITION, TOPIC_ID, is_new=True)
    store.delete(TOPIC_PARTITION)
    assert files.exists(log.directory)
    clock.advance(log.config.file_delete_delay_ms)
    with ThreadPoolExecutor(1) as executor:
        config = BrokerConfig.parse({})
        await StorageJobs(config, clock, logs, None, executor, lambda: 0)._purge()
    assert not files.exists(log.directory)


def test_topics_with_the_same_settings_share_a_configuration():
    layers = ConfigLayers(BrokerConfig.parse({}))
    configs = LogConfigs(layers)
    layers.set_topic("small", {"segment.bytes": "20000"})
    assert configs.of("a") is configs.of("b")
    assert configs.of("small").segment_bytes == 20_000


@pytest.mark.parametrize("layer", ["set_broker", "set_default"])
def test_a_change_of_the_brokers_settings_changes_the_configuration_of_logs(layer):
    layers = ConfigLayers(BrokerConfig.parse({}))
    configs = LogConfigs(layers)
    before = configs.of("t").segment_bytes
    getattr(layers, layer)({"log.segment.bytes": "30000"})
    assert (before, configs.of("t").segment_bytes) == (1 << 30, 30_000)


def test_a_stop_opens_few_files_where_descriptors_are_few():
    manager = LogManager(MemoryFileSystem(), ["/one"], VirtualClock())
    manager.open_files.limit = 16
    manager.start()
    for number in range(5):
        put_one(manager, number)
    groups = []
    manager.shutdown(lambda tasks: groups.append(len(tasks)))
    assert groups == [2, 2, 1]


def put_one(manager, number):
    log = manager.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig.from_values())
    batch = build_batch([(None, b"x")], timestamp_ms=1)
    log.append_as_leader(batch, parse_header(batch), leader_epoch=0, now_ms=1)


@pytest.mark.parametrize("run_flushes", [run_in_turn, run_in_threads])
def test_a_stop_flushes_every_log(run_flushes, monkeypatch):
    monkeypatch.setattr(log_manager, "_CLOSED_TOGETHER", 2)
    fs = MemoryFileSystem()
    manager = LogManager(fs, ["/one"], VirtualClock())
    manager.start()
    for number in range(5):
        put_one(manager, number)
    manager.shutdown(run_flushes)
    again = LogManager(fs, ["/one"], VirtualClock())
    again.start()
    assert all(directory.clean for directory in again.dirs)
    assert [(log.log_end_offset, log.recovery_point) for log in again] == [(1, 1)] * 5


def test_a_start_after_an_unclean_shutdown_logs_its_progress(caplog, monkeypatch):
    caplog.set_level("INFO")
    fs, clock = MemoryFileSystem(), VirtualClock()
    manager = LogManager(fs, ["/one"], clock)
    manager.start()
    for number in range(3):
        put_one(manager, number)
    manager.dirs.release()
    again = LogManager(fs, ["/one"], clock)
    load = again._opener.load

    def slow_load(*arguments):
        clock.advance(6000)
        return load(*arguments)

    monkeypatch.setattr(again._opener, "load", slow_load)
    caplog.clear()
    again.start()
    assert caplog.messages == [
        "/one: recovering 3 logs after an unclean shutdown",
        "/one: recovered 2 of 3 logs after an unclean shutdown",
        "/one: recovered 3 logs in 18.0 s",
    ]
    again.shutdown()
    caplog.clear()
    LogManager(fs, ["/one"], clock).start()
    assert caplog.messages == []


async def test_a_checkpoint_that_a_deletion_outdates_is_written_again(store, logs):
    """DeleteRecords responds after this: the new log start offset must be in the file."""
    other = TopicPartition("t", 1)
    for partition in (TOPIC_PARTITION, other):
        log = store.get_or_create(partition, TOPIC_ID, is_new=True)
        batch = bytearray(build_batch([(None, b"value")] * 3))
        log.append_as_leader(batch, parse_header(batch), leader_epoch=0, now_ms=1)
        log.update_high_watermark(3)
        log.increment_log_start_offset(2)
    rounds = []

    class Executor(ThreadPoolExecutor):
        """Deletes a log while the first file is written."""

        def submit(self, work):
            done = super().submit(work)
            done.result()
            rounds.append(work)
            if len(rounds) == 1:
                logs.delete(other)
            return done

    with Executor(1) as executor:
        await CheckpointWriter(logs, executor).log_start_offsets()
    found = {
        partition: offset
        for directory in logs.dirs
        for partition, offset in directory.offsets(file_names.LOG_START_OFFSETS).items()
    }
    assert found == {TOPIC_PARTITION: 2}


@pytest.fixture
def writer(logs):
    """Counts the logs whose offsets it reads; without threads."""

    class Writer(CheckpointWriter):
        visits = 0

        async def _in_thread(self, work):
            work()

    made = Writer(logs, None)
    collect = made._checkpoints.collect

    def counted(collected, name, visited):
        made.visits += len(visited)
        collect(collected, name, visited)

    made._checkpoints.collect = counted
    return made


async def test_a_checkpoint_without_a_change_visits_no_log(writer, logs):
    for number in range(3):
        put_one(logs, number)
    await writer.write(file_names.HIGH_WATERMARKS)
    assert writer.visits == 3
    await writer.write(file_names.HIGH_WATERMARKS)
    assert writer.visits == 3
    logs.get(TOPIC_PARTITION).update_high_watermark(1)
    await writer.write(file_names.HIGH_WATERMARKS)
    assert writer.visits == 6


async def test_a_checkpoint_whose_write_failed_is_written_at_the_next_call(writer, logs):
    put_one(logs, 0)
    logs.get(TOPIC_PARTITION).update_high_watermark(1)
    (directory,) = {d for d in logs.dirs if d.log_count}
    directory.fs.fail("pwrite", errno.ENOSPC, name=file_names.HIGH_WATERMARKS)
    await writer.write(file_names.HIGH_WATERMARKS)
    assert directory.offsets(file_names.HIGH_WATERMARKS) == {}
    directory.fs.heal()
    await writer.write(file_names.HIGH_WATERMARKS)
    assert directory.offsets(file_names.HIGH_WATERMARKS) == {TOPIC_PARTITION: 1}


async def test_a_deleted_partition_is_removed_from_the_checkpoint(writer, logs):
    for number in range(2):
        put_one(logs, number)
    await writer.write(file_names.HIGH_WATERMARKS)
    logs.delete(TOPIC_PARTITION)
    await writer.write(file_names.HIGH_WATERMARKS)
    assert not any(TOPIC_PARTITION in d.offsets(file_names.HIGH_WATERMARKS) for d in logs.dirs)
