"""Groups of foreign consumers that a test polls in turn, with the partitions of each."""

import time

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

QUICK = {"group.consumer.heartbeat.interval.ms": 200, "group.min.session.timeout.ms": 1_000}
"""Broker settings under which groups settle in a second."""


def create_topic(broker, topic, partitions):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        future.result(60)


def produce(broker, topic, count, partitions):
    """Numbered records, dealt to the partitions in turn."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(count):
        producer.produce(topic, str(number).encode(), partition=number % partitions)
    assert producer.flush(20) == 0


def group_kind(broker, group):
    """Returns state and type of a group from ListGroups."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for listed in admin.list_consumer_groups().result(60).valid:
        if listed.group_id == group:
            return listed.state.name, listed.type.name
    return None


class ConfluentMember:
    """One confluent-kafka consumer, and the records it has seen."""

    def __init__(self, broker, group, topic, **config):
        settings = {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        if config.get("group.protocol", "classic") == "classic":
            settings |= {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 300}
        self._consumer = Consumer(settings | config)
        self._consumer.subscribe([topic])
        self.seen = []

    def poll(self):
        for message in self._consumer.consume(200, 0.05):
            assert message.error() is None, message.error()
            self.seen.append((message.partition(), message.offset()))

    def owned(self):
        return {one.partition for one in self._consumer.assignment()}

    def commit(self):
        return self._consumer.commit(asynchronous=False)

    def close(self):
        self._consumer.close()


def settle(members, partitions, timeout=60):
    """Polls until every partition has exactly one owner and every member has a partition."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        for member in members:
            member.poll()
        owned = [member.owned() for member in members]
        everything = sorted(number for one in owned for number in one)
        assert len(everything) == len(set(everything)), f"two owners: {owned}"
        if everything == list(range(partitions)) and all(owned):
            return owned
    raise AssertionError(f"not settled after {timeout} s: {owned}")


def read_all(members, count, timeout=60):
    """Poll until `count` different records have been seen."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        for member in members:
            member.poll()
        seen = {one for member in members for one in member.seen}
        if len(seen) == count:
            return seen
    raise AssertionError(f"{len(seen)} of {count} records after {timeout} s")
