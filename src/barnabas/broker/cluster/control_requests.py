"""Sending side of the controller's requests: encodes commands, decodes replies."""

from collections.abc import Iterable
from itertools import groupby

from barnabas.model.control import (
    ControlReply,
    LeaderAndIsrCommand,
    LiveBroker,
    PartitionState,
    StopReplicaCommand,
    StopReplicaPartition,
    UpdateMetadataCommand,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from barnabas.wire.messages.stop_replica import (
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

INCREMENTAL, FULL = 1, 2
SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def leader_and_isr_request(command: LeaderAndIsrCommand, listener: str) -> LeaderAndIsrRequest:
    """Returns the request of a command; `listener` is the inter-broker listener."""
    return LeaderAndIsrRequest(
        controller_id=command.controller_id,
        controller_epoch=command.controller_epoch,
        broker_epoch=command.broker_epoch,
        type=FULL if command.is_full else INCREMENTAL,
        topic_states=[
            LeaderAndIsrTopicState(topic, states[0].topic_id, [_role(state) for state in states])
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
                [_known(state) for state in states],
            )
            for topic, states in _by_topic(command.partitions)
        ],
        live_brokers=[_live_broker(broker) for broker in command.live_brokers],
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
            for topic, items in _stops_by_topic(command.partitions)
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


def _by_topic(states: Iterable[PartitionState]) -> Iterable[tuple[str, list[PartitionState]]]:
    ordered = sorted(states, key=lambda state: state.topic_partition)
    for topic, group in groupby(ordered, lambda state: state.topic_partition.topic):
        yield topic, list(group)


def _stops_by_topic(
    items: Iterable[StopReplicaPartition],
) -> Iterable[tuple[str, list[StopReplicaPartition]]]:
    ordered = sorted(items, key=lambda item: item.topic_partition)
    for topic, group in groupby(ordered, lambda item: item.topic_partition.topic):
        yield topic, list(group)


def _role(state: PartitionState) -> LeaderAndIsrPartitionState:
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


def _known(state: PartitionState) -> UpdateMetadataPartitionState:
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


def _live_broker(broker: LiveBroker) -> UpdateMetadataBroker:
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
