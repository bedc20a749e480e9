"""AlterPartition: a leader proposes new ISRs to the controller (KIP-497).

v2 topic ids; v3 the broker epoch of each replica in the ISR (KIP-903).
"""

import asyncio
from typing import Protocol

from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply, LeaderRecoveryState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, TopicPartition, Uuid
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    PartitionData,
    PartitionResponse,
    TopicResponse,
)
from barnabas.zk.tree import TreeError

_EPOCHS_FROM = 3
# A controller that lost its connection to ZooKeeper does not respond. The leader must not wait
# long, because another broker may be the controller by then.
_ANSWER_S = 5.0


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_alter_partition(
    ctx: HandlerContext[Ports], request: AlterPartitionRequest
) -> AlterPartitionResponse:
    metadata = ctx.services.metadata
    changes: dict[tuple[Uuid, int], AlterPartitionChange] = {}
    for topic in request.topics:
        name = metadata.topic_name(topic.topic_id) or ""
        for data in topic.partitions:
            place = TopicPartition(name, data.partition_index)
            changes[topic.topic_id, data.partition_index] = _change(
                ctx, place, topic.topic_id, data
            )
    known = [change for change in changes.values() if change.topic_partition.topic]
    try:
        async with asyncio.timeout(_ANSWER_S):
            replies = await ctx.services.cluster.controller.alter_partition(
                BrokerId(request.broker_id), request.broker_epoch, known
            )
    except BrokerError as error:
        return AlterPartitionResponse(error_code=error.code)
    except (TreeError, TimeoutError):
        return AlterPartitionResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    return AlterPartitionResponse(
        topics=[
            TopicResponse("", topic_id, [_response(number, replies.get(change.topic_partition))])
            for (topic_id, number), change in changes.items()
        ]
    )


def _change(
    ctx: HandlerContext[Ports], topic_partition: TopicPartition, topic_id: Uuid, data: PartitionData
) -> AlterPartitionChange:
    members = [(member, -1) for member in data.new_isr]
    if ctx.version >= _EPOCHS_FROM:
        members = [(item.broker_id, item.broker_epoch) for item in data.new_isr_with_epochs]
    return AlterPartitionChange(
        topic_partition,
        topic_id,
        data.leader_epoch,
        data.partition_epoch,
        tuple(BrokerId(member) for member, _ in members),
        tuple(epoch for _, epoch in members),
        LeaderRecoveryState(1 if data.leader_recovery_state else 0),
    )


def _response(number: int, reply: AlterPartitionReply | None) -> PartitionResponse:
    if reply is None:
        return PartitionResponse(number, ErrorCode.UNKNOWN_TOPIC_ID)
    return PartitionResponse(
        number,
        reply.error,
        reply.leader,
        reply.leader_epoch,
        list(reply.isr),
        reply.recovery,
        reply.partition_epoch,
    )


HANDLER = ApiHandler(ApiKey.ALTER_PARTITION, (2, 3), handle_alter_partition)
