"""What kazoo says of its connection, for a log that somebody reads.

kazoo tries for ever while a server is away, and complains at each try. Here a complaint is said
when it is new and then once a minute, with the servers it is about.
"""

import logging
from typing import Any

from barnabas.model.clock import Clock

REPEAT_MS = 60_000


class KazooLog(logging.LoggerAdapter[logging.Logger]):
    """A logger for one client; called from kazoo's thread."""

    def __init__(self, logger: logging.Logger, hosts: str, clock: Clock) -> None:
        super().__init__(logger, {})
        self.last_complaint = ""
        self._hosts = hosts
        self._clock = clock
        self._said_at: dict[str, int] = {}
        self._closed = False

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if level < logging.WARNING:
            super().log(level, msg, *args, **kwargs)
            return
        text = str(msg) % args if args else str(msg)
        self.last_complaint = text
        if self._closed:
            return
        now, said_at = self._clock.monotonic_ms(), self._said_at.get(text)
        if said_at is None or now - said_at >= REPEAT_MS:
            self._said_at[text] = now
            super().log(level, "%s: %s", self._hosts, text, **kwargs)

    def connected(self) -> None:
        """From here on every complaint is new again."""
        self._said_at.clear()

    def close(self) -> None:
        """The client is being stopped: what it complains of now is no news."""
        self._closed = True
