"""confluent-kafka as the load: run as a process of its own so that its CPU is not the broker's.

`python -m benchmarks.confluent_driver produce|consume|sync ADDRESS TOPIC COUNT SIZE` prints JSON.

Its queues are kept small enough to stay in memory that it has used before: with room for all the
records, most of its time went into touching fresh memory, and its rate was a half of this one.
"""

import json
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

CONSUMER_CONFIG = {
    "group.id": "bench",
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "fetch.queue.backoff.ms": 1,
    "queued.max.messages.kbytes": 8_000,
    "queued.min.messages": 1_000_000,
    "fetch.message.max.bytes": 1024 * 1024,
    "fetch.max.bytes": 64 * 1024 * 1024,
    "check.crcs": False,
}

AT_ONCE_BYTES = 1_000_000


def produce(address: str, topic: str, count: int, size: int) -> dict[str, float]:
    producer = Producer(
        {
            "bootstrap.servers": address,
            "linger.ms": 5,
            "batch.size": 1_000_000,
            "batch.num.messages": 100_000,
            "queue.buffering.max.messages": 2_000_000,
            "queue.buffering.max.kbytes": 8_000,
        }
    )
    value = bytes(size)
    producer.produce(topic, value)
    producer.flush(10)
    begin, cpu = time.perf_counter(), time.process_time()
    for _ in range(count - 1):
        while True:
            try:
                producer.produce(topic, value, partition=0)
                break
            except BufferError:
                producer.poll(0.001)
    producer.flush(120)
    return {
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "count": count - 1,
    }


def consume(address: str, topic: str, count: int, size: int) -> dict[str, float]:
    consumer = Consumer({"bootstrap.servers": address, **CONSUMER_CONFIG})
    consumer.assign([TopicPartition(topic, 0, 0)])
    first = consumer.consume(1, timeout=10)
    begin, cpu = time.perf_counter(), time.process_time()
    seen, at_once = len(first), max(AT_ONCE_BYTES // size, 1)
    while seen < count:  # never asks for more than there is: it would wait for the rest
        seen += len(consumer.consume(min(at_once, count - seen), timeout=1))
    elapsed, cpu = time.perf_counter() - begin, time.process_time() - cpu
    consumer.close()
    return {"seconds": elapsed, "cpu_seconds": cpu, "count": seen - len(first)}


def sync(address: str, topic: str, count: int, size: int) -> dict[str, float]:
    """Latency of one record at a time, acknowledged by all replicas."""
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0, "acks": "all"})
    value = bytes(size)
    latencies = []
    for _ in range(count):
        begin = time.perf_counter()
        producer.produce(topic, value, partition=0)
        producer.flush(10)
        latencies.append(time.perf_counter() - begin)
    latencies.sort()
    return {
        "p50_us": latencies[len(latencies) // 2] * 1e6,
        "p99_us": latencies[len(latencies) * 99 // 100] * 1e6,
    }


if __name__ == "__main__":
    mode, address, topic, count, size = sys.argv[1:]
    run = {"produce": produce, "consume": consume, "sync": sync}[mode]
    print(json.dumps(run(address, topic, int(count), int(size))))
