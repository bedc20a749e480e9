"""Calls on many items: which broker gets which items, retries, and the result of each item."""

import asyncio

import pytest

from barnabas.admin import LATEST, ConfigResource, NewTopic
from barnabas.admin.fan_out import results_or_errors
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)


def created(codes):
    return CreateTopicsResponse(
        topics=[CreatableTopicResult(name=name, error_code=code) for name, code in codes.items()]
    )


async def test_only_items_without_a_result_are_requested_again(cluster, admin):
    answers = iter(
        [
            {"a": 0, "b": ErrorCode.NOT_CONTROLLER, "c": ErrorCode.INVALID_PARTITIONS},
            {"b": 0},
        ]
    )
    cluster.on(CreateTopicsRequest, lambda *_: created(next(answers)))
    results = await admin.create_topics([NewTopic(name) for name in "abc"])
    (_, first), (_, second) = cluster.asked(CreateTopicsRequest)
    assert [topic.name for topic in first.topics] == ["a", "b", "c"]
    assert [topic.name for topic in second.topics] == ["b"]
    assert list(results.ok) == ["a", "b"]
    assert results.errors["c"].code is ErrorCode.INVALID_PARTITIONS


async def test_an_item_that_is_missing_in_the_response_is_an_error(cluster, admin):
    cluster.on(CreateTopicsRequest, created({"a": 0}))
    results = await admin.create_topics([NewTopic("a"), NewTopic("b")])
    assert "does not contain this item" in str(results.errors["b"])


async def test_time_runs_out_with_the_last_error_kept(cluster, admin):
    cluster.on(CreateTopicsRequest, created({"t": ErrorCode.NOT_CONTROLLER}))
    results = await admin.create_topics([NewTopic("t")], timeout=0.05)
    assert results.errors["t"].code is ErrorCode.NOT_CONTROLLER
    assert len(cluster.asked(CreateTopicsRequest)) > 2


def listed(node, request):
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=item.partition_index, offset=node * 100
                    )
                    for item in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


async def test_each_leader_gets_a_request_for_its_partitions(cluster, admin):
    cluster.topics["t"] = [1, 2, 1]
    cluster.on(ListOffsetsRequest, listed)
    topic_partitions = [TopicPartition("t", number) for number in range(3)]
    results = await admin.list_offsets(dict.fromkeys(topic_partitions, LATEST))
    assert [results[topic_partition].offset for topic_partition in topic_partitions] == [
        100,
        200,
        100,
    ]
    assert sorted(node for node, _ in cluster.asked(ListOffsetsRequest)) == [1, 2]


async def test_a_leader_that_moved_is_found_again(cluster, admin):
    cluster.topics["t"] = [1]

    def answer(node, request):
        cluster.topics["t"] = [2]
        response = listed(node, request)
        if node == 1:
            response.topics[0].partitions[0].error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        return response

    cluster.on(ListOffsetsRequest, answer)
    results = await admin.list_offsets({TopicPartition("t", 0): LATEST})
    assert results[TopicPartition("t", 0)].offset == 200


async def test_a_partition_without_leader_is_waited_for(cluster, admin):
    cluster.topics["t"] = [-1]
    cluster.on(ListOffsetsRequest, listed)
    asyncio.get_running_loop().call_later(0.02, cluster.topics.update, {"t": [3]})
    results = await admin.list_offsets({TopicPartition("t", 0): LATEST})
    assert results[TopicPartition("t", 0)].offset == 300


async def test_an_unknown_partition_is_reported_at_once_and_the_others_answered(cluster, admin):
    cluster.topics["t"] = [1]
    cluster.on(ListOffsetsRequest, listed)
    there, no_partition, no_topic = (
        TopicPartition("t", 0),
        TopicPartition("t", 7),
        TopicPartition("mistyped", 0),
    )
    results = await admin.list_offsets(dict.fromkeys([there, no_partition, no_topic], LATEST))
    assert results[there].offset == 100
    assert "partition t-7 does not exist" in str(results.errors[no_partition])
    assert "topic 'mistyped'" in str(results.errors[no_topic])


async def test_a_coordinator_that_moved_is_found_again(cluster, admin):
    cluster.coordinators = {"g": 2, "h": 3}

    def answer(node, request):
        cluster.coordinators["g"] = 1
        return DeleteGroupsResponse(
            results=[
                DeletableGroupResult(
                    group_id=name, error_code=ErrorCode.NOT_COORDINATOR if node == 2 else 0
                )
                for name in request.groups_names
            ]
        )

    cluster.on(DeleteGroupsRequest, answer)
    assert (await admin.delete_groups(["g", "h"])).check() == {"g": None, "h": None}
    asked = [(node, request.groups_names) for node, request in cluster.asked(DeleteGroupsRequest)]
    assert sorted(asked[:2]) == [(2, ["g"]), (3, ["h"])]
    assert asked[2:] == [(1, ["g"])]


async def test_requests_that_never_started_leave_no_coroutine_behind():
    """A deadline may pass after all requests were created and before any was sent."""

    async def ask(node, items):
        raise AssertionError("cancelled before it began")

    waiting = asyncio.gather(*(results_or_errors(ask, node, ["item"]) for node in range(3)))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_broker_that_is_not_there_is_reported_at_once(cluster, admin):
    def answer(node, request):
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(
                    resource_type=item.resource_type, resource_name=item.resource_name
                )
                for item in request.resources
            ]
        )

    cluster.on(DescribeConfigsRequest, answer)
    here, gone = ConfigResource.broker(2), ConfigResource.broker(9)
    results = await admin.describe_configs([here, gone, ConfigResource.topic("t")])
    assert results[here] == {}
    assert "broker 9 does not exist; live brokers: 1, 2, 3" in str(results.errors[gone])
    assert 2 in [node for node, _ in cluster.asked(DescribeConfigsRequest)]
