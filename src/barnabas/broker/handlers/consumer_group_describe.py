"""ConsumerGroupDescribe: returns state and members of KIP-848 groups. v1 member types."""

from collections.abc import Iterable
from typing import Protocol

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.broker.handlers.describe_groups import GROUP_OPERATIONS
from barnabas.groups.replies import DescribedConsumerGroup, DescribedConsumerMember, NamedPartitions
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    groups: GroupCoordinator


def handle_consumer_group_describe(
    ctx: HandlerContext[Ports], request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[
            _describe(ctx, group_id, request.include_authorized_operations)
            for group_id in request.group_ids
        ]
    )


def _describe(ctx: HandlerContext[Ports], group_id: str, with_operations: bool) -> DescribedGroup:
    if not group_id:
        return DescribedGroup(ErrorCode.INVALID_GROUP_ID, "the group id is empty", group_id)
    try:
        driver = ctx.services.groups.shard_of(group_id)
    except BrokerError as error:
        return DescribedGroup(error.code, error.message, group_id)
    found = _described(driver.shard.describe_consumer_group(group_id))
    if with_operations and not found.error_code:
        found.authorized_operations = GROUP_OPERATIONS
    return found


def _described(reply: DescribedConsumerGroup) -> DescribedGroup:
    return DescribedGroup(
        reply.error_code,
        reply.error_message,
        reply.group_id,
        reply.state,
        reply.group_epoch,
        reply.assignment_epoch,
        reply.assignor_name,
        [_member(member) for member in reply.members],
    )


def _member(member: DescribedConsumerMember) -> Member:
    return Member(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.member_epoch,
        member.client_id,
        member.client_host,
        list(member.subscribed_topic_names),
        member.subscribed_topic_regex,
        _assignment(member.assignment),
        _assignment(member.target_assignment),
        member.member_type,
    )


def _assignment(partitions: Iterable[NamedPartitions]) -> Assignment:
    return Assignment(
        [
            TopicPartitions(one.owned.topic_id, one.topic, list(one.owned.partitions))
            for one in partitions
        ]
    )


HANDLER = ApiHandler(ApiKey.CONSUMER_GROUP_DESCRIBE, (0, 1), handle_consumer_group_describe)
