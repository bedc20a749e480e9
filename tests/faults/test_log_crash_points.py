"""A crash after every file-system call of every operation that changes files, and a second crash
after every call of the recovery from the first.

After each crash, acknowledged records that were not deleted exist, deleted records stay deleted,
and a second recovery has the same result as the first.
"""

import logging

import pytest
from support.storage.log_world import ROOT, TP, World, committed, contents, end_txn, put

from barnabas.testing.memory_fs import MemoryFileSystem, SimulatedCrash

pytestmark = pytest.mark.faults

SMALL = {"segment.bytes": "300", "index.interval.bytes": "80", "file.delete.delay.ms": "0"}
COMPACT = {
    **SMALL,
    "segment.bytes": "700",
    "cleanup.policy": "compact",
    "delete.retention.ms": "1000",
}
POLICIES = [{"torn": 0.0}, {"torn": 0.6}]


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


def filled(**config: str) -> World:
    """Eight segments of records, transactions among them; everything committed and flushed."""
    world = World(**config)
    for number in range(10):
        put(world.log, (b"k%d" % (number % 4), b"v%d" % number), epoch=number // 4)
        if number % 3 == 2:
            # Smaller segments than the limit, so that compaction puts several into one.
            world.log.roll()
    txn = {"producer_id": 9, "producer_epoch": 0, "transactional": True}
    put(world.log, (b"k0", b"aborted"), base_sequence=0, epoch=3, **txn)
    end_txn(world.log, 9, commit=False)
    world.log.roll()
    put(world.log, (b"k1", b"kept"), base_sequence=1, epoch=3, **txn)
    end_txn(world.log, 9, commit=True)
    put(world.log, (b"k2", None), epoch=3)
    for number in range(3):
        put(world.log, (b"k3", b"w%d" % number), epoch=3)
    world.commit_all()
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    world.manager.checkpoints.high_watermarks()
    world.fs.calls.clear()
    return world


def reborn(world: World, fs: MemoryFileSystem) -> World:
    """The same world on a copy of its file system."""
    copy = World.__new__(World)
    copy.fs, copy.clock, copy.config = fs, world.clock, world.config
    return copy


def every_crash(prepare, operate, check) -> int:
    """Crash `operate` after each of its calls; recover, crashing there too; then `check`."""
    points = 0
    calls = 0
    while True:
        for policy in POLICIES:
            world = prepare()
            world.fs.crash_after(calls, **policy)
            try:
                operate(world)
                done = True
            except SimulatedCrash:
                done = False
            points += survive(world, check, done=done)
        if done:
            return points
        calls += 1


def survive(world: World, check, *, done: bool) -> int:
    world.fs.restart()
    state = world.fs.clone()
    first = reborn(world, world.fs)
    first.begin()
    calls = len(world.fs.calls)
    seen = known(first)
    check(first, done)
    for crash in range(calls):
        again = reborn(world, state.clone())
        again.fs.crash_after(crash, torn=0.5)
        with pytest.raises(SimulatedCrash):
            again.begin()
        again.fs.restart()
        again.begin()
        assert known(again) == seen, f"recovery interrupted after call {crash} of {calls}"
        check(again, done)
    return 1 + calls


def known(world: World):
    log = world.manager.get(TP)
    if log is None:
        return None
    producers = {entry.producer_id: (entry.epoch, list(entry.batches)) for entry in log.producers}
    return (
        contents(log),
        log.log_start_offset,
        log.log_end_offset,
        producers,
        list(log.epochs.entries),
    )


def grows(world: World) -> None:
    put(world.log, (b"new", b"1" * 150), epoch=4)
    put(world.log, (b"new", b"2" * 150), epoch=4)


def test_roll():
    base = contents(filled(**SMALL).log)

    def check(world: World, done: bool) -> None:
        found = contents(world.log)
        assert found[: len(base)] == base
        assert [value[:1] for _, _, value in found[len(base) :]] in ([], [b"1"], [b"1", b"2"])
        assert not done or len(found) == len(base) + 2
        assert put(world.log, (b"x", b"y"), epoch=9).first_offset == world.log.log_end_offset - 1

    assert every_crash(lambda: filled(**SMALL), grows, check) > 20


def test_truncate():
    base = contents(filled(**SMALL).log)

    def check(world: World, done: bool) -> None:
        found = contents(world.log)
        assert found == base[: len(found)]
        assert [seen for seen in base if seen[0] < 5] == [seen for seen in found if seen[0] < 5]
        if done:
            assert world.log.log_end_offset == 5
            assert [entry.start_offset for entry in world.log.epochs.entries] == [0, 4]
            assert len(world.log.producer_states()) == 0

    assert every_crash(lambda: filled(**SMALL), lambda world: world.log.truncate_to(5), check) > 20


def test_truncate_fully():
    def check(world: World, done: bool) -> None:
        if done:
            assert contents(world.log) == []
            assert world.log.log_end_offset == 100
            assert world.log.high_watermark == 100

    def operate(world: World) -> None:
        world.log.truncate_fully_and_start_at(100)

    assert every_crash(lambda: filled(**SMALL), operate, check) > 20


def test_retention():
    base = contents(filled(**SMALL).log)

    def operate(world: World) -> None:
        world.log.increment_log_start_offset(9)
        world.manager.checkpoints.log_start_offsets()
        world.manager.maintenance.run_retention(world.clock.now_ms())

    def check(world: World, done: bool) -> None:
        found = contents(world.log)
        assert found == base[len(base) - len(found) :]
        assert [seen for seen in base if seen[0] >= 9] == [seen for seen in found if seen[0] >= 9]
        if done:
            assert found[0][0] == 9
            assert world.log.log_start_offset == 9

    assert every_crash(lambda: filled(**SMALL), operate, check) > 20


def filled_behind_an_open_transaction() -> World:
    """As `filled`, but the pass must stop early: behind it stands more aborted data."""
    world = World(**{**COMPACT, "segment.bytes": "2000"})
    for number in range(6):
        put(world.log, (b"k%d" % (number % 2), b"v%d" % number))
    begun = {"producer_epoch": 0, "base_sequence": 0, "transactional": True}
    put(world.log, (b"k3", b"open"), producer_id=1, **begun)
    put(world.log, (b"k0", b"aborted"), producer_id=2, **begun)
    end_txn(world.log, 2, commit=False)
    put(world.log, (b"k1", b"v"))
    world.log.roll()
    put(world.log, (b"k2", b"end"))
    world.commit_all()
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    world.manager.checkpoints.high_watermarks()
    return world


def newest(seen) -> dict:
    return {key: value for _, key, value in seen}


def test_compaction():
    before = filled(**COMPACT)
    visible, everything = committed(before.log), contents(before.log)

    def operate(world: World) -> None:
        assert world.manager.maintenance.clean(world.clock.now_ms(), force=True)
        world.manager.maintenance.purge_deleted()

    def check(world: World, done: bool) -> None:
        world.commit_all()
        found = committed(world.log)
        assert newest(found) == newest(visible)
        assert set(found) <= set(visible)
        assert set(contents(world.log)) <= set(everything)
        assert world.log.log_end_offset == before.log.log_end_offset
        if done:
            assert len(found) < len(visible)

    assert every_crash(lambda: filled(**COMPACT), operate, check) > 40


def test_compaction_that_stops_early():
    before = filled_behind_an_open_transaction()
    everything = contents(before.log)

    def operate(world: World) -> None:
        assert world.manager.maintenance.clean(world.clock.now_ms(), force=True)
        world.manager.maintenance.purge_deleted()

    def check(world: World, done: bool) -> None:
        world.commit_all()
        assert world.log.last_stable_offset == before.log.last_stable_offset == 6
        end_txn(world.log, 1, commit=True)
        world.commit_all()
        found = committed(world.log)
        assert newest(found) == {b"k0": b"v4", b"k1": b"v", b"k2": b"end", b"k3": b"open"}
        assert set(contents(world.log)) <= set(everything)

    assert every_crash(filled_behind_an_open_transaction, operate, check) > 40


def test_checkpoints_and_flush():
    base = contents(filled(**SMALL).log)

    def operate(world: World) -> None:
        put(world.log, (b"new", b"value"), epoch=7)
        world.log.flush()
        world.commit_all()
        world.manager.checkpoints.recovery_points()
        world.manager.checkpoints.high_watermarks()
        world.manager.checkpoints.log_start_offsets()

    def check(world: World, done: bool) -> None:
        found = contents(world.log)
        assert found[: len(base)] == base
        if done:
            assert found[-1][1:] == (b"new", b"value")
            assert world.log.high_watermark == world.log.log_end_offset

    assert every_crash(lambda: filled(**SMALL), operate, check) > 15


def test_clean_shutdown():
    base = contents(filled(**SMALL).log)

    def operate(world: World) -> None:
        put(world.log, (b"new", b"value"), epoch=7)
        world.stop()

    def check(world: World, done: bool) -> None:
        found = contents(world.log)
        assert found[: len(base)] == base
        if done:
            assert found[-1][1:] == (b"new", b"value")

    assert every_crash(lambda: filled(**SMALL), operate, check) > 20


def test_delete_of_a_partition():
    base = contents(filled(**SMALL).log)

    def operate(world: World) -> None:
        world.manager.delete(TP)
        world.manager.maintenance.purge_deleted()

    def check(world: World, done: bool) -> None:
        log = world.manager.get(TP)
        assert log is None or (not done and contents(log) == base)
        world.manager.maintenance.purge_deleted()
        names = world.fs.list_dir(ROOT)
        assert not any(name.endswith("-delete") for name in names)
        assert ("t-0" in names) == (log is not None)

    assert every_crash(lambda: filled(**SMALL), operate, check) > 10
