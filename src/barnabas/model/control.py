"""Controller commands to brokers, and ISR changes that a leader requests, as plain values.

The controller builds the commands, a channel delivers them (a direct call for the local broker, the
wire protocol for the others), and replication applies them. The epochs in each command fence a
former controller (`controller_epoch`) and an earlier incarnation of the receiver (`broker_epoch`,
the czxid of its registration, KIP-380).
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import NO_BROKER, ZERO_UUID, BrokerId, TopicPartition, Uuid

NO_LEADER = NO_BROKER
LEADER_DURING_DELETE = BrokerId(-2)
"""Leader id in commands for a partition whose topic is being deleted."""

NO_BROKER_EPOCH = -1
EPOCH_DURING_DELETE = -2
"""Leader epoch of a StopReplica that deletes; the broker skips the check of its local epoch."""


class LeaderRecoveryState(enum.IntEnum):
    """Whether the leader was elected cleanly (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One advertised listener of a broker."""

    listener: str
    host: str
    port: int
    security_protocol: str = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registered broker."""

    broker_id: BrokerId
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    broker_epoch: int = NO_BROKER_EPOCH

    def endpoint(self, listener: str) -> Endpoint | None:
        """Returns the advertised address of this listener, or None."""
        return next((item for item in self.endpoints if item.listener == listener), None)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Leadership and replicas of one partition, as stored in the metadata tree.

    `partition_epoch` is the version of the state znode; every ISR change is a compare-and-set
    against it. `replicas` is the assignment in order; the first one is the preferred leader.
    """

    topic_partition: TopicPartition
    leader: BrokerId
    leader_epoch: int
    isr: tuple[BrokerId, ...]
    replicas: tuple[BrokerId, ...]
    partition_epoch: int = 0
    controller_epoch: int = 0
    topic_id: Uuid = ZERO_UUID
    adding: tuple[BrokerId, ...] = ()
    removing: tuple[BrokerId, ...] = ()
    is_new: bool = False
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
    offline_replicas: tuple[BrokerId, ...] = ()

    @property
    def recovering(self) -> bool:
        """Whether the last election was unclean and the leader has not completed recovery."""
        return self.recovery is LeaderRecoveryState.RECOVERING


@dataclass(frozen=True, slots=True)
class LeaderAndIsrCommand:
    """Makes a broker leader or follower of these partitions."""

    controller_id: BrokerId
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[PartitionState, ...]
    live_brokers: tuple[LiveBroker, ...] = ()
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class StopReplicaPartition:
    """Stops the fetcher of one partition, and deletes its log if `delete` is set."""

    topic_partition: TopicPartition
    leader_epoch: int
    delete: bool


@dataclass(frozen=True, slots=True)
class StopReplicaCommand:
    """Stops these replicas."""

    controller_id: BrokerId
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[StopReplicaPartition, ...]


@dataclass(frozen=True, slots=True)
class UpdateMetadataCommand:
    """Content of every broker's Metadata responses: live brokers and partition leaders.

    The receiver removes partitions whose leader is LEADER_DURING_DELETE. If the command `is_full`,
    it also removes every partition that the command does not contain: a broker that only lost its
    session still has its cache and may have missed deletions.
    """

    controller_id: BrokerId
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[PartitionState, ...]
    live_brokers: tuple[LiveBroker, ...]
    topic_ids: Mapping[str, Uuid] = field(default_factory=dict)
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class ControlReply:
    """Reply of a broker to a command: one error for the whole command, or one per partition."""

    error: ErrorCode = ErrorCode.NONE
    partitions: Mapping[TopicPartition, ErrorCode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlterPartitionChange:
    """The ISR that a leader proposes, and the partition state on which it is based (KIP-497).

    `broker_epochs` identifies the incarnation of each proposed replica (KIP-903): a replica that
    restarted after its last fetch must not join the ISR because of fetches before the restart.
    """

    topic_partition: TopicPartition
    topic_id: Uuid
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[BrokerId, ...]
    broker_epochs: tuple[int, ...] = ()
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED


@dataclass(frozen=True, slots=True)
class AlterPartitionReply:
    """Current state of one partition, or the error that rejected the change."""

    error: ErrorCode = ErrorCode.NONE
    leader: BrokerId = NO_BROKER
    leader_epoch: int = -1
    isr: tuple[BrokerId, ...] = ()
    partition_epoch: int = -1
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
