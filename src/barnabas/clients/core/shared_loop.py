"""A loop thread whose loop a waiting thread may run itself.

Whoever waits for the loop's work can as well do that work: then no record changes threads on its
way out, and no answer on its way back. Only one thread runs the loop at a time, so everything
that belongs to the loop keeps having one owner.

The loop's own thread runs it until somebody who waited was served and nothing else is to be done.
Then it rests: a thread that brings work does at once what needs no waiting, and a thread that
waits runs the loop for as long as it waits; when it leaves and others wait, one of them goes on.
When work is left that nobody waits for, or when nobody has come for a while, the loop's own
thread takes over again: it also looks from time to time, should a call have gone astray.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Protocol, TypeVar

from barnabas.clients.core.bell import Bell
from barnabas.clients.core.interrupts import KeptInterrupt
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.runtime.lazy_timer import LazyTimer

REST_S = 0.005
"""How often the resting thread looks whether work is left that nobody waits for: what has been
sent is sent, but its answer may stay unread for twice as long."""
LONG_REST_S = 0.1
"""As long as all that is brought is waited for: each look takes the interpreter's lock from those
who wait."""
UNWAITED = 8
"""Who brings so much and waits for nothing leaves the loop to its own thread."""
REST_TURNS = 20
"""After so many looks without a visitor it takes the loop back."""
WATCH_S = 0.0003
"""Who usually waits no longer than this looks out for the answer, and for so long at the most."""
LATE_S = 0.001
"""Answers that were looked out for and came so late have not come late: the core was another's."""
LATE_AGAIN = 32
"""Two late ones in so many end the looking out for a while: who sleeps gets the core back at once,
who has given it away gets it back when the other has had its share."""
NO_WATCH_S = 0.1
TURN_EVERY_S = 0.25
"""Visitors that only looked out leave the loop's timers alone for so long."""
T = TypeVar("T")

try:
    from os import sched_yield
except ImportError:  # pragma: no cover - not on every system

    def sched_yield() -> None:
        """Nothing to do it with."""


class Awaited(Protocol):
    """What a thread waits for; it is done on the loop."""

    @property
    def done(self) -> bool: ...

    def notify(self, listener: Callable[[], None]) -> None:
        """Call `listener` once it is done; at once if it is."""
        ...


class LoopUser(Protocol):
    """Whose work the loop does."""

    def idle(self) -> bool:
        """Whether nothing is under way; asked from any thread."""
        ...

    def resumed(self) -> None:
        """Somebody begins to run the loop: see what has come up meanwhile."""
        ...

    def read_now(self) -> bool:
        """Take in what has come, without waiting; False when only a turn of the loop helps."""
        ...

    def interrupted(self) -> None:
        """A signal handler has raised out of the loop's work: it may be half done."""
        ...


