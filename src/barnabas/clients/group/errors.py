"""Errors of the consumer that the application must handle."""

from barnabas.model.errors import BarnabasError, LocalError, WakeupError
from barnabas.model.ids import TopicPartition

__all__ = [
    "CommitFailedError",
    "ConcurrentUseError",
    "LogTruncationError",
    "NoOffsetError",
    "OffsetError",
    "OffsetOutOfRangeError",
    "WakeupError",
]


class ConcurrentUseError(LocalError):
    """A second thread used a consumer; other threads may only call `wakeup()`."""


class OffsetError(BarnabasError):
    """A partition has no valid position; `seek()` or auto.offset.reset sets one."""

    def __init__(self, partition: TopicPartition, reason: str) -> None:
        super().__init__(f"{partition}: {reason}")
        self.partition = partition


class NoOffsetError(OffsetError):
    """There is no committed offset, and auto.offset.reset is none."""

    def __init__(self, partition: TopicPartition) -> None:
        super().__init__(partition, "no committed offset, and auto.offset.reset=none")


class OffsetOutOfRangeError(OffsetError):
    """The position is not in the log, and auto.offset.reset.out.of.range is none.

    The default of that key is the value of auto.offset.reset.
    """

    def __init__(self, partition: TopicPartition, offset: int) -> None:
        super().__init__(partition, f"offset {offset} is not in the log")
        self.offset = offset


class LogTruncationError(OffsetError):
    """The log was truncated below the position: records that were read no longer exist (KIP-320).

    `divergent_offset` is the first offset at which the logs differ, None if it is unknown.
    """

    def __init__(
        self, partition: TopicPartition, offset: int, divergent_offset: int | None
    ) -> None:
        super().__init__(
            partition,
            f"the log was truncated below the position {offset}, to "
            f"{'an unknown offset' if divergent_offset is None else divergent_offset}",
        )
        self.offset = offset
        self.divergent_offset = divergent_offset


class CommitFailedError(BarnabasError):
    """The group has rebalanced without this member; other members own its partitions."""
