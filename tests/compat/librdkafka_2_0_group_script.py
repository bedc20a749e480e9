"""Runs under the old client's interpreter: transactions and a group; prints JSON."""

import json
import sys
import time

import confluent_kafka


def write(address, topic):
    """One transaction committed, one aborted."""
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "transactional.id": topic})
    producer.init_transactions(20)
    for word, commit in (("kept", True), ("dropped", False)):
        producer.begin_transaction()
        for number in range(20):
            producer.produce(topic, f"{word} {number}", partition=number % 2)
        if commit:
            producer.commit_transaction(20)
        else:
            producer.abort_transaction(20)


def read(address, topic, group, count):
    """Two members of a group share the topic's two partitions."""
    config = {
        "bootstrap.servers": address,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
    }
    members = [confluent_kafka.Consumer(config) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    values = set()
    deadline = time.monotonic() + 60
    shares = []
    while time.monotonic() < deadline:
        for member in members:
            for message in member.consume(100, 0.05):
                if message.error() is None:
                    values.add(message.value().decode())
        shares = [len(member.assignment()) for member in members]
        if len(values) >= count and shares == [1, 1]:
            break
    topic_partitions = [confluent_kafka.TopicPartition(topic, n, 10) for n in range(2)]
    members[0].commit(offsets=topic_partitions, asynchronous=False)
    found = [
        topic_partition.offset for topic_partition in members[1].committed(topic_partitions, 20)
    ]
    for member in members:
        member.close()
    return {"values": sorted(values), "shares": shares, "committed": found}


if __name__ == "__main__":
    bootstrap, name = sys.argv[1:]
    write(bootstrap, name)
    result = read(bootstrap, name, name, 20)
    json.dump({"version": confluent_kafka.libversion()[0], **result}, sys.stdout)
