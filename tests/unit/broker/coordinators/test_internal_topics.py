"""The coordinators' topics: where keys belong, and one creation for all who ask."""

import asyncio
from types import SimpleNamespace

import pytest
from support.clients.manual_loop import FakeLedPartition, ManualLoop
from support.groups.driver import image

from barnabas.broker.config import BrokerConfig
from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.shard_runtime import RuntimeSettings, SteadyClock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, TopicPartition
from barnabas.model.java_hash import coordinator_partition


class FakeTopics:
    """Creates a topic when the test allows it; the metadata then has the topic at once."""

    def __init__(self, metadata):
        self._metadata = metadata
        self.created = []
        self.error = None

    async def create(self, topic):
        self.created.append(topic)
        await asyncio.sleep(0)
        if self.error is not None:
            raise BrokerError(self.error)
        self._metadata.known[topic.name] = topic.partitions

    async def wait_for_leaders(self, name, partitions, timeout_ms):
        pass


class FakeMetadata:
    def __init__(self, brokers):
        self.known = {}
        self._brokers = brokers

    def has_topic(self, name):
        return name in self.known

    def partitions(self, name):
        count = self.known.get(name)
        return None if count is None else dict.fromkeys(range(count))

    def brokers(self):
        return [None] * self._brokers


@pytest.fixture
def world():
    return make()


def make(brokers=1):
    metadata = FakeMetadata(brokers)
    topics = FakeTopics(metadata)
    internal = InternalTopics(BrokerConfig.parse({}).values, topics, metadata)
    return SimpleNamespace(internal=internal, topics=topics, metadata=metadata)


def test_keys_map_to_a_partition_before_the_topic_exists(world):
    topic_partition = world.internal.partition_of(OFFSETS_TOPIC, "my-group")
    assert topic_partition == (OFFSETS_TOPIC, coordinator_partition("my-group", 50))


def test_the_topic_as_it_is_decides(world):
    world.metadata.known[OFFSETS_TOPIC] = 7
    topic_partition = world.internal.partition_of(OFFSETS_TOPIC, "my-group")
    assert topic_partition.partition == coordinator_partition("my-group", 7)


def test_no_shard_serves_a_group_before_the_count_of_partitions_is_known(world):
    """A broker that starts leads partitions before it has the metadata: the topic has 7, not 50."""
    loop = ManualLoop()
    settings = RuntimeSettings(
        clock=loop.clock,
        steady=SteadyClock(loop.clock),
        schedule=loop.schedule,
        call_soon=loop.call_soon,
        commit_timeout_ms=5000,
    )
    values = BrokerConfig.parse({}).values
    groups = GroupCoordinator(values, world.internal, image(), settings, lambda group: {})
    group = next(f"g{n}" for n in range(1000) if coordinator_partition(f"g{n}", 50) < 7)
    for number in range(7):
        partition = FakeLedPartition(loop)
        partition.topic_partition = TopicPartition(OFFSETS_TOPIC, number)
        groups.leadership_changed(partition)
    with pytest.raises(BrokerError) as caught:
        groups.shard_of(group)
    assert caught.value.code is ErrorCode.NOT_COORDINATOR
    world.metadata.known[OFFSETS_TOPIC] = 7
    assert groups.shard_of(group) is groups.shard_at(coordinator_partition(group, 7))


async def test_one_creation_for_all(world):
    await asyncio.gather(*(world.internal.ensure(OFFSETS_TOPIC) for _ in range(10)))
    await world.internal.ensure(OFFSETS_TOPIC)
    assert len(world.topics.created) == 1
    topic = world.topics.created[0]
    assert (topic.partitions, topic.replication_factor) == (50, 1)
    assert topic.configs["cleanup.policy"] == "compact"
    assert topic.configs["segment.bytes"] == "104857600"


@pytest.mark.parametrize(("brokers", "factor", "insync"), [(1, 1, "1"), (2, 2, "2"), (5, 3, "2")])
async def test_replicas_as_many_as_there_are_brokers(brokers, factor, insync):
    world = make(brokers)
    await world.internal.ensure(TRANSACTIONS_TOPIC)
    topic = world.topics.created[0]
    assert topic.replication_factor == factor
    assert topic.configs["min.insync.replicas"] == insync


async def test_a_topic_that_another_broker_created_is_not_an_error(world):
    """Passes when TOPIC_ALREADY_EXISTS is not an error for `ensure`."""
    world.topics.error = ErrorCode.TOPIC_ALREADY_EXISTS
    await world.internal.ensure(OFFSETS_TOPIC)


async def test_a_failure_reaches_all_waiting_requests_and_is_retried(world):
    world.topics.error = ErrorCode.REQUEST_TIMED_OUT
    asked = [world.internal.ensure(OFFSETS_TOPIC) for _ in range(3)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [error.code for error in found] == [ErrorCode.REQUEST_TIMED_OUT] * 3
    world.topics.error = None
    await world.internal.ensure(OFFSETS_TOPIC)
    assert world.internal.exists(OFFSETS_TOPIC)


async def test_a_cancelled_request_does_not_stop_the_creation(world):
    impatient = asyncio.create_task(world.internal.ensure(OFFSETS_TOPIC))
    patient = asyncio.create_task(world.internal.ensure(OFFSETS_TOPIC))
    await asyncio.sleep(0)
    impatient.cancel()
    await patient
    assert world.internal.exists(OFFSETS_TOPIC)
