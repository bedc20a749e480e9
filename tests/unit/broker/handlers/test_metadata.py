"""Responses with many partitions are computed in slices."""

from types import SimpleNamespace

import pytest
from support.loop_turns import counted_turns

from barnabas.broker.handlers import metadata as handlers
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.model.control import Endpoint, LiveBroker, PartitionState, UpdateMetadataCommand
from barnabas.model.ids import TopicPartition
from barnabas.runtime import slices
from barnabas.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic


def context(topics):
    """The context of a request in a cluster with this number of partitions in each topic."""
    metadata = MetadataCache()
    states = tuple(
        PartitionState(TopicPartition(name, number), 1, 0, (1,), (1,))
        for name, count in topics.items()
        for number in range(count)
    )
    metadata.apply(UpdateMetadataCommand(1, 1, 1, states, (LiveBroker(1, ()),), {}))
    services = SimpleNamespace(metadata=metadata, cluster_id="c")
    return SimpleNamespace(
        services=services, version=13, endpoint_of=lambda _: Endpoint("L", "h", 1)
    )


@pytest.mark.parametrize(("topics", "each"), [(1, 2000), (50, 40), (2000, 1)])
async def test_the_loop_turns_while_a_page_is_computed(monkeypatch, topics, each):
    ctx = context({f"t{number:04}": each for number in range(topics)})
    monkeypatch.setattr(slices, "SLICE_S", 0.0)  # a turn of the loop after each item
    with counted_turns() as turns:
        calls = turns.of_calls(monkeypatch, handlers, "_described_partition")
        response = await handlers.handle_describe_topic_partitions(
            ctx, DescribeTopicPartitionsRequest()
        )
    found = [[one.partition_index for one in topic.partitions] for topic in response.topics]
    assert found == [list(range(each))] * topics
    assert response.next_cursor is None
    assert calls.total() == 2000
    assert max(calls.values()) == 1


@pytest.mark.parametrize(("topics", "each"), [(1, 2000), (50, 40), (2000, 1)])
async def test_the_loop_turns_while_metadata_of_many_partitions_is_computed(
    monkeypatch, topics, each
):
    ctx = context({f"t{number:04}": each for number in range(topics)})
    monkeypatch.setattr(slices, "SLICE_S", 0.0)  # a turn of the loop after each item
    with counted_turns() as turns:
        calls = turns.of_calls(monkeypatch, handlers, "_partition")
        response = await handlers.handle_metadata(ctx, MetadataRequest(topics=None))
    found = [[one.partition_index for one in topic.partitions] for topic in response.topics]
    assert found == [list(range(each))] * topics
    assert calls.total() == 2000
    assert max(calls.values()) == 1


async def test_metadata_in_slices_equals_metadata_at_once(monkeypatch):
    ctx = context({"a": 3, "b": 1})
    named = [MetadataRequestTopic(name=name) for name in ("a", "b", "missing", "no/name")]
    request = MetadataRequest(named, False, True, True)
    at_once = handlers.handle_metadata(ctx, request)
    monkeypatch.setattr(handlers, "_MANY_PARTITIONS", 1)
    assert await handlers.handle_metadata(ctx, request) == at_once
