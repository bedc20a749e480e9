"""Decides which partitions to fetch from which broker, without IO.

A partition is fetched while fewer bytes of it are buffered than one request asks for, so that
fetching and processing overlap. At most one request per broker is in flight. A request asks for
`max.partition.fetch.bytes` of a partition. If this is not configured, it asks for more of a
partition with a backlog: a request costs the same for one megabyte and for four. Then a second
response may wait while the first is read, so that the broker works without a pause.

If `fetch.max.bytes` is not configured either, less than its default is requested and buffered
(`FetchLimits.total_bytes`). Otherwise each partition is fetched alone as soon as its records were
taken: with ten partitions a request asked for 1 MB instead of 6 MB on average, and an asyncio
consumer read at 0.6 of its rate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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

SHORT_WAIT_MS = 20
"""Maximum wait of a broker while the buffer of another of its partitions is full."""


BACKLOG_FACTOR = 4
"""A request asks for this multiple of `max.partition.fetch.bytes` of a partition with a backlog."""

BACKLOG_RESPONSES = 2
"""So many responses of a partition with a backlog are buffered, and the next one is fetched."""

MAX_BACKLOG_BYTES = 8 * 1024 * 1024
"""Limit for all partitions with a backlog together; each still gets its ordinary limit."""

MIN_PARTITION_SHARE = 64 * 1024
"""An adaptive `total_bytes` has at least this for each partition: less leads to more requests."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The consumer settings for fetching."""

    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    partition_max_bytes: int
    isolation: IsolationLevel
    rack: str
    backlog_max_bytes: int = 0
    """Bytes of a partition with a backlog, if they are more than `partition_max_bytes`."""
    adaptive: bool = False
    """Whether `total_bytes` depends on the number of partitions; `max_bytes` is its upper limit."""

    def total_bytes(self, partitions: int) -> int:
        """Returns the limit of a response and of the buffer for a number of partitions."""
        if not self.adaptive:
            return self.max_bytes
        return min(max(MAX_BACKLOG_BYTES, partitions * MIN_PARTITION_SHARE), self.max_bytes)

    def options(self, node: "NodePlan") -> FetchOptions:
        """Returns the fields of a request that apply to all its partitions."""
        wait_ms = min(self.max_wait_ms, SHORT_WAIT_MS) if node.short_wait else self.max_wait_ms
        return FetchOptions(wait_ms, self.min_bytes, node.max_bytes, self.isolation, self.rack)

    def has_backlog(self, fetched_bytes: int, next_offset: int, end_offset: int) -> bool:
        """Whether the limit cut a response off: a large one that does not reach the end."""
        return next_offset < end_offset and 2 * fetched_bytes >= self.partition_max_bytes

    def ahead_limit(self, wanted: int) -> int:
        """Returns the buffered bytes up to which a partition is fetched with `wanted` bytes."""
        return BACKLOG_RESPONSES * wanted if wanted > self.partition_max_bytes else wanted

    def backlog_share(self, partitions: int) -> int:
        """Returns the bytes to request of each of so many partitions with a backlog."""
        share = MAX_BACKLOG_BYTES // max(partitions, 1)
        return max(min(share, self.backlog_max_bytes), self.partition_max_bytes)


class PartitionLeader(NamedTuple):
    """The leader of a partition with its epoch and the topic id."""

    node_id: int
    leader_epoch: int
    topic_id: Uuid


@dataclass(slots=True)
class NodePlan:
    """The partitions to fetch from one broker; `short_wait` if others there have a full buffer."""

    max_bytes: int
    targets: dict[TopicPartition, FetchTarget] = field(default_factory=dict)
    states: dict[TopicPartition, tuple[AssignedPartition, int]] = field(default_factory=dict)
    short_wait: bool = False


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
    next_check_ms: int
    unvalidated: bool = False
    missing_room: int = 0
    """Bytes that must be taken from the buffer before a partition that was left out is fetched."""
    without_room: list[int] = field(default_factory=list)
    """Brokers of which nothing can be fetched until then."""


def plan_fetches(
    states: Sequence[AssignedPartition],
    locate: Callable[[TopicPartition], PartitionLeader | None],
    limits: FetchLimits,
    now_ms: int,
) -> FetchPlan:
    """Returns the fetches for each broker.

    `FetchLimits.total_bytes` limits the buffered bytes of all partitions that are not paused.
    Paused partitions do not count, because their buffered records would block the others.
    """
    max_bytes = limits.total_bytes(len(states))
    excess = sum([state.buffered_bytes for state in states if not state.paused]) - max_bytes
    backlog_bytes = limits.backlog_share(sum([state.has_backlog for state in states]))
    plan = FetchPlan({}, [], now_ms + limits.max_wait_ms)
    for state in states:
        if state.phase is not Phase.FETCHING or state.paused:
            continue
        if state.retry_at_ms > now_ms:
            plan.next_check_ms = min(plan.next_check_ms, state.retry_at_ms)
            continue
        leader = locate(state.partition)
        if leader is None:
            plan.leaderless.append(state)
            continue
        if state.leader_epoch != leader.leader_epoch and state.leader_changed(leader.leader_epoch):
            # Validate the position in the new leader's log before the next fetch (KIP-320).
            plan.unvalidated = True
            continue
        node_id = leader.node_id
        if state.preferred_replica >= 0:
            node_id = _read_from(state, leader, now_ms)
        node = plan.nodes.get(node_id)
        if node is None:
            node = plan.nodes[node_id] = NodePlan(max_bytes)
        wanted = backlog_bytes if state.has_backlog else limits.partition_max_bytes
        if excess >= 0 or state.buffered_bytes >= limits.ahead_limit(wanted):
            node.short_wait = True
            plan.missing_room = max(excess, 0) + 1
        else:
            node.states[state.partition] = (state, state.stamp)
            node.targets[state.partition] = FetchTarget(
                leader.topic_id, state.fetch_offset, leader.leader_epoch, wanted
            )
    plan.without_room = [node_id for node_id, node in plan.nodes.items() if not node.targets]
    plan.nodes = {node_id: node for node_id, node in plan.nodes.items() if node.targets}
    return plan


def _read_from(state: AssignedPartition, leader: PartitionLeader, now_ms: int) -> int:
    """Returns the preferred read replica (KIP-392), or the leader if the preference expired."""
    if now_ms < state.preferred_until_ms:
        return state.preferred_replica
    state.preferred_replica = -1
    return leader.node_id
