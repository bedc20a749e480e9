"""What a consumer reads: topics it subscribed to or partitions it was assigned, and their states.

Shared by the thread that polls and the loop that fetches; every method takes `lock` for a short
time. Only the polling thread changes which partitions are assigned, so a rebalance never takes a
partition away in the middle of a poll.
"""

import enum
import re
import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any

from barnabas.clients.group.partition_state import PartitionState, Phase
from barnabas.model.errors import LocalError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition


class SubscriptionKind(enum.Enum):
    """How partitions come to this consumer; one way at a time."""

    NONE = "nothing"
    TOPICS = "subscribe(topics)"
    PATTERN = "subscribe(pattern)"
    ASSIGNED = "assign()"


class SubscriptionState:
    """See the module; `generation` counts changes of what is subscribed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kind = SubscriptionKind.NONE
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.listener: Any = None
        self.generation = 0
        self._states: dict[TopicPartition, PartitionState] = {}

    # -- what is subscribed --------------------------------------------------------------------

    def subscribe(self, topics: Iterable[str], listener: Any) -> None:
        self._become(SubscriptionKind.TOPICS, listener)
        self.topics = frozenset(topics)

    def subscribe_pattern(self, pattern: "re.Pattern[str]", listener: Any) -> None:
        self._become(SubscriptionKind.PATTERN, listener)
        self.pattern = pattern
        self.topics = frozenset()

    def unsubscribe(self) -> None:
        """Nothing is read any more."""
        self.kind = SubscriptionKind.NONE
        self.topics, self.pattern, self.listener = frozenset(), None, None
        self.generation += 1
        self.replace_assignment(())

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these, without a group's say."""
        self._become(SubscriptionKind.ASSIGNED, None)
        self.replace_assignment(partitions)

    @property
    def uses_group(self) -> bool:
        """Whether a group decides what this consumer reads."""
        return self.kind in (SubscriptionKind.TOPICS, SubscriptionKind.PATTERN)

    def matched(self, names: Iterable[str]) -> bool:
        """Topics that fit the pattern now; True when that is a change."""
        found = frozenset(names)
        changed = found != self.topics
        self.topics = found
        return changed

    def _become(self, kind: SubscriptionKind, listener: Any) -> None:
        if self.kind not in (SubscriptionKind.NONE, kind):
            raise LocalError(f"{self.kind.value} is in use: unsubscribe() before {kind.value}")
        self.kind, self.listener = kind, listener
        self.generation += 1

    # -- what is assigned ----------------------------------------------------------------------

    def replace_assignment(self, partitions: Iterable[TopicPartition]) -> None:
        """From now on these; positions of those that stay are kept."""
        with self.lock:
            kept = {
                topic_partition: self._states.get(topic_partition)
                or PartitionState(topic_partition)
                for topic_partition in dict.fromkeys(partitions)
            }
            for topic_partition, state in self._states.items():
                if topic_partition not in kept:
                    state.void()
            self._states = kept

    def assigned(self) -> list[TopicPartition]:
        return list(self._states)

    def states(self) -> list[PartitionState]:
        """Every assigned partition's state; the list is the caller's, the states are not."""
        return list(self._states.values())

    def get(self, topic_partition: TopicPartition) -> PartitionState | None:
        return self._states.get(topic_partition)

    def require(self, topic_partition: TopicPartition) -> PartitionState:
        """The state of an assigned partition; LocalError for another."""
        state = self._states.get(topic_partition)
        if state is None:
            raise LocalError(f"{topic_partition} is not assigned to this consumer")
        return state

    # -- positions -----------------------------------------------------------------------------

    def change(
        self, partitions: Collection[TopicPartition], change: Callable[[PartitionState], object]
    ) -> None:
        """Apply a change to partitions, to none of them when one is not assigned."""
        states = [self.require(topic_partition) for topic_partition in partitions]
        with self.lock:
            for state in states:
                change(state)

    def consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The positions: what everything that poll() returned amounts to."""
        with self.lock:
            return {
                state.partition: OffsetAndMetadata(state.offset, "", state.epoch)
                for state in self._states.values()
                if state.has_position
            }

    def in_phase(self, phase: Phase, now_ms: int) -> list[PartitionState]:
        """Partitions that wait for something, and are due for a try."""
        with self.lock:
            return [
                state
                for state in self._states.values()
                if state.phase is phase and state.retry_at_ms <= now_ms
            ]
