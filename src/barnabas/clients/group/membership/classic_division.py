"""The leader's part of a classic rebalance: who is in the group, and who gets what. Pure.

The coordinator picks an assignor that every member offers, and a leader, which alone is told what
the members want. The leader looks up how many partitions those topics have, divides them, and
hands the result in with its SyncGroup; the others hand in nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barnabas.clients.assignors.port import Assignment, Assignor, MemberSubscription
from barnabas.clients.group.membership.classic_messages import decode_subscription
from barnabas.model.errors import LocalError
from barnabas.wire.messages.join_group import JoinGroupResponse


@dataclass(frozen=True, slots=True)
class Division:
    """How one generation divides; only its leader knows `members`."""

    assignor: Assignor
    members: Sequence[MemberSubscription] = ()

    @property
    def topics(self) -> frozenset[str]:
        """What any member wants."""
        return frozenset(topic for member in self.members for topic in member.topics)

    def among_members(self, counts: Mapping[str, int]) -> Assignment:
        """Divide partitions, counted by topic; LocalError where the assignor fails."""
        try:
            return self.assignor.assign(counts, self.members)
        except Exception as error:  # an application's assignor may raise anything
            raise LocalError(f"assignor {self.assignor.name!r} failed: {error!r}") from error


def division_of(response: JoinGroupResponse, assignors: Sequence[Assignor]) -> Division | None:
    """The division that an answer to JoinGroup asks for; None by an assignor not offered."""
    chosen = [item for item in assignors if item.name == response.protocol_name]
    if not chosen:
        return None
    leads = response.leader == response.member_id and not response.skip_assignment
    members = response.members if leads else []
    return Division(chosen[0], [decode_subscription(member) for member in members])
