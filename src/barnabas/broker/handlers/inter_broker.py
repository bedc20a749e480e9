"""Handlers of requests between brokers.

The controller sends LeaderAndIsr, StopReplica and UpdateMetadata to brokers. Brokers send
ControlledShutdown and AlterPartition to the controller.
"""

import asyncio
from typing import Protocol

from barnabas.broker.cluster.control_messages import (
    leader_and_isr_command,
    leader_and_isr_response,
    stop_replica_command,
    stop_replica_response,
    update_metadata_command,
    update_metadata_response,
)
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
from barnabas.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from barnabas.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from barnabas.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from barnabas.wire.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from barnabas.zk.tree import TreeError


class InterBrokerPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    cluster: ClusterPorts


# --- LeaderAndIsr ---------------------------------------------------------------------------------


async def handle_leader_and_isr(
    ctx: HandlerContext[InterBrokerPorts], request: LeaderAndIsrRequest
) -> LeaderAndIsrResponse:
    """Sets leader and ISR of the replicas on this broker.

    v5 topic ids; v6 recovery after unclean elections; v7 a flag for KRaft controllers. Older
    versions are not served: the brokers of a cluster differ by at most one release.
    """
    cluster = ctx.services.cluster
    command = leader_and_isr_command(request, cluster.listener)
    return leader_and_isr_response(await cluster.receiver.apply(command), request)


# --- StopReplica ----------------------------------------------------------------------------------


async def handle_stop_replica(
    ctx: HandlerContext[InterBrokerPorts], request: StopReplicaRequest
) -> StopReplicaResponse:
    """Stops replicas of this broker and, if requested, deletes their logs.

    v3 the leader epoch of each partition; v4 a flag for KRaft controllers.
    """
    command = stop_replica_command(request)
    return stop_replica_response(await ctx.services.cluster.receiver.apply(command))


# --- UpdateMetadata -------------------------------------------------------------------------------


async def handle_update_metadata(
    ctx: HandlerContext[InterBrokerPorts], request: UpdateMetadataRequest
) -> UpdateMetadataResponse:
    """Stores the live brokers and partition states that the controller sends.

    v7 topic ids; v8 full or incremental update.
    """
    command = update_metadata_command(request)
    return update_metadata_response(await ctx.services.cluster.receiver.apply(command))


# --- ControlledShutdown ---------------------------------------------------------------------------


async def handle_controlled_shutdown(
    ctx: HandlerContext[InterBrokerPorts], request: ControlledShutdownRequest
) -> ControlledShutdownResponse:
    """Moves the leaderships away from a broker that will stop.

    v2 broker epochs; v3 flexible.
    """
    controller = ctx.services.cluster.controller
    try:
        remaining = await controller.controlled_shutdown(
            BrokerId(request.broker_id), request.broker_epoch
        )
    except BrokerError as error:
        return ControlledShutdownResponse(error.code)
    except TreeError:
        return ControlledShutdownResponse(ErrorCode.NOT_CONTROLLER)
    return ControlledShutdownResponse(
        0,
        [
            RemainingPartition(topic_partition.topic, topic_partition.partition)
            for topic_partition in remaining
        ],
    )


# --- AlterPartition -------------------------------------------------------------------------------


_BROKER_EPOCHS_FROM = 3
# A controller that lost its connection to ZooKeeper does not respond. The leader must not wait
# long, because another broker may be the controller by then.
_CONTROLLER_TIMEOUT_S = 5.0


async def handle_alter_partition(
    ctx: HandlerContext[InterBrokerPorts], request: AlterPartitionRequest
) -> AlterPartitionResponse:
    """Changes the ISRs of partitions as their leaders propose (KIP-497).

    v2 topic ids; v3 the broker epoch of each replica in the ISR (KIP-903).
    """
    metadata = ctx.services.metadata
    changes: dict[tuple[Uuid, int], AlterPartitionChange] = {}
    for topic in request.topics:
        name = metadata.topic_name(topic.topic_id) or ""
        for data in topic.partitions:
            topic_partition = TopicPartition(name, data.partition_index)
            changes[topic.topic_id, data.partition_index] = _change(
                ctx, topic_partition, topic.topic_id, data
            )
    known = [change for change in changes.values() if change.topic_partition.topic]
    try:
        async with asyncio.timeout(_CONTROLLER_TIMEOUT_S):
            replies = await ctx.services.cluster.controller.alter_partition(
                BrokerId(request.broker_id), request.broker_epoch, known
            )
    except BrokerError as error:
        return AlterPartitionResponse(error_code=error.code)
    except (TreeError, TimeoutError):
        return AlterPartitionResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    return AlterPartitionResponse(
        topics=[
            TopicResponse(
                "", topic_id, [_partition_response(number, replies.get(change.topic_partition))]
            )
            for (topic_id, number), change in changes.items()
        ]
    )


def _change(
    ctx: HandlerContext[InterBrokerPorts],
    topic_partition: TopicPartition,
    topic_id: Uuid,
    data: PartitionData,
) -> AlterPartitionChange:
    members = [(member, -1) for member in data.new_isr]
    if ctx.version >= _BROKER_EPOCHS_FROM:
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


def _partition_response(partition: int, reply: AlterPartitionReply | None) -> PartitionResponse:
    if reply is None:
        return PartitionResponse(partition, ErrorCode.UNKNOWN_TOPIC_ID)
    return PartitionResponse(
        partition,
        reply.error,
        reply.leader,
        reply.leader_epoch,
        list(reply.isr),
        reply.recovery,
        reply.partition_epoch,
    )


HANDLERS = (
    ApiHandler(ApiKey.LEADER_AND_ISR, (5, 7), handle_leader_and_isr),
    ApiHandler(ApiKey.STOP_REPLICA, (3, 4), handle_stop_replica),
    ApiHandler(ApiKey.UPDATE_METADATA, (7, 8), handle_update_metadata),
    ApiHandler(ApiKey.CONTROLLED_SHUTDOWN, (2, 3), handle_controlled_shutdown),
    ApiHandler(ApiKey.ALTER_PARTITION, (2, 3), handle_alter_partition),
)
