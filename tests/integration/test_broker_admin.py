"""Metadata and administration over the wire."""

import pytest
from support.network.requests import batch, create_topic, metadata, produce

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.wire.messages import alter_configs, incremental_alter_configs
from barnabas.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest
from barnabas.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

pytestmark = pytest.mark.integration

TOPIC, BROKER = 2, 4


async def create(peer, topic, *, validate_only=False, version=7):
    request = CreateTopicsRequest([topic], 10_000, validate_only)
    return (await peer.call(request, version)).topics[0]


# --- metadata ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(14))
async def test_every_metadata_version_creates_on_first_mention(peer, version):
    response = await metadata(peer, "fresh", version=version)
    topic = response.topics[0]
    assert (topic.error_code, topic.name, len(topic.partitions)) == (0, "fresh", 1)
    assert topic.partitions[0].leader_id == response.brokers[0].node_id
    if version >= 1:
        assert response.controller_id == response.brokers[0].node_id
    if version >= 2:
        assert response.cluster_id


async def test_no_creation_when_the_client_does_not_want_it(peer):
    response = await metadata(peer, "fresh", allow_auto_topic_creation=False)
    assert ErrorCode(response.topics[0].error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (await peer.call(MetadataRequest(topics=None), 12)).topics == []


async def test_no_creation_when_the_broker_does_not(start, connect):
    peer = await connect(await start({"auto.create.topics.enable": False}))
    response = await metadata(peer, "fresh")
    assert ErrorCode(response.topics[0].error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "x" * 250, "é"])
async def test_a_bad_name_is_rejected(peer, name):
    response = await metadata(peer, name)
    assert ErrorCode(response.topics[0].error_code) is ErrorCode.INVALID_TOPIC_EXCEPTION
    created = await create(peer, CreatableTopic(name, 1, 1))
    assert ErrorCode(created.error_code) is ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("name", [None, ""])
async def test_topics_are_found_by_id(peer, name):
    """Java's consumer sends an empty name with the id, others send none."""
    topic_id = await create_topic(peer, "t")
    asked = MetadataRequest(topics=[MetadataRequestTopic(topic_id, name)])
    assert (await peer.call(asked, 12)).topics[0].name == "t"
    unknown = MetadataRequest(topics=[MetadataRequestTopic(type(topic_id)(b"x" * 16), name)])
    answer = (await peer.call(unknown, 12)).topics[0]
    assert ErrorCode(answer.error_code) is ErrorCode.UNKNOWN_TOPIC_ID


async def test_a_client_gets_the_address_that_it_connected_to(start, connect):
    broker = await start({"listeners": "PLAINTEXT://localhost:0"})
    peer = await connect(broker)
    told = (await metadata(peer)).brokers[0]
    assert (told.host, told.port) == ("127.0.0.1", broker.port)


async def test_advertised_listeners_win(start, connect):
    peer = await connect(await start({"advertised.listeners": "PLAINTEXT://kafka.example:1234"}))
    told = (await metadata(peer)).brokers[0]
    assert (told.host, told.port) == ("kafka.example", 1234)


async def test_the_cluster(peer):
    response = await peer.call(DescribeClusterRequest(), 1)
    assert response.cluster_id == (await metadata(peer)).cluster_id
    assert [broker.broker_id for broker in response.brokers] == [response.controller_id]
    for kind, name in ((2, "MISMATCHED_ENDPOINT_TYPE"), (9, "UNSUPPORTED_ENDPOINT_TYPE")):
        refused = await peer.call(DescribeClusterRequest(endpoint_type=kind), 1)
        assert (ErrorCode(refused.error_code).name, refused.brokers) == (name, [])


# --- topics ------------------------------------------------------------------------------------


