"""Commits of a consumer when an exception ends its `with` block."""

import asyncio
import itertools
from functools import partial

import pytest

from barnabas import Consumer, Producer, TopicPartition, aio
from barnabas.clients.group.decoding import DeserializationError
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


def fail(consumer):
    """Ends the `with` block of a consumer by an error of the application."""
    with pytest.raises(MistakeError), consumer:
        raise MistakeError


def run_block(settings, topic, listener, program, error):
    with Consumer(settings) as consumer:
        consumer.subscribe([topic], listener)
        program(consumer, error)


def raise_after_second_poll(consumer, error):
    for _ in range(2):
        assert len(take_some(consumer)) == 4
    raise error


def raise_after_arrow(consumer, error):
    left = COUNT
    while left:
        left -= consumer.poll_arrow(1.0).num_rows
    raise error


def raise_after_commit(consumer, error):
    for record in consumer:
        if record.offset == 6:
            consumer.commit()
            raise error


def raise_after_commit_of_some(consumer, error):
    [topic] = consumer.subscription()
    assert len(take_some(consumer)) == 4
    consumer.commit({TopicPartition(topic, 0): 3})
    raise error


def raise_after_commit_of_earlier_records(consumer, error):
    for record in consumer:
        if record.offset == 3:
            consumer.commit()
        if record.offset == 6:
            raise error


def raise_after_seek(consumer, error, offset):
    for record in consumer:
        if record.offset == 6:
            consumer.seek(TopicPartition(record.topic, 0), offset)
            raise error


def raise_after_reset(consumer, error):
    for record in consumer:
        if record.offset == 6:
            consumer.seek_to_beginning()
            assert consumer.position(TopicPartition(record.topic, 0)) == 0
            raise error


def raise_after_wait(consumer, error):
    for record in consumer:
        if record.offset == 6:
            consumer.wait_for_assignment(10)
            raise error


def take_some(consumer):
    found = {}
    while not found:
        found = consumer.poll(1.0)
    [records] = found.values()
    return records


@pytest.mark.parametrize(
    ("program", "error", "offset"),
    [
        (raise_after_poll, MistakeError, 0),
        (raise_after_second_poll, MistakeError, 4),
        (raise_after_arrow, MistakeError, 0),
        (raise_in_iteration, MistakeError, COUNT - 1),
        (raise_in_iteration, KeyboardInterrupt, COUNT - 1),
        (raise_after_second_poll, KeyboardInterrupt, 4),
        (raise_after_poll, SystemExit, COUNT),
        # poll() was called again, so the records before count as processed.
        (raise_after_empty_poll, MistakeError, COUNT),
        (raise_in_poll, WakeupError, COUNT),
        # So do the records before the offsets that the application has committed.
        (raise_after_commit, MistakeError, 7),
        (raise_after_commit_of_some, MistakeError, 3),
        (raise_after_commit_of_earlier_records, MistakeError, 6),
        # A position that the application has set is not passed; unprocessed records are not either.
        (partial(raise_after_seek, offset=2), MistakeError, 2),
        (partial(raise_after_seek, offset=9), MistakeError, 6),
        (raise_after_reset, MistakeError, 0),
        (raise_after_wait, MistakeError, 6),
    ],
)
def test_only_records_in_progress_are_read_again_after_an_error(
    settings, topic_name, committed, program, error, offset
):
    if program in (raise_after_second_poll, raise_after_commit_of_some):
        settings["max.poll.records"] = 4
    listener = RevokedPartitions()
    with pytest.raises(error):
        run_block(settings, topic_name, listener, program, error)
    assert committed() == offset
    assert listener.revoked == [TopicPartition(topic_name, 0)]


def iterate(consumer, error):
    for _ in consumer:
        pass


@pytest.mark.parametrize("program", [iterate, raise_after_poll])
def test_records_before_one_that_cannot_be_decoded_are_not_read_again(
    settings, topic_name, committed, program
):
    settings["value.deserializer"] = lambda data: 1 / (int(data) - 6)
    with pytest.raises(DeserializationError):
        run_block(settings, topic_name, None, program, None)
    assert committed() == 6


def test_a_record_that_cannot_be_decoded_may_be_skipped_before_another_error(
    settings, topic_name, committed
):
    settings["value.deserializer"] = lambda data: 1 / (int(data) - 6)
    consumer = Consumer(settings)
    consumer.subscribe([topic_name])
    with pytest.raises(DeserializationError) as caught:
        iterate(consumer, None)
    consumer.seek(caught.value.partition, caught.value.offset + 1)
    fail(consumer)
    assert committed() == 7


