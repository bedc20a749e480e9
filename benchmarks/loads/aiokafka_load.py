"""aiokafka."""

import asyncio
import ssl
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from benchmarks.loads.stopwatch import Stopwatch
from benchmarks.workload import (
    AT_ONCE,
    BATCH_BYTES,
    FETCH_BYTES,
    HEADERS,
    KEYS,
    PASSWORD,
    USER,
    Job,
    value_of,
    varied_values,
)


def common(job: Job) -> dict[str, Any]:
    config: dict[str, Any] = {"bootstrap_servers": job.address}
    if job.workload.security == "tls":
        context = ssl.create_default_context(cafile=job.ca_file)
        config |= {"security_protocol": "SSL", "ssl_context": context}
    elif job.workload.security == "sasl":
        config |= {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": USER,
            "sasl_plain_password": PASSWORD,
        }
    return config


def produce(job: Job, watch: Stopwatch) -> None:
    asyncio.run(_produce(job, watch))


async def _produce(job: Job, watch: Stopwatch) -> None:
    load, config = job.workload, common(job)
    if load.tuned:
        config |= {"max_batch_size": BATCH_BYTES, "linger_ms": 5}
    if load.size > BATCH_BYTES // 2:
        config |= {"max_request_size": 3 * load.size, "max_batch_size": 2 * load.size}
    if load.codec != "none":
        config["compression_type"] = load.codec
    producer, value = AIOKafkaProducer(**config), value_of(load.size)
    await producer.start()
    await producer.send_and_wait(job.topic, value)
    fields = {"headers": HEADERS} if load.content == "headers" else {}
    values = varied_values(load.size) if load.varied else [value]
    watch.wait_for_start()
    watch.start()
    for number in range(job.count):
        value = values[number % len(values)]
        key = KEYS[number % 1000] if load.content == "keys" else None
        future = await producer.send(job.topic, value, key, **fields)
        if load.content == "callbacks":
            future.add_done_callback(_delivered)
    await producer.flush()
    watch.stop()
    await producer.stop()


def _delivered(future: object) -> None:
    """The callback of the content `callbacks`."""


def consume(job: Job, watch: Stopwatch) -> None:
    asyncio.run(_consume(job, watch))


async def _consume(job: Job, watch: Stopwatch) -> None:
    load = job.workload
    config = {**common(job), "auto_offset_reset": "earliest", "enable_auto_commit": False}
    if load.operation == "group":
        config["group_id"] = job.topic
    if load.tuned:
        config |= {"max_partition_fetch_bytes": FETCH_BYTES, "check_crcs": False}
    elif load.size > BATCH_BYTES // 2:
        config["max_partition_fetch_bytes"] = 2 * load.size
    consumer = AIOKafkaConsumer(**config)
    watch.wait_for_start()
    await consumer.start()
    if load.operation == "group":
        consumer.subscribe([job.topic])
    else:
        consumer.assign([TopicPartition(job.topic, number) for number in range(load.partitions)])
    await (_iterate if load.operation == "iterate" else _batches)(consumer, job, watch)
    watch.stop()
    await consumer.stop()


async def _iterate(consumer: AIOKafkaConsumer, job: Job, watch: Stopwatch) -> None:
    number, last = 0, job.count - 1
    async for _record in consumer:
        if number == 0:
            watch.saw(1)
        elif number == last:
            watch.saw(last)
            return
        number += 1


async def _batches(consumer: AIOKafkaConsumer, job: Job, watch: Stopwatch) -> None:
    commits, since = job.workload.operation == "group", 0
    done = False
    while not done:
        found = await consumer.getmany(timeout_ms=1000)
        seen = sum(len(records) for records in found.values())
        done = watch.saw(seen)
        since += seen
        if commits and (since >= AT_ONCE or done):
            await consumer.commit()
            since = 0
