"""Who leads a partition: Kafka's elections as pure functions.

Each strategy looks at one partition (`Ballot`) and returns the winner with the in-sync set that
goes with it, or None when nobody may lead. Candidates are always taken in assignment order, so
that every controller decides the same way from the same facts.

Two invariants hold for all of them: a clean winner is a member of the in-sync set, and the
in-sync set never becomes empty (its last member stays recorded although dead, so that it alone
can come back as a clean leader).
"""

import enum
from collections.abc import Set
from dataclasses import dataclass, replace

from barnabas.model.control import NO_LEADER, LeaderRecoveryState
from barnabas.model.ids import BrokerId
from barnabas.model.replica_assignment import Replicas

FIRST_LEADER_EPOCH = 0


class ElectionKind(enum.Enum):
    """Why a leader is chosen."""

    OFFLINE = "the leader is gone"
    UNCLEAN = "an operator allows an out-of-sync leader"
    PREFERRED = "the first replica shall lead"
    CONTROLLED_SHUTDOWN = "the leader is about to stop"
    REASSIGN = "the replicas have been moved"


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """Leadership of one partition, with the version (`partition_epoch`) of its node."""

    leader: BrokerId
    leader_epoch: int
    isr: Replicas
    partition_epoch: int = 0
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED

    def next_epoch(self) -> "LeaderAndIsr":
        """The same leadership in a new epoch: the controller changed something around it."""
        return replace(self, leader_epoch=self.leader_epoch + 1)

    def elected(self, outcome: "Elected") -> "LeaderAndIsr":
        """This leadership after an election."""
        recovery = LeaderRecoveryState.RECOVERING if outcome.unclean else self.recovery
        return LeaderAndIsr(
            outcome.leader, self.leader_epoch + 1, outcome.isr, self.partition_epoch, recovery
        )

    def without(self, replica: BrokerId) -> "LeaderAndIsr":
        """This leadership after a replica left: it is out of the in-sync set and leads no more.

        The last member stays in the set.
        """
        isr = self.isr if len(self.isr) == 1 else tuple(r for r in self.isr if r != replica)
        leader = NO_LEADER if self.leader == replica else self.leader
        return replace(self, leader=leader, isr=isr, leader_epoch=self.leader_epoch + 1)


@dataclass(frozen=True, slots=True)
class Elected:
    """The outcome of an election."""

    leader: BrokerId
    isr: Replicas
    unclean: bool = False


@dataclass(frozen=True, slots=True)
class Ballot:
    """What an election looks at.

    `online` are the replicas on live brokers that serve them; `declining` those on live brokers
    that do not, because a disk failed or the end of the log may be lost.
    """

    replicas: Replicas
    isr: Replicas
    online: Set[BrokerId]
    shutting_down: Set[BrokerId] = frozenset()
    unclean_allowed: bool = False
    declining: Set[BrokerId] = frozenset()


def elect(kind: ElectionKind, ballot: Ballot) -> Elected | None:
    """Run one election; None when no replica may lead."""
    match kind:
        case ElectionKind.OFFLINE:
            return elect_offline(ballot)
        case ElectionKind.UNCLEAN:
            return elect_unclean(ballot)
        case ElectionKind.PREFERRED:
            return elect_preferred(ballot)
        case ElectionKind.CONTROLLED_SHUTDOWN:
            return elect_for_shutdown(ballot)
        case ElectionKind.REASSIGN:
            return elect_reassigned(ballot)


def elect_offline(ballot: Ballot) -> Elected | None:
    """The first online in-sync replica; when there is none, and that is allowed, any online one."""
    leader = _first(ballot.replicas, ballot.online & set(ballot.isr))
    if leader is not None:
        return Elected(leader, tuple(r for r in ballot.isr if r in ballot.online))
    leader = _first(ballot.replicas, ballot.online) if ballot.unclean_allowed else None
    return Elected(leader, (leader,), unclean=True) if leader is not None else None


def elect_unclean(ballot: Ballot) -> Elected | None:
    """An operator accepts loss: an out-of-sync replica, or at last one that declined to lead.

    That one is told that the election was unclean even if it is in sync, which is what lets it
    lead with whatever it has (KIP-966).
    """
    outcome = elect_offline(replace(ballot, unclean_allowed=True))
    if outcome is not None:
        return outcome
    leader = _first(ballot.replicas, ballot.declining)
    return Elected(leader, (leader,), unclean=True) if leader is not None else None


def elect_preferred(ballot: Ballot) -> Elected | None:
    """The first replica of the assignment, if it is online and in sync."""
    preferred = ballot.replicas[0]
    if preferred not in ballot.online or preferred not in ballot.isr:
        return None
    return Elected(preferred, ballot.isr)


def elect_for_shutdown(ballot: Ballot) -> Elected | None:
    """The first online in-sync replica on a broker that stays; those that go leave the set."""
    staying = tuple(r for r in ballot.isr if r not in ballot.shutting_down)
    leader = _first(ballot.replicas, ballot.online & set(staying))
    return Elected(leader, staying) if leader is not None else None


def elect_reassigned(ballot: Ballot) -> Elected | None:
    """The first of the target replicas (given as `replicas`) that is online and in sync."""
    leader = _first(ballot.replicas, ballot.online & set(ballot.isr))
    return Elected(leader, ballot.isr) if leader is not None else None


def elect_after_absence(
    ballot: Ballot, leader: BrokerId, returned: Set[BrokerId]
) -> Elected | None:
    """A new epoch for a partition with members that restarted while no controller saw it.

    Those that stayed keep the partition, those that returned catch up and join again. When nobody
    stayed, all that are online keep their place: there is nobody better.
    """
    online = tuple(r for r in ballot.isr if r in ballot.online)
    isr = tuple(r for r in online if r not in returned) or online
    winner = leader if leader in isr else _first(ballot.replicas, frozenset(isr))
    return Elected(winner, isr) if winner is not None else None


def first_leadership(replicas: Replicas, online: Set[BrokerId]) -> LeaderAndIsr | None:
    """Leadership of a new partition: all online replicas are in sync, the first one leads."""
    isr = tuple(r for r in replicas if r in online)
    return LeaderAndIsr(isr[0], FIRST_LEADER_EPOCH, isr) if isr else None


def _first(replicas: Replicas, eligible: Set[BrokerId]) -> BrokerId | None:
    return next((r for r in replicas if r in eligible), None)
