"""Consumers of three libraries in one classic group: same assignment, no endless rebalance."""

import asyncio
import threading
import time

import aiokafka
import kafka
import pytest
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AiokafkaRange
from kafka.coordinator.assignors.range import RangePartitionAssignor as KafkaPythonRange
from support.groups.foreign_groups import (
    QUICK,
    ConfluentMember,
    create_topic,
    produce,
    read_all,
    settle,
)

from barnabas.testing import Broker

pytestmark = pytest.mark.compat


@pytest.fixture(scope="module")
def quick_broker():
    with Broker(QUICK) as running:
        yield running


class KafkaPythonMember(kafka.ConsumerRebalanceListener):
    """kafka-python in a thread of its own, the only one that may use the consumer.

    Short polls will not do: 3.0.12 forgets a rebalance whose poll ends in the middle of it.
    """

    def __init__(self, broker, group, topic):
        self._consumer = kafka.KafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6_000,
            heartbeat_interval_ms=300,
            partition_assignment_strategy=(KafkaPythonRange,),
        )
        self._consumer.subscribe([topic], listener=self)
        self.seen = []
        self._owned = set()
        self._commit = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def on_partitions_revoked(self, revoked):
        self._owned = set()

    def on_partitions_assigned(self, assigned):
        self._owned = {one.partition for one in assigned}

    def _run(self):
        while not self._stop.is_set():
            for records in self._consumer.poll(timeout_ms=1_000, max_records=500).values():
                self.seen += [(record.partition, record.offset) for record in records]
            if self._commit.is_set():
                self._consumer.commit()
                self._commit.clear()
        self._consumer.close()

    def poll(self):
        self._stop.wait(0.05)

    def owned(self):
        return self._owned

    def commit(self):
        self._commit.set()
        while self._commit.is_set():
            self.poll()

    def close(self):
        self._stop.set()
        self._thread.join(30)


class AiokafkaMember:
    """aiokafka on a loop in a thread of its own."""

    def __init__(self, broker, group, topic):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._consumer = self._call(self._start(broker, group, topic))
        self.seen = []

    async def _start(self, broker, group, topic):
        consumer = aiokafka.AIOKafkaConsumer(
            topic,
            bootstrap_servers=broker.bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6_000,
            heartbeat_interval_ms=300,
            partition_assignment_strategy=(AiokafkaRange,),
        )
        await consumer.start()
        return consumer

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def poll(self):
        found = self._call(self._consumer.getmany(timeout_ms=50))
        for records in found.values():
            self.seen += [(record.partition, record.offset) for record in records]

    def owned(self):
        return {one.partition for one in self._consumer.assignment()}

    def commit(self):
        self._call(self._consumer.commit())

    def close(self):
        self._call(self._consumer.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()


def in_background(members, make):
    """Join a member while the others are polled: joining blocks, and they must rejoin."""
    made = []
    thread = threading.Thread(target=lambda: made.append(make()))
    thread.start()
    while thread.is_alive():
        for member in members:
            member.poll()
    return [*members, *made]


@pytest.mark.parametrize("make", [KafkaPythonMember, AiokafkaMember])
def test_one_library(quick_broker, topic_name, make):
    """Passes when the members own all partitions and read all records."""
    create_topic(quick_broker, topic_name, 4)
    produce(quick_broker, topic_name, 100, 4)
    members = []
    try:
        for _ in range(2):
            members = in_background(members, lambda: make(quick_broker, topic_name, topic_name))
        settle(members, 4)
        read_all(members, 100)
        for member in members:
            member.commit()
        members.pop().close()
        settle(members, 4)
    finally:
        for member in members:
            member.close()


def test_three_libraries_in_one_group(quick_broker, topic_name):
    create_topic(quick_broker, topic_name, 6)
    produce(quick_broker, topic_name, 120, 6)
    strategy = {"partition.assignment.strategy": "range"}
    members = [ConfluentMember(quick_broker, topic_name, topic_name, **strategy)]
    try:
        for make in (KafkaPythonMember, AiokafkaMember):
            members = in_background(
                members, lambda make=make: make(quick_broker, topic_name, topic_name)
            )
        owned = settle(members, 6)
        assert [len(one) for one in owned] == [2, 2, 2]
        read_all(members, 120)
        quiet_until = time.monotonic() + 2
        while time.monotonic() < quiet_until:
            for member in members:
                member.poll()
            assert [member.owned() for member in members] == owned, "a rebalance out of nowhere"
    finally:
        for member in members:
            member.close()
