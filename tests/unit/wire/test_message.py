import pytest

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from barnabas.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.produce import ProduceRequest


def encoded(message, version):
    return b"".join(message.encode(version))


def test_a_class_has_its_key_and_versions():
    assert (FetchRequest.API_KEY, FetchRequest.MIN_VERSION) == (1, 4)
    assert (FetchRequest.MAX_VERSION, FetchRequest.FLEXIBLE_FROM) == (18, 12)


def test_defaults_are_kafkas_and_lists_are_fresh():
    request = FetchRequest()
    assert (request.replica_id, request.max_bytes, request.session_epoch) == (-1, 0x7FFFFFFF, -1)
    request.topics.append(FetchTopic())
    assert FetchRequest().topics == []


def test_equality_and_repr():
    assert ReplicaState(1, 2) == ReplicaState(1, 2) != ReplicaState(1, 3)
    assert ReplicaState() != LeaderIdAndEpoch()
    assert repr(ReplicaState(1, 2)) == "ReplicaState(replica_id=1, replica_epoch=2)"
    with pytest.raises(TypeError):
        hash(ReplicaState())


def test_an_unknown_field_cannot_be_set():
    with pytest.raises(AttributeError):
        FetchRequest().no_such_field = 1


def test_fields_that_a_version_lacks_are_left_out():
    request = FetchRequest(session_id=5, topics=[FetchTopic("t", Uuid(range(16)))])
    decoded = FetchRequest.decode(memoryview(encoded(request, 4)), 4)
    assert decoded.session_id == 0
    assert decoded.topics == [FetchTopic("t", ZERO_UUID)]


def test_tagged_struct_is_none_when_absent():
    partition = PartitionData(current_leader=LeaderIdAndEpoch(2, 9))
    assert PartitionData().current_leader is None
    assert partition.current_leader.leader_id == 2
    request = FetchRequest(replica_state=ReplicaState(3, 4))
    assert FetchRequest.decode(memoryview(encoded(request, 15)), 15) == request
    # A struct of defaults says nothing, so it is not sent, as Kafka does it.
    assert encoded(FetchRequest(replica_state=ReplicaState()), 15) == encoded(FetchRequest(), 15)


def test_a_struct_may_be_null():
    empty = ConsumerGroupHeartbeatResponse()
    assert encoded(empty, 0).endswith(b"\xff\x00")
    topics = [TopicPartitions(Uuid(range(16)), [0, 1])]
    full = ConsumerGroupHeartbeatResponse(assignment=Assignment(topics))
    assert ConsumerGroupHeartbeatResponse.decode(memoryview(encoded(full, 0)), 0) == full


@pytest.mark.parametrize(
    ("message", "version", "problem"),
    [
        (ProduceRequest(acks=40_000), 9, r"ProduceRequest.acks takes int16, 40000 does not fit"),
        (ProduceRequest(acks="1"), 9, r"ProduceRequest.acks takes int16, not '1'"),
        (ProduceRequest("x" * 40_000), 9, r"transactional_id has 40000 bytes"),
        (ProduceRequest("x" * 40_000), 3, r"transactional_id has 40000 bytes"),
        (ProduceRequest("\ud800"), 9, r"transactional_id has characters that cannot be encoded"),
        (ProduceRequest(b"x"), 9, r"transactional_id takes string, not b'x'"),
        (FetchRequest(rack_id=None), 12, r"FetchRequest.rack_id must not be None"),
        (FetchRequest(topics=None), 12, r"FetchRequest.topics must not be None"),
        (FetchRequest(topics=7), 12, r"FetchRequest.topics takes a list, not int"),
        (FetchRequest(topics=[FetchTopic(topic_id=b"x")]), 13, r"topics\[0\].topic_id takes uuid"),
        (
            FetchRequest(
                topics=[FetchTopic("t"), FetchTopic("u", partitions=[FetchPartition(1.5)])]
            ),
            12,
            r"FetchRequest.topics\[1\].partitions\[0\].partition takes int32, not 1.5",
        ),
        (FetchRequest(topics=["t"]), 12, r"FetchRequest.topics\[0\] takes FetchTopic, not 't'"),
        (MetadataRequest([MetadataRequestTopic(name=None)]), 9, r"name must not be None"),
        (MetadataRequest(None), 0, r"topics must not be None"),
    ],
)
def test_misfits_are_named(message, version, problem):
    with pytest.raises(LocalError, match=problem):
        message.encode(version)


@pytest.mark.parametrize("version", [3, 19, -1])
def test_an_unknown_version_is_an_error(version):
    with pytest.raises(LocalError, match=f"no version {version}"):
        FetchRequest().encode(version)
    with pytest.raises(ProtocolError, match=f"no version {version}"):
        FetchRequest.decode(memoryview(bytes(100)), version)


@pytest.mark.parametrize(
    ("version", "body", "problem"),
    [
        (5, "00000001" + "0002" + "c3c3", "utf-8"),
        (5, "00000001" + "ffff", "name at 6 is null"),
        (9, "02" + "00" * 5, "name at 2 is null"),
        (5, "7fffffff" + "0000", "2147483647 elements at 4"),
        (9, "02" + "ffffffff0f", "string of"),
        (9, "ffffffffff01", "varint at 0 is too long"),
    ],
)
def test_errors_name_the_part_that_cannot_be_decoded(version, body, problem):
    with pytest.raises(ProtocolError, match=problem):
        MetadataRequest.decode(memoryview(bytes.fromhex(body)), version)


def test_known_tag_of_a_wrong_size():
    good = encoded(FetchRequest(cluster_id="abc"), 12)
    at = good.rindex(b"\x00\x04\x04abc")
    bad = good[: at + 1] + b"\x05" + good[at + 2 :] + b"\0"
    with pytest.raises(ProtocolError, match="cluster_id"):
        FetchRequest.decode(memoryview(bad), 12)
