"""The current step of a statement, which a shell shows, and the request to interrupt it.

A statement runs in one thread; another thread reads the step and interrupts. A thread that waits
for a call to Spark's JVM must not be interrupted by a signal: the result of that call would be read
as the result of the next one.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Activity:
    """The steps in progress, and whether they must end. Thread-safe."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._lock = threading.Lock()
        self._interrupted = threading.Event()

    @property
    def text(self) -> str | None:
        """The step that was begun last, as in "starting Spark"; None between statements."""
        with self._lock:
            return self._steps[-1] if self._steps else None

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Shows `text` as the current step inside the `with` statement."""
        with self._lock:
            self._steps.append(text)
        try:
            yield
        finally:
            with self._lock:
                self._steps.remove(text)

    @property
    def interrupted(self) -> bool:
        """Whether the current statement must end."""
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        self._interrupted.set()

    def begin(self) -> None:
        """Forgets the interruption of an earlier statement."""
        self._interrupted.clear()
