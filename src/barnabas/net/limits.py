"""Limits that protect a listener from defective or hostile peers.

`connection_slots` limits the number of connections.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """All limits of one listener; the defaults are those of an embedded broker.

    `max_partial_bytes` limits the total memory of large frames that are incomplete or have no
    response yet. The oldest incomplete frame never waits, so one more frame is possible.
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
    """Delay before closing the connection after an unsupported request: some tools ignore
    ApiVersions and connect again immediately."""
