"""Transactions of aiokafka: committed records are read, aborted ones are not."""

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError
from support.groups.foreign_groups import create_topic

pytestmark = pytest.mark.compat


@pytest.fixture
async def transactional(broker):
    made = []

    async def make(name):
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, transactional_id=name
        )
        await producer.start()
        made.append(producer)
        return producer

    yield make
    for producer in made:
        await producer.stop()


async def read(broker, topic, count, isolation="read_committed"):
    """`count` values, and nothing after them."""
    topic_partition = TopicPartition(topic, 0)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level=isolation,
    )
    await consumer.start()
    consumer.assign([topic_partition])
    values = []
    while len(values) < count:
        for record in (await consumer.getmany(topic_partition, timeout_ms=5000)).get(
            topic_partition, []
        ):
            values.append(record.value)
    rest = await consumer.getmany(topic_partition, timeout_ms=300)
    await consumer.stop()
    return values + [record.value for record in rest.get(topic_partition, [])]


class GiveUpError(Exception):
    pass


async def test_commit_and_abort(broker, topic_name, transactional):
    create_topic(broker, topic_name, 1)
    producer = await transactional(topic_name)
    for value in (b"1", b"dropped", b"2"):
        try:
            async with producer.transaction():
                await producer.send_and_wait(topic_name, value)
                if value == b"dropped":
                    raise GiveUpError
        except GiveUpError:
            pass
    assert await read(broker, topic_name, 2) == [b"1", b"2"]
    everything = await read(broker, topic_name, 3, "read_uncommitted")
    assert everything == [b"1", b"dropped", b"2"]


async def test_offsets_move_with_the_transaction(broker, topic_name, transactional):
    create_topic(broker, topic_name, 1)
    topic_partition = TopicPartition(topic_name, 0)
    producer = await transactional(topic_name)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, group_id=topic_name, enable_auto_commit=False
    )
    await consumer.start()
    consumer.assign([topic_partition])
    for offset, commit in ((3, True), (9, False)):
        await producer.begin_transaction()
        await producer.send_and_wait(topic_name, b"x")
        await producer.send_offsets_to_transaction({topic_partition: offset}, topic_name)
        if commit:
            await producer.commit_transaction()
        else:
            await producer.abort_transaction()
        assert await consumer.committed(topic_partition) == 3
    await consumer.stop()


async def test_zombie_is_fenced(broker, topic_name, transactional):
    create_topic(broker, topic_name, 1)
    zombie = await transactional(topic_name)
    await zombie.begin_transaction()
    await zombie.send_and_wait(topic_name, b"zombie")
    successor = await transactional(topic_name)
    with pytest.raises(KafkaError):
        await zombie.commit_transaction()
    async with successor.transaction():
        await successor.send_and_wait(topic_name, b"successor")
    assert await read(broker, topic_name, 1) == [b"successor"]
