"""A full disk: one log line when it begins, one when it ends, and figures to read meanwhile."""

import errno
import os
from pathlib import Path

import pytest
from support.storage.log_world import World, put

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.storage.log_dirs import DirHealth

BEGINS, ENDS = "writes fail", "writes succeed again"


@pytest.fixture
def world():
    world = World()
    put(world.log, (b"a", b"1"))
    return world


def health_of(world):
    return world.manager.dirs.online[0].health


def refuse(world, size=500):
    with pytest.raises(BrokerError) as caught:
        put(world.log, (b"k", b"x" * size))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def fill(world, room=0):
    world.fs.capacity_bytes = world.fs.used_bytes() + room


def lines(caplog, text):
    return [record.getMessage() for record in caplog.records if text in record.getMessage()]


def test_one_line_when_it_begins_and_one_when_it_ends(world, caplog):
    fill(world)
    for _ in range(5):
        refuse(world)
    (line,) = lines(caplog, BEGINS)
    assert "/data" in line
    assert os.strerror(errno.ENOSPC) in line
    assert (health_of(world).disk_full, health_of(world).failed_writes) == (1, 5)
    assert lines(caplog, ENDS) == []
    fill(world, 1_000_000)
    for _ in range(3):
        put(world.log, (b"k", b"x" * 500))
    (line,) = lines(caplog, ENDS)
    assert "5 failed writes" in line
    assert (health_of(world).disk_full, health_of(world).failed_writes) == (0, 5)


def test_small_writes_that_still_fit_do_not_end_it(world, caplog):
    for _ in range(5):
        fill(world, 200)
        refuse(world)
        put(world.log, (b"k", b"small"))
    assert (len(lines(caplog, BEGINS)), lines(caplog, ENDS)) == (1, [])
    assert health_of(world).disk_full == 1


def test_it_ends_without_another_write_when_there_is_room(world, caplog):
    fill(world)
    refuse(world)
    world.manager.dirs.check_room()
    assert health_of(world).disk_full == 1
    fill(world, 10_000_000)
    world.manager.dirs.check_room()
    assert health_of(world).disk_full == 0
    assert len(lines(caplog, ENDS)) == 1


def test_checkpoints_and_flushes_tell_of_it_too(world, caplog):
    fill(world)
    world.manager.checkpoints.high_watermarks()
    world.log.flush()
    assert len(lines(caplog, BEGINS)) == 1
    assert health_of(world).disk_full == 1


def test_a_flush_that_has_no_room_for_the_epochs_does_not_end_the_directory(world):
    fill(world)
    world.log.flush()
    assert not health_of(world).failed
    assert (world.log.recovery_point, world.log.flush_due) == (0, True)
    fill(world, 1_000_000)
    world.log.flush()
    assert (world.log.recovery_point, world.log.flush_due) == (1, False)
    world.fs.sync_all()
    assert [entry.epoch for entry in world.kill().epochs.entries] == [0]


def test_a_stop_on_a_full_disk_is_not_taken_for_clean(world):
    fill(world)
    world.stop()
    fill(world, 1_000_000)
    log = world.kill()
    assert not world.manager.dirs.online[0].clean
    assert (log.log_end_offset, [entry.epoch for entry in log.epochs.entries]) == (1, [0])


def test_other_errors_that_pass_are_logged_but_are_no_full_disk(caplog):
    health = DirHealth(Path("/data"))
    error = health.write_failed(OSError(errno.EMFILE, os.strerror(errno.EMFILE)), 100)
    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert len(lines(caplog, BEGINS)) == 1
    assert (health.failing, health.disk_full, health.failed_writes) == (1, 0, 1)
    health.write_succeeded(100)
    assert (health.failing, len(lines(caplog, ENDS))) == (0, 1)


def test_reads_do_not_count(caplog):
    health = DirHealth(Path("/data"))
    health.read_failed(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
    assert (health.failing, caplog.records) == (0, [])
