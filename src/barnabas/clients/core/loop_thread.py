"""The event loop behind the blocking clients: one daemon thread per client.

The blocking façades run their coroutines here. A wait in the caller's thread is an ordinary
interruptible wait, so Ctrl-C works in every blocking call. Not fork-safe: after `os.fork` the
thread is gone in the child, and use there fails with a clear error instead of hanging.
"""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from barnabas.model.errors import ClosedError, DeadlineError, LocalError

T = TypeVar("T")


class LoopThread:
    """A running loop in a thread. `call` from any thread but its own."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._pid = os.getpid()
        self._closed = False
        self._gate = threading.Lock()  # what passes before the end is seen by the end
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run a coroutine on the loop and wait for it here."""
        future = self.submit(coroutine)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError:
            if future.done():
                raise
            future.cancel()
            raise DeadlineError(f"not done within {timeout_s:g} s") from None
        except concurrent.futures.CancelledError:
            self.check()  # the client's end has ended it, and says so
            raise
        except BaseException:
            future.cancel()
            raise

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
        """Run a coroutine on the loop; the future is thread-safe."""
        try:
            return self._pass(partial(asyncio.run_coroutine_threadsafe, coroutine, self.loop))
        except LocalError:
            coroutine.close()
            raise

    def post(self, callback: Callable[[], object]) -> None:
        """Have something called on the loop."""
        self._pass(partial(self.loop.call_soon_threadsafe, callback))

    def close(self) -> None:
        """Stop the loop, cancelling what still runs there."""
        if self._pid != os.getpid():
            self._closed = True
            return
        with self._gate:
            if not self._closed:
                self._closed = True
                self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    def check(self) -> None:
        """Raise what keeps this loop from being used: it is closed, or in another process."""
        if self._closed:
            raise ClosedError("the client is closed")
        if self._pid != os.getpid():
            raise LocalError("a client cannot be used after fork: make a new one in the child")

    def _pass(self, begin: Callable[[], T]) -> T:
        """Bring the loop something, unless its end has come."""
        self.check()  # in a forked child the gate may be shut for ever
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
        self.loop.run_forever()  # one more turn: what passed the gate becomes a task, or is done
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def _serve(self) -> None:
        self.loop.run_forever()
