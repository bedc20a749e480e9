"""A loop that a waiting thread runs itself: who runs it when, and what Ctrl-C does to it."""

import asyncio
import math
import os
import signal
import threading

import pytest

from barnabas.clients.core import shared_loop
from barnabas.clients.core.bell import Bell
from barnabas.clients.core.shared_loop import SharedLoopThread
from barnabas.model.errors import LocalError

LIMIT_S = 30


class Job:
    """Done on the loop, by whichever thread runs that."""

    def __init__(self):
        self.done = False
        self.thread = None
        self._listeners = []

    def notify(self, listener):
        if self.done:
            listener()
        else:
            self._listeners.append(listener)

    def finish(self):
        self.done = True
        self.thread = threading.get_ident()
        for listener in self._listeners:
            listener()


class Desk:
    """The loop's user: jobs put here are done when somebody runs the loop."""

    def __init__(self, thread):
        self._thread = thread
        self.open = []
        self.step = lambda: None
        self.watched = lambda: False
        self.interruptions = 0

    def put(self):
        job = Job()
        self.open.append(job)
        if not self._thread.attend():
            self._thread.loop.call_soon_threadsafe(self.resumed)
        return job

    def idle(self):
        return not self.open

    def resumed(self):
        self._thread.loop.call_soon(self._work)

    def read_now(self):
        return self.watched()

    def interrupted(self):
        self.interruptions += 1
        self.open.clear()

    def _work(self):
        while self.open:
            self.step()
            self.open.pop().finish()


@pytest.fixture
def thread():
    made = SharedLoopThread("test-shared-loop")
    made.user = Desk(made)
    yield made
    made.close()


@pytest.fixture
def resting(thread, monkeypatch):
    """The loop's own thread rests until it is wanted, however slow the machine is."""
    rests, may_hear = threading.Event(), threading.Event()

    def rest():
        rests.set()
        may_hear.wait(10 * LIMIT_S)
        thread._wanted.heard(10 * LIMIT_S)

    monkeypatch.setattr(thread, "_rest", rest)
    while not rests.is_set():
        visit(thread)
    thread._wanted.silence()  # it may have been wanted while it was about to rest
    may_hear.set()
    return thread


def until(condition):
    limit = threading.Event()
    for _ in range(LIMIT_S * 1000):
        if condition():
            return
        limit.wait(0.001)
    raise AssertionError("it did not come to pass")


def visit(thread):
    """A job waited for while the loop's own thread rests."""
    while True:
        job = thread.user.put()
        assert thread.wait(job, LIMIT_S)
        if job.thread == threading.get_ident():
            return job


def test_a_thread_that_waits_comes_to_do_the_work_itself(thread):
    assert visit(thread).thread == threading.get_ident()


def test_who_leaves_the_loop_hands_it_to_another_that_waits(resting):
    called = threading.Event()
    resting._standing.append(called)
    job = resting.user.put()
    job.notify(lambda: setattr(resting.user, "idle", lambda: False))  # something is left
    assert resting.wait(job, LIMIT_S)
    assert called.is_set()


def test_work_that_nobody_waits_for_is_done_by_the_loops_own_thread(thread):
    visit(thread)
    job = thread.user.put()
    until(lambda: job.done)
    assert job.thread != threading.get_ident()


def test_who_brings_work_to_a_resting_loop_begins_it(resting):
    begun = []
    resting.user.resumed = lambda: begun.append(threading.get_ident())
    resting.user.put()
    assert begun == [threading.get_ident()]


def test_what_usually_comes_at_once_is_looked_out_for(resting):
    job = Job()  # nothing on the loop does it

    def look():
        job.finish()
        return True

    resting.user.watched = look
    resting._usual_s, resting._turn_due_s = 0, math.inf
    assert resting.wait(job, LIMIT_S)
    assert job.thread == threading.get_ident()


@pytest.mark.parametrize(("usual_s", "turn_due_s"), [(1, math.inf), (0, 0)])
def test_the_loop_runs_where_answers_are_slow_and_when_its_turn_has_come(
    resting, usual_s, turn_due_s
):
    looks = []
    resting.user.watched = lambda: looks.append(True)
    resting._usual_s, resting._turn_due_s = usual_s, turn_due_s
    assert resting.wait(resting.user.put(), LIMIT_S)
    assert not looks


def test_looking_out_ends_for_a_while_where_others_take_the_core(resting):
    resting._usual_s, resting._turn_due_s = 0, math.inf
    late = shared_loop.LATE_S
    resting._judge_watch(late, 0.0)
    for _ in range(shared_loop.LATE_AGAIN):
        resting._judge_watch(late / 10, 0.0)
    resting._judge_watch(late, 0.0)
    assert resting._watch_from_s == 0, "one now and then says nothing"
    resting._judge_watch(late, 5.0)
    assert resting._watch_from_s == 5.0 + late + shared_loop.NO_WATCH_S
    resting._watch_from_s = math.inf
    resting.user.watched = lambda: pytest.fail("nobody looks out now")
    assert resting.wait(resting.user.put(), LIMIT_S)


class Listened:
    """In place of the bell: what happens while the thread rests, and how long it means to."""

    def __init__(self, *events):
        self._events = list(events)
        self.pauses = []
        self.rings = 0

    def heard(self, timeout_s):
        self.pauses.append(timeout_s)
        if not self._events:
            return True
        self._events.pop(0)()
        return False

    def ring(self):
        self.rings += 1


