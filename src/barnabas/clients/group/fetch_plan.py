"""Decides which partitions to fetch from which broker, without IO.

A partition is fetched while fewer than `max.partition.fetch.bytes` of it are buffered, so that
fetching and processing overlap. At most one request per broker is in flight.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from barnabas.clients.core.apis.fetch import (
    FetchOptions,
    FetchSelection,
    FetchTarget,
    all_have_ids,
)
from barnabas.clients.group.subscription import AssignedPartition, Phase
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.net.fetch_session import FetchSession

HURRIED_WAIT_MS = 20
"""Maximum wait of a broker while the buffer of another of its partitions is full."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The consumer settings for fetching."""

    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    partition_max_bytes: int
    isolation: IsolationLevel
    rack: str

    def options(self, hurried: bool) -> FetchOptions:
        """Returns the fields of a request; `hurried` shortens the time that the broker waits."""
        wait_ms = min(self.max_wait_ms, HURRIED_WAIT_MS) if hurried else self.max_wait_ms
        return FetchOptions(wait_ms, self.min_bytes, self.max_bytes, self.isolation, self.rack)


@dataclass(frozen=True, slots=True)
class PartitionLeader:
    """The leader of a partition with its epoch and the topic id."""

    node_id: int
    leader_epoch: int
    topic_id: Uuid


@dataclass(slots=True)
class NodePlan:
    """The partitions to fetch from one broker; `hurried` if others there have a full buffer."""

    targets: dict[TopicPartition, FetchTarget]
    states: dict[TopicPartition, tuple[AssignedPartition, int]]
    hurried: bool = False


class ConsumerFetchSession(FetchSession[FetchTarget]):
    """The session of a consumer with one broker. It uses either topic names or topic ids."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        super().__init__()
        self._by_id = True

    def select(self, targets: dict[TopicPartition, FetchTarget]) -> FetchSelection:
        """Returns the contents of the next request, which fetches exactly these partitions."""
        by_id = all_have_ids(targets)
        if by_id != self._by_id:
            self.lost()
        self._by_id = by_id
        step = self.next(targets)
        return FetchSelection(step.changed, by_id, step.session_id, step.epoch, step.forgotten)


@dataclass(slots=True)
class FetchPlan:
    """The fetches to start now, and the time of the next check."""

    nodes: dict[int, NodePlan]
    leaderless: list[AssignedPartition]
    next_look_ms: int
    unvalidated: bool = False


def plan_fetches(
    states: Sequence[AssignedPartition],
    locate: Callable[[TopicPartition], PartitionLeader | None],
    limits: FetchLimits,
    now_ms: int,
) -> FetchPlan:
    """Returns the fetches for each broker.

    `fetch.max.bytes` limits the buffered bytes of all partitions that are not paused. Paused
    partitions do not count, because their buffered records would block the others.
    """
    ahead = sum(state.buffered_bytes for state in states if not state.paused)
    room = ahead < limits.max_bytes
    plan = FetchPlan({}, [], now_ms + limits.max_wait_ms)
    for state in states:
        if state.phase is not Phase.FETCHING or state.paused:
            continue
        if state.retry_at_ms > now_ms:
            plan.next_look_ms = min(plan.next_look_ms, state.retry_at_ms)
            continue
        topic_partition = locate(state.partition)
        if topic_partition is None:
            plan.leaderless.append(state)
            continue
        if state.leader_changed(topic_partition.leader_epoch):
            # Validate the position in the new leader's log before the next fetch (KIP-320).
            plan.unvalidated = True
            continue
        node = plan.nodes.setdefault(_read_from(state, topic_partition, now_ms), NodePlan({}, {}))
        if not room or state.buffered_bytes >= limits.partition_max_bytes:
            node.hurried = True
        else:
            node.states[state.partition] = (state, state.stamp)
            node.targets[state.partition] = FetchTarget(
                topic_partition.topic_id,
                state.fetch_offset,
                topic_partition.leader_epoch,
                limits.partition_max_bytes,
            )
    plan.nodes = {node_id: node for node_id, node in plan.nodes.items() if node.targets}
    return plan


def _read_from(state: AssignedPartition, topic_partition: PartitionLeader, now_ms: int) -> int:
    """Returns the leader, or the preferred read replica (KIP-392) until it expires."""
    if state.preferred_replica >= 0:
        if now_ms < state.preferred_until_ms:
            return state.preferred_replica
        state.preferred_replica = -1
    return topic_partition.node_id
