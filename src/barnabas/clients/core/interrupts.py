"""Ctrl-C kept back while the main thread is in the middle of something.

A KeyboardInterrupt may come between any two steps of Python code. Where state must not be left
half changed the signal is noted, and raised when it can do no harm. Only Python's own handler is
replaced: a program that handles SIGINT itself keeps doing so.
"""

from _thread import get_ident
from collections.abc import Callable
from signal import SIGINT, default_int_handler
from threading import main_thread
from types import FrameType, TracebackType

try:
    # The public functions spend ten times as long on turning handlers into enum members.
    from _signal import getsignal, signal  # type: ignore[import-not-found]
except ImportError:  # pragma: no cover - another interpreter
    from signal import getsignal, signal


_SIGINT = int(SIGINT)


class KeptInterrupt:
    """A context; `on_interrupt` is called in the signal handler, and must make the body end."""

    __slots__ = ("_kept", "_on_interrupt", "_replaced")

    def __init__(self, on_interrupt: Callable[[], None]) -> None:
        self._on_interrupt = on_interrupt
        self._replaced = False
        self._kept = False

    def __enter__(self) -> None:
        if get_ident() == main_thread().ident and getsignal(_SIGINT) is default_int_handler:
            self._replaced = True
            signal(_SIGINT, self._keep)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._replaced:
            signal(_SIGINT, default_int_handler)
            if self._kept:
                raise KeyboardInterrupt

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._kept = True
        self._on_interrupt()
