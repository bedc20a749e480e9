"""Consumers read from the replica in their own rack (KIP-392)."""

import asyncio

import confluent_kafka
import pytest
from support.cluster.broker_app import members, until

from barnabas import TopicPartition
from barnabas.broker.topics import TopicSpec
from barnabas.model.ids import BrokerId
from barnabas.replication import partition_reader

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]

RECORDS = 50


async def test_a_consumer_reads_from_its_rack(zookeeper, tmp_path, monkeypatch):
    hosts = f"{zookeeper.connect_string}/racks"
    racks = {"broker.rack": lambda number: f"rack-{number}"}
    async with members(2, hosts, tmp_path, per_broker=racks) as (leader, follower):
        assignment = {0: (BrokerId(1), BrokerId(2))}
        await leader.services.topics.create(TopicSpec("t", assignment=assignment))
        topic_partition = TopicPartition("t", 0)
        await until(lambda: leader.is_leader(topic_partition))
        await asyncio.to_thread(write, leader.address)
        partition, served = follower.services.replicas.partition(topic_partition), []
        monkeypatch.setattr(partition_reader, "read", noting(partition, served))
        values = await asyncio.to_thread(read, leader.address, "rack-2")
        assert values == [b"%d" % n for n in range(RECORDS)]
        assert sum(served) > 0


def noting(partition, served):
    """Reading as it is, which notes what consumers got of this replica."""
    read_partition = partition_reader.read

    def read_and_note(asked, spec):
        found = read_partition(asked, spec)
        if asked is partition and spec.replica_id < 0:
            served.append(found.size)
        return found

    return read_and_note


def write(address):
    producer = confluent_kafka.Producer({"bootstrap.servers": address})
    for number in range(RECORDS):
        producer.produce("t", b"%d" % number, partition=0)
    assert producer.flush(20) == 0


def read(address, rack):
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": address, "group.id": "g", "client.rack": rack}
    )
    consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
    values = []
    for _ in range(100):
        values += [m.value() for m in consumer.consume(RECORDS, timeout=0.2) if not m.error()]
        if len(values) >= RECORDS:
            break
    consumer.close()
    return values
