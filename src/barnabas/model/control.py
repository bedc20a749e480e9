"""What a controller tells brokers and what a leader asks of the controller, as plain values.

The controller builds these, a channel carries them (a direct call for the local broker, the wire
for the others), replication applies them. The epochs in each command are what fences a deposed
controller (`controller_epoch`) and an earlier incarnation of the receiver (`broker_epoch`, the
czxid of its registration, KIP-380).
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import NO_BROKER, ZERO_UUID, BrokerId, TopicPartition, Uuid

NO_LEADER = NO_BROKER
LEADER_DURING_DELETE = BrokerId(-2)
"""The leader that commands name for a partition whose topic is being deleted."""

NO_BROKER_EPOCH = -1
EPOCH_DURING_DELETE = -2
"""A StopReplica that deletes carries this leader epoch and is obeyed whatever the local epoch."""


class LeaderRecoveryState(enum.IntEnum):
    """Whether the leader came from a clean election (KIP-704)."""

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
    """A broker as the controller sees it registered."""

    broker_id: BrokerId
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    broker_epoch: int = NO_BROKER_EPOCH

    def endpoint(self, listener: str) -> Endpoint | None:
        """The advertised address under this listener name."""
        return next((item for item in self.endpoints if item.listener == listener), None)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Leadership and replicas of one partition, as the metadata tree holds them.

    `partition_epoch` is the version of the state znode; every change of the in-sync set is a
    compare-and-set against it. `replicas` is the assignment in order, the first is preferred.
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
        """Whether the last election was unclean and nobody has said that recovery is done."""
        return self.recovery is LeaderRecoveryState.RECOVERING


@dataclass(frozen=True, slots=True)
class LeaderAndIsrCommand:
    """Become leader or follower of these partitions."""

    controller_id: BrokerId
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[PartitionState, ...]
    live_brokers: tuple[LiveBroker, ...] = ()
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class StopReplicaPartition:
    """Stop fetching one partition, and delete its log when told to."""

    topic_partition: TopicPartition
    leader_epoch: int
    delete: bool


@dataclass(frozen=True, slots=True)
class StopReplicaCommand:
    """Give up these replicas."""

    controller_id: BrokerId
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[StopReplicaPartition, ...]


@dataclass(frozen=True, slots=True)
class UpdateMetadataCommand:
    """What every broker answers in Metadata: who is alive and who leads what.

    A partition whose leader is LEADER_DURING_DELETE is to be forgotten, and, when the command
    `is_full`, every partition that it does not name: a broker that lost its session but not its
    memory may have missed deletions.
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
    """What a broker answers to a command: an error for all of it, or one code per partition."""

    error: ErrorCode = ErrorCode.NONE
    partitions: Mapping[TopicPartition, ErrorCode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlterPartitionChange:
    """The in-sync set a leader proposes, against the state it knows (KIP-497).

    `broker_epochs` names the incarnation of each proposed member (KIP-903): a replica that
    restarted since the leader last heard of it must not enter on its old fetches.
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
    """The state now in force for one partition, or why the change was refused."""

    error: ErrorCode = ErrorCode.NONE
    leader: BrokerId = NO_BROKER
    leader_epoch: int = -1
    isr: tuple[BrokerId, ...] = ()
    partition_epoch: int = -1
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
