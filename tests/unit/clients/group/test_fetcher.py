"""The requests of the fetcher: what follows a response, and when the polling thread is woken."""

import asyncio
from types import SimpleNamespace

import pytest

from barnabas.clients.group import fetcher
from barnabas.clients.group.fetch_buffer import FetchBuffer
from barnabas.clients.group.fetcher import LARGE_RESPONSE_BYTES, Fetcher
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.builder import BatchBuilder
from barnabas.runtime.clock import SystemClock
from barnabas.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)
ID = Uuid(b"0123456789abcdef")
SESSION = 7


class FakeConnection:
    """Keeps requests until the test passes their responses."""

    def __init__(self, events):
        self.events = events
        self.requests = []
        self.replies = []
        self.closed = False
        self.in_flight = 1

    def version_of(self, request):
        return FetchRequest.MAX_VERSION

    def submit(self, request, *, version, timeout_s=None):
        if self.closed:
            raise UnavailableError("closed")
        self.events.append("request")
        self.requests.append(request)
        self.replies.append(asyncio.get_running_loop().create_future())
        return self.replies[-1]

    def offsets(self):
        """Returns the offsets of the last request by partition."""
        topics = self.requests[-1].topics
        return {item.partition: item.fetch_offset for topic in topics for item in topic.partitions}


class World:
    """A fetcher of two partitions on broker 1; broker 2 is a replica."""

    def __init__(self, config):
        self.events = []
        self.connections = {number: FakeConnection(self.events) for number in (1, 2)}
        topics = {"t": SimpleNamespace(topic_id=ID)}
        self.metadata = SimpleNamespace(
            leader_of=lambda partition: (SimpleNamespace(id=1), 4),
            topics=topics,
            topic_names={ID: "t"},
            generation=1,
        )
        self.subscription = SubscriptionState()
        self.subscription.assign([FIRST, SECOND])
        for partition in (FIRST, SECOND):
            self.subscription.require(partition).move_to(0)
        self.buffer = FetchBuffer(self.subscription)
        self.buffer.on_data = lambda: self.events.append("data")
        settings = ConsumerSettings.parse({"bootstrap.servers": "h:1", **config})
        self.fetcher = Fetcher(settings, self, self.subscription, self.buffer, SystemClock())
        self.buffer.on_room = self.fetcher.wake
        self.task = asyncio.get_running_loop().create_task(self.fetcher.run())

    async def connection(self, node_id, purpose):
        return self.connections[node_id]

    def connected(self, node_id, purpose):
        found = self.connections[node_id]
        return None if found.closed else found

    async def refresh(self, topics=None): ...

    async def close(self):
        self.task.cancel()
        await self.fetcher.close()

    async def until(self, condition):
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0)

    async def requested(self, count, node=1):
        """Waits for this number of requests to a broker."""
        await self.until(lambda: len(self.connections[node].requests) >= count)
        return self.connections[node]

    def answer(self, *partitions, node=1, throttle_ms=0):
        response = FetchResponse(
            throttle_time_ms=throttle_ms,
            session_id=SESSION,
            responses=[FetchableTopicResponse(topic_id=ID, partitions=list(partitions))],
        )
        self.connections[node].replies[-1].set_result(response)


def data(partition, offset, size):
    """A batch with one record of this size."""
    builder = BatchBuilder(base_offset=offset, partition_leader_epoch=4)
    builder.append(None, bytes(size), (), timestamp_ms=1)
    return PartitionData(partition_index=partition, records=memoryview(builder.build()))


@pytest.fixture
async def made():
    worlds = []

    def make(**config):
        worlds.append(World(config))
        return worlds[-1]

    yield make
    for world in worlds:
        await world.close()


async def test_next_request_precedes_the_wake_up_after_a_large_response(made):
    world = made()
    await world.requested(1)
    world.answer(data(0, 0, LARGE_RESPONSE_BYTES))
    connection = await world.requested(2)
    await world.until(lambda: "data" in world.events)
    assert world.events == ["request", "request", "data"]
    assert connection.offsets() == {0: 1}
    assert connection.requests[-1].session_id == SESSION


async def test_wake_up_precedes_the_next_request_after_a_small_response(made):
    world = made()
    await world.requested(1)
    world.answer(data(0, 0, 10))
    await world.requested(2)
    assert world.events == ["request", "data", "request"]


async def test_no_request_without_room_until_records_are_taken(made):
    world = made(**{"fetch.max.bytes": 1000})
    connection = await world.requested(1)
    world.answer(data(0, 0, 2000))
    await world.until(lambda: "data" in world.events)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(connection.requests) == 1
    assert len(world.buffer.take(500)[FIRST]) == 1
    await world.requested(2)
    assert connection.offsets() == {0: 1}


