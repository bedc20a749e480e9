"""Each client as a process of its own, over the same broker and topic; prints JSON.

`python -m benchmarks.client_drivers DRIVER MODE ADDRESS TOPIC COUNT SIZE`: DRIVER is barnabas,
confluent or aiokafka; MODE produce, consume, arrow, sync, sync0 or memory. sync (with the default
linger.ms) and sync0 (without linger) send a round of COUNT for every line on their standard input,
and print a line of figures for each.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from benchmarks.confluent_driver import consume as confluent_consume
from benchmarks.confluent_driver import produce as confluent_produce

FETCH_BYTES = 16 * 1024**2
POLL_RECORDS = 10_000
WARM_UP = 100
Figures = dict[str, float]


def barnabas_produce(address: str, topic: str, count: int, size: int) -> Figures:
    from barnabas import Producer

    value = bytes(size)
    with Producer(
        bootstrap_servers=address, batch_size=1_000_000, linger_ms=5, buffer_memory=256 * 1024**2
    ) as producer:
        producer.send(topic, value, partition=0).result(30)
        begin = time.perf_counter()
        for _ in range(count - 1):
            producer.send(topic, value, partition=0)
        producer.flush(120)
        return {"seconds": time.perf_counter() - begin, "count": count - 1}


def barnabas_consumer(address: str, topic: str) -> object:
    from barnabas import Consumer

    consumer = Consumer(
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        max_poll_records=POLL_RECORDS,
        max_partition_fetch_bytes=FETCH_BYTES,
        fetch_max_bytes=4 * FETCH_BYTES,
        check_crcs=False,
    )
    consumer.assign([(topic, 0)])
    return consumer


def barnabas_consume(address: str, topic: str, count: int, size: int) -> Figures:
    consumer = barnabas_consumer(address, topic)
    first = sum(map(len, consumer.poll(10).values()))
    begin, seen = time.perf_counter(), first
    while seen < count:
        seen += sum(map(len, consumer.poll(1).values()))
    elapsed = time.perf_counter() - begin
    consumer.close()
    return {"seconds": elapsed, "count": seen - first}


def barnabas_arrow(address: str, topic: str, count: int, size: int) -> Figures:
    consumer = barnabas_consumer(address, topic)
    first = consumer.poll_arrow(10).num_rows
    begin, seen = time.perf_counter(), first
    while seen < count:
        seen += consumer.poll_arrow(1).num_rows
    elapsed = time.perf_counter() - begin
    consumer.close()
    return {"seconds": elapsed, "count": seen - first}


def barnabas_sync(
    address: str, topic: str, count: int, size: int, settings: dict[str, Any]
) -> Figures:
    from barnabas import Producer

    value = bytes(size)
    with Producer({"bootstrap.servers": address, "acks": "all", **settings}) as producer:
        return rounds(lambda: producer.send(topic, value, partition=0).result(10), count)


def confluent_sync(
    address: str, topic: str, count: int, size: int, settings: dict[str, Any]
) -> Figures:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": address, "acks": "all", **settings})
    value = bytes(size)

    def send() -> None:
        producer.produce(topic, value, partition=0)
        producer.flush(10)

    return rounds(send, count)


def barnabas_memory(address: str, topic: str, count: int, size: int) -> Figures:
    """Resident memory in the first and the second half of `count` records, both ways.

    It goes up and down by a fetch's buffer or two, so each half has ten looks and their median.
    """
    import psutil

    from barnabas import Producer

    process, value, marks = psutil.Process(), bytes(size), []
    consumer = barnabas_consumer(address, topic)
    with Producer(bootstrap_servers=address, batch_size=1_000_000) as producer:
        for _ in range(20):
            for _ in range(count // 20):
                producer.send(topic, value, partition=0)
            producer.flush(120)
            seen = 0
            while seen < count // 20:
                seen += sum(map(len, consumer.poll(10).values()))
            marks.append(process.memory_info().rss / 1024**2)
    consumer.close()
    return {"first_mib": median(marks[:10]), "last_mib": median(marks[10:])}


def rounds(send: Callable[[], object], count: int) -> Figures:
    """A round per line of input; nothing is left to tell at the end."""
    latencies(send, count)
    for _ in sys.stdin:
        print(json.dumps(latencies(send, count)), flush=True)
    return {}


def latencies(send: Callable[[], object], count: int) -> Figures:
    for _ in range(WARM_UP):
        send()
    taken = []
    for _ in range(count):
        begin = time.perf_counter()
        send()
        taken.append(time.perf_counter() - begin)
    taken.sort()
    return {"p50_us": taken[count // 2] * 1e6, "p99_us": taken[count * 99 // 100] * 1e6}


def aiokafka_produce(address: str, topic: str, count: int, size: int) -> Figures:
    from aiokafka import AIOKafkaProducer

    async def run() -> Figures:
        value = bytes(size)
        producer = AIOKafkaProducer(
            bootstrap_servers=address, max_batch_size=1_000_000, linger_ms=5
        )
        await producer.start()
        await producer.send_and_wait(topic, value, partition=0)
        begin = time.perf_counter()
        for _ in range(count - 1):
            await producer.send(topic, value, partition=0)
        await producer.flush()
        elapsed = time.perf_counter() - begin
        await producer.stop()
        return {"seconds": elapsed, "count": count - 1}

    return asyncio.run(run())


def aiokafka_consume(address: str, topic: str, count: int, size: int) -> Figures:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    async def run() -> Figures:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=address,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=FETCH_BYTES,
            fetch_max_bytes=4 * FETCH_BYTES,
            check_crcs=False,
        )
        await consumer.start()
        consumer.assign([TopicPartition(topic, 0)])
        polled = await consumer.getmany(timeout_ms=10_000, max_records=POLL_RECORDS)
        first = sum(map(len, polled.values()))
        begin, seen = time.perf_counter(), first
        while seen < count:
            polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
            seen += sum(map(len, polled.values()))
        elapsed = time.perf_counter() - begin
        await consumer.stop()
        return {"seconds": elapsed, "count": seen - first}

    return asyncio.run(run())


DRIVERS = {
    ("barnabas", "produce"): barnabas_produce,
    ("barnabas", "consume"): barnabas_consume,
    ("barnabas", "arrow"): barnabas_arrow,
    ("barnabas", "sync"): partial(barnabas_sync, settings={}),
    ("barnabas", "sync0"): partial(barnabas_sync, settings={"linger.ms": 0}),
    ("barnabas", "memory"): barnabas_memory,
    ("confluent", "produce"): confluent_produce,
    ("confluent", "consume"): confluent_consume,
    ("confluent", "sync"): partial(confluent_sync, settings={}),
    ("confluent", "sync0"): partial(confluent_sync, settings={"linger.ms": 0}),
    ("aiokafka", "produce"): aiokafka_produce,
    ("aiokafka", "consume"): aiokafka_consume,
}

if __name__ == "__main__":
    driver, mode, address, topic, count, size = sys.argv[1:]
    print(json.dumps(DRIVERS[driver, mode](address, topic, int(count), int(size))))
