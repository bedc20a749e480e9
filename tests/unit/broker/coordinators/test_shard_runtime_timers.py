"""Timers by key: replaced, extended without cost, cancelled."""

import pytest
from support.clients.manual_loop import ManualLoop

from barnabas.broker.coordinators.shard_runtime import Timers


@pytest.fixture
def loop():
    return ManualLoop()


@pytest.fixture
def rung():
    return []


@pytest.fixture
def timers(loop, rung):
    return Timers(loop.clock, loop.schedule, rung.append)


def test_rings_once_at_its_time(loop, timers, rung):
    timers.set("a", 100)
    loop.advance(99)
    assert rung == []
    loop.advance(1)
    assert rung == ["a"]
    loop.advance(1000)
    assert rung == ["a"]
    assert len(timers) == 0


def test_heartbeats_put_it_off_with_one_timer_of_the_loop(loop, timers, rung):
    timers.set("a", 100)
    for _ in range(50):
        loop.advance(50)
        timers.set("a", 100)
        assert loop.waiting == 1
    loop.advance(99)
    assert rung == []
    loop.advance(1)
    assert rung == ["a"]


def test_an_earlier_time_counts(loop, timers, rung):
    timers.set("a", 1000)
    timers.set("a", 10)
    loop.advance(10)
    assert rung == ["a"]
    loop.advance(2000)
    assert rung == ["a"]


def test_cancelled_and_cleared_do_not_ring(loop, timers, rung):
    for key in "abc":
        timers.set(key, 10)
    timers.cancel("a")
    timers.cancel("unknown")
    timers.clear()
    loop.advance(100)
    assert rung == []
    assert loop.waiting == 0


def test_keys_do_not_disturb_each_other(loop, timers, rung):
    timers.set("a", 20)
    timers.set("b", 10)
    loop.advance(30)
    assert rung == ["b", "a"]


def test_overdue_rings_at_once(loop, timers, rung):
    timers.set("a", -5)
    loop.advance(0)
    assert rung == ["a"]


def test_may_be_set_again_while_it_rings(loop):
    rung = []

    def ring(key):
        rung.append(key)
        if len(rung) < 3:
            timers.set(key, 10)

    timers = Timers(loop.clock, loop.schedule, ring)
    timers.set("a", 10)
    loop.advance(100)
    assert len(rung) == 3
