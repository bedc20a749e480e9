"""Receiving side of the controller's requests: decodes commands, encodes replies."""

from collections.abc import Iterable

from barnabas.broker.cluster.control_requests import FULL, SECURITY_PROTOCOLS
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
from barnabas.model.errors import ProtocolError
from barnabas.model.ids import BrokerId, TopicPartition, Uuid
from barnabas.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from barnabas.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from barnabas.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)


def leader_and_isr_command(request: LeaderAndIsrRequest, listener: str) -> LeaderAndIsrCommand:
    """Returns the command of a request; `listener` is the inter-broker listener."""
    return LeaderAndIsrCommand(
        BrokerId(request.controller_id),
        request.controller_epoch,
        request.broker_epoch,
        tuple(
            _role(TopicPartition(topic.topic_name, state.partition_index), topic.topic_id, state)
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
            _known(TopicPartition(topic.topic_name, state.partition_index), topic.topic_id, state)
            for topic in request.topic_states
            for state in topic.partition_states
        ),
        tuple(_live_broker(broker) for broker in request.live_brokers),
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
            StopReplicaPartitionError(place.topic, place.partition, code)
            for place, code in reply.partitions.items()
        ],
    )


def _role(
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


def _known(
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


def _live_broker(broker: UpdateMetadataBroker) -> LiveBroker:
    endpoints = tuple(_endpoint(endpoint) for endpoint in broker.endpoints)
    return LiveBroker(BrokerId(broker.id), endpoints, broker.rack)


def _endpoint(endpoint: UpdateMetadataEndpoint) -> Endpoint:
    if not 0 <= endpoint.security_protocol < len(SECURITY_PROTOCOLS):
        raise ProtocolError(f"security protocol {endpoint.security_protocol} does not exist")
    protocol = SECURITY_PROTOCOLS[endpoint.security_protocol]
    return Endpoint(endpoint.listener, endpoint.host, endpoint.port, protocol)


def _brokers(ids: Iterable[int]) -> tuple[BrokerId, ...]:
    return tuple(BrokerId(broker_id) for broker_id in ids)
