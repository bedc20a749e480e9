"""Moves of logs between directories: copying, keeping in step, swapping in, giving up."""

import errno
import logging

import pytest
from support.storage.log_world import (
    NOW,
    TOPIC_ID,
    TP,
    batch_of,
    committed,
    contents,
    end_txn,
    put,
    raw,
    snapshot,
)
from support.storage.move_world import FIRST, SECOND, MoveWorld

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage import file_names
from barnabas.storage.log_config import LogConfig

SMALL = {"segment.bytes": "700", "index.interval.bytes": "80", "file.delete.delay.ms": "0"}
COMPACT = {**SMALL, "cleanup.policy": "compact"}
TXN = {"producer_epoch": 0, "transactional": True}


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


def filled(count: int = 12, **config: str) -> MoveWorld:
    world = MoveWorld(**{**SMALL, **config})
    for number in range(count):
        put(world.log, (b"k%d" % (number % 3), b"v%d" % number * 20), epoch=number // 5)
    world.commit_all()
    return world


def refused(world: MoveWorld, path: object, partition: TopicPartition = TP) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        world.manager.moves.request(partition, str(path))
    return caught.value.code


# Copying and swapping


def test_a_log_moves_with_everything_that_is_known_of_it():
    world = filled()
    put(world.log, (b"t", b"1"), producer_id=5, base_sequence=0, epoch=3, **TXN)
    end_txn(world.log, 5, commit=False)
    put(world.log, (b"t", b"2"), producer_id=6, base_sequence=0, epoch=3, **TXN)
    world.commit_all()
    before, seen, visible = snapshot(world.log), raw(world.log), committed(world.log)
    stable = world.log.last_stable_offset
    world.ask()
    while world.step():
        pass
    assert world.move.lag == 0
    log = world.finish_move()
    assert world.home == SECOND
    assert world.move is None
    assert (snapshot(log), raw(log), committed(log)) == (before, seen, visible)
    assert log.last_stable_offset == stable < log.high_watermark == log.log_end_offset
    assert log.topic_id == TOPIC_ID
    assert world.names(FIRST) == ["delete"]
    assert world.names(SECOND) == ["t-0"]
    assert not world.fs.exists(log.directory / file_names.MOVED_FROM)


def test_records_appended_during_a_move_are_copied():
    world = filled()
    world.ask()
    world.step()
    put(world.log, (b"late", b"1"), epoch=4)
    assert world.move.lag > 0
    world.finish_move()
    put(world.log, (b"late", b"2"), epoch=4)
    assert [value for _, key, value in contents(world.log) if key == b"late"] == [b"1", b"2"]
    assert [offset for offset, _, _ in contents(world.log)] == list(range(14))


def test_the_moved_log_outlives_a_restart():
    world = filled()
    world.ask()
    world.finish_move()
    put(world.log, (b"late", b"1"), epoch=4)
    world.commit_all()
    before, seen = snapshot(world.log), contents(world.log)
    world.manager.maintenance.purge_deleted()
    log = world.restart()
    assert (snapshot(log), contents(log)) == (before, seen)
    assert world.home == SECOND
    assert world.names(FIRST) == []


def test_it_can_move_back():
    world = filled()
    seen = contents(world.log)
    for target in (SECOND, FIRST, SECOND):
        world.ask(target)
        assert contents(world.finish_move()) == seen
        assert world.home == target


def test_owners_of_the_old_log_are_notified():
    world = filled()
    told = []
    world.manager.moves.on_swapped = told.append
    old = world.log
    world.ask()
    new = world.finish_move()
    assert told == [new]
    with pytest.raises(BrokerError, match="closed"):
        put(old, (b"k", b"v"))


def test_a_slice_of_the_old_log_stays_readable():
    world = filled()
    found = world.log.read(0, 10_000, max_offset=100)
    world.ask()
    world.finish_move()
    world.manager.maintenance.purge_deleted()
    assert len(found.slice.read()) == found.size


def test_the_copy_begins_below_a_log_start_within_a_batch():
    world = MoveWorld(**SMALL)
    batch = [(b"k", b"%d" % number) for number in range(6)]
    put(world.log, *batch)
    put(world.log, *batch)
    world.commit_all()
    world.log.increment_log_start_offset(4)
    world.ask()
    log = world.finish_move()
    assert (log.log_start_offset, log.log_end_offset) == (4, 12)
    assert world.restart().log_start_offset == 4


def test_a_copy_is_as_durable_as_its_log():
    world = filled()
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    world.manager.checkpoints.high_watermarks()
    put(world.log, (b"late", b"1"), epoch=4)
    world.ask()
    log = world.finish_move()
    assert log.recovery_point >= 12
    directory = next(found for found in world.manager.dirs if found.path == SECOND)
    assert directory.offsets(file_names.HIGH_WATERMARKS)[TP] == 12
    assert directory.offsets(file_names.RECOVERY_POINTS)[TP] >= 12


def test_a_closed_log_of_a_moving_partition_goes_on_after_a_clean_stop():
    world = filled()
    seen = contents(world.log)
    world.ask()
    world.step()
    copied = world.future.log_end_offset
    world.restart()
    assert world.future.log_end_offset == copied > 0
    assert contents(world.finish_move()) == seen


def test_and_after_a_kill():
    world = filled()
    seen = contents(world.log)
    world.ask()
    world.step()
    world.kill()
    assert world.move.lag > 0
    assert contents(world.finish_move()) == seen
    assert world.home == SECOND


# Keeping in step


def test_a_truncation_cuts_the_copy_too():
    world = filled()
    world.ask()
    while world.step():
        pass
    world.log.truncate_to(7)
    assert world.future.log_end_offset == 7
    put(world.log, (b"other", b"x"), epoch=9)
    seen = contents(world.log)
    assert contents(world.finish_move()) == seen


def test_a_piece_read_before_a_truncation_is_not_used():
    world = filled()
    world.ask()
    task = world.manager.moves.begin(world.move)
    task.run()
    world.log.truncate_to(2)
    assert world.manager.moves.finish(world.move, task) == 0
    assert contents(world.finish_move()) == contents(world.log)
    assert world.log.log_end_offset == 2


def test_a_log_that_starts_over_takes_its_copy_along():
    world = filled()
    world.ask()
    world.step()
    world.log.truncate_fully_and_start_at(50)
    put(world.log, (b"k", b"v"), epoch=9)
    log = world.finish_move()
    assert [offset for offset, _, _ in contents(log)] == [50]


def test_retention_may_overtake_the_copy():
    world = filled()
    world.ask()
    world.log.increment_log_start_offset(9)
    world.manager.maintenance.run_retention(NOW)
    log = world.finish_move()
    assert log.log_start_offset == 9
    assert [offset for offset, _, _ in contents(log)] == [9, 10, 11]


def test_a_copy_that_went_another_way_is_cut_by_epochs():
    """Its disk failed when it was to be cut, and came back with the next start."""
    world = filled()
    world.ask()
    while world.step():
        pass
    world.log.flush()
    world.future.flush()
    move = world.move
    world.fs.fail("rename", errno.EIO, name="-future")
    world.log.truncate_to(6)
    for number in range(8):
        put(world.log, (b"other", b"%d" % number), epoch=7)
    world.log.flush()
    seen = contents(world.log)
    assert move.future.log_end_offset == 12
    world.kill()
    assert world.future.log_end_offset == 6
    assert contents(world.finish_move()) == seen


def test_compaction_waits_for_a_move():
    world = filled(30, **COMPACT)
    world.ask()
    assert not world.manager.maintenance.clean(NOW, force=True)
    world.finish_move()
    assert world.manager.maintenance.clean(NOW, force=True)


def test_a_pass_that_ends_during_a_move_does_no_harm():
    world = filled(30, **COMPACT)
    task = world.manager.maintenance.begin_clean(NOW, force=True)
    world.ask()
    world.step()
    task.run()
    assert world.manager.maintenance.finish_clean(task)
    newest = {key: value for _, key, value in contents(world.log)}
    log = world.finish_move()
    assert {key: value for _, key, value in contents(log)} == newest
    assert log.log_end_offset == 30


def test_a_gap_at_the_end_is_copied():
    world = filled(9, **COMPACT, **{"delete.retention.ms": "0"})
    for key in (b"k0", b"k1", b"k2"):
        put(world.log, (key, None), epoch=2)
    world.log.roll()
    world.commit_all()
    for later in (1, 2):
        world.manager.maintenance.clean(NOW + later * 10**9, force=True)
    end = world.log.log_end_offset
    seen = contents(world.log)
    world.ask()
    log = world.finish_move()
    assert (log.log_end_offset, contents(log)) == (end, seen)
    assert put(world.log, (b"k", b"v"), epoch=3).first_offset == end


# Asking and giving up


def test_the_current_directory_ends_a_move():
    world = filled()
    world.ask()
    world.step()
    world.ask(FIRST)
    assert world.move is None
    assert world.home == FIRST
    assert world.names(SECOND) == ["delete"]
    world.ask(FIRST)
    assert world.names(SECOND) == ["delete"]


def test_asking_twice_changes_nothing():
    world = filled()
    world.ask()
    move = world.move
    world.ask()
    assert world.move is move


def test_directories_that_cannot_be():
    world = filled()
    assert refused(world, "/third") is ErrorCode.LOG_DIR_NOT_FOUND
    for path in ("second", "/second/", "/first/../second", ""):
        assert refused(world, path) is ErrorCode.LOG_DIR_NOT_FOUND
    for directory in world.manager.dirs:
        if directory.path == SECOND:
            directory.health.fail(OSError(errno.EIO, "gone"))
    assert refused(world, SECOND) is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_name_without_room_for_the_suffix_is_rejected():
    world = MoveWorld()
    long = TopicPartition("t" * 230, 0)
    world.manager.get_or_create(long, None, world.config)
    for path in (FIRST, SECOND, "/nowhere"):
        assert refused(world, path, long) is ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("root", [FIRST, SECOND])
def test_a_replica_that_is_not_there_yet_is_made_where_it_was_wanted(root):
    world = MoveWorld()
    assert refused(world, root) is ErrorCode.REPLICA_NOT_AVAILABLE
    assert world.home == root
    world.manager.delete(TP)
    assert world.home == FIRST


def test_a_wanted_directory_that_failed_is_forgotten():
    world = MoveWorld()
    refused(world, SECOND)
    list(world.manager.dirs)[1].health.fail(OSError(errno.EIO, "gone"))
    assert world.home == FIRST


def test_deletion_takes_the_copy_along():
    world = filled()
    world.ask()
    world.step()
    world.manager.delete(TP)
    assert world.move is None
    assert (world.names(FIRST), world.names(SECOND)) == (["delete"], ["delete"])
    world.manager.maintenance.purge_deleted()
    world.stop()
    world.begin()
    assert (world.names(FIRST), world.names(SECOND)) == ([], [])


def test_a_piece_of_a_deleted_log_is_not_used():
    world = filled()
    world.ask()
    move = world.move
    task = world.manager.moves.begin(move)
    world.manager.delete(TP)
    task.run()
    assert world.manager.moves.finish(move, task) == 0
    assert world.manager.moves.begin(move) is None
    assert not world.manager.moves.swap(move)


def test_a_copy_of_another_topic_of_that_name_is_removed():
    world = filled()
    world.ask()
    world.stop()
    (name,) = (n for n in world.fs.list_dir(SECOND) if n.endswith("-future"))
    other = Uuid(b"0123456789abcdef")
    file = world.fs.open(SECOND / name / file_names.PARTITION_METADATA)
    text = f"version: 0\ntopic_id: {other}".encode()
    file.truncate(0)
    file.pwrite(text, 0)
    world.begin()
    assert world.move is None
    assert world.names(SECOND) == ["delete"]


def test_a_copy_without_its_log_waits_for_it():
    world = filled()
    world.ask()
    while world.step():
        pass
    world.stop()
    for name in ("00000000000000000000.log",):
        world.fs.remove(FIRST / "t-0" / name)
    world.fs.rename(FIRST / "t-0", FIRST / "t-0.gone-delete")
    world.begin()
    assert world.manager.get(TP) is None
    assert refused(world, FIRST) is ErrorCode.REPLICA_NOT_AVAILABLE
    put(world.log, (b"new", b"1"), epoch=20)
    assert contents(world.finish_move()) == [(0, b"new", b"1")]


# Disks


def test_a_full_target_does_not_touch_the_log():
    world = filled()
    seen = contents(world.log)
    world.ask()
    world.fs.fail("pwrite", errno.ENOSPC, name="-future")
    with pytest.raises(BrokerError) as caught:
        world.step()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.manager.dirs.offline == []
    assert contents(world.finish_move()) == seen


@pytest.mark.parametrize("call", ["pwrite", "create"])
def test_a_failing_target_goes_offline_and_the_log_goes_on(call):
    world = filled()
    world.ask()
    world.fs.fail(call, errno.EIO, name="-future")
    with pytest.raises(BrokerError):
        world.finish_move()
    assert world.manager.dirs.offline == [SECOND]
    assert list(world.manager.moves) == []
    put(world.log, (b"late", b"1"), epoch=4)
    seen = contents(world.log)
    world.kill()
    assert contents(world.log) == seen
    assert contents(world.finish_move()) == seen


def test_a_swap_that_fails_at_the_source_takes_it_offline():
    world = filled()
    seen = contents(world.log)
    world.ask()
    world.fs.fail("rename", errno.EIO, name="-delete")
    with pytest.raises(BrokerError):
        world.finish_move()
    assert world.manager.dirs.offline == [FIRST]
    world.kill()
    assert contents(world.log) == seen
    assert contents(world.finish_move()) == seen


def test_a_log_whose_source_is_away_is_not_replaced_by_its_copy():
    world = filled()
    world.ask()
    world.fs.fail("rename", errno.EIO, name="-delete")
    with pytest.raises(BrokerError):
        world.finish_move()
    world.fs.restart()
    world.fs.fail("make_dir", errno.EIO)
    world.fs.fail("create", errno.EIO)
    directory = next(iter(world.manager.dirs))
    world.manager.dirs.release()
    world.fs.rename(directory.path, FIRST.with_name("away"))
    world.begin()
    assert world.manager.dirs.offline == [FIRST]
    assert world.manager.get(TP) is None
    world.manager.dirs.release()


def test_damage_in_the_log_stops_the_move_and_reports_it():
    world = filled()
    world.ask()
    file = world.log.local.segments.first.open_file()
    file.pwrite(b"\xff", 70)
    with pytest.raises(CorruptRecordError):
        world.finish_move()
    assert world.manager.dirs.offline == []
    assert world.home == FIRST


def test_new_settings_hold_for_the_copy():
    world = filled()
    world.ask()
    world.manager.update_config("t", LogConfig.from_values({"segment.bytes": "5000"}))
    assert world.future.config.segment_bytes == 5000
    world.finish_move()
    world.manager.update_config("t", LogConfig.from_values({"segment.bytes": "6000"}))
    assert world.log.config.segment_bytes == 6000


def test_a_batch_larger_than_a_piece_is_copied():
    world = MoveWorld()
    put(world.log, (b"k", b"v" * 2_000_000))
    assert len(batch_of([(b"k", b"v" * 2_000_000)])) > 2_000_000
    world.ask()
    assert len(contents(world.finish_move())) == 1
