"""Stopping, starting, retention, compaction choices, deletion: the log manager's side."""

import errno
from pathlib import Path

import pytest
from support.storage.log_world import (
    LOG_DIR,
    NOW,
    ROOT,
    TOPIC_ID,
    TP,
    World,
    contents,
    end_txn,
    put,
    snapshot,
)

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage import LogConfig, LogManager, OsFileSystem
from barnabas.storage.errors import InconsistentMetaError, LogDirLockedError, StorageError
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

HOUR = 3_600_000
SMALL = {"segment.bytes": "310", "index.interval.bytes": "80"}


def fill(world: World, count: int = 12, *, step_ms: int = 0) -> None:
    for number in range(count):
        put(world.log, (b"k%d" % (number % 3), b"v" * 80), timestamp_ms=NOW + number * step_ms)
    world.commit_all()


def values(**extra: str) -> dict[str, str]:
    return {**SMALL, **extra}


# Stop and start


def test_a_clean_restart_finds_everything_and_scans_nothing():
    world = World(**SMALL)
    fill(world)
    put(world.log, (b"p", b"1"), producer_id=4, producer_epoch=1, base_sequence=0, epoch=6)
    txn = {"producer_id": 5, "producer_epoch": 0, "transactional": True}
    put(world.log, (b"t", b"1"), base_sequence=0, epoch=6, **txn)
    end_txn(world.log, 5, commit=False)
    world.commit_all()
    before, high = snapshot(world.log), world.log.high_watermark
    seen = contents(world.log)
    log = world.restart()
    assert world.manager.dirs.online[0].clean
    assert contents(log) == seen
    assert {**snapshot(log), "times": None, "offsets": None} == {
        **before,
        "times": None,
        "offsets": None,
    }
    assert (log.high_watermark, log.topic_id) == (high, TOPIC_ID)
    assert log.recovery_point == log.log_end_offset


def test_retries_are_recognized_across_a_restart():
    world = World()
    ids = {"producer_id": 4, "producer_epoch": 1}
    for number in range(8):
        put(world.log, (b"p", b"%d" % number), base_sequence=number, **ids)
    for log in (world.restart(), world.kill()):
        for number in range(3, 8):
            info = put(log, (b"p", b"%d" % number), base_sequence=number, **ids)
            assert (info.first_offset, info.duplicate) == (number, True)
    assert put(log, (b"p", b"8"), base_sequence=8, **ids).first_offset == 8


def test_closed_segments_hold_no_descriptors(tmp_path):
    manager = LogManager(OsFileSystem(), [tmp_path], VirtualClock())
    manager.start()
    config = LogConfig.from_values(values(**{"cleanup.policy": "compact,delete"}))
    log = manager.get_or_create(TP, TOPIC_ID, config)
    for number in range(60):
        put(log, (b"k%d" % number, b"v" * 80), timestamp_ms=NOW + number)
    log.update_high_watermark(60)
    manager.dirs.release()
    held = descriptors()

    def extra() -> int:
        return descriptors() - held

    for clean in (False, True):
        again = LogManager(OsFileSystem(), [tmp_path], VirtualClock(), config_for=lambda _: config)
        again.start()
        found = again.get(TP)
        assert len(found.local.segments) == 30
        again.maintenance.run_retention(NOW)
        found.offset_for_timestamp(NOW + 30)
        found.max_timestamp_offset()
        again.maintenance.clean(NOW)
        assert extra() <= 4, clean
        contents(found)
        assert extra() <= 8, clean
        again.shutdown()
        del again, found
    log.abandon()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_marker_is_gone_while_running():
    world = World()
    world.restart()
    assert not world.fs.exists(ROOT / ".kafka_cleanshutdown")
    world.stop()
    assert world.fs.exists(ROOT / ".kafka_cleanshutdown")


def test_after_a_kill_only_segments_behind_the_recovery_point_are_read():
    world = World(**SMALL)
    fill(world, 12)
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    put(world.log, (b"x", b"y"))
    old = LOG_DIR / f"{0:020d}.log"
    world.fs.open(old).pwrite(b"!", 70)
    log = world.kill()
    assert log.log_end_offset == 13
    assert world.fs.open(old).pread(1, 70) == b"!"


