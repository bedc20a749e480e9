"""Removing files in a thread: concurrent changes on the loop, and files that cannot be removed."""

import errno
import logging

from support.storage.log_world import LOG_DIR, NOW, ROOT, TP, World, put

HOUR = 3_600_000
EXPIRING = {"segment.bytes": "310", "retention.ms": "1", "file.delete.delay.ms": "1000"}


def expired() -> World:
    """A log whose segments are all deleted and have waited long enough."""
    world = World(**EXPIRING)
    for number in range(12):
        put(world.log, (b"k%d" % number, b"v" * 80), timestamp_ms=NOW)
    world.commit_all()
    world.manager.maintenance.run_retention(NOW + HOUR)
    world.manager.maintenance.purge_deleted()
    world.clock.advance(1000)
    return world


def waiting(world: World) -> list[str]:
    return [name for name in world.fs.list_dir(LOG_DIR) if name.endswith(".deleted")]


def test_nothing_is_touched_before_the_task_runs():
    world = expired()
    before = waiting(world)
    task = world.manager.maintenance.begin_purge()
    assert waiting(world) == before != []
    task.run()
    assert waiting(world) == []
    world.manager.maintenance.finish_purge(task)


def test_a_purge_that_is_due_is_returned_once():
    world = expired()
    assert world.manager.maintenance.begin_purge() is not None
    assert world.manager.maintenance.begin_purge() is None


def test_a_partition_may_be_deleted_before_the_task_runs():
    world = expired()
    task = world.manager.maintenance.begin_purge()
    world.manager.delete(TP)
    task.run()
    assert task.failures == []
    world.clock.advance(HOUR)
    world.manager.maintenance.purge_deleted()
    assert not [name for name in world.fs.list_dir(ROOT) if name.endswith("-delete")]


def test_a_file_that_stays_is_named_and_the_others_go(caplog):
    world = expired()
    task = world.manager.maintenance.begin_purge()
    world.fs.fail("remove", errno.EACCES, name=".log.deleted")
    task.run()
    assert [name.endswith(".log.deleted") for name in waiting(world)] == [True]
    with caplog.at_level(logging.WARNING):
        world.manager.maintenance.finish_purge(task)
    assert f"could not remove {LOG_DIR}" in caplog.text
    assert world.manager.dirs.offline == []
