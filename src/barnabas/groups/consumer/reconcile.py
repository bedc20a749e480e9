"""Moves a member from its current to its target assignment, one heartbeat at a time (KIP-848).

A member first revokes partitions that are not in its target, then gets the free ones. It moves to
the target epoch when nothing remains to revoke, so a member epoch proves that the member has
revoked. A partition is free when no other member owns it; so each partition has one owner.
"""

from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import (
    NO_PARTITIONS,
    ConsumerGroupMember,
    MemberState,
    Partitions,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid


def reconcile(
    group: ConsumerGroup, member: ConsumerGroupMember, owned: Partitions | None
) -> ConsumerGroupMember:
    """Returns the member in its next state, or unchanged when it cannot move.

    `owned` are the partitions that the member reports as owned. None means that it sent no list;
    then the coordinator assumes that the member has revoked nothing.
    """
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch == group.target_epoch:
                return member
            return _advance(group, member, member.member_epoch, owned)
        case MemberState.UNREVOKED_PARTITIONS:
            if _still_owns(owned, member.pending_revocation):
                return member
            return _advance(group, member, member.member_epoch + 1, owned)
        case MemberState.UNRELEASED_PARTITIONS:
            return _advance(group, member, member.member_epoch, owned)
        case MemberState.UNKNOWN:
            if owned is None or owned:
                raise BrokerError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    "The member is in an unknown state; it must give up all partitions and rejoin.",
                )
            return _advance(group, member, group.target_epoch, owned)


def _still_owns(owned: Partitions | None, revoked: Partitions) -> bool:
    if owned is None:
        return True
    return any(numbers & revoked.get(topic_id, frozenset()) for topic_id, numbers in owned.items())


def _advance(
    group: ConsumerGroup, member: ConsumerGroupMember, epoch: int, owned: Partitions | None
) -> ConsumerGroupMember:
    target = group.target_of(member.member_id)
    kept = _intersection(member.assigned, target)
    to_revoke = _difference(member.assigned, kept)
    if to_revoke and _still_owns(owned, to_revoke):
        return member._replace(
            state=MemberState.UNREVOKED_PARTITIONS,
            member_epoch=epoch,
            previous_member_epoch=member.member_epoch,
            assigned=kept,
            pending_revocation=to_revoke,
        )
    free, others_hold_some = _free(group, member, _difference(target, kept))
    state = MemberState.UNRELEASED_PARTITIONS if others_hold_some else MemberState.STABLE
    return member._replace(
        state=state,
        member_epoch=group.target_epoch,
        previous_member_epoch=member.member_epoch,
        assigned=_union(kept, free),
        pending_revocation=NO_PARTITIONS,
    )


def _free(
    group: ConsumerGroup, member: ConsumerGroupMember, wanted: Partitions
) -> tuple[Partitions, bool]:
    """Those of the wanted partitions that no other member holds, and whether some are held."""
    free: dict[Uuid, frozenset[int]] = {}
    held = False
    for topic_id, numbers in wanted.items():
        available = frozenset(
            number
            for number in numbers
            if group.owners.get((topic_id, number), member.member_id) == member.member_id
        )
        held = held or len(available) < len(numbers)
        if available:
            free[topic_id] = available
    return free, held


def _intersection(one: Partitions, other: Partitions) -> Partitions:
    both = {topic: numbers & other.get(topic, frozenset()) for topic, numbers in one.items()}
    return {topic: numbers for topic, numbers in both.items() if numbers}


def _difference(one: Partitions, other: Partitions) -> Partitions:
    rest = {topic: numbers - other.get(topic, frozenset()) for topic, numbers in one.items()}
    return {topic: numbers for topic, numbers in rest.items() if numbers}


def _union(one: Partitions, other: Partitions) -> Partitions:
    result = dict(one)
    for topic, numbers in other.items():
        result[topic] = result.get(topic, frozenset()) | numbers
    return result