def test_a_clean_log_that_is_damaged_after_all_is_recovered():
    world = World()
    fill(world, 3)
    end = world.log.size_bytes
    world.stop()
    world.fs.open(LOG_DIR / f"{0:020d}.log").truncate(end - 10)
    world.begin()
    assert world.log.log_end_offset == 2


def test_the_high_watermark_is_kept_within_what_is_left():
    world = World()
    fill(world, 3)
    world.manager.checkpoints.high_watermarks()
    world.fs.open(LOG_DIR / f"{0:020d}.log").truncate(10)
    log = world.kill()
    assert (log.log_end_offset, log.high_watermark) == (0, 0)


def test_a_log_start_beyond_the_data_stays():
    world = World()
    fill(world, 3)
    world.log.increment_log_start_offset(3)
    world.manager.checkpoints.log_start_offsets()
    world.fs.open(LOG_DIR / f"{0:020d}.log").truncate(0)
    log = world.kill()
    assert (log.log_start_offset, log.log_end_offset) == (3, 3)


def test_leftovers_are_cleared():
    world = World()
    fill(world, 3)
    world.stop()
    for name in (f"{0:020d}.log.deleted", "x.tmp", f"{9:020d}.index", f"{1:020d}.log.cleaned"):
        world.fs.open(LOG_DIR / name, create=True)
    world.begin()
    assert world.log.log_end_offset == 3
    assert not [name for name in world.fs.list_dir(LOG_DIR) if "deleted" in name or "tmp" in name]
    assert not world.fs.exists(LOG_DIR / f"{9:020d}.index")
    assert not world.fs.exists(LOG_DIR / f"{1:020d}.log.cleaned")


# Directories


def test_directories_are_locked():
    fs = MemoryFileSystem()
    first = LogManager(fs, ["/a", "/b"], VirtualClock())
    first.start()
    with pytest.raises(LogDirLockedError):
        LogManager(fs, ["/b"], VirtualClock()).start()
    first.shutdown()
    LogManager(fs, ["/b"], VirtualClock()).start()


def test_a_directory_knows_whose_it_is():
    fs = MemoryFileSystem()
    manager = LogManager(fs, ["/a", "/b"], VirtualClock())
    assert manager.dirs.acquire() is None
    manager.dirs.ensure_meta(1, "cluster")
    manager.dirs.ensure_meta(1, "cluster")
    assert manager.dirs.acquire() == (1, "cluster")
    with pytest.raises(InconsistentMetaError, match="broker_id 1"):
        manager.dirs.ensure_meta(2, "cluster")
    with pytest.raises(InconsistentMetaError, match=r"cluster_id 'cluster'.*another directory"):
        manager.dirs.ensure_meta(1, "another")


def test_new_logs_go_where_there_are_fewest():
    fs = MemoryFileSystem()
    manager = LogManager(fs, ["/a", "/b", "/c"], VirtualClock())
    manager.start()
    for number in range(7):
        manager.get_or_create(TopicPartition("t", number), None, LogConfig.from_values())
    assert sorted(len(manager.logs_in(Path(p))) for p in ("/a", "/b", "/c")) == [2, 2, 3]
    manager.shutdown()
    again = LogManager(fs, ["/a", "/b", "/c"], VirtualClock())
    again.start()
    assert len(again) == 7


def test_a_partition_in_two_directories_is_rejected():
    fs = MemoryFileSystem()
    for directory in ("/a/t-0", "/b/t-0"):
        fs.make_dirs(Path(directory))
    with pytest.raises(StorageError, match="t-0 is in"):
        LogManager(fs, ["/a", "/b"], VirtualClock()).start()


