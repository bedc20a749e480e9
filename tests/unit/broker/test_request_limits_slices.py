"""Cutting large requests into slices and joining the responses."""

import importlib
from collections import Counter

import pytest

from barnabas.broker.request_limits import (
    LIMITED_ARRAYS,
    SLICED,
    count_elements,
    free_in_steps,
    join,
    slices,
    slicing_of,
)
from barnabas.wire.api_keys import ApiKey, request_class, response_class
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from barnabas.wire.messages.produce import NodeEndpoint, ProduceResponse

PARTITIONS = ("topics", "partitions")


def request(**topics):
    return ListOffsetsRequest(
        topics=[
            ListOffsetsTopic(name, [ListOffsetsPartition(number) for number in range(count)])
            for name, count in topics.items()
        ]
    )


def contents(part):
    return [
        (topic.name, [one.partition_index for one in topic.partitions]) for topic in part.topics
    ]


def response_to(part):
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                topic.name,
                [ListOffsetsPartitionResponse(one.partition_index) for one in topic.partitions],
            )
            for topic in part.topics
        ]
    )


def test_a_topic_with_many_partitions_is_cut():
    parts = list(slices(request(a=2, b=7, c=1), PARTITIONS, 3))
    assert [contents(part) for part, _ in parts] == [
        [("a", [0, 1])],
        [("b", [0, 1, 2])],
        [("b", [3, 4, 5])],
        [("b", [6]), ("c", [0])],
    ]
    assert [continued for _, continued in parts] == [0, 0, 1, 1]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("topics", [{"a": 1}, {"a": 7}, {"a": 3, "b": 0, "c": 8, "d": 1}])
def test_the_joined_response_is_that_of_the_whole_request(topics, size):
    whole = None
    asked = request(**topics)
    for part, continued in slices(asked, PARTITIONS, size):
        assert count_elements(part, PARTITIONS) <= size
        if whole is None:
            whole = response_to(part)
        else:
            join(whole, response_to(part), PARTITIONS, continued)
    assert contents(whole) == contents(asked)


def test_groups_named_twice_stay_separate():
    """Their topics differ; only the parts of one group are joined."""
    path = ("groups", "topics", "partition_indexes")
    answered = ("groups", "topics", "partitions")
    groups = [
        OffsetFetchRequestGroup(
            "g", topics=[OffsetFetchRequestTopics(topic, partition_indexes=[0, 1, 2])]
        )
        for topic in ("a", "b")
    ]
    whole = None
    for part, continued in slices(OffsetFetchRequest(groups=groups), path, 2):
        response = OffsetFetchResponse(
            groups=[
                OffsetFetchResponseGroup(
                    group.group_id,
                    [
                        OffsetFetchResponseTopics(
                            topic.name,
                            partitions=[
                                OffsetFetchResponsePartitions(number)
                                for number in topic.partition_indexes
                            ],
                        )
                        for topic in group.topics
                    ],
                )
                for group in part.groups
            ]
        )
        if whole is None:
            whole = response
        else:
            join(whole, response, answered, continued)
    found = [(group.group_id, contents(group)) for group in whole.groups]
    assert found == [("g", [("a", [0, 1, 2])]), ("g", [("b", [0, 1, 2])])]


def test_the_joined_response_has_the_longest_throttle_time_and_every_leader_once():
    whole = ProduceResponse([], 5, [NodeEndpoint(1, "a", 1)])
    more = [NodeEndpoint(1, "a", 1), NodeEndpoint(2, "b", 1)]
    join(whole, ProduceResponse([], 9, more), ("responses", "partition_responses"), 0)
    assert whole.throttle_time_ms == 9
    assert [one.node_id for one in whole.node_endpoints] == [1, 2]


def test_small_requests_and_other_apis_are_not_cut():
    assert slicing_of(ApiKey.LIST_OFFSETS, request(a=3)) is None
    assert slicing_of(ApiKey.CREATE_TOPICS, request(a=3)) is None
    assert slicing_of(ApiKey.LIST_OFFSETS, request(a=3000)) is not None


def check_arrays(made, path):
    for name in path:
        kinds = {field: kind for field, kind, *_ in made.FIELDS}
        assert kinds[name].startswith("["), path
        made = getattr(importlib.import_module(made.__module__), kinds[name].strip("[]"), made)


@pytest.mark.parametrize("api", SLICED)
def test_the_arrays_of_requests_and_responses_exist(api):
    for slicing in SLICED[api]:
        assert len(slicing.request) == len(slicing.response)
        check_arrays(request_class(int(api)), slicing.request)
        check_arrays(response_class(int(api)), slicing.response)


@pytest.mark.parametrize("api", LIMITED_ARRAYS)
def test_the_limited_arrays_exist(api):
    for path in LIMITED_ARRAYS[api]:
        check_arrays(request_class(int(api)), path)


def test_large_messages_are_freed_a_few_elements_at_a_time():
    left = []

    class Witness(str):
        """A name that notes how many objects are left when it is freed."""

        __slots__ = ()

        def __del__(self):
            left.append(len(garbage))

    shared = [MetadataRequestTopic(name=f"shared-{n}") for n in range(1_000)]
    topics = [MetadataRequestTopic(name=Witness(n)) for n in range(1_000)]
    garbage = [MetadataRequest(topics=topics), MetadataRequest(topics=shared), None]
    del topics
    free_in_steps(garbage)
    assert garbage == []
    assert len(shared) == len(left) == 1_000
    assert max(Counter(left).values()) <= 20
