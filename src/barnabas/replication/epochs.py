"""Leader epochs: fencing, divergence of two logs, and the offset a follower truncates to.

Pure logic. The rules are those of KIP-101 as corrected by KIP-279; the leader detects divergence
during a fetch as in KIP-595. The fetch contains the epoch of the follower's last record, and a
leader with a different history returns the epoch and end offset at which the logs diverge. The
follower truncates to that offset, never to its high watermark.
"""

from typing import NamedTuple, Protocol

from barnabas.model.error_codes import ErrorCode
from barnabas.model.records import NO_EPOCH

NO_OFFSET = -1


class LogEpochEnd(NamedTuple):
    """An epoch and the offset after its last record."""

    epoch: int
    end_offset: int


UNDEFINED = LogEpochEnd(NO_EPOCH, NO_OFFSET)


class EpochHistory(Protocol):
    """The leader epochs of a log."""

    @property
    def log_end_offset(self) -> int: ...
    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """Returns the largest epoch not above `epoch` and its end; (-1, -1) when unknown."""
        ...


def check_leader_epoch(requested: int, current: int) -> ErrorCode:
    """Compares the leader epoch of a request with the current one (KIP-320); -1 disables it.

    With an older epoch the sender must refresh its metadata; with a newer one this broker has not
    received the controller's command yet.
    """
    if requested in (NO_EPOCH, current):
        return ErrorCode.NONE
    if requested < current:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH


def divergence(
    history: EpochHistory, last_fetched_epoch: int, fetch_offset: int
) -> LogEpochEnd | None:
    """Returns where the follower's log diverges from this one, or None if it does not.

    UNDEFINED means that the two logs have no known epoch in common.
    """
    end = LogEpochEnd(*history.end_offset_for_epoch(last_fetched_epoch))
    if end.end_offset == NO_OFFSET:
        return UNDEFINED
    if end.epoch < last_fetched_epoch or end.end_offset < fetch_offset:
        return end
    return None


def truncation_point(history: EpochHistory, diverging: LogEpochEnd) -> int:
    """Returns the offset a follower truncates to after the leader reported divergence.

    A follower without the leader's epoch truncates to the end of its largest smaller epoch and
    fetches again. The leader then returns a smaller epoch, until both have the epoch (KIP-279).
    """
    own_epoch, own_end = history.end_offset_for_epoch(diverging.epoch)
    if own_end == NO_OFFSET:
        return min(diverging.end_offset, history.log_end_offset)
    if own_epoch != diverging.epoch:
        return min(own_end, history.log_end_offset)
    return min(own_end, diverging.end_offset, history.log_end_offset)
