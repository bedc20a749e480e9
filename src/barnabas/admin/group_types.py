"""Groups as the admin client describes them."""

import enum
from dataclasses import dataclass

from barnabas.clients._core.cluster_metadata import Node
from barnabas.model.ids import TopicPartition
from barnabas.security.acl import Operation


class _Word(enum.StrEnum):
    @classmethod
    def _missing_(cls, value: object) -> "_Word | None":
        """Any case will do; a word newer than this list is UNKNOWN."""
        for member in cls:
            if member.value.lower() == str(value).lower():
                return member
        return None


class GroupState(_Word):
    """The word a broker uses for where a group is."""

    UNKNOWN = "Unknown"
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"
    NOT_READY = "NotReady"

    @classmethod
    def of(cls, word: str) -> "GroupState":
        try:
            return cls(word)
        except ValueError:
            return cls.UNKNOWN


class GroupType(_Word):
    UNKNOWN = "Unknown"
    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    SHARE = "Share"
    STREAMS = "Streams"

    @classmethod
    def of(cls, word: str) -> "GroupType":
        try:
            return cls(word)
        except ValueError:
            return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class GroupListing:
    """State and type are UNKNOWN where an old broker does not tell them."""

    group_id: str
    protocol_type: str
    state: GroupState
    type: GroupType


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member to take out: by member id, or a static one by its instance id."""

    member_id: str = ""
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member. `target_assignment`, epoch and subscription only the new protocol tells."""

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
    """A group with its members; the epochs only the new protocol has."""

    group_id: str
    type: GroupType
    state: GroupState
    protocol_type: str
    assignor: str
    members: tuple[MemberDescription, ...]
    coordinator: Node | None = None
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    authorized_operations: frozenset[Operation] | None = None
