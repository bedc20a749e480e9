"""The end of a program: closes clients that it has left open, and handles SIGTERM.

Blocking clients register here when they are created, and `close()` removes them. A plain `atexit`
handler closes the others. It runs after normal exit, `sys.exit` and an uncaught exception, once all
non-daemon threads have ended and while daemon threads, the clients' loops among them, still run.

`weakref.finalize` is not used: it installs a separate exit handler, which may run before this one,
and an object that is collected just before exit would lose its unsent records. The registry
therefore holds strong references. A client that is never closed has a running thread, so this keeps
nothing alive that would otherwise be freed.

Clients of asyncio belong to their loop: a `LoopClient` closes them when the loop shuts down.

`with barnabas.graceful():` ends a program by SIGTERM without losing or repeating records. A signal
handler runs between two bytecodes of the main thread, perhaps while a record is being processed and
perhaps while that thread holds a lock. So the handler uses no client: a thread interrupts the
consumers, and their next blocking call raises WakeupError. By then the application has processed
all records that poll() returned, so the commit of close() covers processed records only.
"""

import asyncio
import atexit
import os
import signal
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from types import FrameType
from typing import Protocol

from barnabas.model.errors import BarnabasError, LocalError, WakeupError

EXIT_SECONDS = 30.0
"""Time limit for closing all clients together."""
EXIT_CODE = 128 + signal.SIGTERM


class OpenClient(Protocol):
    """A client that was not closed yet."""

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        """Begins to close, without waiting; the returned function waits and reports.

        `failed` is True when an uncaught exception ends the program.
        """
        ...


# Keyed by identity. Registration and removal are single dict operations, which are atomic, so any
# thread may close its client without a lock.
_open: dict[int, OpenClient] = {}


def close_at_exit(client: OpenClient) -> None:
    """Registers a client to be closed at exit, unless `closed` is called before."""
    _open[id(client)] = client
    _register_in_worker()


def closed(client: OpenClient) -> None:
    """Removes a client that was closed."""
    _open.pop(id(client), None)


def report(message: str) -> None:
    """Writes a line to stderr: at exit logging may be shut down, and few programs configure it."""
    if sys.stderr is not None:
        sys.stderr.write(f"barnabas: {message}\n")


def report_undelivered(count: int, cause: object) -> None:
    """Writes the number of lost records to stderr, if there are any."""
    if count:
        records = "1 record was" if count == 1 else f"{count} records were"
        report(f"{records} not delivered: {cause}")


def park_daemon_thread() -> None:
    """Blocks the calling thread forever if it is a daemon thread; for clients closed at exit.

    The interpreter ends daemon threads a moment later. An exception would only print a traceback.
    """
    if threading.current_thread().daemon:
        threading.Event().wait()


def close_open_clients() -> None:
    """Begins to close all clients, then waits: an unreachable cluster delays no other client."""
    deadline_s = monotonic() + EXIT_SECONDS
    failed = _program_failed()
    waits: list[Callable[[], None]] = []
    # Not `for client in _open`: other threads may register and close clients meanwhile.
    while _open:
        _, client = _open.popitem()
        try:
            waits.append(client.start_exit(max(deadline_s - monotonic(), 0.0), failed))
        except BarnabasError as error:
            report(f"a client could not be closed at exit: {error}")
    for wait in waits:
        try:
            wait()
        except (BarnabasError, TimeoutError) as error:
            report(f"a client could not be closed at exit: {error}")


def _program_failed() -> bool:
    """Returns whether an error ends the program: reported already, or still being raised.

    It is still being raised at the end of `graceful()` and of a worker of multiprocessing.
    """
    error = sys.exc_info()[1]
    raised = error is not None and not isinstance(error, SystemExit)
    return raised or getattr(sys, "last_value", None) is not None


def _register_in_worker() -> None:
    """Registers a finalizer of multiprocessing, in a worker process of multiprocessing.

    A worker ends by `os._exit`, which skips atexit handlers but runs these finalizers. No import of
    multiprocessing is needed: every worker process has imported it.
    """
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    if process is None or util is None or process.parent_process() is None:
        return
    if len(_open) == 1:
        util.Finalize(None, close_open_clients, exitpriority=0)


