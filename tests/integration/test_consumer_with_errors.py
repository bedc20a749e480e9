"""Commits of a consumer when an exception ends its `with` block."""

import asyncio
import itertools

import pytest

from barnabas import Consumer, Producer, TopicPartition, aio
from barnabas.clients.group.errors import WakeupError

pytestmark = pytest.mark.integration

COUNT = 10


class MistakeError(Exception):
    """An error of the application."""


class RevokedPartitions:
    """A listener that records the revoked partitions."""

    def __init__(self):
        self.revoked = []

    def on_partitions_assigned(self, partitions):
        pass

    def on_partitions_revoked(self, partitions):
        self.revoked += partitions


@pytest.fixture
def settings(broker, topic_name):
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(COUNT):
            producer.send(topic_name, b"%d" % number)
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 3_600_000,
        "fetch.max.wait.ms": 50,
    }


@pytest.fixture
def committed(broker, topic_name):
    """Returns the committed offset of the group, or None."""

    def committed_offset():
        found = broker.admin.list_group_offsets([topic_name])[topic_name]
        position = found.get(TopicPartition(topic_name, 0))
        return None if position is None else position.offset

    return committed_offset


def read_all(consumer):
    left = COUNT
    while left:
        left -= sum(map(len, consumer.poll(1.0).values()))


def raise_after_poll(consumer, error):
    read_all(consumer)
    raise error


def raise_in_iteration(consumer, error):
    for record in consumer:
        if record.offset == COUNT - 1:
            raise error


def raise_after_empty_poll(consumer, error):
    read_all(consumer)
    assert consumer.poll(0) == {}
    raise error


def raise_in_poll(consumer, error):
    read_all(consumer)
    consumer.wakeup()
    consumer.poll(10.0)


def run_block(settings, topic, listener, program, error):
    with Consumer(settings) as consumer:
        consumer.subscribe([topic], listener)
        program(consumer, error)


@pytest.mark.parametrize(
    ("program", "error", "offset"),
    [
        (raise_after_poll, MistakeError, None),
        (raise_in_iteration, MistakeError, None),
        (raise_after_poll, KeyboardInterrupt, None),
        (raise_after_poll, SystemExit, COUNT),
        # poll() was called again, so the records before count as processed.
        (raise_after_empty_poll, MistakeError, COUNT),
        (raise_in_poll, WakeupError, COUNT),
    ],
)
def test_records_of_a_failed_block_are_read_again(
    settings, topic_name, committed, program, error, offset
):
    listener = RevokedPartitions()
    with pytest.raises(error):
        run_block(settings, topic_name, listener, program, error)
    assert committed() == offset
    assert listener.revoked == [TopicPartition(topic_name, 0)]


def test_an_iteration_that_breaks_commits_what_it_returned(settings, topic_name, committed):
    with Consumer(settings) as consumer:
        consumer.subscribe([topic_name])
        assert len(list(itertools.islice(consumer, 4))) == 4
    assert committed() == 4


class ClosedConsumer(Consumer):
    """A subclass of an application that has something to do at the end."""

    closed = False

    def close(self, timeout=30.0):
        self.closed = True
        super().close(timeout)


def test_end_of_a_block_calls_the_close_of_a_subclass(settings, topic_name):
    with ClosedConsumer(settings) as consumer:
        consumer.subscribe([topic_name])
    assert consumer.closed


async def run_asyncio_block(settings, topic, listener, error, polling=None):
    async with aio.Consumer(settings) as consumer:
        await consumer.subscribe([topic], listener)
        left = COUNT
        while left:
            left -= sum(map(len, (await consumer.poll(1.0)).values()))
        if polling is None:
            raise error
        polling.set()
        await consumer.poll(3600)


@pytest.mark.parametrize(("error", "offset"), [(MistakeError, None), (SystemExit, COUNT)])
async def test_records_of_a_failed_asyncio_block_are_read_again(
    settings, topic_name, committed, error, offset
):
    listener = RevokedPartitions()
    with pytest.raises(error):
        await run_asyncio_block(settings, topic_name, listener, error)
    assert committed() == offset
    assert listener.revoked == [TopicPartition(topic_name, 0)]


async def test_an_asyncio_block_cancelled_in_poll_commits(settings, topic_name, committed):
    polling = asyncio.Event()
    block = run_asyncio_block(settings, topic_name, None, None, polling)
    task = asyncio.create_task(block)
    await polling.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert committed() == COUNT
