"""A coroutine on a shared loop: whoever runs it, its end comes to the thread that waits."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from barnabas.clients.core.shared_loop import SharedLoopThread
from barnabas.clients.producer.visiting import call_visiting, run_visiting
from barnabas.model.errors import ClosedError, LocalError

LIMIT_S = 30


class Nothing:
    """A user of the loop that never has anything to do."""

    def idle(self):
        return True

    def resumed(self):
        pass

    def read_now(self):
        return False

    def interrupted(self):
        pass


@pytest.fixture
def thread():
    made = SharedLoopThread("test-visiting")
    made.user = Nothing()
    yield made
    made.close()


def test_the_waiting_thread_comes_to_run_the_coroutine_itself(thread):
    seen = []

    async def work():
        await asyncio.sleep(0)
        seen.append(threading.get_ident())

    pause = threading.Event()
    for _ in range(LIMIT_S * 100):
        run_visiting(thread, work)
        if seen[-1] == threading.get_ident():
            return
        pause.wait(0.01)
    raise AssertionError("the loop never rested")


def test_what_waits_for_nothing_needs_no_turn_of_the_loop(thread):
    seen = []
    pause = threading.Event()
    for _ in range(LIMIT_S * 100):
        call_visiting(thread, lambda: seen.append(threading.get_ident()))
        if seen[-1] == threading.get_ident():
            return
        pause.wait(0.01)
    raise AssertionError("the loop never rested")


def test_an_error_of_such_work_is_no_interruption(thread):
    thread.user.interrupted = lambda: pytest.fail("it was taken for a signal handler's")

    def fail():
        raise LocalError("no")

    for _ in range(10):
        with pytest.raises(LocalError, match="no"):
            call_visiting(thread, fail)


def test_an_error_is_raised_where_it_is_waited_for(thread):
    async def fail():
        raise LocalError("no")

    for _ in range(10):
        with pytest.raises(LocalError, match="no"):
            run_visiting(thread, fail)


def test_many_threads_at_once(thread):
    async def work():
        await asyncio.sleep(0.0001)

    def many(_):
        for _ in range(50):
            run_visiting(thread, work)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(many, range(4), timeout=LIMIT_S))


def test_a_closed_loop_says_so(thread):
    async def work():
        raise AssertionError("never begun")

    thread.close()
    with pytest.raises(ClosedError):
        run_visiting(thread, work)
    with pytest.raises(ClosedError):
        call_visiting(thread, lambda: None)