def test_a_topic_id_is_learned_later():
    world = World()
    other = TopicPartition("u", 0)
    world.manager.get_or_create(other, None, world.config)
    log = world.manager.get_or_create(other, Uuid(b"0123456789abcdef"), world.config)
    assert log.topic_id == Uuid(b"0123456789abcdef")
    world.stop()
    world.begin()
    assert world.manager.get(other).topic_id == Uuid(b"0123456789abcdef")


def test_a_deleted_partition_is_gone_at_once_and_removed_later():
    world = World()
    fill(world, 3)
    world.manager.delete(TP)
    assert world.manager.get(TP) is None
    doomed = [name for name in world.fs.list_dir(ROOT) if name.endswith("-delete")]
    assert len(doomed) == 1
    again = world.log
    assert (again.log_end_offset, again.high_watermark) == (0, 0)
    world.clock.advance(60_000)
    world.manager.maintenance.purge_deleted()
    assert not any(name.endswith("-delete") for name in world.fs.list_dir(ROOT))


def test_a_partition_made_anew_inherits_no_checkpoint():
    world = World()
    fill(world, 9)
    world.log.increment_log_start_offset(8)
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    world.manager.checkpoints.log_start_offsets()
    world.manager.checkpoints.high_watermarks()
    world.manager.delete(TP)
    world.kill()
    put(world.log, (b"new", b"1"))
    log = world.kill()
    assert contents(log) == [(0, b"new", b"1")]
    assert (log.log_start_offset, log.high_watermark) == (0, 0)


def test_checkpoints_follow_a_truncation_at_once():
    world = World()
    world.log.truncate_fully_and_start_at(50)
    for _ in range(3):
        put(world.log, (b"k", b"v"))
    world.commit_all()
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    world.manager.checkpoints.log_start_offsets()
    world.manager.checkpoints.high_watermarks()
    world.log.truncate_fully_and_start_at(10)
    put(world.log, (b"new", b"1"), epoch=7)
    log = world.kill()
    assert contents(log) == [(10, b"new", b"1")]
    assert log.latest_epoch == 7
    assert log.high_watermark == 10


def test_a_full_disk_does_not_leave_a_checkpoint_too_high():
    world = World()
    fill(world, 3)
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    world.fs.capacity_bytes = world.fs.used_bytes()
    world.fs.fail("pwrite", errno.ENOSPC, times=9, name="recovery-point")
    world.log.truncate_to(1)
    world.fs.heal()
    world.fs.capacity_bytes = 2**30
    assert not world.fs.exists(ROOT / "recovery-point-offset-checkpoint")
    assert world.manager.dirs.offline == []


def test_a_changed_configuration_reaches_the_logs_of_its_topic():
    world = World()
    other = world.manager.get_or_create(TopicPartition("u", 0), None, world.config)
    assert world.log.config.retention_ms == other.config.retention_ms
    world.manager.update_config("t", LogConfig.from_values({"retention.ms": "5"}))
    assert world.log.config.retention_ms == 5
    assert other.config.retention_ms != 5


def test_checkpoints_are_written_when_they_change():
    world = World()
    fill(world, 2)
    world.manager.checkpoints.high_watermarks()
    calls = len(world.fs.calls)
    world.manager.checkpoints.high_watermarks()
    assert len(world.fs.calls) == calls
    data = world.fs.open(ROOT / "replication-offset-checkpoint").pread(99, 0)
    assert data == b"0\n1\nt 0 2\n"


# Retention


def first_offset(world: World) -> int:
    return world.log.local.segments.first.base_offset


def test_retention_by_time():
    world = World(**values(**{"retention.ms": str(HOUR)}))
    fill(world, 12, step_ms=60_000)
    assert world.manager.maintenance.run_retention(NOW + HOUR) == 0
    assert world.manager.maintenance.run_retention(NOW + HOUR + 4 * 60_000) == 2
    assert first_offset(world) == world.log.log_start_offset == 4
    assert world.log.epochs.entries[0].start_offset == 4


