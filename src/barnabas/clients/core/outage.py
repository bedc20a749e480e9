"""Reports why a client makes no progress: warnings in the log, later an error.

A client retries in the background, so that a wrong address or a missing topic looks like an empty
topic. Each cause is logged when it begins and then at most every 30 seconds.
"""

import logging
from collections.abc import Callable, Hashable
from time import monotonic

from barnabas.model.errors import BarnabasError, UnavailableError

logger = logging.getLogger(__name__)

REPEAT_SECONDS = 30.0


class RepeatedWarning:
    """Logs a warning per cause, at most one in 30 seconds while the cause lasts."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._logged_at: dict[Hashable, float] = {}
        self._seen: dict[Hashable, tuple[float, float]] = {}
        """When each cause began and when it was seen last."""

    def warn(self, cause: Hashable, message: str, *, grace_s: float = 0.0) -> None:
        """Logs `message` once the cause has lasted for `grace_s`, then once in 30 seconds."""
        now = self._now()
        began, seen = self._seen.get(cause, (now, now))
        if now - seen >= REPEAT_SECONDS:
            began = now  # a new occurrence
        self._seen[cause] = (began, now)
        if now - began < grace_s:
            return
        last = self._logged_at.get(cause)
        if last is None or now - last >= REPEAT_SECONDS:
            self._logged_at[cause] = now
            logger.warning("%s", message)

    def ended(self, cause: Hashable) -> bool:
        """Records that the cause has ended; returns whether it was logged."""
        self._seen.pop(cause, None)
        return self._logged_at.pop(cause, None) is not None


class Outage:
    """Tracks whether brokers can be reached. Any thread may read `error`."""

    def __init__(self, timeout_ms: int, now: Callable[[], float] = monotonic) -> None:
        self._timeout_ms = timeout_ms
        self._now = now
        self._warnings = RepeatedWarning(now)
        self._reached = False
        self._began_s: float | None = None
        self.cause: BarnabasError | None = None
        """Why no broker can be reached now; None when one was reached last."""
        self.error: UnavailableError | None = None
        """Set when no broker was ever reached within bootstrap.timeout.ms; None again later."""

    def attempt(self) -> None:
        """Records the start of an attempt to reach a broker."""
        if self._began_s is None:
            self._began_s = self._now()

    def failed(self, cause: BarnabasError) -> bool:
        """Records that no broker could be reached; returns whether `error` was set."""
        self.cause = cause
        self._warnings.warn("unreachable", f"{cause}; the client keeps trying")
        waited_ms = (self._now() - (self._began_s or self._now())) * 1000
        if self._reached or not 0 < self._timeout_ms <= waited_ms:
            return False
        self.error = UnavailableError(
            f"no broker was reached within bootstrap.timeout.ms ({self._timeout_ms} ms): {cause}"
        )
        return True

    def ended(self) -> None:
        """Records a response of a broker."""
        self._reached = True
        self.cause = self.error = None
        if self._warnings.ended("unreachable"):
            logger.warning("a broker can be reached again")
