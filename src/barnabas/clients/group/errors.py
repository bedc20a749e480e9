"""The consumer's own errors: what only an application can decide about."""

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
    """A second thread used a consumer: it is for one thread, only `wakeup()` is for any."""


class OffsetError(BarnabasError):
    """A partition has no offset to read from; `seek()` or a reset policy gives it one."""

    def __init__(self, partition: TopicPartition, reason: str) -> None:
        super().__init__(f"{partition}: {reason}")
        self.partition = partition


class NoOffsetError(OffsetError):
    """Nothing is committed, and auto.offset.reset is none."""

    def __init__(self, partition: TopicPartition) -> None:
        super().__init__(partition, "no committed offset, and auto.offset.reset=none")


class OffsetOutOfRangeError(OffsetError):
    """The position is not in the log, and auto.offset.reset.out.of.range is none.

    That key follows auto.offset.reset where it is not set.
    """

    def __init__(self, partition: TopicPartition, offset: int) -> None:
        super().__init__(partition, f"offset {offset} is not in the log")
        self.offset = offset


class LogTruncationError(OffsetError):
    """The log was cut below the position: records that were read are gone (KIP-320).

    `divergent_offset` is where the logs part, or None when the leader does not know.
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
    """The group has moved on without this member: others own its partitions now."""
