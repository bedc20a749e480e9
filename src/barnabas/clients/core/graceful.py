"""`with barnabas.graceful():` ends a program by SIGTERM without losing or repeating records.

A signal handler runs between two bytecodes of the main thread, perhaps while a record is being
processed and perhaps while that thread holds a lock. So the handler touches no client: a thread
interrupts the consumers, and their next blocking call ends with WakeupError. By then everything
that poll() returned is processed, and the commit of close() covers nothing that is not.
"""

import signal
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from barnabas.clients.core.exit_hooks import close_open_clients
from barnabas.model.errors import LocalError, WakeupError

EXIT_CODE = 128 + signal.SIGTERM


class Interruptible(Protocol):
    """A client whose blocking calls can be ended from another thread."""

    def interrupt(self) -> None: ...


_clients: "weakref.WeakSet[Interruptible]" = weakref.WeakSet()


def interruptible(client: Interruptible) -> None:
    """Have a client interrupted when the program is asked to end."""
    _clients.add(client)


def not_interruptible(client: Interruptible) -> None:
    """The client is closed."""
    _clients.discard(client)


class Shutdown:
    """Whether the program was asked to end; `requested` may be read from any thread."""

    def __init__(self) -> None:
        self.requested = False


@contextmanager
def graceful() -> Iterator[Shutdown]:
    """End the block on SIGTERM and close all clients: groups are left, records are delivered.

    With an open consumer the record at hand is processed to its end: the next `poll()` or
    iteration ends the block, and `process()` returns. Without one SystemExit is raised at once, and
    for a second SIGTERM always. Clients that were not closed in the block are closed at its end.
    The program goes on after the block, if it has been asked to end, too.

    Raises LocalError outside the main thread, which alone receives signals.

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
        if again or not _clients:
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
    for client in list(_clients):
        client.interrupt()
