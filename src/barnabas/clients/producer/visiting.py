"""A coroutine of the producer's loop, run by the thread that waits for it.

To hand work to another thread and to be woken by it takes as long as a broker's answer, twice.
A loop that rests is run by whoever waits; here also for what is no batch: the end of a transaction.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from barnabas.clients.core.shared_loop import SharedLoopThread
from barnabas.model.errors import ClosedError


class Outcome:
    """How a coroutine ended; settled on the loop, waited for by another thread."""

    def __init__(self) -> None:
        self.done = False
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def notify(self, listener: Callable[[], None]) -> None:
        """Call `listener` once it has ended; at once if it has."""
        with self._lock:
            if not self.done:
                self._listeners.append(listener)
                return
        listener()

    def run(self, work: Callable[[], None]) -> None:
        """Do the work, and tell whoever waits."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
        finally:
            self._settle()

    async def watch(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Await the work, and tell whoever waits."""
        try:
            await work()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
        finally:
            self._settle()

    def check(self) -> None:
        """Raise what went wrong."""
        if isinstance(self._error, asyncio.CancelledError):
            raise ClosedError("the client is closed")
        if self._error is not None:
            raise self._error

    def _settle(self) -> None:
        with self._lock:
            self.done = True
        for listener in self._listeners:
            listener()


def run_visiting(thread: SharedLoopThread, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine to its end: in this thread if nobody runs the loop, else where it runs."""
    _bring(thread, lambda outcome: thread.loop.create_task(outcome.watch(work)))


def call_visiting(thread: SharedLoopThread, work: Callable[[], None]) -> None:
    """The same for work that waits for nothing: no turn of the loop is needed for it."""
    _bring(thread, lambda outcome: outcome.run(work))


def _bring(thread: SharedLoopThread, start: Callable[[Outcome], object]) -> None:
    outcome = Outcome()

    def begin() -> bool:
        start(outcome)
        return True

    if thread.at_once(begin) is None:
        thread.post(begin)
    thread.wait(outcome, None)
    outcome.check()
