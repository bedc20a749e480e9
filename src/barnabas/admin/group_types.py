"""Parameter and result types of calls on groups and transactions."""

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    # Start-up time: the command-line tools import these types, not the protocol's messages.
    from barnabas.clients.core.cluster_metadata import Node
    from barnabas.security.acl import Operation


_UNKNOWN = "Unknown"


class _NamedValue(enum.StrEnum):
    @classmethod
    def of(cls, name: str) -> Self:
        """Returns the member with this name; UNKNOWN for a name that this client does not know."""
        try:
            return cls(name)
        except ValueError:
            return cls(_UNKNOWN)

    @classmethod
    def known(cls) -> list[str]:
        """Returns the names that a group can have, sorted."""
        return sorted(member.value for member in cls if member.value != _UNKNOWN)

    @classmethod
    def _missing_(cls, value: object) -> "_NamedValue | None":
        """Ignore upper and lower case."""
        for member in cls:
            if member.value.lower() == str(value).lower():
                return member
        return None


class GroupState(_NamedValue):
    """The state of a group; UNKNOWN for a state that this client does not know."""

    UNKNOWN = _UNKNOWN
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"
    NOT_READY = "NotReady"


class GroupType(_NamedValue):
    """The protocol of a group, with Kafka's names."""

    UNKNOWN = _UNKNOWN
    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    SHARE = "Share"
    STREAMS = "Streams"


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A listed group; state and type are UNKNOWN if an old broker does not return them."""

    group_id: str
    protocol_type: str
    state: GroupState
    type: GroupType


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member to remove: by member id, or a static member by its instance id."""

    member_id: str = ""
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member; target assignment, epoch and subscription exist only in KIP-848 groups."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...]
    target_assignment: tuple[TopicPartition, ...] | None = None
    member_epoch: int | None = None
    rack: str | None = None
    subscribed_topics: tuple[str, ...] = ()
    subscribed_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group with its members; epochs exist only in KIP-848 groups."""

    group_id: str
    type: GroupType
    state: GroupState
    protocol_type: str
    assignor: str
    members: tuple[MemberDescription, ...]
    coordinator: "Node | None" = None
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    authorized_operations: "frozenset[Operation] | None" = None


@dataclass(frozen=True, slots=True)
class TransactionListing:
    """A transactional id; `state` is Kafka's name: Empty, Ongoing, PrepareCommit, …"""

    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """The state of a transactional id; `started_ms` is None while no transaction is open."""

    transactional_id: str
    coordinator: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_ms: int | None
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class ProducerDescription:
    """Producer state of a partition; the last two fields are None without a transaction."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    transaction_start_offset: int | None


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """A producer's open transaction in one partition, to be aborted."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = 0


class FencedProducer(NamedTuple):
    """The producer id and epoch that now own the transactional id."""

    producer_id: int
    producer_epoch: int
