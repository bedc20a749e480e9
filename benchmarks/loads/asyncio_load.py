"""Our asyncio clients."""

import asyncio

from barnabas.aio import Consumer, Producer
from benchmarks.loads.barnabas_load import consumer_config, fields_of, producer_config
from benchmarks.loads.stopwatch import Stopwatch
from benchmarks.workload import AT_ONCE, KEYS, Job, value_of, varied_values


def produce(job: Job, watch: Stopwatch) -> None:
    asyncio.run(_produce(job, watch))


async def _produce(job: Job, watch: Stopwatch) -> None:
    load, topic = job.workload, job.topic
    value, fields = value_of(load.size), fields_of(load.content)
    async with Producer(producer_config(job)) as producer:
        await producer.send_and_wait(topic, value)
        watch.wait_for_start()
        send = producer.send
        watch.start()
        if load.content == "keys":
            for number in range(job.count):
                await send(topic, value, KEYS[number % 1000])
        elif load.varied:
            values = varied_values(load.size)
            watch.start()
            for number in range(job.count):
                await send(topic, values[number % 1000])
        elif fields:
            for _ in range(job.count):
                await send(topic, value, **fields)
        else:
            for _ in range(job.count):
                await send(topic, value)
        await producer.flush(120)
        watch.stop()


def consume(job: Job, watch: Stopwatch) -> None:
    asyncio.run(_consume(job, watch))


async def _consume(job: Job, watch: Stopwatch) -> None:
    async with Consumer(consumer_config(job)) as consumer:
        watch.wait_for_start()
        if job.workload.operation == "group":
            await consumer.subscribe([job.topic])
        else:
            consumer.assign([(job.topic, number) for number in range(job.workload.partitions)])
        await (_iterate if job.workload.operation == "iterate" else _poll)(consumer, job, watch)
        watch.stop()


async def _iterate(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    number, last = 0, job.count - 1
    async for _record in consumer:
        if number == 0:
            watch.saw(1)
        elif number == last:
            watch.saw(last)
            return
        number += 1


async def _poll(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    commits, since = job.workload.operation == "group", 0
    done = False
    while not done:
        seen = 0
        for records in (await consumer.poll(1.0)).values():
            for _record in records:
                seen += 1
        done = watch.saw(seen)
        since += seen
        if commits and (since >= AT_ONCE or done):
            await consumer.commit()
            since = 0