def test_everything_may_expire_and_offsets_go_on():
    world = World(**values(**{"retention.ms": str(HOUR)}))
    fill(world)
    assert world.manager.maintenance.run_retention(NOW + 2 * HOUR) == 6
    assert contents(world.log) == []
    assert world.log.log_start_offset == world.log.log_end_offset == 12
    assert put(world.log, (b"k", b"v")).first_offset == 12
    assert world.manager.maintenance.run_retention(NOW + HOUR) == 0


def test_retention_by_size():
    world = World(**values(**{"retention.bytes": "700"}))
    fill(world)
    world.manager.maintenance.run_retention(NOW)
    assert 700 <= world.log.size_bytes < 1000


def test_nothing_above_the_high_watermark_goes():
    world = World(**values(**{"retention.ms": "1"}))
    for _ in range(6):
        put(world.log, (b"k", b"v" * 80))
    world.log.update_high_watermark(3)
    world.manager.maintenance.run_retention(NOW + HOUR)
    assert first_offset(world) == 2


def test_deleted_records_take_their_segments_even_if_compacted():
    world = World(**values(**{"cleanup.policy": "compact"}))
    fill(world)
    world.log.increment_log_start_offset(5)
    assert world.log.delete_old_segments(NOW + 10**12) == 2
    assert first_offset(world) == 4
    assert world.log.log_start_offset == 5


def test_files_wait_for_the_delay():
    world = World(**values(**{"retention.ms": "1", "file.delete.delay.ms": "1000"}))
    fill(world)
    world.manager.maintenance.run_retention(NOW + HOUR)
    world.manager.maintenance.purge_deleted()
    waiting = [name for name in world.fs.list_dir(LOG_DIR) if name.endswith(".deleted")]
    assert len(waiting) == 18
    world.clock.advance(999)
    world.manager.maintenance.purge_deleted()
    assert len(world.fs.list_dir(LOG_DIR)) > 18
    world.clock.advance(1)
    world.manager.maintenance.purge_deleted()
    assert not [name for name in world.fs.list_dir(LOG_DIR) if name.endswith(".deleted")]


def test_records_without_timestamps_go_by_the_files_time():
    fs = MemoryFileSystem(now_ms=lambda: NOW)
    world = World(fs, **values(**{"retention.ms": str(HOUR)}))
    for _ in range(6):
        put(world.log, (b"k", b"v" * 80), timestamp_ms=-1)
    world.commit_all()
    assert world.manager.maintenance.run_retention(NOW + HOUR) == 0
    assert world.manager.maintenance.run_retention(NOW + HOUR + 1) == 3


def test_idle_producers_are_forgotten():
    world = World()
    put(world.log, (b"k", b"v"), producer_id=1, producer_epoch=0, base_sequence=0)
    world.manager.maintenance.run_retention(NOW + 24 * HOUR - 1)
    assert len(world.log.producer_states()) == 1
    world.manager.maintenance.run_retention(NOW + 24 * HOUR)
    assert world.log.producer_states() == []


# Flushing and cleaning as the manager sees them


def test_flush_by_time():
    world = World(**{"flush.ms": "1000"})
    put(world.log, (b"k", b"v"))
    assert world.manager.maintenance.flush_dirty() == 0
    world.clock.advance(1000)
    assert world.manager.maintenance.flush_dirty() == 1
    assert world.log.recovery_point == 1
    world.clock.advance(5000)
    assert world.manager.maintenance.flush_dirty() == 0


def compacted(**extra: str) -> World:
    world = World(**values(**{"cleanup.policy": "compact", **extra}))
    fill(world)
    return world


def test_the_dirtiest_log_is_cleaned_and_only_when_it_is_dirty_enough():
    world = compacted(**{"min.cleanable.dirty.ratio": "0.5"})
    assert world.manager.maintenance.clean(NOW)
    offsets = [offset for offset, _, _ in contents(world.log)]
    assert offsets == [7, 8, 9, 10, 11]
    assert not world.manager.maintenance.clean(NOW)
    data = world.fs.open(ROOT / "cleaner-offset-checkpoint").pread(99, 0)
    assert data == b"0\n1\nt 0 10\n"
    log = world.restart()
    assert log.cleaned_offset == 10
    assert [offset for offset, _, _ in contents(log)] == offsets


