"""One group of four client libraries: the same assignment with each leader, no rebalance loop."""

import asyncio
import threading
import time

import pytest
from support.groups.members import Member

from barnabas import Producer
from barnabas.testing import Broker

pytestmark = [pytest.mark.compat, pytest.mark.integration]

PARTITIONS = 12


class Foreign:
    """A member of another library, in a thread of its own."""

    def __init__(self, address, topic):
        self.assigned = set()
        self.rebalances = 0
        self.values = []
        self.failure = None
        self.address, self.topic = address, topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._guarded, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join(30)
        if self.failure is not None:
            raise self.failure

    def got(self, topic_partitions):
        self.assigned = set(topic_partitions)
        self.rebalances += 1

    def _guarded(self):
        try:
            self.run()
        except BaseException as error:  # noqa: BLE001 - for the thread that stops it
            self.failure = error


class Confluent(Foreign):
    def run(self):
        from confluent_kafka import Consumer

        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": self.topic,
                "auto.offset.reset": "earliest",
                "partition.assignment.strategy": "range",
                "heartbeat.interval.ms": 200,
            }
        )
        consumer.subscribe(
            [self.topic],
            on_assign=lambda _, topic_partitions: self.got(
                (p.topic, p.partition) for p in topic_partitions
            ),
        )
        while not self._stop.is_set():
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                self.values.append(message.value())
        consumer.close()


class KafkaPython(Foreign):
    def run(self):
        from kafka import ConsumerRebalanceListener, KafkaConsumer

        outer = self

        class Listener(ConsumerRebalanceListener):
            def on_partitions_assigned(self, assigned):
                outer.got(
                    (topic_partition.topic, topic_partition.partition)
                    for topic_partition in assigned
                )

            def on_partitions_revoked(self, revoked):
                pass

        from kafka.coordinator.assignors.range import RangePartitionAssignor

        consumer = KafkaConsumer(
            bootstrap_servers=self.address,
            group_id=self.topic,
            auto_offset_reset="earliest",
            partition_assignment_strategy=[RangePartitionAssignor],
            heartbeat_interval_ms=200,
        )
        consumer.subscribe([self.topic], listener=Listener())
        while not self._stop.is_set():
            for records in consumer.poll(timeout_ms=100).values():
                self.values += [record.value for record in records]
        consumer.close()


class Aiokafka(Foreign):
    def run(self):
        asyncio.run(self._consume())

    async def _consume(self):
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
        from aiokafka.coordinator.assignors.range import RangePartitionAssignor

        outer = self

        class Listener(ConsumerRebalanceListener):
            def on_partitions_assigned(self, assigned):
                outer.got(
                    (topic_partition.topic, topic_partition.partition)
                    for topic_partition in assigned
                )

            def on_partitions_revoked(self, revoked):
                pass

        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.address,
            group_id=self.topic,
            auto_offset_reset="earliest",
            partition_assignment_strategy=[RangePartitionAssignor],
            heartbeat_interval_ms=200,
        )
        consumer.subscribe([self.topic], listener=Listener())
        await consumer.start()
        while not self._stop.is_set():
            for records in (await consumer.getmany(timeout_ms=100)).values():
                self.values += [record.value for record in records]
        await consumer.stop()


def ours(address, topic):
    return Member(
        "ours",
        {
            "bootstrap.servers": address,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": "range",
            "heartbeat.interval.ms": 200,
            "fetch.max.wait.ms": 100,
        },
        [topic],
    )


def held(members):
    return [tuple(topic_partition) for member in members for topic_partition in member.assigned]


def is_divided(members):
    topic_partitions = held(members)
    each = PARTITIONS // len(members)
    return len(topic_partitions) == len(set(topic_partitions)) == PARTITIONS and all(
        len(member.assigned) == each for member in members
    )


def wait_for_division(members, seconds=60):
    deadline = time.monotonic() + seconds
    while not is_divided(members):
        assert time.monotonic() < deadline, [sorted(member.assigned) for member in members]
        threading.Event().wait(0.05)


@pytest.mark.parametrize("ours_first", [True, False])
def test_four_libraries_share_a_topic(topic_name, ours_first):
    with Broker({"num.partitions": PARTITIONS}) as broker:
        address = broker.bootstrap_servers
        with Producer(bootstrap_servers=address) as producer:
            producer.send(topic_name, b"first").result(60)
        kinds = [Confluent, KafkaPython, Aiokafka]
        kinds.insert(0 if ours_first else 3, ours)
        members = []
        for kind in kinds:
            members.append(kind(address, topic_name))
            wait_for_division(members)
        settled = [len(m.events) if isinstance(m, Member) else m.rebalances for m in members]
        with Producer(bootstrap_servers=address) as producer:
            for number in range(240):
                producer.send(topic_name, b"%d" % number, partition=number % PARTITIONS)
        deadline = time.monotonic() + 60
        while sum(_count(member) for member in members) < 241:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)
        after = [len(m.events) if isinstance(m, Member) else m.rebalances for m in members]
        assert after == settled, "the group rests once it is divided"
        for member in members:
            member.stop()


def _count(member):
    return sum(member.values.values()) if isinstance(member, Member) else len(member.values)
