"""What wakes a resting thread."""

from contextlib import suppress
from threading import Lock


class Bell:
    """An Event for one listener, at a fraction of its cost: hearing it silences it."""

    __slots__ = ("_silent",)

    def __init__(self) -> None:
        self._silent = Lock()
        self._silent.acquire()

    def ring(self) -> None:
        with suppress(RuntimeError):  # it rings already
            self._silent.release()

    def silence(self) -> None:
        self._silent.acquire(blocking=False)

    def heard(self, timeout_s: float) -> bool:
        """Wait for it; whether it rang."""
        return self._silent.acquire(timeout=timeout_s)
