"""What a streaming query does next: the end of the batch, and what was lost on the way. Pure.

Loss is told by facts of the log alone: where it starts, where it ends, and which topic it is. A
gap inside the log, from compaction, an aborted transaction or a marker, is none of these and is
never called a loss.

A topic that was deleted and made anew under the same name has another topic id. It is taken in
two steps, so that the offsets alone tell the story when a batch is replayed: its partitions leave
the offsets, and come back as new ones, which begin at 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source.offsets import Offsets

DELETED = "the topic or partition was deleted"
RECREATED = "the topic was deleted and created again"
TRUNCATED = "the log was cut back, or the topic was deleted and created again"
LOG_START = "retention or a deletion of records moved the start of the log"


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets `first` to `last` of a partition that can never be read; `last` None: to its end."""

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
    """Records that the query should have read are gone; says which and why."""

    def __init__(self, losses: list[Loss]) -> None:
        super().__init__(losses)
        self.losses = losses

    def __str__(self) -> str:
        lost = "; ".join(str(loss) for loss in self.losses)
        return f"data is gone ({lost}). With failOnDataLoss=false the query goes on without it"


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What the driver sees: the end of every partition read, and which topics these are."""

    latest: Mapping[TopicPartition, int]
    topic_ids: Mapping[str, Uuid]


@dataclass(frozen=True, slots=True)
class Advance:
    """The reachable end, with the base to measure it from, and what is gone."""

    base: Offsets
    end: Offsets
    losses: list[Loss] = field(default_factory=list)


def advance(
    start: Mapping[TopicPartition, int],
    view: ClusterView,
    known_ids: Mapping[str, Uuid],
) -> Advance:
    """Where a query that stands at `start` can go. `known_ids` are the topics it has read."""
    base: Offsets = {}
    end: Offsets = {}
    losses: list[Loss] = []
    for place, position in start.items():
        latest = view.latest.get(place)
        loss = _gone(place, position, latest, view, known_ids)
        if loss is not None:
            losses.append(loss)
        if latest is None or _leaves(place, position, latest, view, known_ids):
            continue
        base[place], end[place] = min(position, latest), latest
    for place, latest in view.latest.items():
        if place not in start:
            base[place], end[place] = 0, latest
    return Advance(base, end, losses)


def log_start_loss(topic_partition: TopicPartition, position: int, earliest: int, end: int) -> Loss:
    """The loss of a range whose first offsets are below the start of the log."""
    return Loss(topic_partition, position, min(earliest, end) - 1, f"{LOG_START} to {earliest}")


def log_end_loss(topic_partition: TopicPartition, position: int, latest: int, end: int) -> Loss:
    """The loss of a range whose last offsets are beyond the end of the log."""
    return Loss(
        topic_partition, max(position, latest), end - 1, f"{TRUNCATED}; it ends at {latest}"
    )


def _gone(
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


def _leaves(
    topic_partition: TopicPartition,
    position: int,
    latest: int,
    view: ClusterView,
    known_ids: Mapping[str, Uuid],
) -> bool:
    """Whether the partition is another one by now, to be begun anew in the step after this.

    After a restart the ids of before are not known: a log that ends before the query's position
    is then taken for another topic's, since reading twice is better than never.
    """
    if _recreated(topic_partition, view, known_ids):
        return True
    return latest < position and topic_partition.topic not in known_ids


def _recreated(
    topic_partition: TopicPartition, view: ClusterView, known_ids: Mapping[str, Uuid]
) -> bool:
    known, now = known_ids.get(topic_partition.topic), view.topic_ids.get(topic_partition.topic)
    return known is not None and now is not None and known != now
