"""Several partitions in one fetch, replicas and old offset questions, in both flavours."""

import asyncio
import inspect

import pytest

from barnabas import (
    BrokerError,
    DeadlineError,
    ErrorCode,
    Producer,
    SimpleConsumer,
    TopicPartition,
    aio,
)
from barnabas.model.errors import LocalError

pytestmark = pytest.mark.integration

START_MS = 1_700_000_000_000


class Awaited:
    """The asyncio consumer, called as the blocking one is: the same tests judge both."""

    def __init__(self, settings):
        self._runner = asyncio.Runner()
        self._runner.run(self._open(settings))

    async def _open(self, settings):
        self._consumer = aio.SimpleConsumer(settings)

    def __getattr__(self, name):
        def call(*arguments, **more):
            found = getattr(self._consumer, name)(*arguments, **more)
            return self._runner.run(_all(found) if inspect.isasyncgen(found) else found)

        return call

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self._runner.close()


async def _all(found):
    return [item async for item in found]


@pytest.fixture(params=["blocking", "asyncio"])
def consumer(request, broker):
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "client.id": request.node.name,
        "fetch.max.wait.ms": 50,
    }
    made = SimpleConsumer if request.param == "blocking" else Awaited
    with made({**settings, "default.api.timeout.ms": 5000}) as opened:
        yield opened


@pytest.fixture
def filled(broker, topic_name):
    """Three partitions; the number of a partition is in its values."""
    broker.topic(topic_name, partitions=3)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(30):
            value, stamp = b"%d" % (number % 3), START_MS + number * 1000
            producer.send(topic_name, value, partition=number % 3, timestamp=stamp)
    return topic_name


def test_one_fetch_reads_several_partitions(consumer, broker, filled, request):
    def fetches():  # only our own: the broker remembers the most recent requests of all clients
        seen = broker.requests("fetch")
        return sum(item.client_id == request.node.name for item in seen)

    offsets = {TopicPartition(filled, number): number for number in range(3)}
    consumer.fetch(filled, 0, 0)
    before = fetches()
    found = consumer.fetch_many(offsets)
    assert (before, fetches()) == (1, 2)
    assert list(found) == list(offsets)
    for topic_partition, batches in found.items():
        values = [record.value for record in batches.records()]
        assert values == [b"%d" % topic_partition.partition] * (10 - topic_partition.partition)


def test_each_partition_has_its_own_error(consumer, filled):
    good, bad = (filled, 0), (filled, 1)
    found = consumer.fetch_many({good: 3, bad: 5000})
    assert found[good].records()[0].offset == 3
    assert isinstance(found[bad], BrokerError)
    assert found[bad].code is ErrorCode.OFFSET_OUT_OF_RANGE
    with pytest.raises(BrokerError, match="OFFSET_OUT_OF_RANGE"):
        consumer.fetch(filled, 1, 5000)


def test_a_leader_that_moved_is_found_again(consumer, broker, filled):
    offsets = {TopicPartition(filled, number): 0 for number in range(3)}
    broker.fail("fetch", "NOT_LEADER_OR_FOLLOWER", times=1)
    found = consumer.fetch_many(offsets)
    assert [len(found[topic_partition].records()) for topic_partition in offsets] == [10, 10, 10]


def test_the_error_names_an_unknown_partition(consumer, filled):
    with pytest.raises(DeadlineError, match=r"no partition 9|no 9"):
        consumer.fetch_many({TopicPartition(filled, 9): 0}, timeout=0.5)


def test_a_leader_comes_with_its_replicas(consumer, filled):
    found = consumer.partition_metadata(filled, 1)
    assert (found.topic, found.partition) == (filled, 1)
    assert found.leader == consumer.leader(filled, 1)
    assert found.replicas == found.isr == (found.leader,)
    assert found.leader_epoch >= 0


def test_offsets_before_a_time(consumer, filled):
    assert consumer.offsets_before(filled, 0, -1) == [10]
    assert consumer.offsets_before(filled, 0, -1, 10) == [10, 0]
    assert consumer.offsets_before(filled, 0, -2, 10) == [0]
    assert consumer.offsets_before(filled, 0, START_MS + 9_000, 2) == [3, 0]
    assert consumer.offsets_before(filled, 0, START_MS - 1, 2) == [0]
    assert consumer.offsets_before(filled, 0, START_MS + 10**9, 2) == [10, 0]
    with pytest.raises(LocalError, match="max_offsets"):
        consumer.offsets_before(filled, 0, -1, 0)


def test_the_other_calls(consumer, filled):
    assert consumer.partitions(filled) == [0, 1, 2]
    assert consumer.earliest_offset(filled, 0) == 0
    assert consumer.latest_offset(filled, 0) == 10
    assert consumer.offset_for_time(filled, 0, START_MS + 9_000).offset == 3
    assert consumer.offset_for_time(filled, 0, START_MS + 10**9) is None
    assert [record.offset for record in consumer.records(filled, 0, 2, 5)] == [2, 3, 4]
    topic_partition = TopicPartition(filled, 0)
    assert consumer.committed(filled, filled, 0) is None
    consumer.commit(filled, {topic_partition: 4})
    assert consumer.committed(filled, filled, 0) == 4


def test_both_flavours_have_the_same_calls():
    def public(kind):
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(SimpleConsumer) == public(aio.SimpleConsumer)
