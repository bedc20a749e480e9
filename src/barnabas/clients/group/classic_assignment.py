"""The partitions of a classic member: owned, assigned, and those it was last settled with. Pure.

Owned is what the polling thread reads, assigned what the group's leader gave last; steps of the
polling thread bring the first to the second. What the member was settled with, and when, goes to
the leader with every join, for assignors that leave partitions where they were. States, ids and
requests are `classic`'s business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barnabas.clients.assignors.port import Assignment, Assignor, MemberSubscription
from barnabas.clients.group.classic_protocol import decode_subscription, encode_subscription
from barnabas.clients.group.membership_actions import Step, StepKind
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.join_group import JoinGroupResponse

NO_GENERATION = -1
Places = frozenset[TopicPartition]
NOTHING: Places = frozenset()


class ClassicAssignment:
    """See the module. Part of a `ClassicMember`, and owned by whoever owns that."""

    __slots__ = ("_settings", "_settled", "_settled_in", "assigned", "owned")

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self.owned: Places = NOTHING
        self.assigned: Places = NOTHING
        self._settled: Places = NOTHING
        self._settled_in = NO_GENERATION

    @property
    def surplus(self) -> Places:
        """What is owned and not assigned: given up first."""
        return self.owned - self.assigned

    @property
    def missing(self) -> Places:
        return self.assigned - self.owned

    def to_give_up(self, topics: frozenset[str]) -> Places:
        """Before joining: everything, unless every assignor that may be chosen is cooperative."""
        if not all(assignor.cooperative for assignor in self._settings.assignors):
            return self.owned
        return frozenset(place for place in self.owned if place.topic not in topics)

    def subscriptions(self, topics: frozenset[str]) -> dict[str, bytes]:
        """What to tell the group's leader, by the name of the assignor that is to read it."""
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

    def apply_step(self, step: Step) -> None:
        """The polling thread has run this step."""
        assigns = step.kind is StepKind.ASSIGN
        self.owned = self.assigned if assigns else self.owned - step.partitions

    def settle(self, generation: int) -> None:
        self._settled, self._settled_in = self.assigned, generation

    def unsettle(self) -> None:
        """Another may have what this member was settled with."""
        self._settled, self._settled_in = NOTHING, NO_GENERATION


@dataclass(frozen=True, slots=True)
class LeaderAssignment:
    """How one generation divides; only its leader knows `members`."""

    assignor: Assignor
    members: Sequence[MemberSubscription] = ()

    @property
    def topics(self) -> frozenset[str]:
        """What any member wants."""
        return frozenset(topic for member in self.members for topic in member.topics)

    def assign(self, counts: Mapping[str, int]) -> Assignment:
        """Divide partitions, counted by topic; LocalError where the assignor fails."""
        try:
            return self.assignor.assign(counts, self.members)
        except Exception as error:  # an application's assignor may raise anything
            raise LocalError(f"assignor {self.assignor.name!r} failed: {error!r}") from error


def leader_assignment(
    response: JoinGroupResponse, assignors: Sequence[Assignor]
) -> LeaderAssignment | None:
    """The division that an answer to JoinGroup asks for; None by an assignor not offered."""
    chosen = [item for item in assignors if item.name == response.protocol_name]
    if not chosen:
        return None
    leads = response.leader == response.member_id and not response.skip_assignment
    members = response.members if leads else []
    return LeaderAssignment(chosen[0], [decode_subscription(member) for member in members])
