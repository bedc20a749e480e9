"""Plans the next micro-batch of a streaming query: its end, and the records that are lost. Pure.

A loss is derived only from the start and end of the log and the topic id. A gap inside the log,
from compaction, an aborted transaction or a marker, is not a loss.

A topic that was deleted and created again has another topic id. Two micro-batches handle it, so
that a replay depends on the offsets alone: the first removes its partitions from the offsets, the
second adds them as new partitions, which begin at 0.
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
    """The possible end of the micro-batch, the start that limits count from, and the losses."""

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
        loss = _gone(topic_partition, position, latest, view, known_ids)
        if loss is not None:
            losses.append(loss)
        if latest is None or _leaves(topic_partition, position, latest, view, known_ids):
            continue
        base[topic_partition], end[topic_partition] = min(position, latest), latest
    for topic_partition, latest in view.latest.items():
        if topic_partition not in start:
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
