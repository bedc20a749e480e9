"""Plans what a query reads: ranges of offsets, their tasks, limits per trigger, lost records. Pure.

A micro-batch that is replayed after a crash must be split as it was the first time; otherwise a
sink that skips finished tasks would skip the wrong rows. So ranges and tasks depend only on the
offsets and the options, not on the number of cores or the present state of the cluster.

Spark's Python API has no composite limit and no delay, so the minimum, the maximum and the longest
delay per trigger are applied here; the caller passes the time.

A loss is derived only from the start and end of the log and the topic id. A gap inside the log,
from compaction, an aborted transaction or a marker, is not a loss. A topic that was deleted and
created again has another topic id. Two micro-batches handle it, so that a replay depends on the
offsets alone: the first removes its partitions from the offsets, the second adds them as new
partitions, which begin at 0.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql.datasource import InputPartition

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source.offsets import Offsets

PACKED_RECORDS = 10_000
"""Small ranges share a task up to this many offsets: a task takes at least 10 ms."""
DELETED = "the topic or partition was deleted"
RECREATED = "the topic was deleted and created again"
TRUNCATED = "the log was cut back, or the topic was deleted and created again"
LOG_START = "retention or a deletion of records moved the start of the log"


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets `start` to `end` (exclusive) of one partition.

    `fresh` marks a partition that the query has not read before. It is read from its earliest
    record, so records that retention deleted before are not a loss.
    """

    topic: str
    partition: int
    start: int
    end: int
    fresh: bool = False

    @property
    def size(self) -> int:
        """The number of offsets; compaction and transactions may leave fewer records."""
        return self.end - self.start

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


def ranges_between(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
) -> list[OffsetRange]:
    """Returns the sorted ranges between two sets of offsets.

    A partition that is missing in `start` is new and begins at 0. One that ends before it starts
    was truncated: none of it is read.
    """
    ranges = [
        OffsetRange(
            topic_partition.topic,
            topic_partition.partition,
            start.get(topic_partition, 0),
            until,
            topic_partition not in start,
        )
        for topic_partition, until in end.items()
    ]
    return sorted(item for item in ranges if item.size > 0)


