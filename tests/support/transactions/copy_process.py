"""Copies records from one topic to another in transactions, until it is killed.

Usage: python copy_process.py BOOTSTRAP SOURCE TARGET NAME [ABORT_EVERY [RESET]]
Reads in the group "copiers" and writes with the transactional id NAME. Ends with exit code 3 when
the client reports a fatal error, after which a new client is needed; the test then starts the
process again.

Before every ABORT_EVERY-th transaction the same records are written with a mark and aborted; no
reader of committed records may see them.

The process ends with `os._exit`, because librdkafka may not finish its own shutdown.
"""

import itertools
import os
import sys

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

BATCH = 50
TIMEOUT_S = 10
NEEDS_NEW_CLIENT = 3
ABORTED = b"aborted "
NO_COMMIT = "no committed offset"


def main(bootstrap, source, target, name, abort_every="0", reset="earliest"):
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "copiers",
            "auto.offset.reset": reset,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "session.timeout.ms": 3000,
            "heartbeat.interval.ms": 300,
            "log_level": 0,
        }
    )
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": name,
            "transaction.timeout.ms": 10_000,
            "log_level": 0,
        }
    )
    producer.init_transactions(TIMEOUT_S)
    consumer.subscribe([source])
    print("ready", flush=True)
    for number in itertools.count(1):
        messages = consumer.consume(BATCH, 0.5)
        for one in messages:
            if one.error() is not None and one.error().code() == KafkaError._AUTO_OFFSET_RESET:
                print(f"{NO_COMMIT}: {one.error()}", flush=True)
        messages = [one for one in messages if one.error() is None]
        if messages and int(abort_every) and number % int(abort_every) == 0:
            write_and_abort(producer, messages, target)
        if messages:
            copy(consumer, producer, messages, target)


def write_and_abort(producer, messages, target):
    producer.begin_transaction()
    for one in messages:
        producer.produce(target, ABORTED + one.value(), partition=one.partition())
    producer.flush(TIMEOUT_S)
    producer.abort_transaction(TIMEOUT_S)
    print("aborted on purpose", flush=True)


def copy(consumer, producer, messages, target):
    producer.begin_transaction()
    try:
        for one in messages:
            producer.produce(target, one.value(), partition=one.partition())
        position = consumer.position(consumer.assignment())
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction(position, metadata, TIMEOUT_S)
        producer.commit_transaction(TIMEOUT_S)
    except KafkaException as error:
        if not error.args[0].txn_requires_abort():
            raise
        producer.abort_transaction(TIMEOUT_S)
        for one in consumer.committed(consumer.assignment(), TIMEOUT_S):
            if one.error is not None:
                raise KafkaException(one.error) from error
            if one.offset < 0:
                print(f"{NO_COMMIT} of {one.topic} {one.partition}", flush=True)
            one.offset = max(one.offset, 0)
            consumer.seek(one)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KafkaException as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(NEEDS_NEW_CLIENT)
