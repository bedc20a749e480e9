"""The bytes that Kafka writes, both ways, and the older forms that are still read."""

import pytest

from barnabas.model.control import Endpoint, LeaderRecoveryState
from barnabas.model.errors import ProtocolError
from barnabas.model.ids import ZERO_UUID, ReplicaAssignment, TopicPartition, Uuid
from barnabas.zk import paths
from barnabas.zk.config_znodes import Acl, AclNode, ConfigChangeNode, ConfigNode
from barnabas.zk.znodes import (
    BrokerNode,
    ClusterIdNode,
    ConsumerNode,
    ControllerNode,
    LogDirEventNode,
    PartitionListNode,
    PartitionStateNode,
    ProducerIdBlockNode,
    ReassignPartitionsNode,
    TopicNode,
    decode_epoch,
    decode_json,
    encode_epoch,
)

TOPIC_ID = Uuid.parse("mlo9Wm9rQrepTIL0mM0HvA")
T0 = TopicPartition("t", 0)

CASES = {
    "cluster id": (
        ClusterIdNode("mlo9Wm9rQrepTIL0mM0HvA"),
        b'{"version":"1","id":"mlo9Wm9rQrepTIL0mM0HvA"}',
    ),
    "broker": (
        BrokerNode((Endpoint("PLAINTEXT", "h", 9092),), "r1", 1700000000000),
        b'{"version":5,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],'
        b'"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"jmx_port":-1,'
        b'"timestamp":"1700000000000","features":{},"rack":"r1"}',
    ),
    "broker without a plain listener": (
        BrokerNode((Endpoint("OUT", "::1", 9093, "SASL_SSL"),)),
        b'{"version":5,"host":null,"port":-1,"endpoints":["OUT://[::1]:9093"],'
        b'"listener_security_protocol_map":{"OUT":"SASL_SSL"},"jmx_port":-1,'
        b'"timestamp":"0","features":{}}',
    ),
    "topic": (
        TopicNode(TOPIC_ID, {0: ReplicaAssignment((1, 2)), 1: ReplicaAssignment((2, 1))}),
        b'{"version":3,"topic_id":"mlo9Wm9rQrepTIL0mM0HvA","partitions":{"0":[1,2],"1":[2,1]},'
        b'"adding_replicas":{},"removing_replicas":{}}',
    ),
    "topic being moved": (
        TopicNode(TOPIC_ID, {0: ReplicaAssignment((3, 1), (3,), (1,))}),
        b'{"version":3,"topic_id":"mlo9Wm9rQrepTIL0mM0HvA","partitions":{"0":[3,1]},'
        b'"adding_replicas":{"0":[3]},"removing_replicas":{"0":[1]}}',
    ),
    "state": (
        PartitionStateNode(1, 5, (1, 2), 3),
        b'{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":5,"isr":[1,2]}',
    ),
    "state after an unclean election": (
        PartitionStateNode(1, 5, (1,), 3, LeaderRecoveryState.RECOVERING),
        b'{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":5,"isr":[1],'
        b'"leader_recovery_state":1}',
    ),
    "controller": (
        ControllerNode(1, 1700000000000),
        b'{"version":2,"brokerid":1,"timestamp":"1700000000000","kraftControllerEpoch":-1}',
    ),
    "list of partitions": (
        PartitionListNode((T0,)),
        b'{"version":1,"partitions":[{"topic":"t","partition":0}]}',
    ),
    "reassignment": (
        ReassignPartitionsNode({T0: (1, 2)}),
        b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}',
    ),
    "log dir event": (LogDirEventNode(1), b'{"version":1,"broker":1,"event":1}'),
    "producer ids": (
        ProducerIdBlockNode(1, 0, 999),
        b'{"version":1,"broker":1,"block_start":"0","block_end":"999"}',
    ),
    "config": (ConfigNode({"a": "b"}), b'{"version":1,"config":{"a":"b"}}'),
    "config change": (
        ConfigChangeNode("topics/t"),
        b'{"version":2,"entity_path":"topics/t"}',
    ),
    "acl": (
        AclNode((Acl("User:a", "Allow", "Read", "*"),)),
        b'{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow",'
        b'"operation":"Read","host":"*"}]}',
    ),
    "consumer": (
        ConsumerNode({"t": 2}, "static", 1700000000000),
        b'{"version":1,"subscription":{"t":2},"pattern":"static","timestamp":"1700000000000"}',
    ),
}


@pytest.mark.parametrize(("value", "data"), CASES.values(), ids=CASES)
def test_a_node_is_decoded_as_it_was_encoded(value, data):
    assert value.encode() == data
    assert type(value).decode(data) == value


def test_older_topics_have_no_id():
    node = TopicNode.decode(b'{"version":1,"partitions":{"0":[1]}}')
    assert node == TopicNode(ZERO_UUID, {0: ReplicaAssignment((1,))})


def test_nodes_of_older_brokers_are_decoded():
    first = BrokerNode.decode(b'{"version":1,"host":"h","port":9092,"jmx_port":1}')
    assert first.endpoints == (Endpoint("PLAINTEXT", "h", 9092),)
    second = BrokerNode.decode(
        b'{"version":2,"host":"h","port":1,"endpoints":["SSL://h:9093"],"timestamp":"1"}'
    )
    assert second.endpoints == (Endpoint("SSL", "h", 9093, "SSL"),)


def test_older_config_changes():
    old = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert ConfigChangeNode.decode(old).entity_path == "topics/t"
    assert ConfigNode.decode(b"").values == {}


def test_epoch_is_plain_text():
    assert encode_epoch(12) == b"12"
    assert decode_epoch(b"12") == 12


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[1]", b"\xff"])
def test_data_that_is_not_a_json_object_is_rejected(data):
    with pytest.raises(ProtocolError):
        decode_json(data)


def test_paths_are_those_of_kafka():
    assert paths.partition_state(T0) == "/brokers/topics/t/partitions/0/state"
    assert paths.consumer_offset("g", T0) == "/consumers/g/offsets/t/0"
    assert paths.config("clients", "<default>") == "/config/clients/<default>"
    assert paths.user_client_entity("a b", "c/d") == "users/a%20b/clients/c%2Fd"
    assert paths.desanitize(paths.sanitize("a*~ü/b")) == "a*~ü/b"


def test_partitions_with_the_same_replicas_share_their_assignment():
    node = TopicNode(TOPIC_ID, {0: ReplicaAssignment((1, 2)), 1: ReplicaAssignment((1, 2))})
    partitions = TopicNode.decode(node.encode()).partitions
    assert partitions[0] is partitions[1]
