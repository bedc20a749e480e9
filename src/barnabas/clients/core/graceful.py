"""`with barnabas.graceful():` ends a program by SIGTERM without losing or repeating records.

A signal handler runs between two bytecodes of the main thread, perhaps while a record is being
processed and perhaps while that thread holds a lock. So the handler uses no client: a thread
interrupts the consumers, and their next blocking call raises WakeupError. By then the application
has processed all records that poll() returned, so the commit of close() covers processed records
only.
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
    """Registers a client to interrupt on SIGTERM."""
    _clients.add(client)


def not_interruptible(client: Interruptible) -> None:
    """Removes a closed client: SIGTERM does not interrupt it any more."""
    _clients.discard(client)


class Shutdown:
    """`requested` is True after SIGTERM; any thread may read it."""

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
