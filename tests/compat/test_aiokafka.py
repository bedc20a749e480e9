"""aiokafka takes the broker for Kafka."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

pytestmark = pytest.mark.compat

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]


async def produce(broker, topic, records, **config):
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=20, **config)
    await producer.start()
    futures = [
        await producer.send(topic, value, key, partition=0, timestamp_ms=timestamp, headers=headers)
        for key, value, headers, timestamp in records
    ]
    offsets = [(await future).offset for future in futures]
    await producer.stop()
    assert offsets == list(range(len(records)))


async def read_back(broker, topic, count):
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
    )
    await consumer.start()
    consumer.assign([TopicPartition(topic, 0)])
    async with asyncio.timeout(60):
        seen = [await consumer.getone() for _ in range(count)]
    await consumer.stop()
    return [(item.key, item.value, list(item.headers), item.timestamp) for item in seen]


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("codec", CODECS)
async def test_every_byte_comes_back(broker, topic_name, records, codec, idempotent):
    await produce(
        broker, topic_name, records, compression_type=codec, enable_idempotence=idempotent
    )
    assert await read_back(broker, topic_name, len(records)) == records
