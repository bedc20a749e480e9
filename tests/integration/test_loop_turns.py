"""A request with many elements does not delay other clients: the broker serves them in between.

Both requests are sent together, the large one first. The small one must get its response before it.
Without slices both are served in the order of their arrival.
"""

import asyncio
import struct

import pytest

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.runtime import slices
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from barnabas.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.list_groups import ListGroupsRequest
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

TOPIC, PARTITIONS = "t", 300
NUMBERS = range(PARTITIONS)


LARGE = {
    "CreateTopics": (
        CreateTopicsRequest([CreatableTopic("new", 100, 1)], timeout_ms=30_000),
        7,
    ),
    "DeleteRecords": (
        DeleteRecordsRequest(
            [DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(n, -1) for n in NUMBERS])],
            timeout_ms=30_000,
        ),
        2,
    ),
    "DeleteTopics": (
        DeleteTopicsRequest([DeleteTopicState(f"missing-{n}") for n in NUMBERS], timeout_ms=1000),
        6,
    ),
    "DescribeConfigs": (
        DescribeConfigsRequest([DescribeConfigsResource(2, f"missing-{n}") for n in NUMBERS]),
        4,
    ),
    "DescribeLogDirs": (DescribeLogDirsRequest(topics=None), 4),
    "DescribeTopicPartitions": (DescribeTopicPartitionsRequest(), 0),
    "FindCoordinator": (FindCoordinatorRequest(coordinator_keys=[f"g-{n}" for n in NUMBERS]), 4),
    "ListGroups": (ListGroupsRequest(), 5),
    "ListOffsets": (
        ListOffsetsRequest(
            topics=[ListOffsetsTopic(TOPIC, [ListOffsetsPartition(n, -1, -1) for n in NUMBERS])]
        ),
        7,
    ),
    "Metadata": (MetadataRequest(topics=None), 9),
    "OffsetFetch": (OffsetFetchRequest(groups=[OffsetFetchRequestGroup("many", topics=None)]), 8),
}


class Client:
    """A connection in the loop of the broker."""

    def __init__(self, streams):
        self._reader, self._writer = streams

    def send(self, message, version):
        header = RequestHeader(message.API_KEY, version, 1, "test")
        self._writer.write(b"".join(bytes(part) for part in encode_request(header, message)))

    async def receive(self):
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        return await self._reader.readexactly(size)

    async def ask(self, message, version):
        self.send(message, version)
        return await self.receive()

    def close(self):
        self._writer.close()


@pytest.fixture
async def port(tmp_path):
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(tmp_path),
        "offsets.topic.num.partitions": 1,
    }
    broker = Broker(BrokerConfig.parse(settings))
    await broker.start()
    yield broker.port
    await broker.stop()


async def connect(port):
    return Client(await asyncio.open_connection("127.0.0.1", port))


async def commit(client, group, numbers):
    """Commits offsets; repeats that until the coordinator has loaded its partition."""
    partitions = [OffsetCommitRequestPartition(n, committed_offset=0) for n in numbers]
    topics = [OffsetCommitRequestTopic(TOPIC, partitions=partitions)]
    code = None
    while code != ErrorCode.NONE:
        frame = await client.ask(OffsetCommitRequest(group_id=group, topics=topics), 8)
        _, offset = decode_response_header(frame, OffsetCommitRequest.API_KEY, 8)
        code = OffsetCommitResponse.decode(frame, 8, offset).topics[0].partitions[0].error_code


@pytest.fixture
async def clients(port):
    """Two connections to a broker with many partitions, groups and committed offsets."""
    made = [await connect(port) for _ in range(2)]
    create = CreateTopicsRequest([CreatableTopic(TOPIC, PARTITIONS, 1)], timeout_ms=30_000)
    await made[0].ask(create, 7)
    await made[0].ask(FindCoordinatorRequest(coordinator_keys=["many"]), 4)
    await commit(made[0], "many", NUMBERS)
    for number in range(20):
        await commit(made[0], f"group-{number}", [0])
    yield made
    for client in made:
        client.close()


@pytest.mark.parametrize("name", LARGE)
async def test_a_small_request_is_answered_while_a_large_one_is_served(clients, name, monkeypatch):
    large, small = clients
    message = ApiVersionsRequest("test", "1"), 3
    for _ in range(2):  # both connections are known to the selector
        await large.ask(*message)
        await small.ask(*message)
    monkeypatch.setattr(slices, "SLICE_S", 0.0)
    answered = []

    async def receive(client, what):
        await client.receive()
        answered.append(what)

    large.send(*LARGE[name])
    small.send(*message)
    await asyncio.gather(receive(large, "large"), receive(small, "small"))
    assert answered == ["small", "large"]
