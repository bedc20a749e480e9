"""Requests that hold the event loop are counted and logged with their API."""

import asyncio

import pytest

from barnabas.broker.loop_watch import LoopWatch
from barnabas.testing.virtual_clock import VirtualClock


class Time:
    """A clock in nanoseconds that a test moves."""

    def __init__(self):
        self.ns = 0

    def __call__(self):
        return self.ns

    def pass_ms(self, ms):
        self.ns += ms * 1_000_000


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def watch(time):
    return LoopWatch(VirtualClock(), time)


async def test_a_step_of_a_coroutine_over_the_limit_is_counted(watch, time, caplog):
    async def request():
        time.pass_ms(40)
        await asyncio.sleep(0)
        time.pass_ms(60)
        await asyncio.sleep(0)
        time.pass_ms(40)
        return "done"

    assert await watch.watched("CREATE_TOPICS", request()) == "done"
    assert watch.slow_requests == {"CREATE_TOPICS": 1}
    assert "CREATE_TOPICS request held the event loop for 60 ms" in caplog.text


async def test_time_spent_waiting_does_not_count(watch, time):
    async def request():
        await asyncio.sleep(0)

    task = asyncio.ensure_future(watch.watched("FETCH", request()))
    await asyncio.sleep(0)
    time.pass_ms(1000)
    await task
    assert watch.slow_requests == {}


async def test_exceptions_and_cancellation_reach_the_request(watch):
    async def failing():
        await asyncio.sleep(0)
        raise KeyError("oops")

    with pytest.raises(KeyError):
        await watch.watched("FETCH", failing())
    ended = []

    async def waiting():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    task = asyncio.ensure_future(watch.watched("FETCH", waiting()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cancelled"]


async def test_the_log_is_limited_in_rate(watch, caplog):
    for _ in range(50):
        watch.held("METADATA", 70_000_000)
    assert watch.slow_requests == {"METADATA": 50}
    assert len(caplog.records) == 1