async def test_create_describe_grow_delete(peer):
    result = await create(
        peer, CreatableTopic("t", 3, 1, configs=[CreatableTopicConfig("retention.ms", "5")])
    )
    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 3, 1)
    assert result.topic_id != ZERO_UUID
    configs = {item.name: (item.value, item.config_source) for item in result.configs}
    assert configs["retention.ms"] == ("5", 1)
    assert configs["cleanup.policy"] == ("delete", 5)

    grown = await peer.call(CreatePartitionsRequest([CreatePartitionsTopic("t", 5, None)], 5000), 3)
    assert grown.results[0].error_code == 0
    assert len((await metadata(peer, "t")).topics[0].partitions) == 5
    less = await peer.call(CreatePartitionsRequest([CreatePartitionsTopic("t", 5, None)], 5000), 3)
    assert ErrorCode(less.results[0].error_code) is ErrorCode.INVALID_PARTITIONS

    deleted = await peer.call(DeleteTopicsRequest([DeleteTopicState("t")], timeout_ms=5000), 6)
    assert deleted.responses[0].error_code == 0
    gone = (await metadata(peer, "t", allow_auto_topic_creation=False)).topics[0]
    assert ErrorCode(gone.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", range(1, 7))
async def test_a_topic_created_anew_is_empty_and_has_another_id(peer, version):
    first = await create_topic(peer, "t")
    await produce(peer, "t", batch(b"old"))
    request = DeleteTopicsRequest([DeleteTopicState("t")], topic_names=["t"], timeout_ms=5000)
    assert (await peer.call(request, version)).responses[0].error_code == 0
    assert await create_topic(peer, "t") != first
    assert (await produce(peer, "t", batch(b"new"))).base_offset == 0


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        (CreatableTopic("there", 1, 1), ErrorCode.TOPIC_ALREADY_EXISTS),
        (CreatableTopic("t", 0, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic("t", 10**9, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic("t", 1, 2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("a_b", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (
            CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig("retention.ms", "soon")]),
            ErrorCode.INVALID_CONFIG,
        ),
        (
            CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig("nonsense", "1")]),
            ErrorCode.INVALID_CONFIG,
        ),
        (
            CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, [77])]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ),
        (
            CreatableTopic("t", 1, 1, [CreatableReplicaAssignment(0, [77])]),
            ErrorCode.INVALID_REQUEST,
        ),
    ],
)
async def test_invalid_topics_are_not_created(peer, topic, expected):
    await create_topic(peer, "there")
    await create_topic(peer, "a.b")
    assert ErrorCode((await create(peer, topic)).error_code) is expected


async def test_a_topic_named_twice_is_once_in_the_response(peer):
    await create_topic(peer, "t")
    both = [CreatableTopic("t", 1, 1), CreatableTopic("t", 2, 1), CreatableTopic("new", 1, 1)]
    created = (await peer.call(CreateTopicsRequest(both, 10_000), 7)).topics
    assert [(item.name, item.error_code, item.error_message is None) for item in created] == [
        ("t", ErrorCode.INVALID_REQUEST, False),
        ("new", 0, True),
    ]
    more = [CreatePartitionsTopic("t", count, None) for count in (2, 3)]
    grown = (await peer.call(CreatePartitionsRequest(more, 5000), 3)).results
    assert [item.error_code for item in grown] == [ErrorCode.INVALID_REQUEST]
    asked = MetadataRequest([MetadataRequestTopic(name="t"), MetadataRequestTopic(name="t")])
    assert [len(item.partitions) for item in (await peer.call(asked, 12)).topics] == [1]
    states = [DeleteTopicState("t"), DeleteTopicState("t"), DeleteTopicState(None)]
    gone = (await peer.call(DeleteTopicsRequest(states, timeout_ms=5000), 6)).responses
    assert [item.error_code for item in gone] == [ErrorCode.INVALID_REQUEST] * 2


async def test_the_last_value_of_a_key_counts(peer):
    configs = [CreatableTopicConfig("flush.ms", value) for value in ("5", "6")]
    created = await create(peer, CreatableTopic("t", 1, 1, configs=configs))
    assert {item.name: item.value for item in created.configs}["flush.ms"] == "6"


