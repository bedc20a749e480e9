"""Leader elections of one partition, validation of ISR changes, and leader imbalance.

Pure functions. Each election strategy takes the facts about one partition (`ElectionInput`) and
returns the leader with its ISR, or None if no replica may lead. Candidates are taken in assignment
order, so that every controller decides the same way from the same facts.

Two invariants hold for all strategies: a leader of a clean election is a member of the ISR, and
the ISR never becomes empty. Its last member stays recorded although it is offline, so that only
this replica can become leader again without data loss.
"""

import enum
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from barnabas.model.control import (
    NO_BROKER_EPOCH,
    NO_LEADER,
    AlterPartitionChange,
    LeaderRecoveryState,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, Replicas, TopicPartition

FIRST_LEADER_EPOCH = 0


# --- Elections ------------------------------------------------------------------------------------


class ElectionKind(enum.Enum):
    """The reason for an election."""

    OFFLINE = "the leader is offline"
    UNCLEAN = "an operator accepts an out-of-sync leader"
    PREFERRED = "the first replica becomes leader"
    CONTROLLED_SHUTDOWN = "the leader shuts down"
    REASSIGN = "the partition was reassigned"


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """Leadership of one partition; `partition_epoch` is the version of its state node."""

    leader: BrokerId
    leader_epoch: int
    isr: Replicas
    partition_epoch: int = 0
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED

    def elected(self, outcome: "Elected") -> "LeaderAndIsr":
        """Returns the leadership after an election."""
        recovery = LeaderRecoveryState.RECOVERING if outcome.unclean else self.recovery
        return LeaderAndIsr(
            outcome.leader, self.leader_epoch + 1, outcome.isr, self.partition_epoch, recovery
        )

    def without(self, replica: BrokerId) -> "LeaderAndIsr":
        """Returns the leadership without a replica that went offline.

        The last member stays in the ISR.
        """
        # Only the last member is known to have all committed records. If it left the ISR, no later
        # election could be clean.
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
class ElectionInput:
    """The facts about one partition that decide an election.

    `online` are the replicas that live brokers serve. `declining` are replicas on live brokers
    that do not serve them, because a disk failed or the end of the log may be lost.
    """

    replicas: Replicas
    isr: Replicas
    online: Set[BrokerId]
    shutting_down: Set[BrokerId] = frozenset()
    unclean_allowed: bool = False
    declining: Set[BrokerId] = frozenset()


def elect(kind: ElectionKind, election_input: ElectionInput) -> Elected | None:
    """Runs one election; returns None if no replica may lead."""
    match kind:
        case ElectionKind.OFFLINE:
            return elect_offline(election_input)
        case ElectionKind.UNCLEAN:
            return elect_unclean(election_input)
        case ElectionKind.PREFERRED:
            return elect_preferred(election_input)
        case ElectionKind.CONTROLLED_SHUTDOWN:
            return elect_for_shutdown(election_input)
        case ElectionKind.REASSIGN:
            return elect_reassigned(election_input)


def elect_offline(election_input: ElectionInput) -> Elected | None:
    """Elects the first online ISR member; without one, any online replica if that is allowed."""
    leader = _first(election_input.replicas, election_input.online & set(election_input.isr))
    # Offline members leave the ISR in the same write; the high watermark would wait for them
    # otherwise.
    if leader is not None:
        return Elected(leader, tuple(r for r in election_input.isr if r in election_input.online))
    # The ISR is the new leader alone: no other replica is known to have its log.
    leader = (
        _first(election_input.replicas, election_input.online)
        if election_input.unclean_allowed
        else None
    )
    return Elected(leader, (leader,), unclean=True) if leader is not None else None


def elect_unclean(election_input: ElectionInput) -> Elected | None:
    """Elects a leader although records may be lost.

    Candidates are out-of-sync replicas and, as the last choice, a replica that declined to lead.
    That replica receives an unclean election even if it is in the ISR, which makes it lead with
    the records it has (KIP-966).
    """
    outcome = elect_offline(replace(election_input, unclean_allowed=True))
    if outcome is not None:
        return outcome
    leader = _first(election_input.replicas, election_input.declining)
    return Elected(leader, (leader,), unclean=True) if leader is not None else None


def elect_preferred(election_input: ElectionInput) -> Elected | None:
    """Elects the first replica of the assignment if it is online and in the ISR."""
    preferred = election_input.replicas[0]
    if preferred not in election_input.online or preferred not in election_input.isr:
        return None
    return Elected(preferred, election_input.isr)


def elect_for_shutdown(election_input: ElectionInput) -> Elected | None:
    """Elects the first online ISR member whose broker is not shutting down."""
    # Brokers that shut down leave the ISR too: otherwise produce requests would wait for them until
    # `replica.lag.time.max.ms`.
    staying = tuple(r for r in election_input.isr if r not in election_input.shutting_down)
    leader = _first(election_input.replicas, election_input.online & set(staying))
    return Elected(leader, staying) if leader is not None else None


def elect_reassigned(election_input: ElectionInput) -> Elected | None:
    """Elects the first target replica (given as `replicas`) that is online and in the ISR."""
    leader = _first(election_input.replicas, election_input.online & set(election_input.isr))
    return Elected(leader, election_input.isr) if leader is not None else None


def elect_after_restart(
    election_input: ElectionInput, leader: BrokerId, returned: Set[BrokerId]
) -> Elected | None:
    """Starts a new leader epoch after ISR members restarted while there was no controller.

    Members that did not restart stay in the ISR; restarted members catch up and join again. If all
    members restarted, those that are online stay in the ISR because there is no better candidate.
    """
    online = tuple(r for r in election_input.isr if r in election_input.online)
    isr = tuple(r for r in online if r not in returned) or online
    winner = leader if leader in isr else _first(election_input.replicas, frozenset(isr))
    return Elected(winner, isr) if winner is not None else None


def first_leadership(replicas: Replicas, online: Set[BrokerId]) -> LeaderAndIsr | None:
    """Returns the leadership of a new partition: all online replicas in sync, the first leads."""
    isr = tuple(r for r in replicas if r in online)
    return LeaderAndIsr(isr[0], FIRST_LEADER_EPOCH, isr) if isr else None


def _first(replicas: Replicas, eligible: Set[BrokerId]) -> BrokerId | None:
    return next((r for r in replicas if r in eligible), None)


class LeaderImbalance(NamedTuple):
    """Partitions that prefer one broker: those led by another broker, and their total."""

    away: tuple[TopicPartition, ...]
    preferred: int

    @property
    def percentage(self) -> float:
        return 100 * len(self.away) / self.preferred if self.preferred else 0.0


def leader_imbalances(
    leaders: Mapping[TopicPartition, tuple[BrokerId, BrokerId]],
) -> dict[BrokerId, LeaderImbalance]:
    """Returns the imbalance of each broker from (preferred, current) leaders of partitions."""
    away: dict[BrokerId, list[TopicPartition]] = defaultdict(list)
    count: dict[BrokerId, int] = defaultdict(int)
    for topic_partition, (preferred, leader) in leaders.items():
        count[preferred] += 1
        if leader != preferred:
            away[preferred].append(topic_partition)
    return {broker: LeaderImbalance(tuple(away[broker]), total) for broker, total in count.items()}


# --- ISR changes ----------------------------------------------------------------------------------


class IsrChangeResult(NamedTuple):
    """An error; or the leadership to write; or neither if the proposal equals the current state."""

    error: ErrorCode
    accepted: LeaderAndIsr | None = None


@dataclass(frozen=True, slots=True)
class EligibleBrokers:
    """Brokers that may join an ISR: live brokers with their epochs, and those shutting down."""

    broker_epochs: Mapping[BrokerId, int]
    shutting_down: frozenset[BrokerId] = frozenset()


def validate_isr_change(
    sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr, eligible: EligibleBrokers
) -> IsrChangeResult:
    """Validates one proposal of the broker `sender`.

    The order of the checks matters: a leader with an old epoch must get the epoch error before any
    other, and a proposal that equals the current ISR is a repeated request, not a conflict.
    """
    error = _staleness(sender, change, current)
    if error is not ErrorCode.NONE:
        return IsrChangeResult(error)
    if change.new_isr == current.isr and change.recovery is current.recovery:
        return IsrChangeResult(ErrorCode.NONE)
    # After the check for equality: the controller may have applied the proposal and lost the
    # response, and the repetition has the old partition epoch.
    if change.partition_epoch < current.partition_epoch:
        return IsrChangeResult(ErrorCode.INVALID_UPDATE_VERSION)
    if not _is_sound(sender, change, current):
        return IsrChangeResult(ErrorCode.INVALID_REQUEST)
    if not _are_eligible(change, current, eligible):
        return IsrChangeResult(ErrorCode.INELIGIBLE_REPLICA)
    accepted = LeaderAndIsr(
        current.leader,
        current.leader_epoch,
        change.new_isr,
        current.partition_epoch,
        change.recovery,
    )
    return IsrChangeResult(ErrorCode.NONE, accepted)


def _staleness(sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr) -> ErrorCode:
    ahead = change.leader_epoch > current.leader_epoch
    if ahead or change.partition_epoch > current.partition_epoch:
        return (
            ErrorCode.NOT_CONTROLLER
        )  # the sender has a newer state: another controller is active
    if change.leader_epoch < current.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.NONE if sender == current.leader else ErrorCode.INVALID_REQUEST


def _is_sound(sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr) -> bool:
    """Returns whether the members are valid; a leader in recovery (KIP-704) must be alone."""
    if sender not in change.new_isr or len(set(change.new_isr)) != len(change.new_isr):
        return False
    if change.recovery is LeaderRecoveryState.RECOVERING:
        return len(change.new_isr) == 1 and current.recovery is change.recovery
    return True


def _are_eligible(
    change: AlterPartitionChange, current: LeaderAndIsr, eligible: EligibleBrokers
) -> bool:
    """Returns whether added brokers are live and stay, in the expected broker epoch."""
    for index, broker_id in enumerate(change.new_isr):
        epoch = eligible.broker_epochs.get(broker_id)
        if broker_id not in current.isr and (epoch is None or broker_id in eligible.shutting_down):
            return False
        # KIP-903: a broker that restarted since its last fetch may have lost the end of its log and
        # must not join with its former position.
        expected = change.broker_epochs[index] if change.broker_epochs else NO_BROKER_EPOCH
        if epoch is not None and expected not in (NO_BROKER_EPOCH, epoch):
            return False
    return True
