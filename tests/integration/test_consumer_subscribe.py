"""Subscriptions and assignments that a consumer accepts, and those that it rejects at once."""

import re

import pytest

from barnabas import Consumer, Producer, TopicPartition, aio
from barnabas.model.errors import LocalError

pytestmark = pytest.mark.integration


@pytest.fixture
def settings(broker, topic_name):
    broker.topic(topic_name)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(topic_name, b"1")
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
    }


def test_an_empty_assignment_ends_the_assignment(settings, topic_name):
    with Consumer(settings) as consumer:
        consumer.assign([TopicPartition(topic_name, 0)])
        assert consumer.poll(60)
        consumer.assign([])
        assert consumer.assignment() == set()
        committed = consumer.committed((topic_name, 0))
        assert committed == {TopicPartition(topic_name, 0): None}, "as unsubscribe(): no commit"
        with pytest.raises(LocalError, match="nothing to poll"):
            consumer.poll(0)
        consumer.subscribe([topic_name])


def test_an_empty_assignment_leaves_the_group(settings, topic_name):
    with Consumer(settings) as consumer, Consumer(settings) as other:
        consumer.subscribe([topic_name])
        assert consumer.poll(60)
        consumer.assign([])
        assert consumer.subscription() == set()
        other.subscribe([topic_name])
        while not other.assignment():
            other.poll(0.1)
        consumer.assign([(topic_name, 0)])
        assert consumer.assignment() == {TopicPartition(topic_name, 0)}


async def test_an_empty_assignment_for_asyncio(settings, topic_name):
    async with aio.Consumer(settings) as consumer:
        consumer.assign([(topic_name, 0)])
        assert await consumer.poll(60)
        consumer.assign([])
        with pytest.raises(LocalError, match=r"nothing to poll: await subscribe\(\) or assign\(\)"):
            await consumer.poll(0)
        await consumer.subscribe([topic_name])
        with pytest.raises(LocalError, match="unsubscribe"):
            consumer.assign([])


BAD_NAMES = [[""], ["  "], ["\t"], [None], [7], ["good", ""], ["a b"], ["a/b"], [".."]]


@pytest.mark.parametrize("topics", BAD_NAMES, ids=repr)
def test_no_topic_has_such_a_name(settings, topics):
    with Consumer(settings) as consumer:
        with pytest.raises((LocalError, TypeError), match="topic"):
            consumer.subscribe(topics)
        assert consumer.subscription() == set()
        with pytest.raises(LocalError, match="nothing to poll"):
            consumer.poll(0)


@pytest.mark.parametrize("topics", BAD_NAMES, ids=repr)
async def test_nor_for_asyncio(settings, topics):
    async with aio.Consumer(settings) as consumer:
        with pytest.raises((LocalError, TypeError), match="topic"):
            await consumer.subscribe(topics)
        with pytest.raises(LocalError, match="nothing to poll"):
            await consumer.poll(0)


@pytest.mark.parametrize(
    "topic_partition", [("", 0), (" ", 0), ("a b", 0), ("orders", -1), (None, 0)]
)
def test_no_partition_has_such_a_name(settings, topic_partition):
    with (
        Consumer(settings) as consumer,
        pytest.raises((LocalError, TypeError), match=r"topic|[Pp]artition"),
    ):
        consumer.assign([topic_partition])


def test_a_list_after_a_pattern_may_create_its_topic(settings, topic_name):
    with Consumer(settings) as consumer:
        consumer.subscribe(re.compile(re.escape(topic_name)))
        assert consumer.poll(60)
        consumer.unsubscribe()
        consumer.subscribe([f"{topic_name}.created"])
        while not consumer.assignment():
            consumer.poll(0.1)
