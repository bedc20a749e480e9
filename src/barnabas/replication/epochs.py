"""Leader epochs: fencing by epoch, where two logs diverge, and how far a follower truncates.

Pure. The rules are those of KIP-101 as corrected by KIP-279, with the leader finding the
divergence at fetch time as in KIP-595: a follower's fetch names the epoch of its last record, and
a leader that holds another history answers with the epoch and end offset where they part. A
follower truncates by that alone, never to its high watermark.
"""

from typing import NamedTuple, Protocol

from barnabas.model.error_codes import ErrorCode
from barnabas.model.records import NO_EPOCH

NO_OFFSET = -1


class EpochEnd(NamedTuple):
    """An epoch, and the offset after its last record."""

    epoch: int
    end_offset: int


UNDEFINED = EpochEnd(NO_EPOCH, NO_OFFSET)


class EpochHistory(Protocol):
    """The epoch part of a log."""

    @property
    def log_end_offset(self) -> int: ...
    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest known epoch not above `epoch`, and its end; (-1, -1) when unknown."""
        ...


def check_leader_epoch(requested: int, current: int) -> ErrorCode:
    """Fence a request by the epoch its sender believes in (KIP-320); -1 asks for no check.

    An older epoch means that the sender must refresh; a newer one that we are behind ourselves.
    """
    if requested in (NO_EPOCH, current):
        return ErrorCode.NONE
    if requested < current:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH


def divergence(
    history: EpochHistory, last_fetched_epoch: int, fetch_offset: int
) -> EpochEnd | None:
    """Where the log of a follower that fetches here parts from ours, or None while they agree.

    UNDEFINED means that the epochs share nothing we know of.
    """
    end = EpochEnd(*history.end_offset_for_epoch(last_fetched_epoch))
    if end.end_offset == NO_OFFSET:
        return UNDEFINED
    if end.epoch < last_fetched_epoch or end.end_offset < fetch_offset:
        return end
    return None


def truncation_point(history: EpochHistory, diverging: EpochEnd) -> int:
    """The offset a follower truncates to when the leader's log parts from its own there.

    When the follower does not know the leader's epoch it goes back to the end of its own largest
    smaller epoch and fetches again from there: the leader then answers with a smaller epoch, and
    so on, until they find one they both know (KIP-279).
    """
    own_epoch, own_end = history.end_offset_for_epoch(diverging.epoch)
    if own_end == NO_OFFSET:
        return min(diverging.end_offset, history.log_end_offset)
    if own_epoch != diverging.epoch:
        return min(own_end, history.log_end_offset)
    return min(own_end, diverging.end_offset, history.log_end_offset)
