"""Lag of groups at /status in ordinary situations: deleted topics, transactions, idle topics."""

import json
import urllib.request

import pytest
from support.cluster.workload import wait_until

from barnabas import Consumer, Producer, TopicPartition
from barnabas.admin import Admin
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def broker():
    with Broker(
        in_memory=True, config={"http.listener": "0", "group.lag.interval.ms": 100}
    ) as made:
        yield made


@pytest.fixture
def admin(broker):
    with Admin(bootstrap_servers=broker.bootstrap_servers) as made:
        yield made


def lag(broker, group):
    with urllib.request.urlopen(broker.http_url + "/status", timeout=60) as reply:
        return json.load(reply)["groups"].get(group)


def commit(admin, group, topic, offset):
    admin.alter_group_offsets(group, {TopicPartition(topic, 0): offset}).check()


def test_a_stopped_group_lags_until_it_has_committed_all_records(broker, admin):
    topic = broker.topic()
    broker.produce(topic, *"abc")
    commit(admin, "stopped", topic, 1)
    wait_until(lambda: (lag(broker, "stopped") or {}).get("records") == 2)
    assert lag(broker, "stopped")["catch_up_seconds"] is None  # it does not shrink
    first = lag(broker, "stopped")["seconds"]
    wait_until(lambda: lag(broker, "stopped")["seconds"] > first)
    commit(admin, "stopped", topic, 3)
    wait_until(lambda: lag(broker, "stopped")["records"] == 0)
    assert lag(broker, "stopped")["seconds"] == 0


def test_a_group_without_a_commit_has_no_lag(broker):
    topic = broker.topic()
    broker.produce(topic, "a")
    settings = {"bootstrap_servers": broker.bootstrap_servers, "enable_auto_commit": False}
    with Consumer(group_id="fresh", **settings) as consumer:
        consumer.subscribe([topic])
        consumer.wait_for_assignment(10)
        assert lag(broker, "fresh") is None


def test_a_deleted_topic_takes_the_lag_with_it(broker, admin):
    topic = broker.topic()
    broker.produce(topic, *"abc")
    commit(admin, "of-deleted", topic, 1)
    wait_until(lambda: (lag(broker, "of-deleted") or {}).get("records") == 2)
    admin.delete_topics([topic]).check()
    wait_until(lambda: lag(broker, "of-deleted") is None)
    broker.topic(topic)
    broker.produce(topic, "new")
    commit(admin, "of-deleted", topic, 0)
    wait_until(lambda: (lag(broker, "of-deleted") or {}).get("records") == 1)


def test_the_marker_of_a_transaction_is_no_lag_in_seconds(broker, admin):
    topic = broker.topic()
    settings = {"bootstrap_servers": broker.bootstrap_servers, "transactional_id": topic}
    with Producer(**settings) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"a")
        producer.commit_transaction()
    commit(admin, "committed", topic, 1)
    wait_until(lambda: (lag(broker, "committed") or {}).get("records") == 1)
    assert lag(broker, "committed")["seconds"] == 0
