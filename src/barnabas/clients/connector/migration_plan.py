"""What moving a group's offsets between ZooKeeper and Kafka would do. Pure."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition


class Direction(enum.Enum):
    """Where to."""

    TO_KAFKA = "kafka"
    TO_ZOOKEEPER = "zookeeper"


class Step(enum.Enum):
    """What happens to one partition."""

    CREATE = "the target has no offset yet"
    ADVANCE = "the target is behind"
    REWIND = "the target is ahead: records would be read again"
    KEEP = "both are equal"


@dataclass(frozen=True, slots=True)
class OffsetMove:
    """One partition of a plan."""

    place: TopicPartition
    source: int
    target: int | None

    @property
    def step(self) -> Step:
        if self.target is None:
            return Step.CREATE
        if self.target == self.source:
            return Step.KEEP
        return Step.ADVANCE if self.target < self.source else Step.REWIND


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """Every partition that has an offset at the source; `members` live in the old registry."""

    group: str
    direction: Direction
    moves: tuple[OffsetMove, ...]
    members: tuple[str, ...] = ()

    def changes(self, *, allow_rewind: bool = False) -> dict[TopicPartition, int]:
        """The offsets to write."""
        wanted = {Step.CREATE, Step.ADVANCE} | ({Step.REWIND} if allow_rewind else set())
        return {move.place: move.source for move in self.moves if move.step in wanted}


def plan_migration(
    group: str,
    direction: Direction,
    source: Mapping[TopicPartition, int],
    target: Mapping[TopicPartition, int],
    members: tuple[str, ...] = (),
) -> MigrationPlan:
    """Compare the two sides."""
    moves = tuple(OffsetMove(place, source[place], target.get(place)) for place in sorted(source))
    return MigrationPlan(group, direction, moves, members)