def split_ranges(
    ranges: Iterable[OffsetRange],
    *,
    min_partitions: int | None = None,
    max_records: int | None = None,
) -> list[OffsetRange]:
    """Splits ranges so that none exceeds `max_records`, then so that there are about
    `min_partitions`, the larger ones first."""
    cut = list(ranges)
    if max_records is not None:
        cut = [part for item in cut for part in _split(item, -(-item.size // max_records))]
    if min_partitions is not None and len(cut) < min_partitions:
        cut = _split_to(cut, min_partitions)
    return cut


def pack_ranges(
    ranges: Iterable[OffsetRange], limit: int = PACKED_RECORDS
) -> list[tuple[OffsetRange, ...]]:
    """Groups neighbouring ranges into tasks of up to `limit` offsets; a larger one stays alone."""
    tasks: list[list[OffsetRange]] = []
    room = 0
    for item in ranges:
        # Small ranges share a task, because a Spark task costs more than reading a few records.
        # Ranges stay in order, so the same offsets always give the same tasks (see the sink).
        if not tasks or item.size > room:
            tasks.append([])
            room = limit
        tasks[-1].append(item)
        room -= item.size
    return [tuple(task) for task in tasks]


def _split_to(ranges: list[OffsetRange], count: int) -> list[OffsetRange]:
    total = sum(item.size for item in ranges)
    # A range below the average size stays whole. Only the rest is divided, in proportion to its
    # size, as Spark's own source does for minPartitions.
    small = {item for item in ranges if item.size * count <= total}
    large_total = total - sum(item.size for item in small)
    left = count - len(small)
    parts: list[OffsetRange] = []
    for item in ranges:
        if item in small:
            parts.append(item)
        else:
            parts.extend(_split(item, max(1, round(item.size * left / large_total))))
    return parts


def _split(item: OffsetRange, count: int) -> list[OffsetRange]:
    count = max(1, min(count, item.size))
    bounds = [item.start + item.size * number // count for number in range(count + 1)]
    return [replace(item, start=low, end=high) for low, high in itertools.pairwise(bounds)]


@dataclass
class RangesPartition(InputPartition):
    """The offset ranges that one task reads.

    Pickled to an executor; holds no connection and no data.

    `index` is its position in the plan.
    """

    ranges: tuple[OffsetRange, ...]
    index: int


@dataclass(slots=True)
class TriggerLimits:
    """Limits the records of a micro-batch.

    Owned by the driver side of one query. `last_ms` is the time of the last micro-batch.
    """

    max_offsets: int | None
    min_offsets: int | None
    max_delay_ms: int
    last_ms: int | None = None

    def admit(
        self,
        start: Mapping[TopicPartition, int],
        latest: Mapping[TopicPartition, int],
        now_ms: int,
    ) -> Offsets:
        """Returns the end of the next micro-batch; `start` if it should wait for more records."""
        if self._too_few(start, latest, now_ms):
            return dict(start)
        self.last_ms = now_ms
        if self.max_offsets is None:
            return dict(latest)
        return rate_limit(self.max_offsets, start, latest)

    def _too_few(
        self,
        start: Mapping[TopicPartition, int],
        latest: Mapping[TopicPartition, int],
        now_ms: int,
    ) -> bool:
        # The first micro-batch after a start never waits: nothing is known about how long its
        # records have waited. A new or removed partition ends the wait as well, so that the
        # change gets into the checkpoint.
        if self.min_offsets is None or self.last_ms is None or start.keys() != latest.keys():
            return False
        if now_ms - self.last_ms >= self.max_delay_ms:
            return False
        return (
            sum(latest[topic_partition] - begin for topic_partition, begin in start.items())
            < self.min_offsets
        )


def rate_limit(
    limit: int, start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
) -> Offsets:
    """Returns the ends of about `limit` offsets, in proportion to the backlog of each partition.

    A partition with a backlog gets at least one offset, so that a small one does not starve beside
    a large one. The sum may therefore exceed the limit by the number of partitions.
    """
    sizes = {
        topic_partition: max(end - start.get(topic_partition, 0), 0)
        for topic_partition, end in latest.items()
    }
    total = sum(sizes.values())
    if total <= limit:
        return dict(latest)
    ends: Offsets = {}
    for topic_partition, size in sizes.items():
        share = max(limit * size // total, 1) if size else 0
        ends[topic_partition] = (
            start.get(topic_partition, 0) + share if size else latest[topic_partition]
        )
    return ends


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets `first` to `last` of a partition that cannot be read; `last` None: to its end."""

    partition: TopicPartition
    first: int
    last: int | None
    reason: str

    def __str__(self) -> str:
        what = (
            f"everything from offset {self.first} on"
            if self.last is None
            else f"offset {self.first}"
            if self.first == self.last
            else f"offsets {self.first} to {self.last}"
        )
        return f"{self.partition}: {what}: {self.reason}"


class DataLossError(BarnabasError):
    """Records that the query has not read were deleted; the message says which and why."""

    def __init__(self, losses: list[Loss]) -> None:
        super().__init__(losses)
        self.losses = losses

    def __str__(self) -> str:
        lost = "; ".join(str(loss) for loss in self.losses)
        return f"data is gone ({lost}). With failOnDataLoss=false the query continues without it"


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The end of every subscribed partition, and the ids of the topics."""

    latest: Mapping[TopicPartition, int]
    topic_ids: Mapping[str, Uuid]


@dataclass(frozen=True, slots=True)
class Advance:
    """How far a micro-batch can read: from `base`, where its limits begin to count, to `end`."""

    base: Offsets
    end: Offsets
    losses: list[Loss] = field(default_factory=list)


def advance(
    start: Mapping[TopicPartition, int],
    view: ClusterView,
    known_ids: Mapping[str, Uuid],
) -> Advance:
    """Returns how far a query at `start` can read. `known_ids` are the topics it has read."""
    base: Offsets = {}
    end: Offsets = {}
    losses: list[Loss] = []
    for topic_partition, position in start.items():
        latest = view.latest.get(topic_partition)
        loss = _partition_loss(topic_partition, position, latest, view, known_ids)
        if loss is not None:
            losses.append(loss)
        if latest is None or _starts_again(topic_partition, position, latest, view, known_ids):
            continue
        # min: after a truncation there is nothing to read, and a base beyond the end would count
        # as a negative backlog for the limits.
        base[topic_partition], end[topic_partition] = min(position, latest), latest
    for topic_partition, latest in view.latest.items():
        if topic_partition not in start:
            # A partition that appeared while the query runs is read from its beginning, also with
            # startingOffsets=latest: its records are newer than the query.
            base[topic_partition], end[topic_partition] = 0, latest
    return Advance(base, end, losses)


def log_start_loss(topic_partition: TopicPartition, position: int, earliest: int, end: int) -> Loss:
    """Returns the loss of a range that begins before the start of the log."""
    return Loss(topic_partition, position, min(earliest, end) - 1, f"{LOG_START} to {earliest}")


def log_end_loss(topic_partition: TopicPartition, position: int, latest: int, end: int) -> Loss:
    """Returns the loss of a range that ends after the end of the log."""
    return Loss(
        topic_partition, max(position, latest), end - 1, f"{TRUNCATED}; it ends at {latest}"
    )


def _partition_loss(
    topic_partition: TopicPartition,
    position: int,
    latest: int | None,
    view: ClusterView,
    known_ids: Mapping[str, Uuid],
) -> Loss | None:
    if latest is None:
        return Loss(topic_partition, position, None, DELETED)
    if _recreated(topic_partition, view, known_ids):
        return Loss(topic_partition, position, None, RECREATED)
    if latest < position:
        return Loss(topic_partition, latest, position - 1, TRUNCATED)
    return None


def _starts_again(
    topic_partition: TopicPartition,
    position: int,
    latest: int,
    view: ClusterView,
    known_ids: Mapping[str, Uuid],
) -> bool:
    """Returns whether the topic was created again: the next micro-batch then begins at 0.

    If the earlier id is unknown after a restart, a log that ends before the query's position counts
    as created again, because reading records twice is better than skipping them.
    """
    if _recreated(topic_partition, view, known_ids):
        return True
    return latest < position and topic_partition.topic not in known_ids


def _recreated(
    topic_partition: TopicPartition, view: ClusterView, known_ids: Mapping[str, Uuid]
) -> bool:
    known, now = known_ids.get(topic_partition.topic), view.topic_ids.get(topic_partition.topic)
    return known is not None and now is not None and known != now
