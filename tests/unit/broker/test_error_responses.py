"""A response that says no, for every API there is."""

import pytest

from barnabas.broker.error_responses import error_response
from barnabas.broker.handlers import HANDLERS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire.api_keys import ApiKey, request_class
from barnabas.wire.messages import delete_topics, fetch, offset_fetch, produce
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest

NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_produce_fails_partition_by_partition():
    request = produce.ProduceRequest(
        topic_data=[
            produce.TopicProduceData(
                name="t",
                partition_data=[
                    produce.PartitionProduceData(index=2),
                    produce.PartitionProduceData(index=5),
                ],
            )
        ]
    )
    (topic,) = error_response(request, NOT_LEADER).responses
    assert topic.name == "t"
    assert [(item.index, item.error_code) for item in topic.partition_responses] == [
        (2, NOT_LEADER),
        (5, NOT_LEADER),
    ]


def test_fetch_says_a_leaders_error_inside_and_a_sessions_outside():
    request = fetch.FetchRequest(
        topics=[
            fetch.FetchTopic(
                topic_id=Uuid(b"1" * 16), partitions=[fetch.FetchPartition(partition=3)]
            )
        ]
    )
    inside = error_response(request, NOT_LEADER)
    assert inside.error_code == 0
    assert inside.responses[0].topic_id == Uuid(b"1" * 16)
    (partition,) = inside.responses[0].partitions
    assert (partition.partition_index, partition.error_code) == (3, NOT_LEADER)
    outside = error_response(request, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert outside.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_names_listed_plainly_are_repeated():
    groups = error_response(DeleteGroupsRequest(groups_names=["a", "b"]), ErrorCode.NON_EMPTY_GROUP)
    assert [(item.group_id, item.error_code) for item in groups.results] == [
        ("a", ErrorCode.NON_EMPTY_GROUP),
        ("b", ErrorCode.NON_EMPTY_GROUP),
    ]
    request = FindCoordinatorRequest(coordinator_keys=["g"])
    (found,) = error_response(request, ErrorCode.COORDINATOR_NOT_AVAILABLE).coordinators
    assert (found.key, found.error_code) == ("g", ErrorCode.COORDINATOR_NOT_AVAILABLE)


@pytest.mark.parametrize(
    "request_",
    [
        delete_topics.DeleteTopicsRequest(topic_names=["t"]),
        delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(name="t")]),
    ],
)
def test_topics_by_name_in_both_forms(request_):
    (item,) = error_response(request_, ErrorCode.TOPIC_DELETION_DISABLED).responses
    assert (item.name, item.error_code) == ("t", ErrorCode.TOPIC_DELETION_DISABLED)


def test_codes_of_another_name_and_numbers_listed_plainly():
    request = AddPartitionsToTxnRequest(
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[1])]
    )
    (topic,) = error_response(request, ErrorCode.INVALID_TXN_STATE).results_by_topic_v3_and_below
    (item,) = topic.results_by_partition
    assert (item.partition_index, item.partition_error_code) == (1, ErrorCode.INVALID_TXN_STATE)


def test_a_request_without_items_fails_as_a_whole():
    response = error_response(InitProducerIdRequest(), ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert response.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_a_coordinator_error_is_reported_on_every_level():
    request = offset_fetch.OffsetFetchRequest(
        groups=[
            offset_fetch.OffsetFetchRequestGroup(
                group_id="g",
                topics=[offset_fetch.OffsetFetchRequestTopics(name="t", partition_indexes=[0])],
            )
        ]
    )
    (group,) = error_response(request, ErrorCode.NOT_COORDINATOR).groups
    assert (group.group_id, group.error_code) == ("g", ErrorCode.NOT_COORDINATOR)
    assert group.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize(
    "handler",
    [handler for handler in HANDLERS if handler.api is not ApiKey.API_VERSIONS],
    ids=lambda handler: handler.api.name,
)
def test_every_api_has_an_error_response_in_every_version(handler):
    low, high = handler.versions
    request = request_class(handler.api)()
    for version in range(max(low, request.MIN_VERSION), high + 1):
        response = error_response(request, NOT_LEADER)
        assert response.encode(version)
