"""Writing many records as fast as they can be acknowledged, failing on the first that is not."""

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
"""Records under way before the oldest one is waited for."""


class BulkWriter:
    """A producer that keeps a bounded number of records under way; use it with `with`.

    `on_delivered(count)` hears of acknowledged records, in order.
    """

    def __init__(
        self, connection: Connection, on_delivered: Callable[[int], Any] = lambda _: None
    ) -> None:
        self._producer = connection.producer(linger_ms=20, batch_size=256 * 1024)
        self._on_delivered = on_delivered
        self._under_way: deque[SendFuture] = deque()
        self.delivered = 0

    def send(self, topic: str, value: bytes | None, **fields: Any) -> None:
        """Send a record; raises the error of an earlier one that failed."""
        self._under_way.append(self._producer.send(topic, value, **fields))
        if len(self._under_way) >= WINDOW:
            self._settle(WINDOW // 2)

    def finish(self) -> None:
        """Wait for everything."""
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
        count = len(self._under_way) - leave
        for _ in range(count):
            self._under_way.popleft().result()
        self.delivered += max(count, 0)
        self._on_delivered(max(count, 0))


class Pace:
    """Holds a loop to so many items a second."""

    def __init__(self, per_second: float | None) -> None:
        self._per_second = per_second
        self._started = time.monotonic()
        self._done = 0

    def after(self, count: int) -> None:
        """Wait as long as `count` more items should have taken."""
        if not self._per_second:
            return
        self._done += count
        ahead = self._done / self._per_second - (time.monotonic() - self._started)
        if ahead > 0:
            threading.Event().wait(ahead)