SHORT, LONG = shared_loop.REST_S, shared_loop.LONG_REST_S


@pytest.fixture
def rest(resting, monkeypatch):
    """The pauses of a thread that rests while the events happen one after the other."""

    def pauses(*events):
        bell = Listened(*events)
        monkeypatch.setattr(resting, "_wanted", bell)
        SharedLoopThread._rest(resting)
        monkeypatch.undo()
        return bell.pauses

    monkeypatch.setattr(shared_loop, "REST_S", SHORT)
    return pauses


def brought(thread):
    """Work that needs no waiting, so that the loop is idle after it."""
    return lambda: thread.at_once(lambda: True)


def waited_for(thread):
    def happen():
        brought(thread)()
        job = Job()
        job.finish()
        assert thread.wait(job, LIMIT_S)

    return happen


def test_looks_are_rare_while_all_that_is_brought_is_waited_for(resting, rest):
    served, nothing = waited_for(resting), lambda: None
    assert rest(served, served, nothing, served) == [SHORT, LONG, LONG, SHORT, LONG]


def test_looks_are_frequent_while_nobody_waits(resting, rest):
    unwaited = brought(resting)
    assert rest(unwaited, unwaited, unwaited) == [SHORT, LONG, SHORT, SHORT]


def test_looks_are_frequent_once_somebody_is_to_be_told(resting, rest):
    resting.observe()
    served = waited_for(resting)
    assert rest(served, served) == [SHORT, SHORT, SHORT]


def test_the_resting_thread_is_woken_once_for_those_to_be_told(resting, monkeypatch):
    monkeypatch.setattr(resting, "_wanted", Listened())
    resting.observe()
    resting.observe()
    assert resting._wanted.rings == 1
    monkeypatch.undo()


def test_who_brings_much_and_waits_for_nothing_leaves_the_loop_to_its_thread(resting, monkeypatch):
    monkeypatch.setattr(resting, "_wanted", Listened())
    resting.user.resumed = lambda: None
    for _ in range(shared_loop.UNWAITED):
        assert resting.attend()
    assert resting._wanted.rings == 0
    assert resting.attend()
    assert resting._wanted.rings == 1
    monkeypatch.undo()


def test_a_bell_rings_until_it_is_heard_or_silenced():
    bell = Bell()
    assert not bell.heard(0)
    bell.ring()
    bell.ring()
    assert bell.heard(0)
    assert not bell.heard(0)
    bell.ring()
    bell.silence()
    bell.silence()
    assert not bell.heard(0)


def test_work_is_done_at_once_unless_somebody_runs_the_loop(resting):
    assert resting.at_once(threading.get_ident) == threading.get_ident()
    with resting._turn:
        assert resting.at_once(threading.get_ident) is None


def test_nobody_visits_a_closed_loop(thread):
    thread.close()
    with pytest.raises(LocalError, match="closed"):
        thread.wait(Job(), LIMIT_S)


def test_a_call_needs_no_visitor(thread):
    visit(thread)
    assert thread.call(asyncio.sleep(0, "done"), LIMIT_S) == "done"


def test_a_wait_has_a_deadline_wherever_the_loop_runs(thread):
    assert not thread.wait(Job(), 0.001)


def test_a_visit_has_a_deadline(resting):
    assert not resting.wait(Job(), 0.001)
    assert visit(resting).done


def test_a_thread_with_a_running_loop_of_its_own_stands_by(resting):
    thread = resting

    async def inside():
        job = thread.user.put()
        assert thread.wait(job, LIMIT_S)
        return job

    assert asyncio.run(inside()).thread != threading.get_ident()


def test_many_threads_may_wait(thread):
    done = []

    def work():
        for _ in range(50):
            job = thread.user.put()
            assert thread.wait(job, LIMIT_S)
        done.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(LIMIT_S)
    assert len(done) == 4


def test_ctrl_c_waits_for_the_step_that_runs(resting):
    steps = []

    def step():
        signal.raise_signal(signal.SIGINT)
        steps.append("whole")

    job = resting.user.put()
    resting.user.step = step
    with pytest.raises(KeyboardInterrupt):
        resting.wait(job, LIMIT_S)
    assert steps == ["whole"]
    assert resting.user.interruptions == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_ends_a_wait_for_what_never_comes(resting):
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))

    def wait():
        timer.start()
        resting.wait(Job(), LIMIT_S)

    with pytest.raises(KeyboardInterrupt):
        wait()
    timer.join()


def test_a_raising_handler_of_the_program_is_told_to_the_user(resting):

    def step():
        raise SystemExit(3)

    job = resting.user.put()
    resting.user.step = step
    with pytest.raises(SystemExit):
        resting.wait(job, LIMIT_S)
    assert resting.user.interruptions == 1
    resting.user.step = lambda: None
    assert visit(resting).done


def test_a_forked_child_is_told_so(resting):
    resting._pid += 1
    try:
        with pytest.raises(LocalError, match="fork"):
            resting.wait(Job(), LIMIT_S)
        with pytest.raises(LocalError, match="fork"):
            resting.attend()
    finally:
        resting._pid -= 1
