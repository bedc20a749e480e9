"""Ctrl-C kept back while the main thread is in the middle of something.

A KeyboardInterrupt may come between any two steps of Python code. Where state must not be left
half changed the signal is noted, and raised when it can do no harm. Only Python's own handler is
replaced: a program that handles SIGINT itself keeps doing so.
"""

import threading
from collections.abc import Callable
from signal import SIGINT, default_int_handler
from types import FrameType, TracebackType

try:
    # The public functions spend ten times as long on turning handlers into enum members.
    from _signal import getsignal, signal  # type: ignore[import-not-found]
except ImportError:  # pragma: no cover - another interpreter
    from signal import getsignal, signal


class KeptInterrupt:
    """A context; `on_interrupt` is called in the signal handler, and must make the body end."""

    __slots__ = ("_kept", "_on_interrupt", "_replaced")

    def __init__(self, on_interrupt: Callable[[], None]) -> None:
        self._on_interrupt = on_interrupt
        self._replaced = False
        self._kept = False

    def __enter__(self) -> None:
        main = threading.get_ident() == threading.main_thread().ident
        if main and getsignal(SIGINT) is default_int_handler:
            self._replaced = True
            signal(SIGINT, self._keep)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._replaced:
            signal(SIGINT, default_int_handler)
            if self._kept:
                raise KeyboardInterrupt

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._kept = True
        self._on_interrupt()
