"""Our blocking clients. The client `barnabas poll` reads with `poll()` in every cell."""

import importlib
from collections.abc import Callable

from barnabas import Consumer, Producer
from benchmarks.loads.stopwatch import Stopwatch
from benchmarks.workload import (
    AT_ONCE,
    BATCH_BYTES,
    FETCH_BYTES,
    HEADERS,
    KEYS,
    Job,
    on_delivery,
    value_of,
    varied_values,
)


def producer_config(job: Job) -> dict[str, object]:
    load = job.workload
    config: dict[str, object] = {"bootstrap.servers": job.address, **job.librdkafka_security}
    if load.tuned:
        config |= {"batch.size": BATCH_BYTES, "linger.ms": 5, "buffer.memory": 256 * 1024**2}
    if load.size > BATCH_BYTES // 2:
        config["max.request.size"] = 2 * load.size
    if load.codec != "none":
        config["compression.type"] = load.codec
    return config


def consumer_config(job: Job) -> dict[str, object]:
    config: dict[str, object] = {
        "bootstrap.servers": job.address,
        "auto.offset.reset": "earliest",
        **job.librdkafka_security,
    }
    if job.workload.operation == "group":
        config |= {"group.id": job.topic, "enable.auto.commit": False}
    if job.workload.tuned:
        config |= {
            "max.poll.records": AT_ONCE,
            "max.partition.fetch.bytes": FETCH_BYTES,
            "fetch.max.bytes": 4 * FETCH_BYTES,
            "check.crcs": False,
        }
    return config


def fields_of(content: str) -> dict[str, object]:
    if content == "headers":
        return {"headers": HEADERS}
    return {"on_delivery": on_delivery} if content == "callbacks" else {}


def produce(job: Job, watch: Stopwatch) -> None:
    load, topic = job.workload, job.topic
    value, fields = value_of(load.size), fields_of(load.content)
    with Producer(producer_config(job)) as producer:
        producer.send(topic, value).result(30)
        watch.wait_for_start()
        send = producer.send
        watch.start()
        if load.content == "keys":
            for number in range(job.count):
                send(topic, value, KEYS[number % 1000])
        elif load.varied:
            values = varied_values(load.size)
            watch.start()
            for number in range(job.count):
                send(topic, values[number % 1000])
        elif fields:
            for _ in range(job.count):
                send(topic, value, **fields)
        else:
            for _ in range(job.count):
                send(topic, value)
        producer.flush(120)
        watch.stop()


def consume(job: Job, watch: Stopwatch) -> None:
    if job.workload.operation == "arrow":
        importlib.import_module("barnabas.records.arrow")  # pyarrow takes a second to import
    with Consumer(consumer_config(job)) as consumer:
        watch.wait_for_start()
        if job.workload.operation == "group":
            consumer.subscribe([job.topic])
        else:
            consumer.assign([(job.topic, number) for number in range(job.workload.partitions)])
        _reader(job)(consumer, job, watch)
        watch.stop()


def _reader(job: Job) -> Callable[[Consumer, Job, Stopwatch], None]:
    if job.workload.client == "barnabas poll":
        return _poll
    return {"iterate": _iterate, "arrow": _arrow}.get(job.workload.operation, _poll)


def _iterate(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    number, last = 0, job.count - 1
    for _record in consumer:
        if number == 0:
            watch.saw(1)
        elif number == last:  # a call for each record would be a large part of the time
            watch.saw(last)
            return
        number += 1  # noqa: SIM113 - as the loops of the other clients


def _poll(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    commits, since = job.workload.operation == "group", 0
    done = False
    while not done:
        seen = 0
        for records in consumer.poll(1.0).values():
            for _record in records:
                seen += 1
        done = watch.saw(seen)
        since += seen
        if commits and (since >= AT_ONCE or done):
            consumer.commit()
            since = 0


def _arrow(consumer: Consumer, job: Job, watch: Stopwatch) -> None:
    while not watch.saw(consumer.poll_arrow(1.0).num_rows):
        pass
