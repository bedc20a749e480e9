"""How a member gets from what it owns to its target, one heartbeat at a time (KIP-848).

A member first gives up what is not in its target, then takes what is free. It moves to the
target's epoch when it has nothing left to give up, so a member epoch proves that the member has
revoked; a partition is free once no other member holds it. That keeps one owner per partition.
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
    """The member's next state, or the same member when it cannot move.

    `owned` is what the member says it owns, None when it did not say: then it is assumed to own
    all it ever did.
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
