"""The timers of groups and members."""

import enum
from typing import NamedTuple


class TimerKind(enum.Enum):
    """The purpose of a timer. Every state in which a group waits has a timer that ends it."""

    SESSION = "session"  # no heartbeat within the session timeout of the member
    PENDING_MEMBER = "pending member"  # the client did not use its member id (KIP-394)
    JOIN = "join"  # the join phase of a classic group takes too long
    SYNC = "sync"  # members of a new classic generation have not synced (KAFKA-12890)
    REVOCATION = "revocation"  # a KIP-848 member has not revoked its partitions
    CLASSIC_JOIN = "classic join"  # a classic member of a consumer group has not rejoined
    CLASSIC_SYNC = "classic sync"  # a classic member of a consumer group has not synced


class TimerKey(NamedTuple):
    """Identifies a timer; setting a timer that is already set replaces it."""

    kind: TimerKind
    group_id: str
    member_id: str = ""
