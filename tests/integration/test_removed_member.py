"""A removed member must not change the offsets of its group, however it ends."""

import asyncio
import logging

import pytest
from support.cluster.brokers import broker_with
from support.groups.members import Member, shares, wait_until

from barnabas import BrokerError, Producer, TopicPartition, aio
from barnabas.clients.group import CommitFailedError, Consumer

pytestmark = pytest.mark.integration

PROTOCOLS = {
    "classic": {"session.timeout.ms": 6000, "heartbeat.interval.ms": 100},
    "consumer": {"group.protocol": "consumer"},
}
SLOW = {"max.poll.interval.ms": 300, "max.poll.records": 1}


@pytest.fixture(scope="module")
def broker(request):
    settings = {
        "group.initial.rebalance.delay.ms": 0,
        "group.consumer.heartbeat.interval.ms": 100,
        "group.consumer.min.heartbeat.interval.ms": 50,
    }
    with broker_with(settings, request.config) as running:
        yield running


@pytest.fixture
def topic_name(broker, topic_name):
    """A topic of one partition with a hundred records."""
    broker.topic(topic_name, partitions=1)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(100):
            producer.send(topic_name, b"%d" % number)
    return topic_name


@pytest.fixture(params=PROTOCOLS)
def settings(request, broker, topic_name):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": 50,
        **PROTOCOLS[request.param],
    }


class Listener:
    """Remembers which of its methods were called."""

    def __init__(self):
        self.heard = []

    def on_partitions_assigned(self, partitions):
        self.heard.append("assigned")

    def on_partitions_revoked(self, partitions):
        self.heard.append("revoked")

    def on_partitions_lost(self, partitions):
        self.heard.append("lost")


def replace(settings, topic):
    """A successor takes the partition over, reads everything, commits it and leaves."""
    successor = Member("successor", settings, [topic])
    wait_until(lambda: shares([successor]) == [1] and sum(successor.values.values()) >= 90)
    successor.stop()


def committed(settings, topic):
    topic_partition = TopicPartition(topic, 0)
    outside = {key: settings[key] for key in ("bootstrap.servers", "group.id")}
    with Consumer(outside) as consumer:
        return consumer.committed(topic_partition)[topic_partition].offset


@pytest.mark.parametrize("ending", ["close", "unsubscribe"])
def test_its_end_leaves_the_offsets_of_its_successor(settings, topic_name, ending, caplog):
    listener = Listener()
    with Consumer({**settings, **SLOW}) as slow:
        slow.subscribe([topic_name], listener)
        while not slow.poll(0.1):
            pass
        replace(settings, topic_name)
        with caplog.at_level(logging.WARNING, "barnabas"):
            getattr(slow, ending)()
        assert committed(settings, topic_name) == 100
    assert listener.heard == ["assigned", "lost"]
    assert "removed from the group" in caplog.text, "the application must hear of lost commits"


@pytest.mark.parametrize("ending", ["close", "unsubscribe"])
async def test_an_asyncio_member_does_neither(settings, topic_name, ending):
    async with aio.Consumer({**settings, **SLOW}) as slow:
        await slow.subscribe([topic_name])
        while not await slow.poll(0.1):
            pass
        await asyncio.to_thread(replace, settings, topic_name)
        await getattr(slow, ending)()
        assert await asyncio.to_thread(committed, settings, topic_name) == 100


def test_its_commits_are_rejected(settings, topic_name):
    topic_partition = TopicPartition(topic_name, 0)
    with Consumer({**settings, **SLOW, "enable.auto.commit": False}) as slow:
        slow.subscribe([topic_name])
        while not slow.poll(0.1):
            pass
        replace(settings, topic_name)
        for offsets in (None, {topic_partition: 1}):
            with pytest.raises(CommitFailedError, match="removed from the group"):
                slow.commit(offsets)
        told = []
        slow.commit_async(callback=lambda _, error: told.append(error))
        while not told:
            slow.poll(0.1)
        assert isinstance(told[0], CommitFailedError)
        assert committed(settings, topic_name) == 100


def test_a_transaction_does_not_take_its_offsets(broker, settings, topic_name):
    with (
        Consumer({**settings, **SLOW, "enable.auto.commit": False}) as slow,
        Producer(
            bootstrap_servers=broker.bootstrap_servers, transactional_id=topic_name
        ) as producer,
    ):
        producer.init_transactions()
        slow.subscribe([topic_name])
        while not slow.poll(0.1):
            pass
        replace(settings, topic_name)
        producer.begin_transaction()
        with pytest.raises((BrokerError, CommitFailedError)):
            producer.send_offsets_to_transaction(
                {TopicPartition(topic_name, 0): 1}, slow.group_metadata()
            )
        producer.abort_transaction()
        assert committed(settings, topic_name) == 100


def test_a_consumer_that_never_joined_does_not_commit(settings, topic_name):
    with Consumer(settings) as consumer:
        consumer.subscribe([topic_name])
        with pytest.raises(CommitFailedError, match="poll"):
            consumer.commit({TopicPartition(topic_name, 0): 1})


def test_a_consumer_outside_the_group_still_commits(settings, topic_name):
    topic_partition = TopicPartition(topic_name, 0)
    outside = {key: settings[key] for key in ("bootstrap.servers", "group.id")}
    with Consumer(outside) as consumer:
        consumer.assign([topic_partition])
        consumer.commit({topic_partition: 7})
        assert consumer.committed(topic_partition)[topic_partition].offset == 7
