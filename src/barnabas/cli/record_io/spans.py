"""Converts a range of the offset grammar to offsets of each partition.

The log end offset is read once at the start, so a command with a stop ends although records are
still produced.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from barnabas.cli.record_io.offset_grammar import Bound, BoundKind, ReadRange
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel

if TYPE_CHECKING:
    from barnabas.admin import Admin


class OffsetSpan(NamedTuple):
    """Offsets to read in one partition: [start, stop), without an end when `stop` is None."""

    start: int
    stop: int | None

    @property
    def size(self) -> int:
        return 0 if self.stop is None else max(self.stop - self.start, 0)


class LogOffsets(NamedTuple):
    """Log start offset and log end offset of a partition."""

    start: int
    end: int


def log_offsets_of(
    admin: "Admin", partitions: Iterable[TopicPartition], *, committed_only: bool = False
) -> dict[TopicPartition, LogOffsets]:
    """Returns the log start and end offset of each partition.

    With `committed_only` the end is the last stable offset.
    """
    from barnabas.admin import EARLIEST, LATEST

    isolation = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
    topic_partitions = list(partitions)
    first = admin.list_offsets(dict.fromkeys(topic_partitions, EARLIEST)).check()
    end = admin.list_offsets(dict.fromkeys(topic_partitions, LATEST), isolation=isolation).check()
    return {p: LogOffsets(first[p].offset or 0, end[p].offset or 0) for p in topic_partitions}


def resolve(
    admin: "Admin",
    partitions: Sequence[TopicPartition],
    wanted: ReadRange,
    group: str | None = None,
    *,
    committed_only: bool = False,
) -> dict[TopicPartition, OffsetSpan]:
    """Returns the span of every partition.

    `committed_only` must match the isolation level of the reader; otherwise a read_committed
    reader waits for records of open transactions.

    Raises:
        BrokerError: OFFSET_OUT_OF_RANGE when no partition has the start offset.
    """
    log_offsets = log_offsets_of(admin, partitions, committed_only=committed_only)
    starts = _offsets(admin, log_offsets, wanted.start, group)
    if wanted.start.kind is BoundKind.OFFSET:
        _check_offset(log_offsets, wanted.start.value)
    stops: Mapping[TopicPartition, int | None] = dict.fromkeys(partitions)
    if wanted.stop is not None:
        stops = _offsets(admin, log_offsets, wanted.stop, group)
    return {
        topic_partition: OffsetSpan(starts[topic_partition], stops[topic_partition])
        for topic_partition in partitions
    }


def _offsets(
    admin: "Admin",
    log_offsets: Mapping[TopicPartition, LogOffsets],
    bound: Bound,
    group: str | None,
) -> dict[TopicPartition, int]:
    match bound.kind:
        case BoundKind.START:
            return {topic_partition: log.start for topic_partition, log in log_offsets.items()}
        case BoundKind.END:
            return {topic_partition: log.end for topic_partition, log in log_offsets.items()}
        case BoundKind.AFTER_START:
            return {p: min(log.start + bound.value, log.end) for p, log in log_offsets.items()}
        case BoundKind.BEFORE_END:
            return {p: max(log.end - bound.value, log.start) for p, log in log_offsets.items()}
        case BoundKind.TIME:
            return offsets_at(admin, log_offsets, bound.value)
        case BoundKind.COMMITTED:
            return _committed(admin, log_offsets, group)
        case _:
            return {
                topic_partition: max(bound.value, log.start)
                for topic_partition, log in log_offsets.items()
            }


def offsets_at(
    admin: "Admin", log_offsets: Mapping[TopicPartition, LogOffsets], timestamp_ms: int
) -> dict[TopicPartition, int]:
    """Returns the offset of the first record at or after a time, or the log end offset."""
    from barnabas.admin import OffsetSpec

    found = admin.list_offsets(dict.fromkeys(log_offsets, OffsetSpec.at(timestamp_ms))).check()
    return {
        topic_partition: log.end
        if found[topic_partition].offset is None
        else int(found[topic_partition].offset or 0)
        for topic_partition, log in log_offsets.items()
    }


def _committed(
    admin: "Admin", log_offsets: Mapping[TopicPartition, LogOffsets], group: str | None
) -> dict[TopicPartition, int]:
    if group is None:
        raise ConfigError("offset 'committed' needs --group")
    offsets = admin.list_group_offsets({group: list(log_offsets)})[group]
    return {
        topic_partition: log.start
        if (known := offsets.get(topic_partition)) is None
        else known.offset
        for topic_partition, log in log_offsets.items()
    }


def _check_offset(log_offsets: Mapping[TopicPartition, LogOffsets], offset: int) -> None:
    """Rejects an offset that is outside the range of every partition."""
    if any(log.start <= offset <= log.end for log in log_offsets.values()):
        return
    ranges = "; ".join(
        f"{topic_partition} has {log.start} to {log.end}"
        for topic_partition, log in log_offsets.items()
    )
    raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {offset} does not exist: {ranges}")
