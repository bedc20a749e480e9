"""The partitions a producer uses while topics grow, lose leaders and are created anew.

Both flavours run the same steps: `Blocking` and `Asyncio` adapt them to one interface.
"""

import asyncio
import threading
from collections import Counter

import pytest
from support.clients.mock_cluster import LIBRARY, mock_cluster
from support.groups.members import wait_until

from barnabas import BrokerError, Producer
from barnabas.aio import Producer as AioProducer

pytestmark = pytest.mark.integration
KEYS = [b"key %d" % number for number in range(40)]


class Blocking:
    def __init__(self, **config):
        self._producer = Producer(config)

    def send(self, *args, **more):
        return self._producer.send(*args, **more).result(60)

    def partitions_for(self, topic):
        return [item.partition for item in self._producer.partitions_for(topic)]

    def close(self):
        self._producer.close()


class Asyncio:
    """The asyncio producer on a loop of its own in a thread."""

    def __init__(self, **config):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._producer = self._call(self._make(config))

    async def _make(self, config):
        return AioProducer(config)

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def send(self, *args, **more):
        return self._call(self._producer.send_and_wait(*args, **more))

    def partitions_for(self, topic):
        found = self._call(self._producer.partitions_for(topic))
        return [item.partition for item in found]

    def close(self):
        self._call(self._producer.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(params=[Blocking, Asyncio])
def producer_of(request, broker):
    made = []

    def make(bootstrap_servers=broker.bootstrap_servers, **config):
        names = {name.replace("_", "."): value for name, value in config.items()}
        made.append(request.param(**{"bootstrap.servers": bootstrap_servers, **names}))
        return made[-1]

    yield make
    for producer in made:
        producer.close()


def test_new_partitions_are_used_once_the_metadata_is_old(broker, producer_of):
    topic = broker.topic(partitions=1)
    producer = producer_of(metadata_max_age_ms=200)
    producer.send(topic, b"v", key=b"k")
    broker.admin.create_partitions({topic: 3})
    wait_until(lambda: producer.partitions_for(topic) == [0, 1, 2])
    assert {producer.send(topic, b"v", key=key).partition for key in KEYS} == {0, 1, 2}
    assert producer.send(topic, b"v", partition=2).partition == 2


def test_a_partition_that_was_just_added_can_be_named(broker, producer_of):
    """The metadata is not old, but an unknown partition is reason enough to fetch it."""
    topic = broker.topic(partitions=1)
    producer = producer_of()
    producer.send(topic, b"v")
    broker.admin.create_partitions({topic: 3})
    assert producer.send(topic, b"v", partition=2).partition == 2
    with pytest.raises(BrokerError, match="partitions 0 to 2, not 7"):
        producer.send(topic, b"v", partition=7)


def test_a_topic_made_anew_with_fewer_partitions(broker, producer_of):
    topic = broker.topic(partitions=6)
    producer = producer_of(metadata_max_age_ms=200)
    assert len({producer.send(topic, b"v", key=key).partition for key in KEYS}) == 6
    broker.admin.delete_topics([topic])
    broker.topic(topic, partitions=2)
    wait_until(lambda: producer.partitions_for(topic) == [0, 1])
    assert {producer.send(topic, b"v", key=key).partition for key in KEYS} == {0, 1}
    assert {producer.send(topic, b"v" * 9000).partition for _ in range(40)} == {0, 1}


def test_records_without_a_key_spread_although_each_is_waited_for(broker, producer_of):
    """Kafka moves on after batch.size bytes, whether these were one batch or many."""
    topic = broker.topic(partitions=3)
    producer = producer_of()
    used = Counter(producer.send(topic, b"v" * 50).partition for _ in range(3000))
    assert set(used) == {0, 1, 2}


def test_records_without_a_key_stay_on_a_partition_for_one_batch(broker, producer_of):
    topic = broker.topic(partitions=8)
    producer = producer_of(value_serializer=lambda value: value)
    assert len({producer.send(topic, b"v").partition for _ in range(100)}) == 1


def test_round_robin_counts_for_each_topic(broker, producer_of):
    first, second = broker.topic(partitions=2), broker.topic(partitions=2)
    producer = producer_of(partitioner_class="round_robin")
    used = [(t, producer.send(t, b"v").partition) for _ in range(4) for t in (first, second)]
    assert Counter(used) == {(t, number): 2 for t in (first, second) for number in (0, 1)}


def test_hash_for_keys_and_round_robin_for_others(broker, producer_of):
    topic = broker.topic(partitions=3)
    producer = producer_of(partitioner_class="hash_or_round_robin")
    without = Counter(producer.send(topic, b"v").partition for _ in range(9))
    assert without == {0: 3, 1: 3, 2: 3}
    default = producer_of()
    for key in KEYS[:9]:
        chosen = producer.send(topic, b"v", key=key).partition
        assert chosen == default.send(topic, b"v", key=key).partition


@pytest.mark.skipif(LIBRARY is None, reason="confluent-kafka brings no librdkafka of its own")
@pytest.mark.parametrize("partitioner", ["murmur2", "round_robin", "hash_or_round_robin"])
def test_partitions_without_a_leader_are_avoided(producer_of, partitioner):
    with mock_cluster(3) as kafka:
        kafka.topic("t", 3, 1)
        config = {"delivery_timeout_ms": 5000, "request_timeout_ms": 1000, "linger_ms": 0}
        producer = producer_of(
            kafka.bootstrap_servers,
            partitioner_class=partitioner,
            metadata_max_age_ms=200,
            batch_size=200,
            **config,
        )
        producer.send("t", b"v")
        kafka.move_leader("t", 1, -1)
        seen = threading.Event()
        threading.Timer(1.0, seen.set).start()
        seen.wait()  # metadata.max.age.ms has passed several times
        used = Counter(producer.send("t", b"v" * 50).partition for _ in range(60))
        assert set(used) == {0, 2}
