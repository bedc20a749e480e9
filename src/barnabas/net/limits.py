"""The bounds that keep a listener alive under broken or hostile peers.

How many of those there may be: `connection_slots`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """All bounds of one listener; the defaults are what an embedded broker runs with.

    `max_partial_bytes` bounds what unfinished and unanswered large frames may hold together;
    the oldest unfinished frame may always go on, so the true bound is that plus one frame.
    """

    max_frame_bytes: int = 100 * 1024 * 1024
    max_partial_bytes: int = 64 * 1024 * 1024
    max_pending_replies: int = 64
    max_unsent_bytes: int = 1024 * 1024
    idle_ms: int = 600_000
    first_frame_ms: int = 30_000
    progress_ms: int = 30_000
    min_progress_bytes: int = 16 * 1024
    unsupported_delay_ms: int = 500
    """A peer that sends an unsupported request is closed this much later: some tools ignore
    ApiVersions and connect again at once."""