def test_records_younger_than_the_lag_stay():
    world = compacted(**{"min.compaction.lag.ms": "1000"})
    assert not world.manager.maintenance.clean(NOW + 999)
    assert world.manager.maintenance.clean(NOW + 1001)


def test_an_overdue_log_is_cleaned_however_clean_it_is():
    world = compacted(**{"min.cleanable.dirty.ratio": "1", "max.compaction.lag.ms": "1000"})
    assert world.manager.maintenance.clean(NOW)
    for _ in range(3):
        put(world.log, (b"k0", b"w" * 80))
    world.log.roll()
    put(world.log, (b"k0", b"w" * 80))
    world.commit_all()
    assert not world.manager.maintenance.clean(NOW + 999)
    assert world.manager.maintenance.clean(NOW + 1001)


def test_a_pass_is_dropped_when_the_log_was_truncated_meanwhile():
    world = compacted()
    task = world.manager.maintenance.begin_clean(NOW, force=True)
    assert world.manager.maintenance.begin_clean(NOW, force=True) is None
    world.log.truncate_to(3)
    task.run()
    assert not world.manager.maintenance.finish_clean(task)
    assert [offset for offset, _, _ in contents(world.log)] == [0, 1, 2]
    assert not [name for name in world.fs.list_dir(LOG_DIR) if "cleaned" in name]


def test_a_pass_that_finds_no_room_is_put_off():
    world = compacted()
    world.fs.fail("pwrite", errno.ENOSPC, name="cleaned")
    assert not world.manager.maintenance.clean(NOW, force=True)
    assert not [name for name in world.fs.list_dir(LOG_DIR) if "cleaned" in name]
    assert world.manager.maintenance.begin_clean(NOW + 14_999, force=True) is None
    assert world.manager.maintenance.clean(NOW + 15_000, force=True)
    assert world.manager.dirs.offline == []


def test_a_pass_over_a_deleted_partition_is_dropped():
    world = compacted()
    task = world.manager.maintenance.begin_clean(NOW, force=True)
    world.manager.delete(TP)
    task.run()
    assert not world.manager.maintenance.finish_clean(task)
    assert world.manager.dirs.offline == []
    fill(world)
    assert world.manager.maintenance.clean(NOW, force=True)


def test_one_bad_log_does_not_keep_the_others_dirty():
    world = compacted()
    other = world.manager.get_or_create(TopicPartition("u", 0), None, world.config)
    for _ in range(8):
        put(other, (b"same", b"v" * 80))
    other.update_high_watermark(8)
    world.fs.open(LOG_DIR / f"{0:020d}.log").pwrite(b"\xff" * 30, 0)
    for _ in range(4):
        world.manager.maintenance.clean(NOW, force=True)
    assert world.manager.maintenance.cleaning.uncleanable == {TP}
    assert [offset for offset, _, _ in contents(other)] == [5, 6, 7]


def test_a_full_map_is_continued_in_the_next_pass():
    world = World(**values(**{"cleanup.policy": "compact"}))
    world.manager.maintenance.cleaning._map_capacity = 2
    for number in range(12):
        put(world.log, (b"k%d" % (number % 4), b"%02d" % number * 40))
    world.commit_all()
    ends = []
    while world.manager.maintenance.clean(NOW, force=True):
        ends.append(world.log.cleaned_offset)
    assert ends == sorted(set(ends))
    assert len(ends) > 2
    newest = {key: value for _, key, value in contents(world.log)}
    assert newest == {b"k%d" % n: b"%02d" % (8 + n) * 40 for n in range(4)}


def test_records_without_keys_are_dropped():
    world = World(**values(**{"cleanup.policy": "compact"}))
    for number in range(6):
        put(world.log, (None if number % 2 else b"k", b"v" * 80))
    world.commit_all()
    world.manager.maintenance.clean(NOW, force=True)
    assert [key for _, key, _ in contents(world.log)] == [b"k", b"k", None]
