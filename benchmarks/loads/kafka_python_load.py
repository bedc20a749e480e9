"""kafka-python."""

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

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
        config |= {"security_protocol": "SSL", "ssl_cafile": job.ca_file}
    elif job.workload.security == "sasl":
        config |= {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": USER,
            "sasl_plain_password": PASSWORD,
        }
    return config


def produce(job: Job, watch: Stopwatch) -> None:
    load, config = job.workload, common(job)
    if load.tuned:
        config |= {"batch_size": BATCH_BYTES, "linger_ms": 5, "buffer_memory": 256 * 1024**2}
    if load.size > BATCH_BYTES // 2:
        config["max_request_size"] = 3 * load.size
    if load.codec != "none":
        config["compression_type"] = load.codec
    producer, value = KafkaProducer(**config), value_of(load.size)
    producer.send(job.topic, value).get(30)
    fields = {"headers": HEADERS} if load.content == "headers" else {}
    values = varied_values(load.size) if load.varied else [value]
    watch.wait_for_start()
    watch.start()
    for number in range(job.count):
        value = values[number % len(values)]
        key = KEYS[number % 1000] if load.content == "keys" else None
        future = producer.send(job.topic, value, key, **fields)
        if load.content == "callbacks":
            future.add_callback(_delivered)
    producer.flush()
    watch.stop()
    producer.close()


def _delivered(metadata: object) -> None:
    """The callback of the content `callbacks`."""


def consume(job: Job, watch: Stopwatch) -> None:
    load = job.workload
    config = {**common(job), "auto_offset_reset": "earliest", "enable_auto_commit": False}
    if load.operation == "group":
        config["group_id"] = job.topic
    if load.tuned:
        config |= {
            "max_partition_fetch_bytes": FETCH_BYTES,
            "max_poll_records": AT_ONCE,
            "check_crcs": False,
        }
    elif load.size > BATCH_BYTES // 2:
        config["max_partition_fetch_bytes"] = 2 * load.size
    consumer = KafkaConsumer(**config)
    watch.wait_for_start()
    if load.operation == "group":
        consumer.subscribe([job.topic])
    else:
        consumer.assign([TopicPartition(job.topic, number) for number in range(load.partitions)])
    (_iterate if load.operation == "iterate" else _batches)(consumer, job, watch)
    watch.stop()
    consumer.close()


def _iterate(consumer: KafkaConsumer, job: Job, watch: Stopwatch) -> None:
    for _record in consumer:
        if watch.saw(1):
            return


def _batches(consumer: KafkaConsumer, job: Job, watch: Stopwatch) -> None:
    commits, since = job.workload.operation == "group", 0
    done = False
    while not done:
        seen = sum(len(records) for records in consumer.poll(1000).values())
        done = watch.saw(seen)
        since += seen
        if commits and (since >= AT_ONCE or done):
            consumer.commit()
            since = 0
