"""ConsumerGroupHeartbeat: members of KIP-848 groups join, keep their session and leave.

The response contains the assignment of the member.

v1 the client generates the member id (KIP-1082), subscription by regular expression.
"""

from barnabas.broker.coordinators.responses import (
    GroupPorts,
    PendingResponse,
    client_host,
    run_on_group,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import ConsumerGroupHeartbeatReply
from barnabas.groups.requests import ConsumerGroupHeartbeatRequest, OwnedPartitions
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest as WireRequest,
)

_CLIENT_MEMBER_ID_FROM = 1


def handle_consumer_group_heartbeat(
    ctx: HandlerContext[GroupPorts], request: WireRequest
) -> Result:
    beat = _translate(ctx, request)
    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.consumer_group_heartbeat(beat, now_ms),
        PendingResponse(ctx, _response, _failed),
    )


def _translate(
    ctx: HandlerContext[GroupPorts], request: WireRequest
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


def _response(reply: ConsumerGroupHeartbeatReply) -> ConsumerGroupHeartbeatResponse:
    assignment = None
    if reply.assignment is not None:
        assignment = Assignment(
            [TopicPartitions(one.topic_id, list(one.partitions)) for one in reply.assignment]
        )
    return ConsumerGroupHeartbeatResponse(
        error_code=reply.error_code,
        error_message=reply.error_message,
        member_id=reply.member_id,
        member_epoch=reply.member_epoch,
        heartbeat_interval_ms=reply.heartbeat_interval_ms,
        assignment=assignment,
    )


def _failed(code: ErrorCode) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code, error_message=code.explanation)


HANDLER = ApiHandler(ApiKey.CONSUMER_GROUP_HEARTBEAT, (0, 1), handle_consumer_group_heartbeat)
