"""A loop thread that is closed while it is used: callers get an error and never hang."""

import asyncio
import threading

import pytest

from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.errors import ClosedError, DeadlineError

LIMIT_S = 10


@pytest.fixture
def thread():
    made = LoopThread("test-loop-thread")
    yield made
    made.close()


def outcome(thread, work):
    try:
        return thread.call(work())
    except Exception as error:  # noqa: BLE001 - what the caller gets is what is looked at
        return error


async def forever():
    await asyncio.get_running_loop().create_future()


async def nothing():
    return "done"


def test_a_call_that_close_interrupts_raises(thread):
    told = []
    begun = threading.Event()

    async def work():
        begun.set()
        await forever()

    caller = threading.Thread(target=lambda: told.append(outcome(thread, work)))
    caller.start()
    assert begun.wait(LIMIT_S)
    thread.close()
    caller.join(LIMIT_S)
    assert isinstance(told[0], ClosedError)


def test_a_call_after_close_raises(thread):
    thread.close()
    with pytest.raises(ClosedError):
        thread.call(nothing())
    with pytest.raises(ClosedError):
        thread.post(nothing)


def test_a_call_that_the_end_overtakes_comes_back(thread, monkeypatch):
    """Between the look whether it may and the way to the loop there is no room for the end."""
    hand_over = asyncio.run_coroutine_threadsafe
    closing = threading.Thread(target=thread.close)

    def close_first(coroutine, loop):
        closing.start()
        closing.join(0.02)
        return hand_over(coroutine, loop)

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", close_first)
    assert isinstance(outcome(thread, forever), ClosedError)
    closing.join(LIMIT_S)


def test_a_deadline_is_no_end(thread):
    with pytest.raises(DeadlineError):
        thread.call(forever(), timeout_s=0.001)
    assert thread.call(nothing()) == "done"
