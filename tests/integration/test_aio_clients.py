"""The asyncio producer and consumer against a real broker, on the test's own loop."""

import asyncio
import re
import threading

import pytest

from barnabas import TopicPartition
from barnabas.aio import Consumer, Producer
from barnabas.clients.group.errors import ConcurrentUseError, WakeupError
from barnabas.clients.producer import aio_producer
from barnabas.model.errors import BrokerError, DeadlineError

pytestmark = pytest.mark.integration

QUICK = {"auto.offset.reset": "earliest", "fetch.max.wait.ms": 50}


@pytest.fixture
def topic_name(broker, topic_name):
    """A topic of one partition."""
    return broker.topic(topic_name)


async def fill(broker, topic, count):
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        deliveries = [await producer.send(topic, b"%d" % n, partition=0) for n in range(count)]
        return await asyncio.gather(*deliveries)


async def test_send_and_poll(broker, topic_name):
    placed = await fill(broker, topic_name, 1000)
    assert [metadata.offset for metadata in placed] == list(range(1000))
    async with Consumer({"bootstrap.servers": broker.bootstrap_servers, **QUICK}) as consumer:
        topic_partition = TopicPartition(topic_name, 0)
        consumer.assign([topic_partition])
        records = []
        while len(records) < 1000:
            records += (await consumer.poll(60)).get(topic_partition, [])
        assert [record.value for record in records] == [b"%d" % n for n in range(1000)]
        assert await consumer.position(topic_partition) == 1000
        assert await consumer.end_offsets([topic_partition]) == {topic_partition: 1000}
        consumer.seek(topic_partition, 10)
        assert (await consumer.poll_arrow(60)).column("offset")[0].as_py() == 10


async def test_group_with_coroutine_listener_and_iteration(broker, topic_name):
    await fill(broker, topic_name, 20)
    heard = []

    class Listener:
        async def on_partitions_assigned(self, partitions):
            await asyncio.sleep(0)
            heard.append(("assigned", partitions))

        def on_partitions_revoked(self, partitions):
            heard.append(("revoked", partitions))

    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic_name, **QUICK}
    topic_partition = TopicPartition(topic_name, 0)
    async with Consumer(settings) as consumer:
        await consumer.subscribe(re.compile(re.escape(topic_name)), Listener())
        seen = []
        async for record in consumer:
            seen.append(record.offset)
            if len(seen) == 7:
                break
        await consumer.commit()
        assert (await consumer.committed(topic_partition))[topic_partition].offset == 7
    assert heard == [("assigned", [topic_partition]), ("revoked", [topic_partition])]
    async with Consumer(settings) as consumer:
        await consumer.subscribe([topic_name])
        assert (await consumer.poll(60))[topic_partition][0].offset == 7


async def test_a_busy_reader_leaves_the_loop_its_turns(broker, topic_name):
    await fill(broker, topic_name, 3000)
    async with Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "max.poll.records": 10, **QUICK}
    ) as consumer:
        consumer.assign([(topic_name, 0)])
        await consumer.poll(60)
        ticks = []
        ticking = asyncio.create_task(tick(ticks))
        for _ in range(20):
            assert await consumer.poll(0)
        polled = len(ticks)
        reading = aiter(consumer)
        for _ in range(500):
            await anext(reading)
        ticking.cancel()
        assert polled >= 20
        assert len(ticks) - polled >= 5


async def test_a_loop_of_sends_fills_requests_with_batches_of_many_partitions(
    broker, topic_name, monkeypatch
):
    monkeypatch.setattr(aio_producer, "SLICE_S", 3600.0)
    broker.topic(f"{topic_name}-20", partitions=20)
    async with Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0) as producer:
        await producer.send_and_wait(f"{topic_name}-20", b"first", partition=0)
        deliveries = [
            await producer.send(f"{topic_name}-20", b"v", partition=number) for number in range(20)
        ]
        await asyncio.gather(*deliveries)
        # One request of one record, and one of twenty.
        assert producer.metrics().value("records-per-request-avg") == 10.5


