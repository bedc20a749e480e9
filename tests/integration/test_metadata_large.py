"""Metadata of many partitions, which the broker computes in slices and encodes in a thread."""

import re

import pytest
from confluent_kafka.admin import AdminClient

from barnabas import Consumer, Producer
from barnabas.admin import Admin, NewTopic
from barnabas.testing import Broker

TOPICS, EACH = 60, 10


@pytest.fixture(scope="module")
def address():
    with Broker() as broker:
        with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(f"many-{n:02}", EACH) for n in range(TOPICS)])
        yield broker.bootstrap_servers


def test_all_topics_are_listed(address):
    found = AdminClient({"bootstrap.servers": address}).list_topics(timeout=30).topics
    counts = {name: len(found[name].partitions) for name in found if name.startswith("many-")}
    assert counts == {f"many-{n:02}": EACH for n in range(TOPICS)}


def test_a_pattern_finds_a_topic_among_many(address):
    with Producer(bootstrap_servers=address) as producer:
        producer.send("many-42", b"found", partition=7)
    options = {"group.id": "g", "auto.offset.reset": "earliest", "bootstrap.servers": address}
    with Consumer(options) as consumer:
        consumer.subscribe(re.compile("many-.*"))
        record = next(iter(consumer))
    assert (record.topic, record.partition, record.value) == ("many-42", 7, b"found")
