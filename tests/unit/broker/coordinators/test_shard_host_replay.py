"""Replay of a coordinator's log in order: records, tombstones, superseded records, transactions."""

import asyncio
from types import SimpleNamespace

import pytest
from support.storage.log_world import World, end_txn, put

from barnabas.broker.coordinators.shard_host import replay_log
from barnabas.model.errors import BarnabasError


class Target:
    def __init__(self):
        self.seen = []

    def replay(self, key, value, producer_id):
        self.seen.append((key, value, producer_id))

    def replay_marker(self, producer_id, *, commit):
        self.seen.append(("end", producer_id, commit))


@pytest.fixture
def log():
    return World().log


async def replayed(log, buffer_bytes=1 << 20):
    target = Target()
    await replay_log(SimpleNamespace(log=log), target, buffer_bytes)
    return target.seen


async def test_records_tombstones_and_keyless(log):
    put(log, (b"k", b"v"), (b"gone", None), (None, b"no key"))
    put(log, (b"l", b"w"))
    assert await replayed(log) == [(b"k", b"v", -1), (b"gone", None, -1), (b"l", b"w", -1)]


async def test_superseded_records_are_left_out_as_compaction_does(log):
    put(log, (b"a", b"1"), (b"b", b"1"), (b"a", b"2"))
    put(log, (b"b", None), (b"c", b"1"), (b"b", b"3"))
    assert await replayed(log) == [(b"a", b"2", -1), (b"c", b"1", -1), (b"b", b"3", -1)]


async def test_transactional_records_are_replayed_in_log_order(log):
    """A commit outside of transactions and one inside: the later record wins, not the marker."""
    put(log, (b"k", b"before"))
    options = {"producer_id": 7, "producer_epoch": 0, "transactional": True}
    put(log, (b"k", b"inside"), base_sequence=0, **options)
    put(log, (b"k", b"after"))
    end_txn(log, 7, commit=True)
    put(log, (b"k", b"last"))
    assert await replayed(log) == [
        (b"k", b"before", -1),
        (b"k", b"inside", 7),
        (b"k", b"after", -1),
        ("end", 7, True),
        (b"k", b"last", -1),
    ]


async def test_transactions_with_their_producer_and_end(log):
    options = {"producer_epoch": 0, "transactional": True}
    put(log, (b"a", b"1"), producer_id=7, base_sequence=0, **options)
    put(log, (b"b", b"2"), producer_id=8, base_sequence=0, **options)
    end_txn(log, 7, commit=True)
    end_txn(log, 8, commit=False)
    assert await replayed(log) == [
        (b"a", b"1", 7),
        (b"b", b"2", 8),
        ("end", 7, True),
        ("end", 8, False),
    ]


async def test_records_appended_during_the_replay_are_left_out(log):
    for number in range(20):
        put(log, (b"k%d" % number, b"v" * 1000))
    task = asyncio.create_task(replayed(log, buffer_bytes=2000))
    await asyncio.sleep(0)
    put(log, (b"late", b""))
    seen = await task
    assert [key for key, _, _ in seen] == [b"k%d" % n for n in range(20)]


async def test_other_tasks_run_in_between(log):
    for number in range(20):
        put(log, (b"k%d" % number, b"v" * 1000))
    turns = []

    async def count():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    task = asyncio.create_task(count())
    await replayed(log, buffer_bytes=1500)
    task.cancel()
    assert len(turns) > 10


async def test_begins_at_the_log_start(log):
    for number in range(3):
        put(log, (b"%d" % number, b""))
        log.roll()
    log.update_high_watermark(3)
    log.increment_log_start_offset(2)
    assert [key for key, _, _ in await replayed(log)] == [b"2"]


async def test_damage_is_an_error(log):
    put(log, (b"k", b"v"))
    file = log.local.active.open_file()
    file.pwrite(b"\xff", 65)
    with pytest.raises(BarnabasError):
        await replayed(log)


async def test_an_empty_log_replays_no_record(log):
    assert await replayed(log) == []
