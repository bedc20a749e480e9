"""Handlers of the consumer group protocol (KIP-848).

They serve ConsumerGroupHeartbeat and ConsumerGroupDescribe.
"""

from collections.abc import Iterable

from barnabas.broker.coordinators.responses import (
    GroupPorts,
    PendingResponse,
    client_host,
    run_on_group,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.requests import (
    ConsumerGroupHeartbeatReply,
    ConsumerGroupHeartbeatRequest,
    DescribedConsumerGroup,
    DescribedConsumerMember,
    NamedPartitions,
    OwnedPartitions,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.acl import ResourceType, all_operations
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.consumer_group_describe import Assignment as DescribedAssignment
from barnabas.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from barnabas.wire.messages.consumer_group_describe import Member as DescribedMember
from barnabas.wire.messages.consumer_group_describe import (
    TopicPartitions as DescribedTopicPartitions,
)
from barnabas.wire.messages.consumer_group_heartbeat import Assignment as HeartbeatAssignment
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest as WireHeartbeatRequest,
)
from barnabas.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from barnabas.wire.messages.consumer_group_heartbeat import (
    TopicPartitions as HeartbeatTopicPartitions,
)

# --- ConsumerGroupHeartbeat -----------------------------------------------------------------------


_CLIENT_MEMBER_ID_FROM = 1


def handle_consumer_group_heartbeat(
    ctx: HandlerContext[GroupPorts], request: WireHeartbeatRequest
) -> Result:
    """Adds a member to a KIP-848 group, keeps its session, or removes it.

    The response contains the assignment of the member.

    v1 the client generates the member id (KIP-1082), subscription by regular expression.
    """
    beat = _translate(ctx, request)
    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.consumer_group_heartbeat(beat, now_ms),
        PendingResponse(ctx, _heartbeat_response, _failed_heartbeat),
    )


def _translate(
    ctx: HandlerContext[GroupPorts], request: WireHeartbeatRequest
) -> ConsumerGroupHeartbeatRequest:
    names, owned = request.subscribed_topic_names, request.topic_partitions
    return ConsumerGroupHeartbeatRequest(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        client_id=ctx.header.client_id or "",
        client_host=client_host(ctx),
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=request.subscribed_topic_regex,
        server_assignor=request.server_assignor,
        topic_partitions=None
        if owned is None
        else tuple(OwnedPartitions(one.topic_id, tuple(one.partitions)) for one in owned),
        generates_member_id=ctx.version >= _CLIENT_MEMBER_ID_FROM,
    )


def _heartbeat_response(reply: ConsumerGroupHeartbeatReply) -> ConsumerGroupHeartbeatResponse:
    assignment = None
    if reply.assignment is not None:
        assignment = HeartbeatAssignment(
            [
                HeartbeatTopicPartitions(one.topic_id, list(one.partitions))
                for one in reply.assignment
            ]
        )
    return ConsumerGroupHeartbeatResponse(
        error_code=reply.error_code,
        error_message=reply.error_message,
        member_id=reply.member_id,
        member_epoch=reply.member_epoch,
        heartbeat_interval_ms=reply.heartbeat_interval_ms,
        assignment=assignment,
    )


def _failed_heartbeat(code: ErrorCode) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code, error_message=code.explanation)


# --- ConsumerGroupDescribe ------------------------------------------------------------------------


def handle_consumer_group_describe(
    ctx: HandlerContext[GroupPorts], request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """Returns state and members of KIP-848 groups. v1 member types."""
    return ConsumerGroupDescribeResponse(
        groups=[
            _describe(ctx, group_id, request.include_authorized_operations)
            for group_id in request.group_ids
        ]
    )


def _describe(
    ctx: HandlerContext[GroupPorts], group_id: str, with_operations: bool
) -> DescribedGroup:
    if not group_id:
        return DescribedGroup(ErrorCode.INVALID_GROUP_ID, "the group id is empty", group_id)
    try:
        driver = ctx.services.groups.shard_of(group_id)
    except BrokerError as error:
        return DescribedGroup(error.code, error.message, group_id)
    found = _described(driver.shard.describe_consumer_group(group_id))
    if with_operations and not found.error_code:
        found.authorized_operations = all_operations(ResourceType.GROUP)
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
        [_described_member(member) for member in reply.members],
    )


def _described_member(member: DescribedConsumerMember) -> DescribedMember:
    return DescribedMember(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.member_epoch,
        member.client_id,
        member.client_host,
        list(member.subscribed_topic_names),
        member.subscribed_topic_regex,
        _described_assignment(member.assignment),
        _described_assignment(member.target_assignment),
        member.member_type,
    )


def _described_assignment(partitions: Iterable[NamedPartitions]) -> DescribedAssignment:
    return DescribedAssignment(
        [
            DescribedTopicPartitions(one.owned.topic_id, one.topic, list(one.owned.partitions))
            for one in partitions
        ]
    )


HANDLERS = (
    ApiHandler(ApiKey.CONSUMER_GROUP_HEARTBEAT, (0, 1), handle_consumer_group_heartbeat),
    ApiHandler(ApiKey.CONSUMER_GROUP_DESCRIBE, (0, 1), handle_consumer_group_describe),
)