async def test_fetcher_says_below_which_bytes_it_has_room(made):
    world = made(**{"fetch.max.bytes": 1000})
    await world.requested(1)
    assert world.fetcher.resume_below == 0, "it does not wait"
    world.answer(data(0, 0, 700), data(1, 0, 2000))
    await world.until(lambda: world.fetcher.resume_below)
    assert world.fetcher.resume_below == 1000
    world.buffer.take(1)
    assert world.buffer.total_bytes > 1000, "the fetcher is not woken yet"
    world.buffer.take(500)
    await world.requested(2)
    assert world.fetcher.resume_below == 0


async def test_fetcher_needs_no_room_while_its_broker_has_a_request(made):
    world = made(**{"max.partition.fetch.bytes": 1000})
    await world.requested(1)
    world.answer(data(0, 0, 1000))
    connection = await world.requested(2)
    (full,) = connection.requests[-1].forgotten_topics_data
    assert full.partitions == [0], "its buffer is full"
    assert world.fetcher.resume_below == 0, "the next response leads to the next plan"
    world.buffer.take(500)
    world.answer(data(1, 0, 10))
    await world.requested(3)
    assert connection.offsets() == {0: 1, 1: 1}


async def test_leader_is_looked_up_again_after_the_metadata_changed(made):
    world = made()
    await world.requested(1)
    world.answer(data(0, 0, 10))
    await world.requested(2)
    world.metadata.leader_of = lambda partition: (SimpleNamespace(id=2), 4)
    world.metadata.generation += 1
    world.answer(data(0, 1, 10))
    assert (await world.requested(1, node=2)).offsets() == {0: 2, 1: 0}


@pytest.mark.parametrize(("end_offset", "asked"), [(9, 4 * 1024**2), (1, 1024**2)])
async def test_more_is_fetched_after_a_response_that_the_limit_cut_off(made, end_offset, asked):
    world = made()
    await world.requested(1)
    large = data(0, 0, 1_000_000)
    large.high_watermark = end_offset
    world.answer(large)
    connection = await world.requested(2)
    (topic,) = connection.requests[-1].topics
    assert {item.partition: item.partition_max_bytes for item in topic.partitions} == {0: asked}


async def test_response_of_an_earlier_position_is_dropped(made):
    world = made()
    connection = await world.requested(1)
    with world.subscription.lock:
        world.subscription.require(FIRST).move_to(50)
    world.answer(data(0, 0, LARGE_RESPONSE_BYTES))
    await world.requested(2)
    assert connection.offsets() == {0: 50}
    assert world.buffer.take(500) == {}
    assert world.subscription.require(FIRST).offset == 50


async def test_paused_partition_is_not_fetched_again(made):
    world = made()
    connection = await world.requested(1)
    world.subscription.require(FIRST).pause()
    world.answer(data(1, 0, LARGE_RESPONSE_BYTES))
    await world.requested(2)
    assert connection.offsets() == {1: 1}
    assert [item.partitions for item in connection.requests[-1].forgotten_topics_data] == [[0]]


async def test_throttled_fetcher_waits(made):
    world = made()
    connection = await world.requested(1)
    world.answer(data(0, 0, LARGE_RESPONSE_BYTES), throttle_ms=30)
    await world.until(lambda: "data" in world.events)
    started_s = asyncio.get_running_loop().time()
    await world.requested(2)
    assert asyncio.get_running_loop().time() - started_s >= 0.02
    assert connection.offsets() == {0: 1}


async def test_replaced_connection_is_used(made):
    world = made()
    first = await world.requested(1)
    first.closed = True
    world.connections[1] = FakeConnection(world.events)
    first.replies[-1].set_result(FetchResponse(session_id=SESSION, responses=[]))
    await world.requested(1)
    assert len(first.requests) == 1


async def test_redirected_partition_is_fetched_from_the_replica_at_once(made, monkeypatch):
    monkeypatch.setattr(fetcher, "IDLE_CHECK_MS", 60_000)  # no step by the timer
    world = made(**{"fetch.max.wait.ms": 20_000})
    connection = await world.requested(1)
    redirect = PartitionData(partition_index=1, preferred_read_replica=2, records=None)
    world.answer(data(0, 0, LARGE_RESPONSE_BYTES), redirect)
    replica = await world.requested(1, node=2)
    await world.requested(2)
    assert connection.offsets() == {0: 1}
    assert replica.offsets() == {1: 0}


async def test_records_are_announced_if_the_next_request_fails(made):
    world = made()
    connection = await world.requested(1)
    world.answer(data(0, 0, LARGE_RESPONSE_BYTES))
    world.connected = lambda node_id, purpose: connection
    connection.closed = True
    await world.until(lambda: "data" in world.events)
    assert len(world.buffer.take(500)[FIRST]) == 1


@pytest.mark.parametrize(
    ("shares_loop", "size", "in_thread"),
    [(True, 100, True), (True, 2000, False), (False, 100, False)],
)
async def test_a_thread_receives_responses_of_small_records_for_asyncio(
    made, shares_loop, size, in_thread
):
    world = made()
    world.fetcher.shares_loop = shares_loop
    connection = await world.requested(1)
    world.answer(data(0, 0, size))
    await world.requested(2)
    assert getattr(connection, "receives_in_thread", False) == in_thread
