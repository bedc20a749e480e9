"""A crash, a power loss or a disk error at every file-system call of a move between directories.

After each of them, the next start finds the partition once, with all records of its log, and the
move can be completed. After a disk error the log is writable, or its directory is offline.
"""

import contextlib
import errno
import logging
from collections.abc import Callable
from random import Random

import pytest
from support.soak import SOAK
from support.storage.log_world import TP, contents, end_txn, put
from support.storage.move_world import FIRST, SECOND, MoveWorld

from barnabas.model.errors import BrokerError
from barnabas.testing.memory_fs import SimulatedCrash

pytestmark = pytest.mark.faults

SMALL = {"segment.bytes": "500", "index.interval.bytes": "80", "file.delete.delay.ms": "0"}
SEEDS = range(40) if SOAK else range(4)

Operation = Callable[[MoveWorld], object]


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


def filled() -> MoveWorld:
    """Three segments with a transaction, a deleted beginning; all of it flushed but the end."""
    world = MoveWorld(**SMALL)
    for number in range(6):
        put(world.log, (b"k", b"v%d" % number * 20), epoch=number // 2)
    put(
        world.log,
        (b"t", b"x"),
        producer_id=9,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
        epoch=3,
    )
    end_txn(world.log, 9, commit=False)
    world.commit_all()
    world.log.increment_log_start_offset(2)
    world.log.flush()
    for write in (
        world.manager.checkpoints.recovery_points,
        world.manager.checkpoints.log_start_offsets,
        world.manager.checkpoints.high_watermarks,
    ):
        write()
    world.fs.sync_all()
    world.fs.calls.clear()
    return world


def copied() -> MoveWorld:
    world = filled()
    world.ask()
    while world.step():
        pass
    world.fs.calls.clear()
    return world


def move_all(world: MoveWorld) -> None:
    world.ask()
    world.finish_move()
    put(world.log, (b"after", b"1"), epoch=4)
    world.manager.maintenance.purge_deleted()


def finish(world: MoveWorld) -> None:
    world.finish_move()
    put(world.log, (b"after", b"1"), epoch=4)


def give_up(world: MoveWorld) -> None:
    world.ask(FIRST)
    world.manager.maintenance.purge_deleted()


def delete(world: MoveWorld) -> None:
    world.manager.delete(TP)


BASE = contents(filled().log)


def calls_of(prepare: Callable[[], MoveWorld], operate: Operation) -> int:
    world = prepare()
    operate(world)
    return len(world.fs.calls)


def check(world: MoveWorld, *, appended: bool = False) -> None:
    """The partition exists once and completely, and a move can be finished."""
    found = contents(world.log)
    assert found[: len(BASE)] == BASE
    assert [key for _, key, _ in found[len(BASE) :]] in ([], [b"after"])
    assert not appended or len(found) == len(BASE) + 1
    assert world.log.log_start_offset == 2
    assert (world.log.directory == FIRST / "t-0") or (world.log.directory == SECOND / "t-0")
    other = SECOND if world.home == FIRST else FIRST
    assert "t-0" not in world.names(other)
    world.ask(other)
    world.finish_move()
    assert contents(world.log) == found
    assert world.home == other
    assert put(world.log, (b"x", b"y"), epoch=9).first_offset == world.log.log_end_offset - 1


@pytest.mark.parametrize("operate", [finish, give_up], ids=["swap", "cancel"])
@pytest.mark.parametrize("torn", [0.0, 0.6])
def test_a_kill(operate, torn):
    count = calls_of(copied, operate)
    assert count > 3
    for call in range(count + 1):
        world = copied()
        world.fs.crash_after(call, torn=torn)
        crashed = False
        try:
            operate(world)
        except SimulatedCrash:
            crashed = True
        assert crashed == (call < count)
        world.kill()
        check(world, appended=not crashed and operate is finish)


def test_a_kill_and_another_at_every_call_of_the_start():
    for call in range(calls_of(copied, finish)):
        world = copied()
        world.fs.crash_after(call)
        with pytest.raises(SimulatedCrash):
            finish(world)
        world.fs.restart()
        state = world.fs.clone()
        world.begin()
        again = len(world.fs.calls)
        check(world)
        for second in range(again):
            world.fs = state.clone()
            world.fs.crash_after(second)
            with pytest.raises(SimulatedCrash):
                world.begin()
            world.kill()
            check(world)


def test_a_kill_anywhere_in_the_whole_move():
    count = calls_of(filled, move_all)
    for call in range(count + 1):
        world = filled()
        world.fs.crash_after(call)
        with contextlib.suppress(SimulatedCrash):
            move_all(world)
        world.kill()
        check(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_power_loss(seed):
    dice = Random(seed)
    for call in range(calls_of(copied, finish) + 1):
        world = copied()
        world.fs.crash_after(call, torn=0.5)
        with contextlib.suppress(SimulatedCrash):
            finish(world)
        world.kill(power_loss=dice)
        check(world)


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_disk_error(error):
    for call in range(calls_of(copied, finish)):
        world = copied()
        world.fs.fail_after(call, error)
        with contextlib.suppress(BrokerError):
            finish(world)
        world.fs.heal()
        if not world.log.health.failed:
            put(world.log, (b"after", b"1"), epoch=4)
            found = [key for _, key, _ in contents(world.log)[len(BASE) :]]
            assert b"after" in found
        else:
            found = []
        world.kill()
        keys = [key for _, key, _ in contents(world.log)[len(BASE) :]]
        assert keys[: len(found)] == found
        assert world.log.log_start_offset == 2


def test_a_kill_while_the_partition_is_deleted():
    for call in range(calls_of(copied, delete) + 1):
        world = copied()
        world.fs.crash_after(call)
        with contextlib.suppress(SimulatedCrash):
            delete(world)
        world.fs.restart()
        world.begin()
        if world.manager.get(TP) is not None:
            check(world)
        else:
            world.manager.maintenance.purge_deleted()
            assert (world.names(FIRST), world.names(SECOND)) == ([], [])
