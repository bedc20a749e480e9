"""One member of a KIP-848 group. An immutable value: a change makes a new member."""

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from barnabas.groups.requests import OwnedPartitions, Protocol, kept_bytes, protocols_bytes
from barnabas.model.ids import Uuid

Partitions = Mapping[Uuid, frozenset[int]]
"""Topic id -> partitions; never an empty set."""

NO_PARTITIONS: Partitions = {}


class MemberState(enum.IntEnum):
    """Numbered as the record stores them.

    STABLE: owns its target, or may take it at the next heartbeat.
    UNREVOKED_PARTITIONS: must revoke partitions and still owns some of them.
    UNRELEASED_PARTITIONS: waits for partitions that other members have not given up.
    UNKNOWN: written by a newer coordinator; the member must rejoin.
    """

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127

    @classmethod
    def of(cls, number: int) -> "MemberState":
        return cls(number) if number in (0, 1, 2) else cls.UNKNOWN


class ClassicMetadata(NamedTuple):
    """The JoinGroup data of a member that uses the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


class ConsumerGroupMember(NamedTuple):
    """`assigned` is what the member owns or was offered; `pending_revocation` what it must
    give up first. No partition is in either of two members at once."""

    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str = ""
    server_assignor: str | None = None
    classic: ClassicMetadata | None = None
    assigned: Partitions = NO_PARTITIONS
    pending_revocation: Partitions = NO_PARTITIONS

    @property
    def uses_classic_protocol(self) -> bool:
        return self.classic is not None

    @property
    def kept_bytes(self) -> int:
        """Memory that its subscription takes."""
        protocols = () if self.classic is None else self.classic.protocols
        texts = (self.subscribed_topic_regex, *self.subscribed_topic_names)
        return kept_bytes(texts) + protocols_bytes(protocols)

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.member_epoch == epoch

    def holds(self) -> Iterable[tuple[Uuid, int]]:
        """Yields every partition that other members must not get."""
        for partitions in (self.assigned, self.pending_revocation):
            for topic_id, numbers in partitions.items():
                for number in numbers:
                    yield topic_id, number


def to_partitions(owned: Iterable[OwnedPartitions]) -> dict[Uuid, frozenset[int]]:
    return {topic_id: frozenset(numbers) for topic_id, numbers in owned if numbers}


def to_owned(partitions: Partitions) -> tuple[OwnedPartitions, ...]:
    """In a fixed order, so that equal assignments look equal."""
    return tuple(
        OwnedPartitions(topic_id, tuple(sorted(numbers)))
        for topic_id, numbers in sorted(partitions.items())
        if numbers
    )
