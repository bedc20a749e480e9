"""The state of a classic member: partitions, member id and generation; without IO.

`owned` are the partitions that the polling thread reads, `assigned` those of the last SyncGroup;
steps of the polling thread bring `owned` to `assigned`. Every JoinGroup sends the last settled
assignment and its generation to the leader, for sticky assignors. The coordinator selects an
assignor that every member supports, and one leader; only the leader gets the subscriptions of all
members and sends an assignment with its SyncGroup.

Member id and generation change only by a response to the member's own request, or when it leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barnabas.clients.assignors import Assignment, Assignor, MemberSubscription
from barnabas.clients.group.classic_protocol import (
    decode_subscription,
    encode_subscription,
    leave_request,
)
from barnabas.clients.group.membership_actions import AssignmentStep, Removal, StepKind
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata
from barnabas.wire.message import Message, Request
from barnabas.wire.messages.join_group import JoinGroupResponse

NO_GENERATION = -1
TopicPartitionSet = frozenset[TopicPartition]
NOTHING: TopicPartitionSet = frozenset()


class ClassicAssignment:
    """The partitions of a `ClassicMember`."""

    __slots__ = ("_settings", "_settled", "_settled_in", "assigned", "owned")

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self.owned: TopicPartitionSet = NOTHING
        self.assigned: TopicPartitionSet = NOTHING
        self._settled: TopicPartitionSet = NOTHING
        self._settled_in = NO_GENERATION

    @property
    def surplus(self) -> TopicPartitionSet:
        """Owned partitions that are no longer assigned; they are revoked first."""
        return self.owned - self.assigned

    @property
    def missing(self) -> TopicPartitionSet:
        return self.assigned - self.owned

    def revoked_before_join(self, topics: frozenset[str]) -> TopicPartitionSet:
        """Returns the partitions to revoke before joining: all, unless all assignors cooperate."""
        if not all(assignor.cooperative for assignor in self._settings.assignors):
            return self.owned
        return frozenset(
            topic_partition for topic_partition in self.owned if topic_partition.topic not in topics
        )

    def subscriptions(self, topics: frozenset[str]) -> dict[str, bytes]:
        """Returns the encoded subscription for each assignor."""
        owned, settled = sorted(self.owned), sorted(self._settled)
        return {
            assignor.name: encode_subscription(
                topics,
                owned,
                self._settled_in,
                assignor.user_data(settled, self._settled_in),
                self._settings.rack,
            )
            for assignor in self._settings.assignors
        }

    def apply_step(self, step: AssignmentStep) -> None:
        """Applies a step that the polling thread has run."""
        assigns = step.kind is StepKind.ASSIGN
        self.owned = self.assigned if assigns else self.owned - step.partitions

    def settle(self, generation: int) -> None:
        self._settled, self._settled_in = self.assigned, generation

    def unsettle(self) -> None:
        """Forgets the settled assignment, because other members may own it."""
        self._settled, self._settled_in = NOTHING, NO_GENERATION


@dataclass(frozen=True, slots=True)
class LeaderAssignment:
    """The assignor of one generation; `members` is empty unless this member leads."""

    assignor: Assignor
    members: Sequence[MemberSubscription] = ()

    @property
    def topics(self) -> frozenset[str]:
        """The topics to which any member is subscribed."""
        return frozenset(topic for member in self.members for topic in member.topics)

    def assign(self, counts: Mapping[str, int]) -> Assignment:
        """Computes the assignment; raises LocalError if the assignor raises."""
        try:
            return self.assignor.assign(counts, self.members)
        except Exception as error:  # an application's assignor may raise anything
            raise LocalError(f"assignor {self.assignor.name!r} failed: {error!r}") from error


def leader_assignment(
    response: JoinGroupResponse, assignors: Sequence[Assignor]
) -> LeaderAssignment | None:
    """Reads a JoinGroup response; returns None if its assignor is not configured here."""
    chosen = [item for item in assignors if item.name == response.protocol_name]
    if not chosen:
        return None
    leads = response.leader == response.member_id and not response.skip_assignment
    members = response.members if leads else []
    return LeaderAssignment(chosen[0], [decode_subscription(member) for member in members])


class ClassicIdentity:
    """Member id and generation. Owned by its `ClassicMember`."""

    __slots__ = ("_settings", "generation", "member_id", "removal")

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self.member_id = ""
        self.generation = NO_GENERATION
        self.removal: Removal | None = None

    def __str__(self) -> str:
        return self._settings.instance_id or self.member_id

    @property
    def metadata(self) -> GroupMetadata:
        """The identity in commits and heartbeats; no member id while there is no generation."""
        return GroupMetadata(
            self._settings.group_id,
            self.generation,
            self.member_id if self.generation >= 0 else "",
            self._settings.instance_id,
        )

    def joined(self, member_id: str, generation: int) -> None:
        self.member_id, self.generation = member_id, generation
        self.removal = None

    def fenced(self, reason: str) -> None:
        """Clears the generation after the coordinator removed this member.

        After ILLEGAL_GENERATION the member id is still valid and is kept: with a new id, the
        coordinator would wait for the old one until its session ends.
        """
        if self.generation >= 0:
            self.removal = Removal(self.metadata, reason)
        if reason != ErrorCode.ILLEGAL_GENERATION.name:
            self.member_id = ""
        self.generation = NO_GENERATION

    def forget(self) -> None:
        """Clears everything after the member has left."""
        self.member_id, self.generation = "", NO_GENERATION
        self.removal = None

    def leave_request(self, reason: str) -> Request[Message] | None:
        """Returns None for a member that never joined, and for a static member.

        A static member stays in the group until its session ends (KIP-345).
        """
        if not self.member_id or self._settings.instance_id is not None:
            return None
        known = GroupMetadata(self._settings.group_id, self.generation, self.member_id)
        return leave_request(known, reason)
