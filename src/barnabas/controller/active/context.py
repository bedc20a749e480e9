"""The controller's in-memory state of the cluster: brokers, topics, leadership, states.

The controller loads it from the metadata tree at the start of its epoch and updates it with every
write. It belongs to one controller epoch and is dropped when the epoch ends. Only the controller's
event loop uses it.
"""

from collections.abc import Iterable, Iterator

from barnabas.controller.machines.leader_election import ElectionInput, ElectionKind, LeaderAndIsr
from barnabas.controller.machines.states import (
    PartitionStatus,
    ReplicaStatus,
    check_partition_move,
    check_replica_move,
)
from barnabas.model.control import (
    EPOCH_DURING_DELETE,
    LEADER_DURING_DELETE,
    NO_LEADER,
    LiveBroker,
    PartitionState,
)
from barnabas.model.ids import ZERO_UUID, BrokerId, ReplicaAssignment, TopicPartition, Uuid

Replica = tuple[TopicPartition, BrokerId]


class ControllerContext:
    """Cluster state and the queries that need only this state."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.brokers: dict[BrokerId, LiveBroker] = {}
        self.shutting_down: set[BrokerId] = set()
        self.failed_replicas: set[Replica] = set()  # on live brokers whose disk failed
        self.assignments: dict[str, dict[int, ReplicaAssignment]] = {}
        self.topic_ids: dict[str, Uuid] = {}
        self.topic_versions: dict[str, int] = {}  # of the topic nodes, for conditional writes
        self.leadership: dict[TopicPartition, LeaderAndIsr] = {}
        self.topics_to_delete: set[str] = set()
        self.blocked_deletions: set[str] = set()
        self._partition_status: dict[TopicPartition, PartitionStatus] = {}
        self._replica_status: dict[Replica, ReplicaStatus] = {}

    # Topics and partitions

    def put_topic(
        self, topic: str, topic_id: Uuid, partitions: dict[int, ReplicaAssignment], version: int
    ) -> None:
        self.assignments[topic] = partitions
        self.topic_ids[topic] = topic_id
        self.topic_versions[topic] = version

    def forget_topic(self, topic: str) -> None:
        for topic_partition in list(self.partitions_of(topic)):
            for broker_id in self.assignment(topic_partition).replicas:
                self._replica_status.pop((topic_partition, broker_id), None)
                self.failed_replicas.discard((topic_partition, broker_id))
            self._partition_status.pop(topic_partition, None)
            self.leadership.pop(topic_partition, None)
        for table in (self.assignments, self.topic_ids, self.topic_versions):
            table.pop(topic, None)
        self.topics_to_delete.discard(topic)
        self.blocked_deletions.discard(topic)

    def partitions(self) -> Iterator[TopicPartition]:
        for topic in self.assignments:
            yield from self.partitions_of(topic)

    def partitions_of(self, topic: str) -> Iterator[TopicPartition]:
        for partition in self.assignments.get(topic, ()):
            yield TopicPartition(topic, partition)

    def knows(self, topic_partition: TopicPartition) -> bool:
        return topic_partition.partition in self.assignments.get(topic_partition.topic, ())

    def assignment(self, topic_partition: TopicPartition) -> ReplicaAssignment:
        return self.assignments[topic_partition.topic][topic_partition.partition]

    def is_being_deleted(self, topic_partition: TopicPartition) -> bool:
        return topic_partition.topic in self.topics_to_delete

    def reassigning(self) -> list[TopicPartition]:
        return [
            topic_partition
            for topic_partition in self.partitions()
            if self.assignment(topic_partition).is_reassigning
            and not self.is_being_deleted(topic_partition)
        ]

    # Brokers and replicas

    def is_online(self, topic_partition: TopicPartition, broker_id: BrokerId) -> bool:
        """Whether a replica's broker is alive and its disk has not failed."""
        return (
            broker_id in self.brokers and (topic_partition, broker_id) not in self.failed_replicas
        )

    def online_replicas(self, topic_partition: TopicPartition) -> frozenset[BrokerId]:
        replicas = self.assignment(topic_partition).replicas
        return frozenset(r for r in replicas if self.is_online(topic_partition, r))

    def replicas_on(self, brokers: Iterable[BrokerId]) -> list[Replica]:
        wanted = set(brokers)
        return [
            (topic_partition, broker_id)
            for topic_partition in self.partitions()
            for broker_id in self.assignment(topic_partition).replicas
            if broker_id in wanted
        ]

    def replicas(self, topic: str) -> Iterator[Replica]:
        for topic_partition in self.partitions_of(topic):
            for broker_id in self.assignment(topic_partition).replicas:
                yield topic_partition, broker_id

    def retry_failed_replica(self, replica: Replica) -> None:
        """Marks a replica as online again after it declined leadership or its disk failed."""
        if replica in self.failed_replicas:
            self.failed_replicas.remove(replica)
            self.move_replica(replica, ReplicaStatus.ONLINE)

    def has_online_leader(self, topic_partition: TopicPartition) -> bool:
        leadership = self.leadership.get(topic_partition)
        return leadership is not None and self.is_online(topic_partition, leadership.leader)

    def election_input(
        self, topic_partition: TopicPartition, kind: ElectionKind, *, unclean_allowed: bool
    ) -> ElectionInput:
        """Returns the facts on which an election of this partition depends."""
        assignment = self.assignment(topic_partition)
        moving = kind is ElectionKind.REASSIGN
        online = self.online_replicas(topic_partition)
        return ElectionInput(
            assignment.target if moving else assignment.replicas,
            self.leadership[topic_partition].isr,
            online,
            self.shutting_down,
            unclean_allowed,
            self.brokers.keys() - online,
        )

    # States

    def partition_status(self, topic_partition: TopicPartition) -> PartitionStatus:
        return self._partition_status.get(topic_partition, PartitionStatus.NON_EXISTENT)

    def move_partition(self, topic_partition: TopicPartition, status: PartitionStatus) -> None:
        check_partition_move(topic_partition, self.partition_status(topic_partition), status)
        self._partition_status[topic_partition] = status

    def start_partition(self, topic_partition: TopicPartition, status: PartitionStatus) -> None:
        """Sets the initial status of a partition at the start of an epoch."""
        self._partition_status[topic_partition] = status

    def replica_status(self, replica: Replica) -> ReplicaStatus:
        return self._replica_status.get(replica, ReplicaStatus.NON_EXISTENT)

    def move_replica(self, replica: Replica, status: ReplicaStatus) -> None:
        check_replica_move(replica, self.replica_status(replica), status)
        self._replica_status[replica] = status

    def start_replica(self, replica: Replica, status: ReplicaStatus) -> None:
        self._replica_status[replica] = status

    def forget_replica(self, replica: Replica) -> None:
        """Removes a replica that is no longer assigned."""
        self._replica_status.pop(replica, None)
        self.failed_replicas.discard(replica)

    # Contents of commands

    def partition_state(
        self, topic_partition: TopicPartition, *, is_new: bool = False
    ) -> PartitionState:
        """Returns the state of a partition in the form that commands carry."""
        assignment = self.assignment(topic_partition)
        found = self.leadership.get(topic_partition, LeaderAndIsr(NO_LEADER, -1, ()))
        deleted = self.is_being_deleted(topic_partition)
        online = self.online_replicas(topic_partition)
        return PartitionState(
            topic_partition,
            LEADER_DURING_DELETE if deleted else found.leader,
            EPOCH_DURING_DELETE if deleted else found.leader_epoch,
            found.isr,
            assignment.replicas,
            partition_epoch=found.partition_epoch,
            controller_epoch=self.epoch,
            topic_id=self.topic_ids.get(topic_partition.topic, ZERO_UUID),
            adding=assignment.adding,
            removing=assignment.removing,
            is_new=is_new,
            recovery=found.recovery,
            offline_replicas=tuple(r for r in assignment.replicas if r not in online),
        )
