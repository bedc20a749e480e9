"""The partitions of a classic member, and the assignment that a leader computes; without IO.

`owned` are the partitions that the polling thread reads, `assigned` those of the last SyncGroup;
steps of the polling thread bring `owned` to `assigned`. Every JoinGroup sends the last settled
assignment and its generation to the leader, for sticky assignors. The coordinator selects an
assignor that every member supports, and one leader; only the leader gets the subscriptions of all
members and sends an assignment with its SyncGroup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barnabas.clients.assignors.port import Assignment, Assignor, MemberSubscription
from barnabas.clients.group.classic_protocol import decode_subscription, encode_subscription
from barnabas.clients.group.membership_actions import AssignmentStep, StepKind
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
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

    def to_give_up(self, topics: frozenset[str]) -> TopicPartitionSet:
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
