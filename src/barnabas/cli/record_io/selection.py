"""The records that a command line selects: topics, partitions and ranges of offsets.

Topics and partitions are written `orders`, `orders:0,2` or `orders:0-3`. The values of `-o` of
`consume`, `dump` and `copy` are ranges of offsets:

    start          all records, then new ones
    end            only new records
    :end           all records that exist now, then stop
    N   N:M        from offset N; N up to, not including, M
    +N  -N         N after the first; N before the end
    @T  @T1:T2     from a time; @-1h is an hour ago; @-2h:-1h an hour of records
    committed      from the committed offset of the group

A missing start (`:M`) is the log start offset, a missing stop (`N:`) is no stop. An invalid value
is an error. `resolve` converts a range to offsets of each partition. It reads the log end offset
once, so a command with a stop ends although records are still produced.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from barnabas.admin import EARLIEST, LATEST, OffsetSpec
from barnabas.cli.framework.output import parse_time
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel

if TYPE_CHECKING:
    from barnabas.admin import Admin


TopicSelection = tuple[str, tuple[int, ...] | None]


def parse_selection(text: str) -> TopicSelection:
    """Returns a topic and its partitions; None stands for all partitions.

    >>> parse_selection("orders:0,2-4"), parse_selection("orders")
    (('orders', (0, 2, 3, 4)), ('orders', None))
    """
    topic, colon, numbers = text.partition(":")
    return topic, parse_partitions(numbers) if colon else None


def parse_partitions(text: str) -> tuple[int, ...]:
    """Returns the partitions of a list of numbers and ranges, such as `0,2-4`."""
    found: list[int] = []
    for piece in text.split(","):
        low, dash, high = piece.strip().partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise ConfigError(f"{text!r} is not a list of partitions: write 0,2 or 0-3")
        found.extend(range(int(low), int(high or low) + 1))
    return tuple(found)


def select_partitions(admin: "Admin", selections: Iterable[TopicSelection]) -> list[TopicPartition]:
    """Returns the selected partitions after checking that they exist."""
    wanted = list(selections)
    known = admin.describe_topics(dict.fromkeys(topic for topic, _ in wanted)).check()
    found: list[TopicPartition] = []
    for topic, numbers in wanted:
        there = [item.partition for item in known[topic].partitions]
        found.extend(TopicPartition(topic, n) for n in _checked(topic, numbers, there))
    return list(dict.fromkeys(found))


def named_partitions(admin: "Admin", texts: Iterable[str]) -> list[TopicPartition]:
    """Returns the existing partitions that arguments `TOPIC[:PARTITIONS]` name."""
    return select_partitions(admin, [parse_selection(text) for text in texts])


def _checked(topic: str, wanted: Sequence[int] | None, there: Sequence[int]) -> Sequence[int]:
    if wanted is None:
        return there
    for number in wanted:
        if number not in there:
            raise BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {topic!r} has {len(there)} partitions; partition {number} does not exist",
            )
    return wanted


class BoundKind(enum.Enum):
    START = "start"
    END = "end"
    OFFSET = "offset"
    AFTER_START = "after start"
    BEFORE_END = "before end"
    TIME = "time"
    COMMITTED = "committed"


@dataclass(frozen=True, slots=True)
class Bound:
    """Start or stop of a range; `value` is an offset, a count or milliseconds."""

    kind: BoundKind
    value: int = 0


@dataclass(frozen=True, slots=True)
class ReadRange:
    """The range from `start` to `stop`, exclusive; without a stop it has no end."""

    start: Bound
    stop: Bound | None = None


START = Bound(BoundKind.START)
END = Bound(BoundKind.END)
_WORDS = {
    "start": START,
    "earliest": START,
    "beginning": START,
    "end": END,
    "latest": END,
    "committed": Bound(BoundKind.COMMITTED),
    "stored": Bound(BoundKind.COMMITTED),
}


def parse_range(text: str, now_ms: int) -> ReadRange:
    """Parses the value of `-o`.

    >>> parse_range("10:20", 0)
    ReadRange(start=Bound(kind=<BoundKind.OFFSET: 'offset'>, value=10), \
stop=Bound(kind=<BoundKind.OFFSET: 'offset'>, value=20))
    """
    if text.startswith("@"):
        return _parse_times(text[1:], text, now_ms)
    start, colon, stop = text.partition(":")
    if not text or text == ":":
        raise _bad(text)
    return _in_order(
        text,
        _bound(start, text) if start else START,
        _bound(stop, text) if stop and colon else None,
    )


def _in_order(text: str, start: Bound, stop: Bound | None) -> ReadRange:
    """Returns the range; raises ConfigError if it is sure to have no records, as in 8:5."""
    if stop is not None and start.kind is stop.kind:
        first, last = start.value, stop.value
        if start.kind is BoundKind.BEFORE_END:
            first, last = last, first
        if last < first:
            raise ConfigError(f"offset {text!r}: the range ends before it starts")
    return ReadRange(start, stop)


def _parse_times(body: str, text: str, now_ms: int) -> ReadRange:
    """Parses `T` or `T1:T2`. Times contain colons, so each colon is tried as the separator."""
    divided = [at for at, char in enumerate(body) if char == ":"]
    for cut in divided:
        try:
            start, stop = _time(body[:cut], now_ms), _time(body[cut + 1 :].lstrip("@"), now_ms)
        except ConfigError:
            continue
        return _in_order(text, start, stop)
    try:
        return ReadRange(_time(body, now_ms))
    except ConfigError as error:
        raise ConfigError(f"offset {text!r}: {error}") from error


def _time(text: str, now_ms: int) -> Bound:
    if text == "end":
        return END
    return Bound(BoundKind.TIME, parse_time(text, now_ms))


def _bound(text: str, whole: str) -> Bound:
    word = _WORDS.get(text)
    if word is not None:
        return word
    sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
    if not (digits.isascii() and digits.isdigit()):
        raise _bad(whole)
    kinds = {"+": BoundKind.AFTER_START, "-": BoundKind.BEFORE_END, "": BoundKind.OFFSET}
    return Bound(kinds[sign], int(digits))


def _bad(text: str) -> ConfigError:
    return ConfigError(
        f"offset {text!r} is invalid: write start, end, :end, 42, 10:20, +5, -5, "
        "@2024-05-01T12:00, @-1h or committed"
    )


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