class RemovesAll:
    """An interceptor that removes all records and ends the poll() that has read them."""

    consumer = None

    def on_consume(self, records):
        self.consumer.wakeup()
        return {}

    def on_commit(self, offsets):
        pass


def test_records_that_an_interceptor_removed_are_not_read_again(settings, topic_name, committed):
    interceptor = RemovesAll()
    interceptor.consumer = Consumer({**settings, "interceptor.classes": [interceptor]})
    interceptor.consumer.subscribe([topic_name])
    with pytest.raises(WakeupError), interceptor.consumer:
        interceptor.consumer.poll(10.0)
    assert committed() == COUNT


def test_nothing_is_committed_after_an_error_without_automatic_commits(
    settings, topic_name, committed
):
    settings["enable.auto.commit"] = False
    with pytest.raises(MistakeError):
        run_block(settings, topic_name, None, raise_in_iteration, MistakeError)
    assert committed() is None


def test_partitions_without_records_in_progress_keep_their_positions(broker, settings, topic_name):
    """The last poll returned records of one partition; the other one was read before."""
    topic = broker.topic(f"{topic_name}-two", partitions=2)
    broker.produce(topic, *"abc", partition=0)
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    assert len(take_some(consumer)) == 3
    assert consumer.poll(0) == {}
    broker.produce(topic, "d", partition=1)
    assert [record.partition for record in take_some(consumer)] == [1]
    fail(consumer)
    found = broker.admin.list_group_offsets([topic_name])[topic_name]
    assert {partition.partition: at.offset for partition, at in found.items()} == {0: 3, 1: 0}


def test_a_partition_that_is_not_assigned_any_more_is_not_committed(broker, settings, topic_name):
    """The member that owns it now has its own position."""
    topic = broker.topic(f"{topic_name}-two", partitions=2)
    broker.produce(topic, *"abc", partition=0)
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    assert len(take_some(consumer)) == 3
    consumer.commit({TopicPartition(topic, 0): 2})
    consumer.unsubscribe()
    consumer.assign([TopicPartition(topic, 1)])
    assert consumer.position(TopicPartition(topic, 1)) == 0
    fail(consumer)
    found = broker.admin.list_group_offsets([topic_name])[topic_name]
    assert {partition.partition: at.offset for partition, at in found.items()} == {0: 2, 1: 0}


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


async def poll_asyncio(consumer, error):
    for _ in range(2):
        while not await consumer.poll(1.0):
            pass
    raise error


async def iterate_asyncio(consumer, error):
    async for record in consumer:
        if record.offset == 6:
            raise error


async def cancelled_between_records(consumer, error):
    async for record in consumer:
        if record.offset == 6:
            asyncio.current_task().cancel()
            await asyncio.sleep(60)


async def cancelled_before_poll(consumer, error):
    await consumer.poll(10.0)
    asyncio.current_task().cancel()
    await consumer.poll(10.0)


async def commit_in_iteration(consumer, error):
    async for record in consumer:
        if record.offset == 6:
            await consumer.commit()
            raise error


async def run_asyncio_block(settings, topic, listener, program, error):
    async with aio.Consumer(settings) as consumer:
        await consumer.subscribe([topic], listener)
        await consumer.wait_for_assignment(10)
        await program(consumer, error)


@pytest.mark.parametrize(
    ("program", "error", "offset"),
    [
        (poll_asyncio, MistakeError, 4),
        (poll_asyncio, SystemExit, 8),
        (iterate_asyncio, MistakeError, 6),
        (iterate_asyncio, SystemExit, 7),
        (cancelled_between_records, asyncio.CancelledError, 6),
        (cancelled_before_poll, asyncio.CancelledError, 4),
        (commit_in_iteration, MistakeError, 7),
    ],
)
async def test_only_records_in_progress_of_an_asyncio_block_are_read_again(
    settings, topic_name, committed, program, error, offset
):
    settings["max.poll.records"] = 4
    listener = RevokedPartitions()
    with pytest.raises(error):
        await run_asyncio_block(settings, topic_name, listener, program, error)
    assert committed() == offset
    assert listener.revoked == [TopicPartition(topic_name, 0)]


async def test_an_asyncio_block_cancelled_in_poll_commits(settings, topic_name, committed):
    async def read(consumer, polling):
        left = COUNT
        while left:
            left -= sum(map(len, (await consumer.poll(1.0)).values()))
        polling.set()
        await consumer.poll(3600)

    polling = asyncio.Event()
    task = asyncio.create_task(run_asyncio_block(settings, topic_name, None, read, polling))
    await polling.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert committed() == COUNT