async def test_a_loop_of_sends_lets_the_loop_run_while_a_partition_has_two_batches(
    broker, topic_name, monkeypatch
):
    monkeypatch.setattr(aio_producer, "SLICE_S", 3600.0)
    async with Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "batch.size": 200}
    ) as producer:
        await producer.send_and_wait(topic_name, b"first", partition=0)
        ticks = []
        ticking = asyncio.create_task(tick(ticks))
        deliveries = [await producer.send(topic_name, b"v" * 150) for _ in range(40)]
        assert len(ticks) >= 20
        ticking.cancel()
        await asyncio.gather(*deliveries)


async def tick(ticks):
    while True:
        ticks.append(1)
        await asyncio.sleep(0)


async def test_wakeup_and_one_task_at_a_time(broker, topic_name):
    async with Consumer(bootstrap_servers=broker.bootstrap_servers, **{}) as consumer:
        consumer.assign([(topic_name, 0)])
        polling = asyncio.create_task(consumer.poll(30))
        await asyncio.sleep(0)  # it runs to its first wait
        with pytest.raises(ConcurrentUseError):
            await consumer.poll(0)
        consumer.wakeup()
        with pytest.raises(WakeupError):
            await polling


async def test_a_cancelled_poll_leaves_the_consumer_usable(broker, topic_name):
    async with Consumer({"bootstrap.servers": broker.bootstrap_servers, **QUICK}) as consumer:
        consumer.assign([(topic_name, 0)])
        polling = asyncio.create_task(consumer.poll(30))
        await asyncio.sleep(0.05)  # any moment of the poll will do
        polling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await polling
        await fill(broker, topic_name, 3)
        seen = 0
        while seen < 3:  # the fetch that the poll left behind may return the first record alone
            seen += sum(map(len, (await consumer.poll(60)).values()))
        assert seen == 3


async def test_transactions(broker, topic_name):
    async with Producer(
        bootstrap_servers=broker.bootstrap_servers, transactional_id=topic_name
    ) as producer:
        await producer.init_transactions()
        for value, commit in ((b"no", False), (b"yes", True)):
            await producer.begin_transaction()
            await producer.send(topic_name, value, partition=0)
            await producer.flush()
            await (producer.commit_transaction if commit else producer.abort_transaction)()
    async with Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "isolation.level": "read_committed",
            **QUICK,
        }
    ) as consumer:
        consumer.assign([(topic_name, 0)])
        found = await consumer.poll(60)
        assert [record.value for records in found.values() for record in records] == [b"yes"]


async def test_failures_are_raised_at_the_await(broker, topic_name):
    async with Producer(
        bootstrap_servers=broker.bootstrap_servers, max_request_size=100
    ) as producer:
        with pytest.raises(BrokerError):
            await producer.send_and_wait(topic_name, bytes(200))
        assert (await producer.send_and_wait(topic_name, b"small")).offset == 0
    async with Producer(bootstrap_servers="127.0.0.1:1", max_block_ms=300) as producer:
        with pytest.raises(DeadlineError):
            await producer.send_and_wait(topic_name, b"v")


async def test_the_last_commit_is_not_overtaken_by_an_earlier_one(broker, topic_name):
    """A handler that blocks keeps automatic commits waiting until the consumer closes."""
    await fill(broker, topic_name, 30)
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 1,
    }
    async with Consumer(settings) as consumer:
        await consumer.subscribe([topic_name])
        seen = 0
        async for _ in consumer:
            seen += 1
            threading.Event().wait(0.003)
            if seen == 20:
                break
    async with Consumer(settings) as consumer:
        topic_partitions = [p.topic_partition for p in await consumer.partitions_for(topic_name)]
        found = await consumer.committed(*topic_partitions)
    assert sum(at.offset for at in found.values() if at is not None) == seen
