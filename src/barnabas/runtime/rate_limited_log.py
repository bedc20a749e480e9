"""A logger that writes repeated messages once per period, with the number of suppressed ones.

A hostile or faulty peer can repeat an error many thousand times per second. The limit keeps the log
readable and small.
"""

import logging

from barnabas.runtime.clock import Clock


class RateLimitedLog:
    """Logs each `key` at most once per `period_ms`; not thread-safe.

    At most `max_keys` keys are stored; above that the oldest one is removed.
    """

    def __init__(
        self, logger: logging.Logger, clock: Clock, *, period_ms: int = 1000, max_keys: int = 1024
    ) -> None:
        self._logger = logger
        self._clock = clock
        self._period_ms = period_ms
        self._max_keys = max_keys
        self._seen: dict[
            str, tuple[int, int]
        ] = {}  # key -> (time of the last log line, messages suppressed since)

    def warning(self, key: str, message: str, *args: object) -> None:
        self._log(logging.WARNING, key, message, args)

    def info(self, key: str, message: str, *args: object) -> None:
        self._log(logging.INFO, key, message, args)

    def exception(self, key: str, message: str, *args: object) -> None:
        """Logs an error with the traceback of the exception that is being handled."""
        self._log(logging.ERROR, key, message, args, exc_info=True)

    def _log(
        self,
        level: int,
        key: str,
        message: str,
        args: tuple[object, ...],
        *,
        exc_info: bool = False,
    ) -> None:
        now = self._clock.monotonic_ms()
        last, held_back = self._seen.get(key, (None, 0))
        if last is not None and now - last < self._period_ms:
            self._seen[key] = (last, held_back + 1)
            return
        if held_back:
            message += f" (and {held_back} more like it)"
        if key not in self._seen and len(self._seen) >= self._max_keys:
            del self._seen[next(iter(self._seen))]
        self._seen[key] = (now, 0)
        self._logger.log(level, message, *args, exc_info=exc_info)
