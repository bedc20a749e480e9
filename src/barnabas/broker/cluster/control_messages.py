"""The controller's commands as requests: LeaderAndIsr, UpdateMetadata, StopReplica.

The controller's broker encodes commands and decodes replies; the receiving broker decodes commands
and encodes replies.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import TypeVar

from barnabas.model.control import (
    ControlReply,
    Endpoint,
    LeaderAndIsrCommand,
    LeaderRecoveryState,
    LiveBroker,
    PartitionState,
    StopReplicaCommand,
    StopReplicaPartition,
    UpdateMetadataCommand,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import ProtocolError
from barnabas.model.ids import BrokerId, TopicPartition, Uuid
from barnabas.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    LeaderAndIsrTopicState,
)
from barnabas.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from barnabas.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    UpdateMetadataTopicState,
)

_ItemT = TypeVar("_ItemT", PartitionState, StopReplicaPartition)

INCREMENTAL, FULL = 1, 2
SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


# --- Sending side ---------------------------------------------------------------------------------


def leader_and_isr_request(command: LeaderAndIsrCommand, listener: str) -> LeaderAndIsrRequest:
    """Returns the request of a command; `listener` is the inter-broker listener."""
    return LeaderAndIsrRequest(
        controller_id=command.controller_id,
        controller_epoch=command.controller_epoch,
        broker_epoch=command.broker_epoch,
        type=FULL if command.is_full else INCREMENTAL,
        topic_states=[
            LeaderAndIsrTopicState(
                topic, states[0].topic_id, [_encoded_role(state) for state in states]
            )
            for topic, states in _by_topic(command.partitions)
        ],
        live_leaders=list(_live_leaders(command.live_brokers, listener)),
    )


def update_metadata_request(command: UpdateMetadataCommand) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(
        controller_id=command.controller_id,
        controller_epoch=command.controller_epoch,
        broker_epoch=command.broker_epoch,
        type=FULL if command.is_full else INCREMENTAL,
        topic_states=[
            UpdateMetadataTopicState(
                topic,
                command.topic_ids.get(topic, states[0].topic_id),
                [_encoded_state(state) for state in states],
            )
            for topic, states in _by_topic(command.partitions)
        ],
        live_brokers=[_encoded_broker(broker) for broker in command.live_brokers],
    )


def stop_replica_request(command: StopReplicaCommand) -> StopReplicaRequest:
    return StopReplicaRequest(
        controller_id=command.controller_id,
        controller_epoch=command.controller_epoch,
        broker_epoch=command.broker_epoch,
        topic_states=[
            StopReplicaTopicState(
                topic,
                [
                    StopReplicaPartitionState(
                        item.topic_partition.partition, item.leader_epoch, item.delete
                    )
                    for item in items
                ],
            )
            for topic, items in _by_topic(command.partitions)
        ],
    )


def leader_and_isr_reply(
    response: LeaderAndIsrResponse, command: LeaderAndIsrCommand
) -> ControlReply:
    names = {state.topic_id: state.topic_partition.topic for state in command.partitions}
    return ControlReply(
        ErrorCode.of(response.error_code),
        {
            TopicPartition(names[topic.topic_id], item.partition_index): ErrorCode.of(
                item.error_code
            )
            for topic in response.topics
            if topic.topic_id in names
            for item in topic.partition_errors
        },
    )


def update_metadata_reply(response: UpdateMetadataResponse) -> ControlReply:
    return ControlReply(ErrorCode.of(response.error_code))


def stop_replica_reply(response: StopReplicaResponse) -> ControlReply:
    return ControlReply(
        ErrorCode.of(response.error_code),
        {
            TopicPartition(item.topic_name, item.partition_index): ErrorCode.of(item.error_code)
            for item in response.partition_errors
        },
    )


def _by_topic(items: Iterable[_ItemT]) -> Iterable[tuple[str, list[_ItemT]]]:
    ordered = sorted(items, key=lambda item: item.topic_partition)
    for topic, group in groupby(ordered, lambda item: item.topic_partition.topic):
        yield topic, list(group)


def _encoded_role(state: PartitionState) -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        partition_index=state.topic_partition.partition,
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        partition_epoch=state.partition_epoch,
        replicas=list(state.replicas),
        adding_replicas=list(state.adding),
        removing_replicas=list(state.removing),
        is_new=state.is_new,
        leader_recovery_state=state.recovery,
    )


def _encoded_state(state: PartitionState) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        partition_index=state.topic_partition.partition,
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        zk_version=state.partition_epoch,
        replicas=list(state.replicas),
        offline_replicas=list(state.offline_replicas),
    )


def _live_leaders(brokers: Iterable[LiveBroker], listener: str) -> Iterable[LeaderAndIsrLiveLeader]:
    for broker in brokers:
        endpoint = broker.endpoint(listener)
        if endpoint is not None:
            yield LeaderAndIsrLiveLeader(broker.broker_id, endpoint.host, endpoint.port)


def _encoded_broker(broker: LiveBroker) -> UpdateMetadataBroker:
    return UpdateMetadataBroker(
        id=broker.broker_id,
        endpoints=[
            UpdateMetadataEndpoint(
                endpoint.port,
                endpoint.host,
                endpoint.listener,
                SECURITY_PROTOCOLS.index(endpoint.security_protocol),
            )
            for endpoint in broker.endpoints
        ],
        rack=broker.rack,
    )


# --- Receiving side -------------------------------------------------------------------------------


def leader_and_isr_command(request: LeaderAndIsrRequest, listener: str) -> LeaderAndIsrCommand:
    """Returns the command of a request; `listener` is the inter-broker listener."""
    return LeaderAndIsrCommand(
        BrokerId(request.controller_id),
        request.controller_epoch,
        request.broker_epoch,
        tuple(
            _decoded_role(
                TopicPartition(topic.topic_name, state.partition_index), topic.topic_id, state
            )
            for topic in request.topic_states
            for state in topic.partition_states
        ),
        tuple(
            LiveBroker(
                BrokerId(leader.broker_id), (Endpoint(listener, leader.host_name, leader.port),)
            )
            for leader in request.live_leaders
        ),
        request.type == FULL,
    )


def update_metadata_command(request: UpdateMetadataRequest) -> UpdateMetadataCommand:
    return UpdateMetadataCommand(
        BrokerId(request.controller_id),
        request.controller_epoch,
        request.broker_epoch,
        tuple(
            _decoded_state(
                TopicPartition(topic.topic_name, state.partition_index), topic.topic_id, state
            )
            for topic in request.topic_states
            for state in topic.partition_states
        ),
        tuple(_decoded_broker(broker) for broker in request.live_brokers),
        {topic.topic_name: topic.topic_id for topic in request.topic_states},
        request.type == FULL,
    )


def stop_replica_command(request: StopReplicaRequest) -> StopReplicaCommand:
    return StopReplicaCommand(
        BrokerId(request.controller_id),
        request.controller_epoch,
        request.broker_epoch,
        tuple(
            StopReplicaPartition(
                TopicPartition(topic.topic_name, state.partition_index),
                state.leader_epoch,
                state.delete_partition,
            )
            for topic in request.topic_states
            for state in topic.partition_states
        ),
    )


def leader_and_isr_response(
    reply: ControlReply, request: LeaderAndIsrRequest
) -> LeaderAndIsrResponse:
    topics = []
    for topic in request.topic_states:
        errors = [
            LeaderAndIsrPartitionError(
                partition_index=state.partition_index,
                error_code=reply.partitions.get(
                    TopicPartition(topic.topic_name, state.partition_index), reply.error
                ),
            )
            for state in topic.partition_states
        ]
        topics.append(LeaderAndIsrTopicError(topic.topic_id, errors))
    return LeaderAndIsrResponse(error_code=reply.error, topics=topics)


def update_metadata_response(reply: ControlReply) -> UpdateMetadataResponse:
    return UpdateMetadataResponse(reply.error)


def stop_replica_response(reply: ControlReply) -> StopReplicaResponse:
    return StopReplicaResponse(
        reply.error,
        [
            StopReplicaPartitionError(topic_partition.topic, topic_partition.partition, code)
            for topic_partition, code in reply.partitions.items()
        ],
    )


def _decoded_role(
    topic_partition: TopicPartition, topic_id: Uuid, state: LeaderAndIsrPartitionState
) -> PartitionState:
    return PartitionState(
        topic_partition,
        BrokerId(state.leader),
        state.leader_epoch,
        _brokers(state.isr),
        _brokers(state.replicas),
        state.partition_epoch,
        state.controller_epoch,
        topic_id,
        _brokers(state.adding_replicas),
        _brokers(state.removing_replicas),
        state.is_new,
        LeaderRecoveryState(1 if state.leader_recovery_state else 0),
    )


def _decoded_state(
    topic_partition: TopicPartition, topic_id: Uuid, state: UpdateMetadataPartitionState
) -> PartitionState:
    return PartitionState(
        topic_partition,
        BrokerId(state.leader),
        state.leader_epoch,
        _brokers(state.isr),
        _brokers(state.replicas),
        state.zk_version,
        state.controller_epoch,
        topic_id,
        offline_replicas=_brokers(state.offline_replicas),
    )


def _decoded_broker(broker: UpdateMetadataBroker) -> LiveBroker:
    endpoints = tuple(_endpoint(endpoint) for endpoint in broker.endpoints)
    return LiveBroker(BrokerId(broker.id), endpoints, broker.rack)


def _endpoint(endpoint: UpdateMetadataEndpoint) -> Endpoint:
    if not 0 <= endpoint.security_protocol < len(SECURITY_PROTOCOLS):
        raise ProtocolError(f"security protocol {endpoint.security_protocol} does not exist")
    protocol = SECURITY_PROTOCOLS[endpoint.security_protocol]
    return Endpoint(endpoint.listener, endpoint.host, endpoint.port, protocol)


def _brokers(ids: Iterable[int]) -> tuple[BrokerId, ...]:
    return tuple(BrokerId(broker_id) for broker_id in ids)
