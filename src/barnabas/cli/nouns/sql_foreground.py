"""Runs the statements of `sql` in a thread; the main thread shows their steps and handles Ctrl-C.

A statement can take long: Spark needs seconds to start, on a busy machine a minute, and a SELECT
with EMIT CHANGES waits for rows. On a terminal a line on stderr has the current step and its time;
elsewhere a step that takes long is reported on lines of its own.

Python raises KeyboardInterrupt in the main thread. If that were waiting for a call to Spark's JVM,
the connection would be unusable, and stopping Spark would wait for the interrupted call.
"""

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TextIO, TypeVar

from barnabas.cli.framework.output import own_stderr
from barnabas.runtime.closing import ClosesOnExit

T = TypeVar("T")
POLL_SECONDS = 0.1
SHOWN_AFTER_SECONDS = 1.0
REPORTED_AFTER_SECONDS = 10.0
REPORTED_EVERY_SECONDS = 60.0
INTERRUPT_SECONDS = 0.5
WIDTH = 100


class StepLine(ClosesOnExit):
    """The line with the current step: redrawn on a terminal, else printed if the step is long.

    Standard error is redirected to Spark's log while Spark starts, so a duplicate is written to.
    """

    def __init__(
        self, stream: TextIO | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._owns_stream = (stream, False) if stream else own_stderr()
        self._live = self._stream.isatty()
        self._now = now
        self._lock = threading.Lock()
        self._step: str | None = None
        self._begun = self._reported = 0.0
        self._drawn = ""

    def show(self, step: str | None, hint: str = "") -> None:
        """Shows a step; called again and again while it lasts."""
        with self._lock:
            now = self._now()
            if step != self._step:
                self._step, self._begun = step, now
                self._reported = now + REPORTED_AFTER_SECONDS
            if step is None:
                self._clear()
            elif self._live:
                self._draw(step, hint, now - self._begun)
            elif now >= self._reported:
                self._reported = now + REPORTED_EVERY_SECONDS
                self._write(f"barnabas sql: {step}, for {now - self._begun:.0f} s{hint}\n")

    def _draw(self, step: str, hint: str, seconds: float) -> None:
        if seconds < SHOWN_AFTER_SECONDS:
            self._clear()
            return
        line = f"{step} ... {seconds:.0f} s{hint}"[:WIDTH]
        if line != self._drawn:
            self._drawn = line
            self._write(f"\r\x1b[K{line}")

    def output(self) -> None:
        """Removes the line, because rows follow; the time of the step begins again."""
        with self._lock:
            self._clear()
            self._begun = self._now()
            self._reported = self._begun + REPORTED_AFTER_SECONDS

    def _clear(self) -> None:
        if self._drawn:
            self._drawn = ""
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def close(self) -> None:
        self.show(None)
        if self._owns_stream:
            self._stream.close()


@dataclass(slots=True)
class _Task(Generic[T]):
    """A function that the thread calls, and its result."""

    work: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    result: list[T] = field(default_factory=list)
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result.append(self.work())
        except BaseException as error:  # noqa: BLE001 - raised in the main thread
            self.error = error
        self.done.set()


class Interrupted(Exception):
    """The function has ended because the user pressed Ctrl-C."""


class Foreground(ClosesOnExit):
    """Calls functions in one thread, one after the other, and shows their steps meanwhile.

    Args:
        step: Returns the current step, or None.
        interrupt: Asks the running function to end; it is called in other threads, repeatedly.
        line: Where the steps are shown.
    """

    def __init__(
        self, step: Callable[[], str | None], interrupt: Callable[[], None], line: StepLine
    ) -> None:
        self._step = step
        self._interrupt = interrupt
        self._line = line
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        # A daemon, because an interrupted script does not wait for a call to the JVM.
        threading.Thread(target=self._run, name="sql-statements", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._tasks.get()()

    def call(self, work: Callable[[], T], *, stop_timeout_s: float = math.inf) -> T:
        """Returns the result of a function or raises its error.

        Raises:
            Interrupted: The function has ended after Ctrl-C.
            KeyboardInterrupt: The function has not ended `stop_timeout_s` after Ctrl-C, or Ctrl-C
                was pressed again. The function may continue to run.
        """
        task: _Task[T] = _Task(work)
        self._tasks.put(task.run)
        try:
            self._follow(task)
        except KeyboardInterrupt:
            if not self._stop(task, stop_timeout_s):
                raise
            raise Interrupted from None
        finally:
            self._line.show(None)
        if task.error is not None:
            raise task.error
        return task.result[0]

    def _follow(self, task: _Task[T]) -> None:
        while not task.done.wait(POLL_SECONDS):
            self._line.show(self._step())

    def _stop(self, task: _Task[T], stop_timeout_s: float) -> bool:
        """Returns whether the function has ended in time.

        Asks repeatedly: a job that Spark starts after the first request would run to its end.
        """
        end = time.monotonic() + stop_timeout_s
        while time.monotonic() < end and not task.done.is_set():
            threading.Thread(target=self._interrupt_quietly, daemon=True).start()
            again = time.monotonic() + INTERRUPT_SECONDS
            while time.monotonic() < again and not task.done.wait(POLL_SECONDS):
                self._line.show(self._step(), ", stopping; Ctrl-C again leaves")
        return task.done.is_set()

    def _interrupt_quietly(self) -> None:
        with contextlib.suppress(Exception):  # Spark's and Py4J's; the function continues
            self._interrupt()

    def close(self) -> None:
        self._line.close()
