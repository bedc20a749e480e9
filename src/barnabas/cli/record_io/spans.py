"""From a range of the offset grammar to numbers, partition by partition.

The end of each partition is looked up once, at the start, so that a command with a stop ends.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from barnabas.cli.record_io.offset_grammar import Bound, BoundKind, OffsetRange
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel

if TYPE_CHECKING:
    from barnabas.admin import Admin


class Span(NamedTuple):
    """Offsets to read in one partition: [start, stop), without an end when `stop` is None."""

    start: int
    stop: int | None

    @property
    def size(self) -> int:
        return 0 if self.stop is None else max(self.stop - self.start, 0)


class Edges(NamedTuple):
    """What a partition holds now: offsets from `first` up to, not including, `end`."""

    first: int
    end: int


def edges_of(
    admin: "Admin", partitions: Iterable[TopicPartition], *, committed_only: bool = False
) -> dict[TopicPartition, Edges]:
    """First and end offset of each partition; committed records end where a transaction is open."""
    from barnabas.admin import EARLIEST, LATEST

    isolation = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
    places = list(partitions)
    first = admin.list_offsets(dict.fromkeys(places, EARLIEST)).check()
    end = admin.list_offsets(dict.fromkeys(places, LATEST), isolation=isolation).check()
    return {p: Edges(first[p].offset or 0, end[p].offset or 0) for p in places}


def resolve(
    admin: "Admin",
    partitions: Sequence[TopicPartition],
    wanted: OffsetRange,
    group: str | None = None,
    *,
    committed_only: bool = False,
) -> dict[TopicPartition, Span]:
    """The span of every partition; BrokerError OFFSET_OUT_OF_RANGE for an offset not there.

    `committed_only` must be the reader's isolation, or it waits for what it may not see yet.
    """
    edges = edges_of(admin, partitions, committed_only=committed_only)
    starts = _offsets(admin, edges, wanted.start, group)
    if wanted.start.kind is BoundKind.OFFSET:
        _check_offset(edges, wanted.start.value)
    stops: Mapping[TopicPartition, int | None] = dict.fromkeys(partitions)
    if wanted.stop is not None:
        stops = _offsets(admin, edges, wanted.stop, group)
    return {place: Span(starts[place], stops[place]) for place in partitions}


def _offsets(
    admin: "Admin", edges: Mapping[TopicPartition, Edges], bound: Bound, group: str | None
) -> dict[TopicPartition, int]:
    match bound.kind:
        case BoundKind.START:
            return {place: edge.first for place, edge in edges.items()}
        case BoundKind.END:
            return {place: edge.end for place, edge in edges.items()}
        case BoundKind.AFTER_START:
            return {p: min(edge.first + bound.value, edge.end) for p, edge in edges.items()}
        case BoundKind.BEFORE_END:
            return {p: max(edge.end - bound.value, edge.first) for p, edge in edges.items()}
        case BoundKind.TIME:
            return offsets_at(admin, edges, bound.value)
        case BoundKind.COMMITTED:
            return _committed(admin, edges, group)
        case _:
            return {place: max(bound.value, edge.first) for place, edge in edges.items()}


def offsets_at(
    admin: "Admin", edges: Mapping[TopicPartition, Edges], timestamp_ms: int
) -> dict[TopicPartition, int]:
    """The first record at or after a time; the end where there is none."""
    from barnabas.admin import OffsetSpec

    found = admin.list_offsets(dict.fromkeys(edges, OffsetSpec.at(timestamp_ms))).check()
    return {
        place: edge.end if found[place].offset is None else int(found[place].offset or 0)
        for place, edge in edges.items()
    }


def _committed(
    admin: "Admin", edges: Mapping[TopicPartition, Edges], group: str | None
) -> dict[TopicPartition, int]:
    if group is None:
        raise ConfigError("offset 'committed' needs --group")
    offsets = admin.list_group_offsets({group: list(edges)})[group]
    return {
        place: edge.first if (known := offsets.get(place)) is None else known.offset
        for place, edge in edges.items()
    }


def _check_offset(edges: Mapping[TopicPartition, Edges], offset: int) -> None:
    """An offset that no partition has is a mistake; of several, some may begin later or end."""
    if any(edge.first <= offset <= edge.end for edge in edges.values()):
        return
    held = "; ".join(f"{place} has {e.first} to {e.end}" for place, e in edges.items())
    raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"there is no offset {offset}: {held}")
