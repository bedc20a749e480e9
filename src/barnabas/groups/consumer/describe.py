"""ConsumerGroupDescribe, and the check of commits and fetches of KIP-848 groups."""

from barnabas.groups.config import GroupConfig
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import ConsumerGroupMember, Partitions, to_owned
from barnabas.groups.replies import (
    DescribedConsumerGroup,
    DescribedConsumerMember,
    NamedPartitions,
)
from barnabas.groups.topics_image import TopicsImage
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

_CLASSIC_MEMBER = 0
_CONSUMER_MEMBER = 1


def describe(
    group: ConsumerGroup, topics: TopicsImage, config: GroupConfig
) -> DescribedConsumerGroup:
    return DescribedConsumerGroup(
        group_id=group.group_id,
        error_code=ErrorCode.NONE,
        state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.preferred_assignor() or config.consumer_assignors[0],
        members=tuple(_describe_member(group, m, topics) for m in group.members.values()),
    )


def _describe_member(
    group: ConsumerGroup, member: ConsumerGroupMember, topics: TopicsImage
) -> DescribedConsumerMember:
    classic = member.uses_classic_protocol
    return DescribedConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=tuple(sorted(member.subscribed_topic_names)),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_named(member.assigned, topics),
        target_assignment=_named(group.target_of(member.member_id), topics),
        member_type=_CLASSIC_MEMBER if classic else _CONSUMER_MEMBER,
    )


def _named(partitions: Partitions, topics: TopicsImage) -> tuple[NamedPartitions, ...]:
    """Topics that are gone have no name and are left out."""
    named = ((topics.topic_name(owned.topic_id), owned) for owned in to_owned(partitions))
    return tuple(NamedPartitions(topic, owned) for topic, owned in named if topic is not None)


def validate_commit(
    group: ConsumerGroup, member_id: str, epoch: int, *, transactional: bool, understands: bool
) -> None:
    """Raises unless a commit of this member and epoch may be stored now.

    `understands` tells whether the client knows member epochs (OffsetCommit v9+).
    """
    if epoch < 0 and group.is_empty:
        return
    member = group.member(member_id)
    if not transactional and not member.uses_classic_protocol and not understands:
        raise BrokerError(
            ErrorCode.UNSUPPORTED_VERSION,
            "OffsetCommit version 9 or above must be used by members using the consumer protocol.",
        )
    _check_epoch(member, epoch)


def validate_fetch(group: ConsumerGroup, member_id: str | None, epoch: int) -> None:
    """Tools and old clients name no member; a member must be at its epoch."""
    if member_id is None and epoch < 0:
        return
    _check_epoch(group.member(member_id or ""), epoch)


def _check_epoch(member: ConsumerGroupMember, epoch: int) -> None:
    if epoch == member.member_epoch:
        return
    if member.uses_classic_protocol:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
    raise BrokerError(
        ErrorCode.STALE_MEMBER_EPOCH,
        f"The received member epoch {epoch} does not match the expected one {member.member_epoch}.",
    )
