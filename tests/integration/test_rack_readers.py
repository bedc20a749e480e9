"""Consumers at a follower learn of records as soon as these are committed (KIP-392)."""

import asyncio
import time
from contextlib import AsyncExitStack

import pytest

from barnabas.admin import NewTopic
from barnabas.aio import Admin, Consumer, Producer
from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock
from barnabas.zk.sqlite_tree import EmbeddedStore

pytestmark = pytest.mark.integration

TOPIC_PARTITION = TopicPartition("t", 0)
# A follower that was told only with its next records would wait for a minute.
SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "replica.fetch.wait.max.ms": 60_000,
    "replica.lag.time.max.ms": 120_000,
    "offsets.topic.replication.factor": 1,
    "controlled.shutdown.enable": False,
}
PATIENCE_S = 90


async def test_a_reader_at_a_follower_does_not_wait_for_the_next_record(tmp_path):
    async with AsyncExitStack() as stack:
        store = EmbeddedStore(SystemClock())
        stack.push_async_callback(store.close)
        leader, follower = [await member(stack, store, tmp_path, number) for number in (1, 2)]
        client = {"bootstrap.servers": f"127.0.0.1:{leader.port}"}
        admin = await stack.enter_async_context(Admin(client))
        (await admin.create_topics([NewTopic("t", assignments=[[1, 2]])])).check()
        replica = leader.services.replicas
        await until(lambda: replica.partition(TOPIC_PARTITION).isr == {1, 2})
        producer = await stack.enter_async_context(Producer(client))
        reader = {**client, "client.rack": "rack-2", "auto.offset.reset": "earliest"}
        consumer = await stack.enter_async_context(Consumer(reader))
        consumer.assign([TOPIC_PARTITION])
        await producer.send("t", b"first")
        assert await values(consumer, 1) == [b"first"]
        began = time.monotonic()
        for number in range(5):
            await producer.send("t", b"%d" % number)
            assert await values(consumer, 1) == [b"%d" % number]
        progress = replica.partition(TOPIC_PARTITION).leading.followers[2]
        assert progress.consumer_seen_ms > 0  # it was sent there
        assert follower.services.replicas.partition(TOPIC_PARTITION).log.high_watermark == 6
        assert time.monotonic() - began < PATIENCE_S


async def member(stack, store, tmp_path, number):
    own = {"broker.id": number, "broker.rack": f"rack-{number}", "log.dirs": tmp_path / str(number)}
    broker = Broker(BrokerConfig.parse({**SETTINGS, **own}), store=store)
    await broker.start()
    stack.push_async_callback(broker.stop)
    return broker


async def until(condition):
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)


async def values(consumer, count):
    found = []
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < count:
            polled = await consumer.poll(timeout=1)
            found += [record.value for records in polled.values() for record in records]
    return found