async def test_defaults_and_validation_only(start, connect):
    peer = await connect(await start({"num.partitions": 4}))
    checked = await create(peer, CreatableTopic("t", -1, -1), validate_only=True)
    assert (checked.error_code, checked.num_partitions) == (0, 4)
    assert (await create(peer, CreatableTopic("t", -1, -1))).num_partitions == 4


async def test_topics_page_by_page(peer):
    for name in ("a", "b", "c"):
        await create_topic(peer, name, 3)
    request = DescribeTopicPartitionsRequest(response_partition_limit=4)
    seen = []
    while True:
        response = await peer.call(request, 0)
        seen += [(t.name, p.partition_index) for t in response.topics for p in t.partitions]
        if response.next_cursor is None:
            break
        cursor = response.next_cursor
        request.cursor = Cursor(cursor.topic_name, cursor.partition_index)
    assert seen == [(name, number) for name in "abc" for number in range(3)]
    for cursor in (Cursor("b", -1), Cursor("c", 0)):
        request = DescribeTopicPartitionsRequest([TopicRequest("b")], 4, cursor)
        refused = (await peer.call(request, 0)).topics
        assert [topic.error_code for topic in refused] == [ErrorCode.INVALID_REQUEST]
    missing = await peer.call(DescribeTopicPartitionsRequest([TopicRequest("zz")]), 0)
    assert ErrorCode(missing.topics[0].error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_log_directories(peer):
    await create_topic(peer, "t", 2)
    await produce(peer, "t", batch(bytes(1000)), partition=1)
    result = (await peer.call(DescribeLogDirsRequest(topics=None), 4)).results[0]
    sizes = {p.partition_index: p.partition_size for p in result.topics[0].partitions}
    assert sizes[0] == 0
    assert sizes[1] > 1000
    assert result.total_bytes > result.usable_bytes > 0


# --- configuration -----------------------------------------------------------------------------


async def describe(peer, kind, name, *keys):
    resource = DescribeConfigsResource(kind, name, list(keys) or None)
    request = DescribeConfigsRequest([resource], include_synonyms=True, include_documentation=True)
    return (await peer.call(request, 4)).results[0]


async def change(peer, name, *changes, kind=TOPIC):
    configs = [incremental_alter_configs.AlterableConfig(*item) for item in changes]
    resource = incremental_alter_configs.AlterConfigsResource(kind, name, configs)
    request = incremental_alter_configs.IncrementalAlterConfigsRequest([resource])
    return (await peer.call(request, 1)).responses[0]


async def test_topic_settings_change_and_take_effect(peer):
    await create_topic(peer, "t")
    assert (await change(peer, "t", ("max.message.bytes", 0, "200"))).error_code == 0
    entry = (await describe(peer, TOPIC, "t", "max.message.bytes")).configs[0]
    assert (entry.value, entry.config_source, entry.is_sensitive) == ("200", 1, False)
    refused = await produce(peer, "t", batch(bytes(500)))
    assert ErrorCode(refused.error_code) is ErrorCode.MESSAGE_TOO_LARGE
    await change(peer, "t", ("max.message.bytes", 1, None))
    assert (await produce(peer, "t", batch(bytes(500)))).error_code == 0


async def test_lists_are_added_to_and_taken_from(peer):
    await create_topic(peer, "t")
    await change(peer, "t", ("cleanup.policy", 2, "compact"))
    entry = (await describe(peer, TOPIC, "t", "cleanup.policy")).configs[0]
    assert entry.value == "delete,compact"
    await change(peer, "t", ("cleanup.policy", 3, "delete"))
    entry = (await describe(peer, TOPIC, "t", "cleanup.policy")).configs[0]
    assert entry.value == "compact"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("nonsense", 0, "1")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", 0, "x")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", 2, "1")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", 9, "1")], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", 0, None)], ErrorCode.INVALID_REQUEST),
        ([("cleanup.policy", 2, None)], ErrorCode.INVALID_REQUEST),
        (
            [("min.compaction.lag.ms", 0, "2"), ("max.compaction.lag.ms", 0, "1")],
            ErrorCode.INVALID_CONFIG,
        ),
        ([("retention.ms", 0, "1"), ("retention.ms", 0, "2")], ErrorCode.INVALID_REQUEST),
    ],
)
async def test_bad_changes_change_nothing(peer, changes, expected):
    await create_topic(peer, "t")
    assert ErrorCode((await change(peer, "t", *changes)).error_code) is expected
    entry = (await describe(peer, TOPIC, "t", "retention.ms")).configs[0]
    assert entry.config_source == 5