atexit.register(close_open_clients)
# A forked child has the parent's clients but not their threads.
os.register_at_fork(after_in_child=_open.clear)


def loop_of(client: object) -> asyncio.AbstractEventLoop:
    """Returns the running loop; raises RuntimeError that names the client if there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        name = f"barnabas.aio.{type(client).__name__}"
        text = f"no event loop is running: create {name} in a coroutine, or use barnabas."
        raise RuntimeError(text + type(client).__name__) from None


class LoopClient:
    """An asyncio client that its user has not closed: closed when its loop ends, else at exit.

    The loop's end is noticed through an asynchronous generator. `asyncio.run`, `asyncio.Runner`
    and uvloop close all of these after the main coroutine has ended and before they close the
    loop: the last moment at which a client can use its connections. asyncio offers no other hook.
    """

    def __init__(
        self, finish: Callable[[float], Coroutine[object, object, None]], unsent: Callable[[], int]
    ) -> None:
        self._finish = finish
        self._unsent = unsent
        self._loop = asyncio.get_running_loop()
        self._ended = False
        self._generator = self._run_at_loop_end()
        # The first step registers the generator with the running loop; it does not suspend.
        with suppress(StopIteration):
            self._generator.__anext__().__await__().send(None)
        close_at_exit(self)

    async def closed(self) -> None:
        """Records that the user has closed the client."""
        self._ended = True
        closed(self)
        await self._generator.aclose()

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        if self._loop.is_closed():
            report_undelivered(self._unsent(), "the event loop was closed before they were sent")
            return _nothing
        if self._loop.is_running():  # in a daemon thread
            future = asyncio.run_coroutine_threadsafe(self._finish(timeout_s), self._loop)
            return partial(_wait, future, timeout_s)
        return lambda: self._loop.run_until_complete(self._finish(timeout_s))

    async def _run_at_loop_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            if not self._ended:
                self._ended = True
                closed(self)
                await self._finish(EXIT_SECONDS)


def _wait(future: "Future[None]", timeout_s: float) -> None:
    future.result(timeout_s + 1.0)


def _nothing() -> None:
    """Does nothing: there is nothing to wait for."""


class Interruptible(Protocol):
    """A client whose blocking calls can be ended from another thread."""

    def interrupt(self) -> None: ...


# Weak references: an interrupt matters only to a thread that uses the client.
_interruptible: "weakref.WeakSet[Interruptible]" = weakref.WeakSet()


def interruptible(client: Interruptible) -> None:
    """Registers a client to interrupt on SIGTERM."""
    _interruptible.add(client)


def not_interruptible(client: Interruptible) -> None:
    """Removes a closed client: SIGTERM does not interrupt it any more."""
    _interruptible.discard(client)


class Shutdown:
    """Whether the program was asked to end.

    `requested` is True after SIGTERM; any thread may read it.
    """

    def __init__(self) -> None:
        self.requested = False


@contextmanager
def graceful() -> Iterator[Shutdown]:
    """Ends the block on SIGTERM and closes all clients: consumers leave their groups, producers
    deliver their records.

    With an open consumer the application finishes the current record: the next `poll()` or
    iteration ends the block, and `process()` returns. Without a consumer, and for a second SIGTERM,
    SystemExit is raised at once. Clients that were not closed in the block are closed at its end.
    After the block the program continues, also after SIGTERM.

    Raises:
        LocalError: The caller is not the main thread, which alone receives signals.

    >>> with barnabas.graceful():  # doctest: +SKIP
    ...     with Consumer(settings) as consumer:
    ...         consumer.subscribe(["orders"])
    ...         for record in consumer:
    ...             handle(record)
    """
    if threading.current_thread() is not threading.main_thread():
        raise LocalError("graceful() works in the main thread only, which receives the signals")
    shutdown = Shutdown()

    def on_signal(number: int, frame: FrameType | None) -> None:
        again, shutdown.requested = shutdown.requested, True
        if again or not _interruptible:
            raise SystemExit(EXIT_CODE)
        threading.Thread(target=_interrupt_all, name="barnabas-graceful", daemon=True).start()

    before = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield shutdown
    except WakeupError:
        if not shutdown.requested:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
        if shutdown.requested:
            close_open_clients()


def _interrupt_all() -> None:
    for client in list(_interruptible):
        client.interrupt()
