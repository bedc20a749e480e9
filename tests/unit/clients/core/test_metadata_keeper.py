"""One metadata request at a time: for all topics of interest, or for the new ones only."""

import asyncio

import pytest

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.metadata_keeper import MetadataKeeper
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import DeadlineError, UnavailableError
from barnabas.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


class Pool:
    def __init__(self):
        self.login_error = "before"
        self.notified = 0

    def on_permanent_error(self):
        self.notified += 1


class Broker:
    """Replaces `AnyBroker`: responds when `released`, and records the requests."""

    address = "h:1"

    def __init__(self):
        self.requests = []
        self.error = ErrorCode.NONE
        self.partitions = []
        self.brokers = [MetadataResponseBroker(node_id=1, host="h", port=1, rack=None)]
        self.released = asyncio.Event()
        self.released.set()
        self.failures = []
        self.connections = 0

    async def connection(self):
        self.connections += 1
        return self

    async def send(self, connection, request):
        names = None if request.topics is None else [topic.name for topic in request.topics]
        self.requests.append((names, request.allow_auto_topic_creation))
        await self.released.wait()
        if self.failures:
            raise self.failures.pop()
        topics = [
            MetadataResponseTopic(name=name, error_code=self.error, partitions=self.partitions)
            for name in names or []
        ]
        return MetadataResponse(brokers=self.brokers, topics=topics, controller_id=1)


@pytest.fixture
def broker():
    return Broker()


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture
def keeper(broker, pool):
    return MetadataKeeper(broker, pool, ClusterMetadata())


async def test_interests_add_up(keeper, broker, pool):
    await keeper.refresh({"b"})
    await keeper.refresh({"a"})
    await keeper.refresh()
    assert broker.requests == [(["b"], True), (["a", "b"], True), (["a", "b"], True)]
    assert pool.login_error is None, "a response proves that the login is valid"
    assert keeper.refreshed_at_s > 0


async def test_a_request_whose_connection_ends_is_sent_once_more(keeper, broker):
    """An end of a connection does not tell whether a broker can be reached; the next one does."""
    lost = UnavailableError("h:1 closed the connection")
    broker.failures = [lost]
    with pytest.raises(UnavailableError, match="closed"):
        await keeper.refresh({"a"})
    await keeper.refresh({"a"})
    broker.failures = [lost]
    await keeper.refresh()
    assert (len(broker.requests), broker.connections) == (4, 4)
    broker.failures = [UnavailableError("no broker can be reached"), lost]
    with pytest.raises(UnavailableError, match="no broker can be reached"):
        await keeper.refresh()
    broker.failures = [DeadlineError("h:1 did not answer")]
    with pytest.raises(DeadlineError):
        await keeper.refresh()


async def test_a_new_topic_does_not_fetch_the_known_ones_again(keeper, broker):
    broker.partitions = [MetadataResponsePartition(partition_index=0, leader_id=1)]
    await keeper.refresh({"a"})
    refreshed_at_s = keeper.refreshed_at_s
    await keeper.refresh({"b"})
    assert broker.requests == [(["a"], True), (["b"], True)]
    assert keeper.refreshed_at_s == refreshed_at_s, "the metadata of a is as old as before"
    await keeper.refresh({"a"})
    await keeper.refresh()
    assert broker.requests[2:] == [(["a", "b"], True), (["a", "b"], True)]


async def test_new_topics_of_callers_that_wait_are_fetched_together(keeper, broker):
    broker.partitions = [MetadataResponsePartition(partition_index=0, leader_id=1)]
    await keeper.refresh({"a"})
    broker.released.clear()
    tasks = [asyncio.create_task(keeper.refresh({name})) for name in "bcde"]
    while len(broker.requests) < 2:
        await asyncio.sleep(0)
    broker.released.set()
    await asyncio.gather(*tasks)
    assert broker.requests[1:] == [(["b"], True), (["c", "d", "e"], True)]


async def test_a_request_for_all_topics_creates_none(keeper, broker):
    keeper.interests = None
    await keeper.refresh({"a"})
    keeper.interests, keeper.auto_create = set(), False
    await keeper.refresh({"a"})
    assert broker.requests == [(None, False), (["a"], False)]


async def test_one_request_at_a_time(keeper, broker):
    broker.released.clear()
    tasks = [asyncio.create_task(keeper.refresh({name})) for name in "ab"]
    while not broker.requests:
        await asyncio.sleep(0)
    assert len(broker.requests) == 1
    broker.released.set()
    await asyncio.gather(*tasks)
    assert broker.requests[-1] == (["a", "b"], True)


async def test_a_cancelled_caller_does_not_cancel_the_request(keeper, broker):
    broker.released.clear()
    gone = asyncio.create_task(keeper.refresh({"a"}))
    while not broker.requests:
        await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    other = asyncio.create_task(keeper.refresh())
    broker.released.set()
    await other
    assert keeper.refreshed_at_s > 0


async def test_a_response_without_brokers_is_an_error(keeper, broker):
    broker.brokers = []
    with pytest.raises(UnavailableError, match="h:1 has no metadata of the brokers yet"):
        await keeper.refresh()
    assert keeper.refreshed_at_s < 0


async def test_a_forbidden_topic_is_reported(keeper, broker, pool):
    broker.error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    await keeper.refresh({"a"})
    assert pool.notified == 1


async def test_closing_ends_a_request_under_way(keeper, broker):
    broker.released.clear()
    waiting = asyncio.create_task(keeper.refresh())
    while not broker.requests:
        await asyncio.sleep(0)
    await keeper.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