class SharedLoopThread(LoopThread):
    """A running loop, in a thread of its own or in a thread that waits for it."""

    def __init__(self, name: str) -> None:
        self.resting = False
        self.user: LoopUser | None = None
        self._turn = threading.Lock()  # held by the thread that runs the loop
        self._wanted = Bell()  # for the loop's own thread
        self._at_home = False  # the loop runs in its own thread
        self._visits = 0  # how often another thread ran the loop
        self._standing: deque[threading.Event] = deque()  # threads that wait and do not run it
        self._calls: set[Future[Any]] = set()
        self._unwaited = 0  # visits that brought work since somebody waited
        self._observed = False  # somebody wants to hear of work that nobody waits for
        self._usual_s = 0.0  # how long a visitor waits
        self._late = 0.0  # two: the core is contended
        self._watch_from_s = 0.0  # nobody looks out before
        self._turn_due_s = 0.0  # when the loop's timers and tasks must be looked at
        super().__init__(name)
        self._alarm = LazyTimer(self.loop, self.loop.stop)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        future = super().submit(coroutine)
        self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        if self.resting:
            self._wanted.ring()
        return future

    def close(self) -> None:
        self._wanted.ring()
        super().close()

    def wait(self, awaited: Awaited, timeout_s: float | None) -> bool:
        """Block until `awaited` is done; False when `timeout_s` seconds pass first.

        From any thread but one that is running the loop.
        """
        deadline = None if timeout_s is None else monotonic() + timeout_s
        while not awaited.done:
            self.check()
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                return False
            if not self._visit(awaited, left):
                self._stand_by(awaited, left)
        self._unwaited = 0
        return True

    def attend(self) -> bool:
        """If nobody runs the loop: see at once, here, what has come up. False if somebody does."""
        self.check()
        if self.resting and self._with_turn(self._resume):
            self._unwaited += 1
            if self._unwaited > UNWAITED:
                self._wanted.ring()
            return True
        if self.resting:
            self._wanted.ring()
        return False

    def at_once(self, work: Callable[[], T]) -> T | None:
        """If nobody runs the loop: do `work` here, as the one who runs it. None if somebody does.

        `work` does not wait; what it leaves under way is for whoever waits for it.
        """
        self.check()
        self._unwaited += 1
        return self._with_turn(work) if self.resting else None

    def observe(self) -> None:
        """Somebody is to be told of work without waiting for it: look more often from now on."""
        if not self._observed:
            self._observed = True
            if self.resting:
                self._wanted.ring()

    # -- the visiting thread's side ------------------------------------------------------------

    def _with_turn(self, work: Callable[[], T]) -> T | None:
        """Do `work` as the one who runs the loop; None when that is not to be had."""
        if asyncio._get_running_loop() is not None:  # noqa: SLF001 - the public one raises
            return None
        with KeptInterrupt(self._stop_soon):
            if not self._turn.acquire(blocking=False):
                return None
            try:
                if self._closed:
                    return None
                self.resting = False
                self._visits += 1
                return work()
            except BaseException:
                if self.user is not None:
                    self.user.interrupted()
                raise
            finally:
                self.resting = True
                self._turn.release()

    def _visit(self, awaited: Awaited, timeout_s: float | None) -> bool:
        """Run the loop here until `awaited` is done; False when it runs elsewhere."""
        if not self._with_turn(partial(self._run_until, awaited, timeout_s)):
            return False
        if not self._idle():
            self._pass_on()
        return True

    def _run_until(self, awaited: Awaited, timeout_s: float | None) -> bool:
        begin = monotonic()
        self._resume()
        watched = self._watch(awaited, timeout_s, begin)
        if not watched:
            self._run_loop_until(awaited, timeout_s)
        taken = monotonic() - begin
        self._usual_s += (min(taken, 4 * WATCH_S) - self._usual_s) / 8
        if watched:
            self._judge_watch(taken, begin)
        return True

    def _judge_watch(self, taken_s: float, begin: float) -> None:
        """Whether looking out does well where others want the core too."""
        if taken_s < LATE_S:
            self._late = max(self._late - 1 / LATE_AGAIN, 0.0)
            return
        self._late += 1
        if self._late > 1:
            self._late, self._watch_from_s = 0.0, begin + taken_s + NO_WATCH_S

    def _run_loop_until(self, awaited: Awaited, timeout_s: float | None) -> None:
        loop = self.loop
        awaited.notify(loop.stop)
        if timeout_s is not None:
            self._alarm.set(loop.time() + timeout_s)
        loop.run_forever()
        self._turn_due_s = monotonic() + TURN_EVERY_S

    def _watch(self, awaited: Awaited, timeout_s: float | None, begin: float) -> bool:
        """Look out for what usually comes at once; whether it came.

        A thread that sleeps is woken later than one that looks: on one machine that takes as
        long as a broker's whole answer. The core goes to whoever wants it meanwhile.
        """
        if self._usual_s > WATCH_S or not self._watch_from_s <= begin < self._turn_due_s:
            return False
        if self._calls or self._standing:
            return False
        read, limit = self._reader(), begin + min(WATCH_S, timeout_s or WATCH_S)
        while not awaited.done:
            if not read() or monotonic() > limit:
                return awaited.done
            sched_yield()
        return True

    def _reader(self) -> Callable[[], bool]:
        return bool if self.user is None else self.user.read_now

    def _stand_by(self, awaited: Awaited, timeout_s: float | None) -> None:
        """The loop runs elsewhere: wait until it has done its work, or stands still."""
        called = threading.Event()

        def serve() -> None:
            called.set()
            if self._at_home:
                self.loop.stop()  # so that it rests

        awaited.notify(serve)
        self._standing.append(called)
        if self.resting:
            self._pass_on()
        called.wait(timeout_s)
        with suppress(ValueError):
            self._standing.remove(called)

    def _pass_on(self) -> None:
        """Work is left: let somebody run the loop who waits for it, or its own thread."""
        try:
            self._standing.popleft().set()
        except IndexError:
            self._wanted.ring()

    def _stop_soon(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)

    # -- the loop thread's side ----------------------------------------------------------------

    def _serve(self) -> None:
        while not self._closed:
            with self._turn:
                self._wanted.silence()
                self.resting = False
                self._at_home = True
                self._resume()
                self.loop.run_forever()
                self._at_home = False
                self.resting = True
            if self._idle():
                self._rest()
        self._turn.acquire()  # for good: no visitor after the end

    def _rest(self) -> None:
        """Leave the loop to visitors until nobody comes, or work is left that nobody waits for."""
        quiet, pause_s = 0, REST_S
        while quiet < REST_TURNS:
            visits = self._visits
            if self._wanted.heard(pause_s):
                return
            pause_s = REST_S
            if self._turn.locked() or visits != self._visits:
                quiet = 0  # who has just brought work may be about to wait for it
                if self._unwaited <= 1 and not self._observed:
                    pause_s = LONG_REST_S
            elif not self._idle():
                return
            else:
                quiet += 1

    def _resume(self) -> bool:
        if self.user is not None:
            self.user.resumed()
        return True

    def _idle(self) -> bool:
        return self.user is not None and not self._calls and self.user.idle()
