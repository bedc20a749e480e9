"""Retries of all clients: the pauses between attempts, deadlines, and the loop that ends at one.

`Retries` decides without IO; the blocking router uses it in a thread, `retry_until` on an event
loop.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from barnabas.model.errors import BarnabasError, DeadlineError

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Backoff:
    """Pauses that double from `first_ms` to `max_ms`, each with a jitter of 20 % (KIP-580).

    >>> pauses = Backoff(100, 1000)
    >>> 0.08 <= pauses.next_s() <= 0.12
    True
    """

    __slots__ = ("_first_ms", "_max_ms", "_tries")

    def __init__(self, first_ms: int, max_ms: int) -> None:
        self._first_ms = first_ms
        self._max_ms = max(first_ms, max_ms)
        self._tries = 0

    def next_s(self) -> float:
        """Returns the seconds to wait before the next retry."""
        pause_ms = min(self._first_ms * 2 ** min(self._tries, 30), self._max_ms)
        self._tries += 1
        return float(pause_ms) * random.uniform(0.8, 1.2) / 1000

    def reset(self) -> None:
        """Restarts with the first pause."""
        self._tries = 0


def deadline_of(now_s: float, timeout_s: float) -> float:
    """Returns the end of a wait.

    Raises:
        TypeError: the timeout is not a number.
        ValueError: the timeout is NaN: no time is later, so the wait would never end.
    """
    try:
        deadline_s = now_s + timeout_s
    except TypeError:
        raise TypeError(f"the timeout must be a number of seconds, not {timeout_s!r}") from None
    if deadline_s != deadline_s:
        raise ValueError("the timeout must be a number of seconds, not NaN")
    return deadline_s


def check_timeout(timeout_s: float | None) -> None:
    """Rejects what is not a number of seconds, before the caller has changed anything.

    Raises:
        TypeError: the timeout is not a number.
        ValueError: the timeout is NaN.
    """
    if timeout_s is not None:
        deadline_of(0.0, timeout_s)


def is_retriable(error: BarnabasError) -> bool:
    """Returns Kafka's own flag of the error."""
    return error.retriable


class Retries:
    """Decides whether a failed operation is attempted again, until a deadline.

    Args:
        what: The operation, for errors and the log.
        deadline_s: The deadline; all times are of one monotonic clock.
        backoff: The pauses between attempts.
        is_transient: Decides whether another attempt may succeed.
    """

    __slots__ = ("_backoff", "_is_transient", "_what", "deadline_s", "last")

    def __init__(
        self,
        what: str,
        deadline_s: float,
        backoff: Backoff,
        is_transient: Callable[[BarnabasError], bool] = is_retriable,
    ) -> None:
        self.deadline_s = deadline_s
        self._what = what
        self._backoff = backoff
        self._is_transient = is_transient
        self.last: BarnabasError | None = None

    def pause_s(self, error: BarnabasError, now_s: float) -> float:
        """Returns the seconds to wait before the next attempt.

        Raises:
            BarnabasError: `error` itself, if it is not transient.
            DeadlineError: The pause would not end before the deadline.
        """
        if not self._is_transient(error):
            raise error
        self.last = error
        pause = self._backoff.next_s()
        if now_s + pause >= self.deadline_s:
            raise self.expired() from error
        logger.debug("%s: %s, retry in %.2f s", self._what, error, pause)
        return pause

    def expired(self) -> DeadlineError:
        """Returns the error at the deadline, with the last error in its message."""
        cause = "no response before the timeout" if self.last is None else self.last
        return DeadlineError(f"{self._what}: {cause}")


async def retry_until(
    operation: Callable[[], Awaitable[T]],
    retries: Retries,
    before_retry: Callable[[BarnabasError], Awaitable[None]] | None = None,
) -> T:
    """Awaits `operation()` until it succeeds or `retries` raises an error.

    `before_retry(error)` is awaited after the pause, for example to refresh metadata.
    """
    loop = asyncio.get_running_loop()
    while True:
        try:
            async with asyncio.timeout_at(retries.deadline_s):
                return await operation()
        except TimeoutError:
            raise retries.expired() from retries.last
        except BarnabasError as error:
            failure, pause = error, retries.pause_s(error, loop.time())
        await asyncio.sleep(pause)
        if before_retry is not None:
            await before_retry(failure)
