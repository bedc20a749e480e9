"""Full disks, failing disks, and two brokers on one directory."""

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.storage.log_world import ROOT, TOPIC_ID, TP, World, contents, put

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock
from barnabas.storage import Log, LogConfig, LogManager, OsFileSystem
from barnabas.storage.errors import LogDirLockedError
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

pytestmark = pytest.mark.faults


def refused(log: Log, value: bytes = b"x" * 500) -> None:
    with pytest.raises(BrokerError) as caught:
        put(log, (b"k", value))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def accepted(log: Log, value: bytes, **options) -> bool:
    """Whether an append went through; the only other outcome is a storage error."""
    try:
        put(log, (b"k", value), **options)
    except BrokerError as error:
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            raise
        return False
    return True


def test_a_full_disk_rejects_the_append_and_loses_nothing():
    world = World()
    put(world.log, (b"a", b"1"))
    acknowledged = contents(world.log)
    for room in range(0, 560, 7):
        world.fs.capacity_bytes = world.fs.used_bytes() + room
        refused(world.log)
        assert contents(world.log) == acknowledged
        assert not world.manager.dirs.offline
    world.fs.capacity_bytes *= 10
    assert put(world.log, (b"b", b"2")).first_offset == 1
    assert contents(world.log) == [*acknowledged, (1, b"b", b"2")]
    world.kill()
    assert contents(world.log) == [*acknowledged, (1, b"b", b"2")]


def test_a_disk_that_fills_up_while_a_segment_rolls():
    world = World(**{"segment.bytes": "300", "index.interval.bytes": "50"})
    sequence = 0
    for room in range(400):
        used = world.fs.used_bytes()
        end = world.log.log_end_offset
        world.fs.capacity_bytes = used + room
        ids = {"producer_id": 5, "producer_epoch": 0, "base_sequence": sequence}
        appended = accepted(world.log, b"%03d" % room * 20, **ids)
        sequence += appended
        assert world.log.log_end_offset == end + appended
        assert not world.manager.dirs.offline
    world.fs.capacity_bytes = 2**30
    before = contents(world.log)
    assert len(before) == sequence > 20
    world.log.flush()
    world.kill()
    assert contents(world.log) == before


def test_a_failed_fsync_takes_the_directory_offline_for_good():
    told: list[Path] = []
    world = World()
    world.manager.dirs.on_offline(told.append)
    put(world.log, (b"a", b"1"))
    world.fs.fail("sync", errno.EIO)
    with pytest.raises(BrokerError) as caught:
        world.log.flush()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.manager.dirs.offline == [ROOT] == told
    for attempt in (
        lambda: put(world.log, (b"b", b"2")),
        world.log.flush,
        world.log.roll,
        lambda: world.log.truncate_to(0),
        lambda: world.log.read(0, 100, max_offset=1),
        lambda: world.manager.get_or_create(TopicPartition("u", 0), None, world.config),
    ):
        with pytest.raises(BrokerError) as caught:
            attempt()
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.fs.open(ROOT / "t-0" / f"{0:020d}.log").size() == world.log.size_bytes
    world.stop()
    assert not world.fs.exists(ROOT / ".kafka_cleanshutdown")


def test_a_failed_write_takes_the_directory_offline():
    world = World()
    put(world.log, (b"a", b"1"))
    world.fs.fail("pwrite", errno.EIO)
    refused(world.log)
    assert world.manager.dirs.offline == [ROOT]
    refused(world.log)
    world.kill()
    assert contents(world.log) == [(0, b"a", b"1")]


def test_the_other_directories_go_on():
    fs = MemoryFileSystem()
    manager = LogManager(fs, ["/one", "/two"], VirtualClock())
    manager.start()
    config = LogConfig.from_values()
    logs = [manager.get_or_create(TopicPartition("t", n), TOPIC_ID, config) for n in range(4)]
    assert [len(manager.logs_in(Path(path))) for path in ("/one", "/two")] == [2, 2]
    fs.fail("pwrite", errno.EIO, name="/one")
    sick = [log for log in logs if log.directory.parent == Path("/one")]
    well = [log for log in logs if log.directory.parent == Path("/two")]
    refused(sick[0])
    refused(sick[1])
    for log in well:
        put(log, (b"k", b"v"))
    made = manager.get_or_create(TopicPartition("t", 9), TOPIC_ID, config)
    assert made.directory.parent == Path("/two")
    manager.maintenance.run_retention(0)
    manager.checkpoints.high_watermarks()
    manager.shutdown()
    assert fs.exists(Path("/two/.kafka_cleanshutdown"))
    assert not fs.exists(Path("/one/.kafka_cleanshutdown"))


def test_a_second_broker_is_rejected(tmp_path):
    first = LogManager(OsFileSystem(), [tmp_path], SystemClock())
    first.start()
    second = LogManager(OsFileSystem(), [tmp_path], SystemClock())
    with pytest.raises(LogDirLockedError, match="in use by another broker"):
        second.start()
    other = subprocess.run(
        [sys.executable, "-c", _SECOND_BROKER, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "LogDirLockedError" in other.stderr.splitlines()[-1]
    first.shutdown()
    second.start()
    second.shutdown()


_SECOND_BROKER = """
import sys
from barnabas.runtime.clock import SystemClock
from barnabas.storage import LogManager, OsFileSystem
LogManager(OsFileSystem(), [sys.argv[1]], SystemClock()).start()
"""


@pytest.fixture
def small_disk(tmp_path):
    """A real tmpfs of 4 MiB, where mounting is allowed."""
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mount.returncode:
        pytest.skip("mounting a tmpfs needs root")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_real_full_disk(small_disk):
    manager = LogManager(OsFileSystem(), [small_disk], SystemClock())
    manager.start()
    log = manager.get_or_create(TP, TOPIC_ID, LogConfig.from_values())
    acknowledged = fill(log)
    assert 35 <= acknowledged < 45
    ballast = small_disk / "t-0" / "ballast"
    assert len(contents(log)) == acknowledged
    assert not ballast.exists()
    assert not manager.dirs.offline
    manager.dirs.release()

    restarted = LogManager(OsFileSystem(), [small_disk], SystemClock())
    restarted.start()
    log = restarted.get(TP)
    assert len(contents(log)) == acknowledged
    log.update_high_watermark(log.log_end_offset)
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert put(log, (b"k", os.urandom(100_000))).first_offset == acknowledged
    assert len(contents(log)) == acknowledged + 1
    restarted.dirs.release()


def fill(log: Log) -> int:
    """Append until the disk is full, then some more; how many appends were acknowledged."""
    acknowledged = 0
    for _ in range(60):
        acknowledged += accepted(log, os.urandom(100_000))
    return acknowledged


def test_a_file_size_limit_is_a_full_disk(tmp_path):
    manager = LogManager(OsFileSystem(), [tmp_path], SystemClock())
    manager.start()
    log = manager.get_or_create(TP, TOPIC_ID, LogConfig.from_values())
    put(log, (b"k", os.urandom(50_000)))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, limits[1]))
    try:
        refused(log, os.urandom(100_000))
        assert log.local.active.open_file().size() == log.size_bytes
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    put(log, (b"k", os.urandom(100_000)))
    assert len(contents(log)) == 2
    assert not manager.dirs.offline
    manager.shutdown()
