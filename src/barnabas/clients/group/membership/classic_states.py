"""The states of a classic member, and what its coordinator's errors mean to it. Pure."""

import enum

from barnabas.model.error_codes import ErrorCode


class State(enum.Enum):
    """Where the member is.

    IDLE: not subscribed. UNJOINED: will join at the next poll(). PREPARING: the polling thread
    gives up what it must. READY: JoinGroup is next. JOINING, DIVIDING, SYNCING: it, the division
    by the leader, and SyncGroup are under way. REVOKING, LOSING, ASSIGNING: the polling thread
    takes in the result. STABLE: heartbeats only.
    """

    IDLE = "idle"
    UNJOINED = "unjoined"
    PREPARING = "preparing"
    READY = "ready"
    JOINING = "joining"
    DIVIDING = "dividing"
    SYNC_DUE = "sync due"
    SYNCING = "syncing"
    LOSING = "losing"
    REVOKING = "revoking"
    ASSIGNING = "assigning"
    STABLE = "stable"


BEATING = frozenset({State.PREPARING, State.REVOKING, State.ASSIGNING, State.STABLE})
"""States in which heartbeats go out: the broker knows the member, nothing of it is awaited."""

JOINING = frozenset({State.READY, State.JOINING, State.DIVIDING, State.SYNC_DUE, State.SYNCING})
"""States that pass without the polling thread, into the next generation."""

FATAL = frozenset(
    {
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.INVALID_SESSION_TIMEOUT,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
OUT = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})
