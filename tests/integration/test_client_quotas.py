"""Active quotas: a client above a limit gets a throttle time, and its connection is muted."""

import asyncio

import pytest
from support.network.requests import batch, create_topic, fetch_request, produce_request

from barnabas import Consumer, Producer, TopicPartition
from barnabas.admin import QuotaEntity
from barnabas.testing import Broker
from barnabas.testing.server import unique_name
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.metadata import MetadataRequest

pytestmark = pytest.mark.integration

LIMIT = 100_000
BATCH = batch(b"x" * 150_000)


@pytest.fixture(scope="module")
def server():
    """A rate is measured over one second, so that tests wait for one only."""
    with Broker({"quota.window.num": 2, "message.max.bytes": 1_000_000}) as broker:
        yield broker


@pytest.fixture
async def peer(server, connect):
    """A client under a name of its own, and so with a quota of its own."""
    connected = await connect(server)
    connected.client_id = unique_name("client")
    return connected


@pytest.fixture
async def topic(peer):
    name = unique_name("topic")
    await create_topic(peer, name)
    return name


async def set_quota(peer, *, ip=None, **values):
    entry = EntryData(
        [EntityData("client-id", peer.client_id) if ip is None else EntityData("ip", ip)],
        [OpData(key, value or 0.0, value is None) for key, value in values.items()],
    )
    response = await peer.call(AlterClientQuotasRequest([entry]), 1)
    assert response.entries[0].error_code == 0, response


async def test_a_producer_over_its_limit_waits(peer, topic):
    await set_quota(peer, producer_byte_rate=float(LIMIT))
    before = asyncio.get_running_loop().time()
    answer = await peer.call(produce_request(topic, BATCH), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert 400 <= answer.throttle_time_ms <= 600  # half again as much as a second allows
    await peer.call(MetadataRequest(topics=[]), 9)
    waited = asyncio.get_running_loop().time() - before
    assert waited >= answer.throttle_time_ms / 1000 - 0.05


async def test_a_reader_over_its_limit_waits(peer, topic):
    for _ in range(2):
        await peer.call(produce_request(topic, BATCH), 9)
    await set_quota(peer, consumer_byte_rate=float(LIMIT))
    answer = await peer.call(fetch_request(topic, 0), 11)
    assert len(answer.responses[0].partitions[0].records) >= LIMIT
    assert answer.throttle_time_ms > 0


async def test_others_are_not_throttled_and_a_limit_can_be_taken_away(peer, topic, server, connect):
    await set_quota(peer, producer_byte_rate=float(LIMIT))
    answer = await peer.call(produce_request(topic, BATCH), 9)
    assert answer.throttle_time_ms > 0
    other = await connect(server)
    other.client_id = "other"
    assert (await other.call(produce_request(topic, BATCH), 9)).throttle_time_ms == 0
    await set_quota(peer, producer_byte_rate=None)
    assert (await peer.call(produce_request(topic, BATCH), 9)).throttle_time_ms == 0


async def test_an_unacknowledged_producer_is_muted_too(peer, topic):
    await set_quota(peer, producer_byte_rate=float(LIMIT))
    before = asyncio.get_running_loop().time()
    peer.send(produce_request(topic, BATCH, acks=0), 9)
    await peer.call(ApiVersionsRequest(), 0)
    assert asyncio.get_running_loop().time() - before >= 0.3


async def test_a_client_that_takes_too_much_time_waits(peer):
    await set_quota(peer, request_percentage=0.0001)  # a microsecond in a second
    before = asyncio.get_running_loop().time()
    answer = await peer.call(MetadataRequest(topics=[]), 9)
    assert answer.throttle_time_ms == 1000
    await peer.call(MetadataRequest(topics=[]), 9)
    assert asyncio.get_running_loop().time() - before >= 0.95


async def test_an_address_that_connects_too_often_is_turned_away(start, connect):
    """Measured over ten seconds, as by default, so that the excess remains in a slow test."""
    broker = await start()
    first = await connect(broker)
    await set_quota(first, ip="127.0.0.1", connection_creation_rate=1.0)
    for _ in range(10):
        assert (await (await connect(broker)).call(MetadataRequest(topics=[]), 9)).brokers
    over = await connect(broker)
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await over.call(MetadataRequest(topics=[]), 9, timeout=60)
    assert (await first.call(MetadataRequest(topics=[]), 9)).brokers


@pytest.mark.parametrize("version", [5, 7])
async def test_partitions_are_made_within_a_rate(start, connect, version):
    """Two partitions too many take so long to come back that no test waits for it by chance."""
    peer = await connect(await start())
    await set_quota(peer, controller_mutation_rate=0.1)
    names = [unique_name("topic") for _ in range(3)]
    topics = [CreatableTopic(name, count, 1) for name, count in zip(names, (0, 3, 1), strict=True)]
    request = CreateTopicsRequest(topics, timeout_ms=30_000)
    response = await peer.call(request, version, timeout=60)
    assert [topic.error_code for topic in response.topics] == [37, 0, 0 if version == 5 else 89]
    assert response.throttle_time_ms > 0


def test_our_clients_wait_and_lose_nothing(server):
    name, client_id = server.topic(), unique_name("client")
    quota = {"producer_byte_rate": float(LIMIT), "consumer_byte_rate": float(LIMIT)}
    server.admin.alter_client_quotas({QuotaEntity(client_id=client_id): quota}).check()
    config = {"bootstrap.servers": server.bootstrap_servers, "client.id": client_id}
    with Producer({**config, "linger.ms": 0}) as producer:
        for number in range(2):
            sent = producer.send(name, b"x" * 120_000).result(60)
            assert sent.offset == number
    with Consumer({**config, "fetch.max.bytes": 1}) as consumer:
        consumer.assign([TopicPartition(name, 0)])
        consumer.seek(TopicPartition(name, 0), 0)
        offsets = []
        for _ in range(60):
            offsets += [r.offset for part in consumer.poll(timeout=1).values() for r in part]
            if len(offsets) == 2:
                break
        assert offsets == [0, 1]
