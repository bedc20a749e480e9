"""Topics on the wire: the requests, and the results from the responses."""

import pytest

from barnabas.admin import NewPartitions, NewTopic
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from barnabas.wire.messages.create_topics import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from barnabas.wire.messages.metadata import MetadataRequest

ID = Uuid(b"topic-id" * 2)


async def test_a_name_where_a_list_is_wanted(cluster, admin):
    with pytest.raises(TypeError, match="expected a list, not the string 'orders'"):
        await admin.delete_topics("orders")
    with pytest.raises(TypeError, match="expected a NewTopic, not 'orders'"):
        await admin.create_topics(["orders"])
    assert cluster.asked(CreateTopicsRequest) == []


async def test_a_new_topic_in_full(cluster, admin):
    cluster.on(
        CreateTopicsRequest,
        CreateTopicsResponse(
            topics=[
                CreatableTopicResult(
                    name="t",
                    topic_id=ID,
                    num_partitions=2,
                    replication_factor=3,
                    configs=[CreatableTopicConfigs(name="retention.ms", value="5")],
                )
            ]
        ),
    )
    topic = NewTopic("t", configs={"retention.ms": 5}, assignments=[[1, 2, 3], [2, 3, 1]])
    made = (await admin.create_topics([topic], validate_only=True))["t"]
    assert (made.topic_id, made.partitions, made.replication_factor) == (ID, 2, 3)
    assert made.configs == {"retention.ms": "5"}
    ((_, request),) = cluster.asked(CreateTopicsRequest)
    assert request.validate_only
    assert 0 < request.timeout_ms <= 5_000
    (sent,) = request.topics
    assert (sent.num_partitions, sent.replication_factor) == (-1, -1)
    assert [(each.partition_index, each.broker_ids) for each in sent.assignments] == [
        (0, [1, 2, 3]),
        (1, [2, 3, 1]),
    ]
    assert [(each.name, each.value) for each in sent.configs] == [("retention.ms", "5")]


async def test_the_brokers_words_are_the_errors_words(cluster, admin):
    result = CreatableTopicResult(
        name="t", error_code=ErrorCode.INVALID_REPLICATION_FACTOR, error_message="only 1 broker"
    )
    cluster.on(CreateTopicsRequest, CreateTopicsResponse(topics=[result]))
    with pytest.raises(BrokerError, match="INVALID_REPLICATION_FACTOR: only 1 broker"):
        await admin.create_topic("t", replication_factor=3)


async def test_topics_are_listed_by_name(cluster, admin):
    cluster.topics = {"b": [1], "a": [1]}
    assert [topic.name for topic in await admin.list_topics()] == ["a", "b"]


def page(name, partitions, cursor=None, **more):
    topic = DescribeTopicPartitionsResponseTopic(
        name=name,
        topic_id=ID,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=number,
                leader_id=-1 if number == 0 else 1,
                replica_nodes=[1, 2],
                isr_nodes=[1],
                eligible_leader_replicas=[2],
            )
            for number in partitions
        ],
        **more,
    )
    return DescribeTopicPartitionsResponse(topics=[topic], next_cursor=cursor)


async def test_pages_are_joined(cluster, admin):
    pages = iter([page("t", [0, 1], Cursor("t", 2)), page("t", [2])])
    cluster.on(DescribeTopicPartitionsRequest, lambda *_: next(pages))
    described = await admin.describe_topic("t")
    assert [item.partition for item in described.partitions] == [0, 1, 2]
    assert [item.leader for item in described.partitions] == [None, 1, 1]
    assert described.partitions[1].under_replicated
    assert described.partitions[1].eligible_leader_replicas == (2,)
    assert described.replication_factor == 2
    requests = [request for _, request in cluster.asked(DescribeTopicPartitionsRequest)]
    assert requests[1].cursor == Cursor("t", 2)


async def test_answered_names_are_not_sent_again(cluster, admin):
    pages = iter([page("a", [0], Cursor("b", 0)), page("b", [0], Cursor("c", 0)), page("c", [0])])
    cluster.on(DescribeTopicPartitionsRequest, lambda *_: next(pages))
    assert len((await admin.describe_topics(["c", "a", "b"])).ok) == 3
    requests = [request for _, request in cluster.asked(DescribeTopicPartitionsRequest)]
    sent = [[topic.name for topic in request.topics] for request in requests]
    assert sent == [["a", "b", "c"], ["b", "c"], ["c"]]


async def test_all_topics_are_described_page_by_page(cluster, admin):
    pages = iter([page("a", [0], Cursor("a", 1)), page("a", [1])])
    cluster.on(DescribeTopicPartitionsRequest, lambda *_: next(pages))
    (found,) = (await admin.describe_topics(None)).check().values()
    assert (found.name, [item.partition for item in found.partitions]) == ("a", [0, 1])
    requests = [request for _, request in cluster.asked(DescribeTopicPartitionsRequest)]
    assert [(request.topics, request.cursor) for request in requests] == [
        ([], None),
        ([], Cursor("a", 1)),
    ]


async def test_metadata_describes_all_topics_of_older_brokers(cluster, admin):
    cluster.topics = {"t": [1, 2], "u": [1]}
    found = (await admin.describe_topics(None)).check()
    assert {name: len(item.partitions) for name, item in found.items()} == {"t": 2, "u": 1}


async def test_metadata_describes_where_pages_are_not_served(cluster, admin):
    cluster.topics = {"t": [1, 2]}
    results = await admin.describe_topics(["t", "nope"])
    assert [item.leader for item in results["t"].partitions] == [1, 2]
    assert results.errors["nope"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not cluster.asked(MetadataRequest)[-1][1].allow_auto_topic_creation


async def test_topics_are_described_by_id(cluster, admin):
    cluster.topics, cluster.topic_ids = {"t": [1]}, {"t": ID}
    assert (await admin.describe_topic(ID)).name == "t"


async def test_deletion_by_name_and_by_id(cluster, admin):
    def answer(node, request):
        return DeleteTopicsResponse(
            responses=[
                DeletableTopicResult(name=topic.name or "named", topic_id=topic.topic_id or ID)
                for topic in request.topics
            ]
        )

    cluster.on(DeleteTopicsRequest, answer)
    assert (await admin.delete_topics(["t", ID])).check() == {"t": None, ID: None}


async def test_deletion_by_id_is_not_left_out_by_an_old_broker(cluster, admin):
    cluster.on(DeleteTopicsRequest, DeleteTopicsResponse())
    cluster.max_versions[DeleteTopicsRequest] = 5
    with pytest.raises(BrokerError, match="too old to delete topics by id"):
        await admin.delete_topic(ID)


async def test_partitions_are_added_with_and_without_an_assignment(cluster, admin):
    def answer(node, request):
        return CreatePartitionsResponse(
            results=[CreatePartitionsTopicResult(name=topic.name) for topic in request.topics]
        )

    cluster.on(CreatePartitionsRequest, answer)
    results = await admin.create_partitions({"a": 5, "b": NewPartitions(2, [[1, 2]])})
    assert results.check() == {"a": None, "b": None}
    ((_, request),) = cluster.asked(CreatePartitionsRequest)
    first, second = request.topics
    assert (first.count, first.assignments) == (5, None)
    assert [each.broker_ids for each in second.assignments] == [[1, 2]]
