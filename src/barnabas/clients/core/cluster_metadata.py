"""The metadata of the cluster as a client knows it. No IO.

A partition's leader epoch never decreases: the response of a broker that lags does not replace
newer metadata (KAFKA-7747). A different topic id means that the topic was created again, so the
metadata of the old topic is dropped (KAFKA-12257).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.net.connection_options import Address
from barnabas.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

PERMANENT_TOPIC_ERRORS = frozenset(
    {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.INVALID_TOPIC_EXCEPTION}
)


@dataclass(frozen=True, slots=True)
class Node:
    """A broker in the metadata."""

    id: int
    host: str
    port: int
    rack: str | None = None
    address: Address = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", Address(self.host, self.port))


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """The leader, leader epoch, replicas and in-sync replicas of one partition."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """One topic in the last Metadata response."""

    name: str
    topic_id: Uuid
    internal: bool
    partitions: dict[int, PartitionInfo]
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """A partition with its leader and replicas; `leader` is None while it has none.

    A replica on a broker that is not running has the host "" and the port -1.
    """

    topic: str
    partition: int
    leader: Node | None
    leader_epoch: int
    replicas: tuple[Node, ...]
    isr: tuple[Node, ...]

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition by topic name."""
        return TopicPartition(self.topic, self.partition)


@dataclass(slots=True)
class ClusterMetadata:
    """Brokers, topics and leaders. Owned by the event loop or thread of one client."""

    brokers: dict[int, Node] = field(default_factory=dict)
    topics: dict[str, TopicInfo] = field(default_factory=dict)
    topic_names: dict[Uuid, str] = field(default_factory=dict)
    controller_id: int = -1
    cluster_id: str | None = None
    generation: int = 0
    deleted: set[str] = field(default_factory=set)
    """Topics that had partitions before and are not in the cluster any more."""

    def apply(self, response: MetadataResponse, *, complete: bool = False) -> None:
        """Applies a Metadata response; a `complete` one contains all topics of the cluster."""
        self.brokers = {
            item.node_id: Node(item.node_id, item.host, item.port, item.rack)
            for item in response.brokers
        }
        self.controller_id = response.controller_id
        self.cluster_id = response.cluster_id
        for topic in response.topics:
            if topic.name is not None:
                self._apply_topic(topic.name, topic)
        if complete:
            gone = self.topics.keys() - {topic.name for topic in response.topics}
            self.deleted |= gone
            self.forget(gone)
        self.generation += 1

    def forget(self, topics: Iterable[str]) -> None:
        """Drops the metadata of topics."""
        for name in topics:
            topic = self.topics.pop(name, None)
            if topic is not None:
                self.topic_names.pop(topic.topic_id, None)
        self.generation += 1

    def leader_of(self, topic_partition: TopicPartition) -> tuple[Node, int] | None:
        """Returns the leader and its epoch, or None if the metadata has no leader."""
        topic = self.topics.get(topic_partition.topic)
        info = topic.partitions.get(topic_partition.partition) if topic is not None else None
        node = self.brokers.get(info.leader) if info is not None else None
        return (node, info.leader_epoch) if node is not None and info is not None else None

    def partitions_of(self, topic: str) -> list[PartitionMetadata]:
        """Returns the partitions of a topic by number; none if the topic is unknown."""
        info = self.topics.get(topic)
        partitions = {} if info is None else info.partitions
        return [self.describe(TopicPartition(topic, partition)) for partition in sorted(partitions)]

    def describe(self, topic_partition: TopicPartition) -> PartitionMetadata:
        """Returns a known partition with its leader and replicas."""
        info = self.topics[topic_partition.topic].partitions[topic_partition.partition]

        def nodes(ids: tuple[int, ...]) -> tuple[Node, ...]:
            return tuple(self.brokers.get(number) or Node(number, "", -1) for number in ids)

        return PartitionMetadata(
            *topic_partition,
            self.brokers.get(info.leader),
            info.leader_epoch,
            nodes(info.replicas),
            nodes(info.isr),
        )

    def partition_count(self, topic: str) -> int | None:
        """Returns the number of partitions, or None if the topic is unknown."""
        info = self.topics.get(topic)
        return len(info.partitions) if info is not None and info.partitions else None

    def no_leader_error(self, topic_partition: TopicPartition) -> BrokerError:
        """Returns the error for a partition for which `leader_of` returns None."""
        topic = self.topics.get(topic_partition.topic)
        if topic is None or not topic.partitions:
            code = topic.error if topic and topic.error else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return BrokerError(code, f"topic {topic_partition.topic!r}: {code.explanation}")
        if topic_partition.partition not in topic.partitions:
            return BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {topic_partition.topic!r} has {len(topic.partitions)} partitions, "
                f"no partition {topic_partition.partition}",
            )
        return BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, f"{topic_partition} has no leader")

    def permanent_error(self, topics: Iterable[str]) -> BrokerError | None:
        """Returns the permanent error of one of these topics, or None."""
        for name in topics:
            topic = self.topics.get(name)
            if topic is not None and topic.error in PERMANENT_TOPIC_ERRORS:
                return BrokerError(topic.error, f"topic {name!r}: {topic.error.explanation}")
        return None

    def move_leader(self, topic_partition: TopicPartition, leader: int, epoch: int) -> None:
        """Applies the leader in a Produce or Fetch response if its epoch is newer (KIP-951)."""
        topic = self.topics.get(topic_partition.topic)
        info = topic.partitions.get(topic_partition.partition) if topic is not None else None
        if topic is None or info is None or epoch <= info.leader_epoch or leader < 0:
            return
        topic.partitions[topic_partition.partition] = PartitionInfo(
            info.topic, info.partition, leader, epoch, info.replicas, info.isr, info.offline
        )
        self.topics[topic.name] = replace(topic)  # a new object shows that the topic has changed
        self.generation += 1

    def _apply_topic(self, name: str, topic: MetadataResponseTopic) -> None:
        known = self.topics.get(name)
        same = known is not None and known.topic_id == topic.topic_id
        partitions = {
            item.partition_index: self._newer(name, item, known if same else None)
            for item in topic.partitions
        }
        if known is not None and not same:
            self.topic_names.pop(known.topic_id, None)
        error = ErrorCode.of(topic.error_code)
        if partitions:
            self.deleted.discard(name)
        elif known is not None and error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self.deleted.add(name)
        self.topics[name] = TopicInfo(name, topic.topic_id, topic.is_internal, partitions, error)
        if topic.topic_id != ZERO_UUID:
            self.topic_names[topic.topic_id] = name

    def _newer(
        self, name: str, item: MetadataResponsePartition, known: TopicInfo | None
    ) -> PartitionInfo:
        old = known.partitions.get(item.partition_index) if known is not None else None
        if old is not None and 0 <= item.leader_epoch < old.leader_epoch:
            return old
        return PartitionInfo(
            name,
            item.partition_index,
            item.leader_id,
            item.leader_epoch,
            tuple(item.replica_nodes),
            tuple(item.isr_nodes),
            tuple(item.offline_replicas),
        )
