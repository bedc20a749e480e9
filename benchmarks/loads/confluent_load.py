"""confluent-kafka (librdkafka)."""

from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.loads.stopwatch import Stopwatch
from benchmarks.workload import (
    AT_ONCE,
    BATCH_BYTES,
    HEADERS,
    KEYS,
    Job,
    on_delivery,
    value_of,
    varied_values,
)


def producer_config(job: Job) -> dict[str, Any]:
    load = job.workload
    config: dict[str, Any] = {"bootstrap.servers": job.address, **job.librdkafka_security}
    if load.tuned:
        config |= {
            "linger.ms": 5,
            "batch.size": BATCH_BYTES,
            "batch.num.messages": 100_000,
            "queue.buffering.max.messages": 2_000_000,
            # Small enough to reuse memory: with room for all records its rate is a half.
            "queue.buffering.max.kbytes": 8_000,
        }
    if load.batches:
        config |= {"1 record": {"batch.num.messages": 1}, "16 KB": {"batch.size": 16_384}}[
            load.batches
        ]
    if load.size > BATCH_BYTES // 2:
        config["message.max.bytes"] = 2 * load.size
    if load.codec != "none":
        config["compression.type"] = load.codec
    return config


def consumer_config(job: Job) -> dict[str, Any]:
    config: dict[str, Any] = {
        "bootstrap.servers": job.address,
        "group.id": job.topic,
        "auto.offset.reset": "earliest",
        # With its default of a second it would wait most of the time.
        "fetch.queue.backoff.ms": 1,
        **job.librdkafka_security,
    }
    if job.workload.operation == "group":
        config["enable.auto.commit"] = False
    if job.workload.tuned:
        config |= {
            "queued.max.messages.kbytes": 8_000,
            "queued.min.messages": 1_000_000,
            "fetch.message.max.bytes": max(1024 * 1024, 2 * job.workload.size),
            "fetch.max.bytes": 64 * 1024 * 1024,
            "check.crcs": False,
        }
    return config


def produce(job: Job, watch: Stopwatch) -> None:
    load = job.workload
    producer, value = Producer(producer_config(job)), value_of(load.size)
    fields: dict[str, Any] = {}
    if load.content == "headers":
        fields = {"headers": HEADERS}
    elif load.content == "callbacks":
        fields = {"on_delivery": on_delivery}
    producer.produce(job.topic, value)
    producer.flush(30)
    watch.wait_for_start()
    _send_all(producer, job, value, fields, watch)
    producer.flush(120)
    watch.stop()


def _send_all(
    producer: Producer, job: Job, value: bytes, fields: dict[str, Any], watch: Stopwatch
) -> None:
    produce, poll, topic = producer.produce, producer.poll, job.topic
    keys = job.workload.content == "keys"
    values = varied_values(job.workload.size) if job.workload.varied else []
    watch.start()
    for number in range(job.count):
        if keys:
            fields = {"key": KEYS[number % 1000]}
        elif values:
            value = values[number % 1000]
        while True:
            try:
                produce(topic, value, **fields)
                break
            except BufferError:
                poll(0.001)


def consume(job: Job, watch: Stopwatch) -> None:
    consumer = Consumer(consumer_config(job))
    watch.wait_for_start()
    if job.workload.operation == "group":
        consumer.subscribe([job.topic])
    else:
        consumer.assign([TopicPartition(job.topic, n, 0) for n in range(job.workload.partitions)])
    (_iterate if job.workload.operation == "iterate" else _batches)(consumer, job, watch)
    watch.stop()
    consumer.close()


def _iterate(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    poll, number, last = consumer.poll, 0, job.count - 1
    while number <= last:
        if poll(1.0) is None:
            continue
        if number == 0:
            watch.saw(1)
        elif number == last:
            watch.saw(last)
        number += 1


def _batches(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    commits, done = job.workload.operation == "group", False
    while not done:
        # Never asks for more than there is: it would wait for the rest.
        wanted = min(max(BATCH_BYTES // job.workload.size, 1), AT_ONCE, job.count - watch.seen)
        messages = consumer.consume(wanted, 1.0)
        seen = 0
        for _message in messages:
            seen += 1
        done = watch.saw(seen)
        if commits and seen:
            consumer.commit(asynchronous=False)
