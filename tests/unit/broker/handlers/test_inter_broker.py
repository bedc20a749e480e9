"""Commands survive the way over the wire, in every version that is served."""

import pytest

from barnabas.broker.cluster import control_messages
from barnabas.broker.handlers import HANDLERS
from barnabas.model.control import (
    LEADER_DURING_DELETE,
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
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.api_keys import ApiKey

TOPIC_IDS = {"a": Uuid(b"a" * 16), "b": Uuid(b"b" * 16)}
HEAD = (7, 3, 99)


def versions(api):
    (handler,) = [handler for handler in HANDLERS if handler.api is api]
    return range(handler.versions[0], handler.versions[1] + 1)


def over_the_wire(message, version):
    data = b"".join(bytes(part) for part in message.encode(version))
    return type(message).decode(memoryview(data), version)


def state(topic, number, **more):
    return PartitionState(
        TopicPartition(topic, number),
        leader=more.pop("leader", 1),
        leader_epoch=5,
        isr=(1, 2),
        replicas=(1, 2, 3),
        partition_epoch=8,
        controller_epoch=3,
        topic_id=TOPIC_IDS[topic],
        **more,
    )


def live(number):
    endpoint = Endpoint("INTERNAL", f"host-{number}", 9000 + number)
    return LiveBroker(number, (endpoint,))


@pytest.mark.parametrize("version", versions(ApiKey.LEADER_AND_ISR))
def test_leader_and_isr(version):
    recovering = version >= 6
    states = (
        state("a", 0, is_new=True, adding=(3,), removing=(2,)),
        state("a", 1, recovery=LeaderRecoveryState(int(recovering))),
        state("b", 0),
    )
    command = LeaderAndIsrCommand(*HEAD, states, (live(1), live(2)))
    request = over_the_wire(control_messages.leader_and_isr_request(command, "INTERNAL"), version)
    assert control_messages.leader_and_isr_command(request, "INTERNAL") == command


@pytest.mark.parametrize("version", versions(ApiKey.LEADER_AND_ISR))
def test_leader_and_isr_reply(version):
    command = LeaderAndIsrCommand(*HEAD, (state("a", 0), state("b", 1)))
    request = control_messages.leader_and_isr_request(command, "INTERNAL")
    codes = {
        TopicPartition("a", 0): ErrorCode.NONE,
        TopicPartition("b", 1): ErrorCode.KAFKA_STORAGE_ERROR,
    }
    response = control_messages.leader_and_isr_response(ControlReply(partitions=codes), request)
    reply = control_messages.leader_and_isr_reply(over_the_wire(response, version), command)
    assert reply == ControlReply(ErrorCode.NONE, codes)


@pytest.mark.parametrize("version", versions(ApiKey.LEADER_AND_ISR))
def test_a_rejected_command_is_rejected_for_every_partition(version):
    command = LeaderAndIsrCommand(*HEAD, (state("a", 0),))
    request = control_messages.leader_and_isr_request(command, "INTERNAL")
    stale = ErrorCode.STALE_CONTROLLER_EPOCH
    response = control_messages.leader_and_isr_response(ControlReply(stale), request)
    reply = control_messages.leader_and_isr_reply(over_the_wire(response, version), command)
    assert reply == ControlReply(stale, {TopicPartition("a", 0): stale})


@pytest.mark.parametrize("version", versions(ApiKey.UPDATE_METADATA))
def test_update_metadata_survives_the_round_trip(version):
    full = version >= 8
    brokers = (
        LiveBroker(1, (Endpoint("PLAINTEXT", "h", 1), Endpoint("TLS", "h", 2, "SSL")), "rack"),
        LiveBroker(2, (Endpoint("PLAINTEXT", "i", 1, "SASL_SSL"),)),
    )
    states = (
        state("a", 0, offline_replicas=(3,)),
        state("b", 0, leader=LEADER_DURING_DELETE),
    )
    command = UpdateMetadataCommand(*HEAD, states, brokers, TOPIC_IDS, full)
    request = over_the_wire(control_messages.update_metadata_request(command), version)
    assert control_messages.update_metadata_command(request) == command


def test_an_unknown_security_protocol_is_rejected():
    command = UpdateMetadataCommand(*HEAD, (), (live(1),))
    request = control_messages.update_metadata_request(command)
    request.live_brokers[0].endpoints[0].security_protocol = 4
    with pytest.raises(ProtocolError):
        control_messages.update_metadata_command(request)


@pytest.mark.parametrize("version", versions(ApiKey.STOP_REPLICA))
def test_stop_replica_and_its_reply_survive_the_round_trip(version):
    parts = (
        StopReplicaPartition(TopicPartition("a", 0), 5, delete=False),
        StopReplicaPartition(TopicPartition("a", 1), -2, delete=True),
        StopReplicaPartition(TopicPartition("b", 0), 1, delete=True),
    )
    command = StopReplicaCommand(*HEAD, parts)
    request = over_the_wire(control_messages.stop_replica_request(command), version)
    assert control_messages.stop_replica_command(request) == command
    codes = {item.topic_partition: ErrorCode.FENCED_LEADER_EPOCH for item in parts}
    response = control_messages.stop_replica_response(ControlReply(partitions=codes))
    reply = control_messages.stop_replica_reply(over_the_wire(response, version))
    assert reply == ControlReply(ErrorCode.NONE, codes)
