"""Sends or reads records at a fixed rate, in a process of its own (see `fixed_rate`).

`python -m benchmarks.fixed_rate_driver produce|consume ADDRESS TOPIC RATE COUNT`. `consume` prints
percentiles of the latency in milliseconds as JSON; the first quarter of the records is a warm-up.

Before the first of these records one without a due time is sent and acknowledged: the followers of
a new topic may need a second until they fetch, and a backlog of that time is not the latency of a
rate.
"""

import json
import struct
import sys
import threading
import time

from confluent_kafka import Consumer, Producer, TopicPartition

TICK_S = 0.001
PADDING = bytes(92)
DUE = struct.Struct(">d")
NOT_DUE = 0.0
WARM_UP = 0.25
STALLED_S = 30.0


def produce(address: str, topic: str, rate: int, count: int) -> None:
    """Sends the records that are due at each tick; each carries the time at which it was due."""
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0, "acks": "all"})
    producer.list_topics(topic, timeout=10)
    _produce(producer, topic, DUE.pack(NOT_DUE) + PADDING)
    producer.flush(60)
    pause, begin, sent = threading.Event(), time.monotonic() + 0.5, 0
    while sent < count:
        now = time.monotonic()
        due = min(int((now - begin) * rate), count)
        for number in range(sent, due):
            _produce(producer, topic, DUE.pack(begin + number / rate) + PADDING)
        sent = max(sent, due)
        producer.poll(0)
        pause.wait(TICK_S)
    producer.flush(60)


def _produce(producer: Producer, topic: str, value: bytes) -> None:
    """Waits while the queue is full, as it is while Java compiles; the wait counts as latency."""
    while True:
        try:
            producer.produce(topic, value, partition=0)
        except BufferError:
            producer.poll(TICK_S)
        else:
            return


def consume(address: str, topic: str, rate: int, count: int) -> None:
    consumer = Consumer({"bootstrap.servers": address, "group.id": topic})
    consumer.assign([TopicPartition(topic, 0, 0)])
    latencies: list[float] = []
    last = time.monotonic()
    while len(latencies) < count and time.monotonic() - last < STALLED_S:
        message = consumer.poll(1.0)
        if message is None or message.error():
            continue
        last = time.monotonic()
        (due,) = DUE.unpack_from(message.value())
        if due != NOT_DUE:
            latencies.append(last - due)
    consumer.close()
    print(json.dumps(percentiles(latencies[int(count * WARM_UP) :])))


def percentiles(latencies: list[float]) -> dict[str, float]:
    """Percentiles in milliseconds.

    >>> percentiles([0.001] * 99 + [0.1])["p99_ms"]
    100.0
    """
    ordered = sorted(latencies)
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "p99.9_ms": 0.999}
    return {name: ordered[int(len(ordered) * share)] * 1000 for name, share in shares.items()}


if __name__ == "__main__":
    mode, address, topic, rate, count = sys.argv[1:]
    run = {"produce": produce, "consume": consume}[mode]
    run(address, topic, int(rate), int(count))
