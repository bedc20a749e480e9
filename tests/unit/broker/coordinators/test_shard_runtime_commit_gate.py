"""Replies are sent in order, and only when the records they depend on are committed."""

import pytest
from support.clients.manual_loop import FakePartition, ManualLoop

from barnabas.broker.coordinators.shard_runtime import CommitGate
from barnabas.model.error_codes import ErrorCode

TIMEOUT_MS = 1000


@pytest.fixture
def loop():
    return ManualLoop()


@pytest.fixture
def partition(loop):
    return FakePartition(loop, end=10)


@pytest.fixture
def gate(loop, partition):
    return CommitGate(partition, TIMEOUT_MS, loop.schedule, loop.call_soon)


@pytest.fixture
def told():
    return []


def note(told, name):
    return lambda code: told.append((name, code))


def test_nothing_missing_passes_at_once(gate, told):
    gate.run_when_committed(note(told, "a"))
    assert told == [("a", ErrorCode.NONE)]


def test_waits_for_what_was_written_before(loop, partition, gate, told):
    gate.wrote_up_to(12)
    gate.run_when_committed(note(told, "a"))
    partition.commit(11)
    loop.turn()
    assert told == []
    partition.commit(12)
    assert told == [], "never in the middle of an append"
    loop.turn()
    assert told == [("a", ErrorCode.NONE)]


def test_load_is_not_committed_yet(loop, told):
    """A new leader may have read records that are not on every replica."""
    partition = FakePartition(loop, end=10, high_watermark=7)
    gate = CommitGate(partition, TIMEOUT_MS, loop.schedule, loop.call_soon)
    gate.run_when_committed(note(told, "a"))
    assert told == []
    partition.commit(10)
    loop.turn()
    assert told == [("a", ErrorCode.NONE)]


def test_order_is_kept(loop, partition, gate, told):
    gate.wrote_up_to(11)
    gate.run_when_committed(note(told, "a"))
    gate.wrote_up_to(12)
    gate.run_when_committed(note(told, "b"))
    gate.wrote_up_to(11)  # an older end says nothing new
    gate.run_when_committed(note(told, "c"))
    partition.commit(11)
    loop.turn()
    assert [name for name, _ in told] == ["a"]
    partition.commit(12)
    loop.turn()
    assert [name for name, _ in told] == ["a", "b", "c"]


def test_nothing_overtakes_what_waits_for_its_turn(loop, partition, gate, told):
    gate.wrote_up_to(11)
    gate.run_when_committed(note(told, "a"))
    partition.commit(11)
    gate.run_when_committed(note(told, "b"))
    assert told == []
    loop.turn()
    assert [name for name, _ in told] == ["a", "b"]


def test_followers_that_take_too_long(loop, partition, gate, told):
    gate.wrote_up_to(11)
    gate.run_when_committed(note(told, "a"))
    loop.advance(TIMEOUT_MS // 2)
    gate.wrote_up_to(12)
    gate.run_when_committed(note(told, "b"))
    loop.advance(TIMEOUT_MS // 2)
    assert told == [("a", ErrorCode.REQUEST_TIMED_OUT)]
    partition.commit(12)
    loop.turn()
    assert told[1:] == [("b", ErrorCode.NONE)]
    loop.advance(TIMEOUT_MS)
    assert len(told) == 2


def test_close_lets_everything_go_once(loop, partition, gate, told):
    gate.wrote_up_to(11)
    gate.run_when_committed(note(told, "a"))
    partition.commit(11)
    gate.close(ErrorCode.NOT_COORDINATOR)
    gate.close(ErrorCode.NONE)
    gate.run_when_committed(note(told, "b"))
    loop.turn()
    loop.advance(TIMEOUT_MS)
    assert told == [("a", ErrorCode.NOT_COORDINATOR), ("b", ErrorCode.NOT_COORDINATOR)]
    assert partition.listeners == []
    assert loop.waiting == 0


def test_an_action_may_come_back_with_more(loop, partition, gate, told):
    def again(code):
        told.append(("first", code))
        gate.run_when_committed(note(told, "second"))

    gate.wrote_up_to(11)
    gate.run_when_committed(again)
    partition.commit(11)
    loop.turn()
    assert [name for name, _ in told] == ["first", "second"]
