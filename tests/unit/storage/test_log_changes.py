"""Periodic jobs handle the logs that changed; a log that is idle is not visited."""

import weakref

import pytest
from support.storage.log_world import NOW, TOPIC_ID, TP, World, batch_of, put

from barnabas.model.ids import TopicPartition
from barnabas.storage import LogConfig, file_names
from barnabas.storage.log_changes import FLUSH, PURGE

HOUR = 3_600_000
CHECKPOINTS = [
    file_names.RECOVERY_POINTS,
    file_names.LOG_START_OFFSETS,
    file_names.HIGH_WATERMARKS,
]


def idle(**config):
    """Three logs of which all jobs know; one has three records in three segments."""
    world = World(**{"segment.bytes": "150", **config})
    for number in range(3):
        put(world.log, (b"k%d" % number, b"v" * 20), timestamp_ms=NOW)
    world.commit_all()
    for number in (1, 2):
        world.manager.get_or_create(TopicPartition("t", number), TOPIC_ID, world.config)
    world.manager.maintenance.flush_dirty()
    assert handled(world) == (3, 3, CHECKPOINTS)
    return world


def handled(world):
    """Returns the numbers of logs to flush and purge, and the checkpoints to write."""
    changes = world.manager.changes
    logs = len(changes.take(FLUSH)), len(changes.take(PURGE))
    return *logs, [name for name in CHECKPOINTS if changes.take_outdated(name)]


def test_idle_logs_are_not_visited():
    assert handled(idle()) == (0, 0, [])


def test_idle_logs_are_neither_flushed_nor_purged():
    maintenance = idle().manager.maintenance
    assert maintenance.logs_to_check() == []
    assert maintenance.logs_to_purge() == []


CHANGES = {
    "append": lambda log: put(log, (None, b"x")),
    "append as follower": lambda log: log.append_as_follower(bytes(copy_for(log))),
    "high watermark": lambda log: log.update_high_watermark(2),
    "log start offset": lambda log: log.increment_log_start_offset(1),
    "truncation": lambda log: log.truncate_to(1),
    "full truncation": lambda log: log.truncate_fully_and_start_at(7),
    "roll": lambda log: log.roll(NOW),
    "settings": lambda log: log.update_config(LogConfig.from_values({"flush.ms": "5"})),
    "retention": lambda log: log.delete_old_segments(NOW + 1000 * HOUR),
}


def copy_for(log):
    batch = batch_of([(None, b"x")])
    batch[:8] = log.log_end_offset.to_bytes(8, "big")
    return batch


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_change_is_seen_once_by_each_job(change):
    world = idle()
    change(world.log)
    assert handled(world) == (1, 1, CHECKPOINTS)
    assert handled(world) == (0, 0, [])


def test_a_flush_is_a_change_of_the_recovery_point():
    world = idle()
    put(world.log, (None, b"x"))
    handled(world)
    task = world.log.begin_flush()
    task.run()
    world.log.finish_flush(task)
    assert handled(world) == (1, 1, CHECKPOINTS)
    put(world.log, (None, b"x"))
    handled(world)
    world.log.flush()
    assert handled(world) == (1, 1, CHECKPOINTS)


def test_a_job_that_is_not_complete_gets_its_logs_again():
    world = idle()
    put(world.log, (None, b"x"))
    changes = world.manager.changes
    changes.again(FLUSH, changes.take(FLUSH))
    assert changes.take(FLUSH) == [world.log]
    assert changes.take_outdated(CHECKPOINTS[0])
    changes.still_outdated(CHECKPOINTS[0])
    assert changes.take_outdated(CHECKPOINTS[0])
    assert not changes.take_outdated(CHECKPOINTS[0])


def test_a_deleted_log_is_forgotten_and_outdates_checkpoints():
    world = idle()
    put(world.log, (None, b"x"))
    world.manager.maintenance.logs_to_purge()
    deleted = weakref.ref(world.log)
    world.manager.delete(TP)
    assert handled(world) == (0, 0, CHECKPOINTS)
    assert deleted() is None


# --- Flushes --------------------------------------------------------------------------------------


def test_a_log_with_a_limit_of_time_is_checked_until_it_is_flushed():
    world = idle(**{"flush.ms": "5000", "segment.bytes": "10000"})
    maintenance = world.manager.maintenance
    put(world.log, (None, b"x"))
    for _ in range(2):
        assert maintenance.logs_to_check() == [world.log]
        assert maintenance.logs_to_flush([world.log]) == []
    world.clock.advance(5000)
    assert maintenance.logs_to_flush(maintenance.logs_to_check()) == [world.log]
    world.log.flush()
    assert maintenance.logs_to_check() == []


def test_a_log_without_limits_is_not_checked_again():
    world = idle(**{"segment.bytes": "10000"})
    put(world.log, (None, b"x"))
    assert world.log.unflushed
    assert world.manager.maintenance.logs_to_check() == []


def test_a_new_limit_of_time_applies_to_records_before_it():
    world = idle(**{"segment.bytes": "10000"})
    put(world.log, (None, b"x"))
    maintenance = world.manager.maintenance
    assert maintenance.logs_to_check() == []
    world.manager.update_config("t", LogConfig.from_values({"flush.ms": "1"}))
    world.clock.advance(1)
    assert maintenance.logs_to_flush(maintenance.logs_to_check()) == [world.log]


def test_a_sealed_segment_is_checked_until_it_is_flushed():
    world = idle()
    world.log.roll(NOW)
    maintenance = world.manager.maintenance
    for _ in range(2):
        assert maintenance.logs_to_flush(maintenance.logs_to_check()) == [world.log]
    world.log.flush()
    assert maintenance.logs_to_check() == []


# --- Removed files --------------------------------------------------------------------------------


def test_a_log_is_purged_until_its_removed_files_are_gone():
    world = idle(**{"file.delete.delay.ms": "1000"})
    world.log.delete_old_segments(NOW + 1000 * HOUR)
    maintenance = world.manager.maintenance
    for _ in range(2):
        assert maintenance.logs_to_purge() == [world.log]
        assert maintenance.begin_purge([world.log]) is None
    world.clock.advance(1000)
    assert maintenance.begin_purge(maintenance.logs_to_purge()) is not None
    assert maintenance.logs_to_purge() == []


# --- Compaction -----------------------------------------------------------------------------------


def test_the_cleaner_visits_the_logs_of_compacted_topics(monkeypatch):
    world = idle()
    compacted = LogConfig.from_values({"cleanup.policy": "compact"})
    kept = world.manager.get_or_create(TopicPartition("kept", 0), TOPIC_ID, compacted)
    visited = []
    maintenance = world.manager.maintenance
    monkeypatch.setattr(maintenance.cleaning, "begin", lambda logs, *_, **__: visited.extend(logs))
    maintenance.begin_clean(NOW)
    assert visited == [kept]
    world.manager.update_config("t", compacted)
    visited.clear()
    maintenance.begin_clean(NOW)
    assert len(visited) == 4
