"""Requests as tests want them: one topic, one partition, the rest at its defaults."""

from barnabas.records.builder import build_batch
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)


def batch(*values, key=None, timestamp_ms=1_700_000_000_000, **options):
    """A record batch of these values."""
    return build_batch([(key, value) for value in values], timestamp_ms=timestamp_ms, **options)


async def create_topic(peer, name, partitions=1, **configs):
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name,
                partitions,
                1,
                configs=[
                    CreatableTopicConfig(key.replace("_", "."), value)
                    for key, value in configs.items()
                ],
            )
        ],
        timeout_ms=10_000,
    )
    result = (await peer.call(request, 7)).topics[0]
    assert result.error_code == 0, result
    return result.topic_id


def produce_request(topic, records, *, partition=0, acks=-1, timeout_ms=5000, **fields):
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, records)])]
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=data, **fields)


async def produce(peer, topic, records, *, version=9, **fields):
    """The answer for the one partition."""
    response = await peer.call(produce_request(topic, records, **fields), version)
    return response.responses[0].partition_responses[0]


def fetch_request(topic, offset, *, partition=0, max_bytes=1 << 20, **fields):
    asked = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=max_bytes)
    defaults = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 26, "session_epoch": -1}
    return FetchRequest(topics=[FetchTopic(topic=topic, partitions=[asked])], **defaults | fields)


async def fetch(peer, topic, offset, *, version=11, **fields):
    """The answer for the one partition."""
    response = await peer.call(fetch_request(topic, offset, **fields), version)
    return response.responses[0].partitions[0]


async def list_offset(peer, topic, timestamp, *, partition=0, version=7, **fields):
    asked = ListOffsetsPartition(partition, timestamp=timestamp)
    topics = [ListOffsetsTopic(topic, [asked])]
    response = await peer.call(ListOffsetsRequest(replica_id=-1, topics=topics, **fields), version)
    return response.topics[0].partitions[0]


async def metadata(peer, *topics, version=12, **fields):
    asked = [MetadataRequestTopic(name=name) for name in topics]
    return await peer.call(MetadataRequest(topics=asked, **fields), version)
