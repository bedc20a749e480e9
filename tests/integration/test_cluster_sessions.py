"""Expired sessions of running brokers: they register again and lose no acknowledged record."""

import asyncio

import pytest
from support.cluster.broker_app import members, until
from support.cluster.zookeeper import expire_session

from barnabas import Producer, SimpleConsumer
from barnabas.broker.topics import TopicSpec
from barnabas.model.ids import TopicPartition

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


@pytest.fixture
def connect_string(zookeeper, request):
    return f"{zookeeper.connect_string}/{request.node.originalname}"


async def test_expired_leader_hands_over_and_comes_back(connect_string, zookeeper, tmp_path):
    async with members(3, connect_string, tmp_path) as brokers:
        topic_partition = await a_topic(brokers)
        await produce(brokers, b"before")
        leader = leader_of(brokers, topic_partition)
        epoch = leader.services.replicas.partition(topic_partition).leader_epoch
        session = leader.tree.session_id
        await expire_session(leader.tree, zookeeper.connect_string)
        await until(lambda: leader.tree.session_id != session)
        await until(lambda: new_leader(brokers, topic_partition, epoch))
        await produce(brokers, b"after")
        await until(lambda: in_sync(brokers, topic_partition) == {1, 2, 3})
        assert await values(brokers) == [b"before", b"after"]


async def test_expired_controller_loses_its_office(connect_string, zookeeper, tmp_path):
    async with members(3, connect_string, tmp_path) as brokers:
        topic_partition = await a_topic(brokers)
        controller = next(b for b in brokers if b.services.cluster.controller.is_active)
        epoch = controller.services.cluster.controller.controller_epoch
        await expire_session(controller.tree, zookeeper.connect_string)
        await until(lambda: reigning_epoch(brokers) > epoch)
        await until(lambda: all(is_known_everywhere(brokers, b.broker_id) for b in brokers))
        await until(lambda: in_sync(brokers, topic_partition) == {1, 2, 3})
        await produce(brokers, b"one")
        assert await values(brokers) == [b"one"]


async def test_in_sync_sets_rest_while_the_session_is_in_doubt(connect_string, zookeeper, tmp_path):
    settings = {"zookeeper.session.timeout.ms": 4000}
    async with members(2, connect_string, tmp_path, **settings) as brokers:
        topic_partition = await a_topic(brokers, replication=2)
        await until(lambda: in_sync(brokers, topic_partition) == {1, 2})
        zookeeper.pause()
        try:
            await asyncio.sleep(1.5)  # longer than an ISR change would need, shorter than a session
            await produce(brokers, b"without ZooKeeper")
            assert in_sync(brokers, topic_partition) == {1, 2}
        finally:
            zookeeper.resume()
        await until(lambda: all(b.tree.state.value == "connected" for b in brokers))
        await produce(brokers, b"with it again")
        assert await values(brokers) == [b"without ZooKeeper", b"with it again"]


async def a_topic(brokers, replication=3):
    services = brokers[0].services
    await services.topics.create(TopicSpec("t", 1, replication))
    topic_partition = TopicPartition("t", 0)
    await until(lambda: all(b.services.metadata.partition(topic_partition) for b in brokers))
    return topic_partition


def leader_of(brokers, topic_partition):
    led = [
        b for b in brokers if (p := b.services.replicas.partition(topic_partition)) and p.is_leader
    ]
    assert len(led) == 1
    return led[0]


def new_leader(brokers, topic_partition, epoch):
    partitions = [b.services.replicas.partition(topic_partition) for b in brokers]
    return any(p.is_leader and p.leader_epoch > epoch for p in partitions)


def in_sync(brokers, topic_partition):
    return set(leader_of(brokers, topic_partition).services.replicas.partition(topic_partition).isr)


def reigning_epoch(brokers):
    controllers = [b.services.cluster.controller for b in brokers]
    return max((c.controller_epoch for c in controllers if c.is_active), default=-1)


def is_known_everywhere(brokers, broker_id):
    return all(b.services.metadata.is_alive(broker_id) for b in brokers)


async def produce(brokers, value):
    servers = ",".join(b.address for b in brokers)

    def send():  # a producer id would come from ZooKeeper
        with Producer({"bootstrap.servers": servers, "enable.idempotence": False}) as producer:
            producer.send("t", value).result(60)

    await asyncio.to_thread(send)


async def values(brokers):
    def read():
        servers = ",".join(b.address for b in brokers)
        with SimpleConsumer({"bootstrap.servers": servers}) as consumer:
            end, position, found = consumer.latest_offset("t", 0), 0, []
            while position < end:
                records, position = consumer.fetch("t", 0, position).decode()
                found += [record.value for record in records]
            return found

    return await asyncio.to_thread(read)
