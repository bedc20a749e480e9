"""Writes many records with a bounded number in flight; the first failed record is an error."""

import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from barnabas.cli.framework.connection import Connection

if TYPE_CHECKING:
    from barnabas.clients.producer import SendFuture


WINDOW = 10_000
"""Number of records in flight at which the writer waits for the oldest ones."""


class BulkWriter:
    """A producer with a bounded number of records in flight; use it as a context manager.

    `on_delivered(count)` is called after records have been acknowledged.
    """

    def __init__(
        self, connection: Connection, on_delivered: Callable[[int], object] = lambda _: None
    ) -> None:
        self._producer = connection.producer(linger_ms=20, batch_size=256 * 1024)
        self._on_delivered = on_delivered
        self._in_flight: deque[SendFuture] = deque()
        self.delivered = 0

    def send(self, topic: str, value: bytes | None, **fields: Any) -> None:
        """Sends a record; raises the error of an earlier record that failed."""
        future = self._producer.send(topic, value, **fields)
        if future.done():
            future.result()  # raises at once if the record cannot be sent
        self._in_flight.append(future)
        if len(self._in_flight) >= WINDOW:
            self._settle(WINDOW // 2)

    def finish(self) -> None:
        """Waits until all records are acknowledged."""
        self._producer.flush()
        self._settle(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.finish()
        finally:
            self._producer.close(None if error is None else 0)

    def _settle(self, leave: int) -> None:
        count = len(self._in_flight) - leave
        for _ in range(count):
            self._in_flight.popleft().result()
        self.delivered += max(count, 0)
        self._on_delivered(max(count, 0))


class Pace:
    """Limits a loop to a number of items per second."""

    def __init__(self, per_second: float | None) -> None:
        self._per_second = per_second
        self._started = time.monotonic()
        self._done = 0

    def after(self, count: int) -> None:
        """Waits until `count` more items fit into the rate."""
        if not self._per_second:
            return
        self._done += count
        ahead = self._done / self._per_second - (time.monotonic() - self._started)
        if ahead > 0:
            threading.Event().wait(ahead)