async def test_alter_configs_replaces_everything(peer):
    await create_topic(peer, "t", retention_ms="5")
    resource = alter_configs.AlterConfigsResource(
        TOPIC, "t", [alter_configs.AlterableConfig("segment.ms", "7")]
    )
    response = await peer.call(alter_configs.AlterConfigsRequest([resource]), 2)
    assert response.responses[0].error_code == 0
    found = await describe(peer, TOPIC, "t", "segment.ms", "retention.ms")
    assert {item.name: item.config_source for item in found.configs} == {
        "segment.ms": 1,
        "retention.ms": 5,
    }


async def test_broker_settings(broker_app, peer):
    name = str(broker_app.services.broker_id)
    found = {item.name: item for item in (await describe(peer, BROKER, name)).configs}
    assert found["listeners"].read_only
    assert found["num.partitions"].documentation
    assert (await change(peer, "", ("message.max.bytes", 0, "100"), kind=BROKER)).error_code == 0
    assert (await create(peer, CreatableTopic("t", -1, -1))).num_partitions == 1
    refused = await produce(peer, "t", batch(bytes(500)))
    assert ErrorCode(refused.error_code) is ErrorCode.MESSAGE_TOO_LARGE
    for refused in (("listeners", 0, "x"), ("num.partitions", 0, "6"), ("of.a.plugin", 0, None)):
        fixed = await change(peer, name, refused, kind=BROKER)
        assert ErrorCode(fixed.error_code) is ErrorCode.INVALID_REQUEST
    assert (await change(peer, name, ("of.a.plugin", 0, "secret"), kind=BROKER)).error_code == 0
    entry = (await describe(peer, BROKER, name, "of.a.plugin")).configs[0]
    assert (entry.value, entry.config_source, entry.is_sensitive) == (None, 2, True)


async def test_a_resource_changed_twice_is_not_changed(peer):
    await create_topic(peer, "t")
    changes = [
        incremental_alter_configs.AlterConfigsResource(
            TOPIC, "t", [incremental_alter_configs.AlterableConfig("flush.ms", 0, value)]
        )
        for value in ("5", "6")
    ]
    request = incremental_alter_configs.IncrementalAlterConfigsRequest(changes)
    answers = (await peer.call(request, 1)).responses
    assert [ErrorCode(answer.error_code) for answer in answers] == [ErrorCode.INVALID_REQUEST] * 2
    assert (await describe(peer, TOPIC, "t", "flush.ms")).configs[0].config_source == 5


async def test_resources_that_are_not_there(peer):
    missing = await describe(peer, TOPIC, "missing")
    assert ErrorCode(missing.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    other = await describe(peer, BROKER, "77")
    assert ErrorCode(other.error_code) is ErrorCode.INVALID_REQUEST
    strange = await describe(peer, 99, "x")
    assert ErrorCode(strange.error_code) is ErrorCode.INVALID_REQUEST


async def test_create_topics_of_too_many_partitions_is_rejected_as_a_whole(peer):
    topics = [CreatableTopic(f"t{number}", 1, 1) for number in range(10_001)]
    request = CreateTopicsRequest(topics, timeout_ms=10_000, validate_only=True)
    answer = await peer.call(request, 7, timeout=60)
    assert len(answer.topics) == 10_001
    assert {topic.error_code for topic in answer.topics} == {ErrorCode.POLICY_VIOLATION}
    assert (await peer.call(MetadataRequest(topics=None), 9)).topics == []
