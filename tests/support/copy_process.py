"""Copies records from one topic to another in transactions, until it is killed.

Usage: python copy_process.py BOOTSTRAP SOURCE TARGET NAME
Reads in the group "copiers" and writes with the transactional id NAME. Ends with code 3 when the
client says that it must be made anew; whoever started it starts it again.

The end is hard: librdkafka may not come to its own.
"""

import os
import sys

from confluent_kafka import Consumer, KafkaException, Producer

BATCH = 50
TIMEOUT_S = 10
MADE_ANEW = 3


def main(bootstrap, source, target, name):
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "copiers",
            "auto.offset.reset": "earliest",
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
    while True:
        messages = [one for one in consumer.consume(BATCH, 0.5) if one.error() is None]
        if messages:
            copy(consumer, producer, messages, target)


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
            one.offset = max(one.offset, 0)
            consumer.seek(one)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KafkaException as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(MADE_ANEW)
