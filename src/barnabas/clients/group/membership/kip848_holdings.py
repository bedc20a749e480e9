"""The partitions of a KIP-848 member: owned, aimed at, and told to the broker. Pure.

The broker speaks of topics by id, the polling thread reads them by name. A target is taken in by
steps: what is not in it is given up first, then what is missing is added. A target with a topic
whose name is not known yet waits for metadata, as a whole. Epochs and heartbeats are `kip848`'s
business.
"""

from collections.abc import Mapping

from barnabas.clients.group.membership.actions import Step, StepKind
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.messages.consumer_group_heartbeat import Assignment, TopicPartitions

Places = frozenset[TopicPartition]
NOTHING: Places = frozenset()


class Holdings:
    """Part of a `Kip848Member`; `names` are topics by id, kept current by somebody else."""

    __slots__ = ("_names", "_target", "_told", "owned")

    def __init__(self, names: Mapping[Uuid, str]) -> None:
        self._names = names
        self.owned: Places = NOTHING
        self._target: dict[Uuid, list[int]] | None = None
        self._told: Places | None = None

    # -- towards the target --------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether no target is being taken in."""
        return self._target is None

    def aim(self, assignment: Assignment) -> None:
        self._target = {
            item.topic_id: list(item.partitions) for item in assignment.topic_partitions
        }

    def drop_target(self) -> None:
        """Thrown out: neither what was aimed at nor what was told counts any more."""
        self._target, self._told = None, None

    def wanted(self) -> Places | None:
        """The target by topic names; None without one, or while a topic's name is not known."""
        if self._target is None or any(topic_id not in self._names for topic_id in self._target):
            return None
        return frozenset(
            TopicPartition(self._names[topic_id], number)
            for topic_id, numbers in self._target.items()
            for number in numbers
        )

    def next_step(self) -> Step | None:
        """What the polling thread does next on the way to the target; None while it cannot."""
        wanted = self.wanted()
        if wanted is None:
            return None
        if self.owned - wanted:
            return Step(StepKind.REVOKE, self.owned - wanted)
        return Step(StepKind.ASSIGN, wanted - self.owned)

    def apply_step(self, step: Step) -> None:
        """The polling thread has run this step."""
        if step.kind is StepKind.ASSIGN:
            self.owned |= step.partitions
        else:
            self.owned -= step.partitions

    def try_settle(self) -> bool:
        """Whether the target is reached; it is none then."""
        if self.wanted() != self.owned:
            return False
        self._target = None
        return True

    # -- what the broker knows -----------------------------------------------------------------

    @property
    def untold(self) -> bool:
        """Whether the broker knows of other partitions than are owned."""
        return self.owned != self._told

    def tell(self) -> list[TopicPartitions]:
        """What is owned, by topic id, for the next heartbeat; it counts as told."""
        self._told = self.owned
        ids = {name: topic_id for topic_id, name in self._names.items()}
        by_topic: dict[Uuid, list[int]] = {}
        for place in sorted(self.owned):
            if place.topic in ids:
                by_topic.setdefault(ids[place.topic], []).append(place.partition)
        return [
            TopicPartitions(topic_id=topic_id, partitions=numbers)
            for topic_id, numbers in by_topic.items()
        ]
