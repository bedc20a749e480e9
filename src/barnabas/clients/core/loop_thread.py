"""Runs the event loop of a blocking client in a daemon thread.

The calling thread waits on a future, so Ctrl-C works in every blocking call. The thread does not
exist in a child after `os.fork`; calls raise LocalError there.
"""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TypeVar

from barnabas.model.errors import ClosedError, DeadlineError, LocalError
from barnabas.net.event_loop import new_event_loop

T = TypeVar("T")

USED_AFTER_FORK = "a client cannot be used after fork: make a new one in the child"


class LoopThread:
    """A running event loop in a daemon thread."""

    def __init__(self, name: str) -> None:
        self.loop = new_event_loop()
        self._pid = os.getpid()
        self._closed = False
        self._gate = threading.Lock()  # orders submissions and the end of the loop
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[object, object, T], timeout_s: float | None = None) -> T:
        """Runs a coroutine on the loop and waits for its result.

        Raises:
            LocalError: The caller is the loop thread, which would wait for itself.
        """
        try:
            self.check_caller()
        except LocalError:
            coroutine.close()
            raise
        future = self.submit(coroutine)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError:
            if future.done():
                raise
            future.cancel()
            raise DeadlineError(f"not done within {timeout_s:g} s") from None
        except concurrent.futures.CancelledError:
            self.check()  # raises ClosedError if the end of the loop cancelled the coroutine
            raise
        except BaseException:
            future.cancel()
            raise

    def submit(self, coroutine: Coroutine[object, object, T]) -> "concurrent.futures.Future[T]":
        """Starts a coroutine on the loop; returns its thread-safe future."""
        try:
            return self._pass(partial(asyncio.run_coroutine_threadsafe, coroutine, self.loop))
        except LocalError:
            coroutine.close()
            raise

    def post(self, callback: Callable[[], object]) -> None:
        """Schedules a callback on the loop."""
        self._pass(partial(self.loop.call_soon_threadsafe, callback))

    @property
    def inherited(self) -> bool:
        """Whether this process is a forked child; the client belongs to its parent."""
        return self._pid != os.getpid()

    def close(self) -> None:
        """Stops the loop and cancels its tasks."""
        if self.inherited:
            self._closed = True
            return
        with self._gate:
            if not self._closed:
                self._closed = True
                self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    def check(self) -> None:
        """Raises ClosedError if the loop is closed, LocalError in a forked child."""
        if self._closed:
            raise ClosedError("the client is closed")
        if self._pid != os.getpid():
            raise LocalError(USED_AFTER_FORK)

    def check_caller(self) -> None:
        """Raises LocalError on the loop thread: a call that waits for the loop would never end."""
        if threading.get_ident() == self._thread.ident:
            raise LocalError("a callback of a client cannot make a call that waits for the client")

    def _pass(self, begin: Callable[[], T]) -> T:
        """Calls `begin` unless the loop has ended."""
        self.check()  # first: in a forked child the lock may be held forever
        with self._gate:
            self.check()
            return begin()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self._serve()
        finally:
            self._end()

    def _end(self) -> None:
        with self._gate:
            self._closed = True
            self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()  # one more iteration: submitted coroutines become tasks
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def _serve(self) -> None:
        self.loop.run_forever()
