"""Delayed operations: requests that wait for a condition, at most until their deadline.

A produce with acks=all waits for the high watermark, a long-polling fetch for enough bytes. Each
operation is registered under keys (partitions). Code that changes the state of a key calls
`check(key)`.

`PartitionWaiters` (`_partition_waiters_hot`) calls `check` when a partition changes.
"""

import abc
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol


class TimerHandle(Protocol):
    """A scheduled call that can be cancelled, such as asyncio's TimerHandle."""

    def cancel(self) -> None: ...


Schedule = Callable[[float, Callable[[], None]], TimerHandle]
"""`schedule(delay_s, callback)`, such as the loop's call_later."""


class DelayedOperation(abc.ABC):
    """One waiting request; owned by the loop.

    `try_complete` is called with a key whose state may have changed. It returns whether the
    operation can be finished. `finish` is called exactly once: after such a change, or at the
    deadline if that is earlier.
    """

    __slots__ = ("completed", "keys", "timer")

    def __init__(self) -> None:
        self.completed = False
        self.keys: tuple[Hashable, ...] = ()
        self.timer: TimerHandle | None = None

    @abc.abstractmethod
    def try_complete(self, changed: Any) -> bool:
        """Returns whether the condition of the operation is fulfilled."""

    @abc.abstractmethod
    def finish(self, *, expired: bool) -> None:
        """Sends the response with the current state; called once."""


class Purgatory:
    """The waiting operations of one kind; owned by the loop."""

    __slots__ = ("_schedule", "watched")

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self.watched: dict[Hashable, dict[DelayedOperation, None]] = {}
        """The waiting operations of each key; keys without any are not in it. Read it only."""

    def __len__(self) -> int:
        """Number of operations that wait."""
        return len({operation for watched in self.watched.values() for operation in watched})

    def watch(
        self, operation: DelayedOperation, keys: Iterable[Hashable], timeout_ms: float
    ) -> None:
        """Keeps `operation` until a change of `keys` completes it, or until its deadline.

        The caller has checked, in the same callback of the loop, that it cannot complete yet.
        """
        # Kafka checks again after it has registered the operation, because another thread may
        # change the state in between. Here check and registration run in one callback of the loop.
        operation.keys = tuple(dict.fromkeys(keys))
        for key in operation.keys:
            self.watched.setdefault(key, {})[operation] = None
        operation.timer = self._schedule(timeout_ms / 1000, lambda: self._expire(operation))

    def check(self, key: Hashable) -> None:
        """Finishes the operations of `key` that can complete; called when its state changed."""
        watched = self.watched.get(key)
        if watched is None:
            return
        # A copy: completing an operation removes it, and its response may start the next request.
        for operation in list(watched):
            if not operation.completed and operation.try_complete(key):
                self._complete(operation, expired=False)

    def cancel(self, operation: DelayedOperation) -> None:
        """Removes an operation without finishing it; for closed connections."""
        if not operation.completed:
            self._forget(operation)

    def expire_all(self) -> None:
        """Finishes all operations as at their deadline; for shutdown."""
        for operation in {op for watched in self.watched.values() for op in watched}:
            if not operation.completed:
                self._complete(operation, expired=True)

    def _expire(self, operation: DelayedOperation) -> None:
        if not operation.completed:
            self._complete(operation, expired=True)

    def _complete(self, operation: DelayedOperation, *, expired: bool) -> None:
        # Forget first: `finish` sends the response, and code that it runs may check the same key
        # again.
        self._forget(operation)
        operation.finish(expired=expired)

    def _forget(self, operation: DelayedOperation) -> None:
        operation.completed = True
        if operation.timer is not None:
            operation.timer.cancel()
            operation.timer = None
        for key in operation.keys:
            watched = self.watched.get(key)
            if watched is not None:
                watched.pop(operation, None)
                if not watched:
                    del self.watched[key]
