"""Keeps a consumer to one thread at a time, as Kafka's does: a clear error, not a silent race."""

import threading
from types import TracebackType

from barnabas.clients.group.errors import ConcurrentUseError


class OneThread:
    """A context that a second thread cannot enter; the thread inside may enter again."""

    __slots__ = ("_depth", "_lock", "_owner")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._owner != me:
            if not self._lock.acquire(blocking=False):
                raise ConcurrentUseError(
                    "the consumer is in use by another thread: use it from one thread at a time "
                    "(only wakeup() may be called from others)"
                )
            self._owner = me
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = 0
            self._lock.release()
