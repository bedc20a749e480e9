"""Reasons for which the broker closes connections, with a log line and a counter for each.

Line form: `listener=PLAINTEXT peer=10.0.0.7:51034 reason=frame_size detail=...`. Lines of one
reason are limited in rate; the counters are exact. No bytes of the peer are
printed raw.
"""

import enum
import logging
from collections import Counter

from barnabas.net.stream import Address
from barnabas.runtime.clock import Clock
from barnabas.runtime.rate_limited_log import RateLimitedLog

_logger = logging.getLogger("barnabas.net")

_HTTP_STARTS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")


class CloseReason(enum.Enum):
    """Reasons, under the names that the log and the counters use."""

    FRAME_SIZE = "frame_size"
    LOOKS_LIKE_TLS = "looks_like_tls"
    LOOKS_LIKE_HTTP = "looks_like_http"
    MALFORMED = "malformed"
    UNSUPPORTED = "unsupported"
    SLOW_PEER = "slow_peer"
    MEMORY = "memory"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    TOO_MANY_FROM_IP = "too_many_connections_from_ip"
    OUT_OF_FILES = "out_of_files"
    FAILED_UNACKNOWLEDGED = "failed_unacknowledged"
    INTERNAL = "internal"
    NOT_STARTED = "not_started"
    NOT_A_BROKER = "not_a_broker"
    AUTHENTICATION = "authentication"
    TLS = "tls"


_QUIET = frozenset({CloseReason.SLOW_PEER, CloseReason.FAILED_UNACKNOWLEDGED})
"""Logged as information: they need no action of an operator."""


class ConnectionClosedError(Exception):
    """Raised by a handler to close the connection without a response."""

    def __init__(self, reason: CloseReason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class ClosedConnections:
    """Counts and logs the closed connections of one listener; owned by its loop."""

    def __init__(self, listener: str, clock: Clock) -> None:
        self.counts: Counter[CloseReason] = Counter()
        self._listener = listener
        self._log = RateLimitedLog(_logger, clock)

    def add(self, reason: CloseReason, peer: Address | None, detail: str) -> None:
        self.counts[reason] += 1
        log = self._log.info if reason in _QUIET else self._log.warning
        where = f"{peer[0]}:{peer[1]}" if peer is not None else "-"
        line = "listener=%s peer=%s reason=%s detail=%s"
        log(reason.value, line, self._listener, where, reason.value, detail)

    def request_failed(self, peer: Address) -> None:
        """Logs the current exception, which a frame of the peer has caused."""
        line = "listener=%s peer=%s:%s a request failed"
        self._log.exception("failed", line, self._listener, *peer)


def bad_size(start: bytes, size: int, limit: int) -> tuple[CloseReason, str]:
    """Returns the probable cause of an invalid frame size, from the first bytes received."""
    if start[:1] == b"\x16" and start[1:2] == b"\x03":
        return CloseReason.LOOKS_LIKE_TLS, "looks like TLS on a plaintext port"
    if start[:4] in _HTTP_STARTS:
        return CloseReason.LOOKS_LIKE_HTTP, "looks like HTTP, this is a Kafka port"
    return CloseReason.FRAME_SIZE, f"frame of {size} bytes, at most {limit} are accepted"
