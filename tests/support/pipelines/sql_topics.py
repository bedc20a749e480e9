"""Reads the records that SQL wrote with a plain consumer, without Spark."""

import json
import threading

from barnabas import SimpleConsumer
from barnabas.streams.topics import wait_until_visible


def committed(servers, topic):
    """All committed records of a topic, partition by partition, when no transaction is open."""
    wait_until_visible({"bootstrap.servers": servers}, [topic], timeout=90)
    with SimpleConsumer(bootstrap_servers=servers, isolation_level="read_committed") as consumer:
        return [
            record
            for partition in consumer.partitions(topic)
            for record in consumer.records(topic, partition)
        ]


def wait_gone(engine, topic, tries=600):
    """Until a topic that was deleted is not listed any more."""
    pause = threading.Event()
    for _ in range(tries):
        if topic not in engine.topic_names():
            return
        pause.wait(0.1)
    raise AssertionError(f"{topic} is still there")


def text(data):
    return None if data is None else data.decode()


def rows(servers, topic):
    """(key, value) of each record; values as JSON."""
    return [
        (text(record.key), None if record.value is None else json.loads(record.value))
        for record in committed(servers, topic)
    ]


def table(servers, topic):
    """The newest value of each key, deleted ones left out."""
    newest = dict(rows(servers, topic))
    return {key: value for key, value in newest.items() if value is not None}
