"""The ZooKeeper high-level consumer where it belongs: a real ZooKeeper and three brokers."""

import contextlib
import itertools
import threading

import pytest
from support.clients.connector_world import Readers, wait_until
from support.cluster.zookeeper import expire_session
from support.soak import SOAK

from barnabas.clients.connector import ConsumerConnector
from barnabas.clients.producer import Producer

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("cluster"),
]

TURNS = 50 if SOAK else 15


class Group:
    """Members of one group, with threads that read their streams."""

    def __init__(self, cluster, topic, streams=2):
        self.cluster = cluster
        self.topic = topic
        self.streams = streams
        self.readers = Readers()
        self.members = {}
        self._numbers = itertools.count()

    def join(self):
        name = f"C{next(self._numbers)}"
        connector = ConsumerConnector(
            {
                "zookeeper.connect": self.cluster.zookeeper_connect,
                "zookeeper.session.timeout.ms": 4000,
                "group.id": self.topic,
                "consumer.id": name,
                "auto.offset.reset": "smallest",
                "rebalance.backoff.ms": 1000,
                "rebalance.max.retries": 20,
            }
        )
        self.members[name] = connector
        self.readers.read(*connector.create_message_streams({self.topic: self.streams})[self.topic])

    def leave(self):
        self.members.pop(min(self.members)).shutdown()

    def expire_one(self):
        """Ends a session on the server's side."""
        connector = next(iter(self.members.values()))
        tree, rebalancer = connector._core._tree, connector._core.rebalancer
        session_id, completed = tree.session_id, rebalancer.completed
        connector._loop.call(expire_session(tree, self.cluster.zookeeper_connect), 70)
        wait_until(lambda: tree.session_id != session_id and rebalancer.completed > completed)

    def wait_for_owners(self, partitions):
        """Every partition has one owner, and all members agree."""

        def shared():
            owned = [
                topic_partition
                for m in self.members.values()
                for topic_partition in m.owned_partitions()
            ]
            return len(owned) == len(set(owned)) == partitions

        wait_until(shared, 60)

    def close(self):
        for member in self.members.values():
            member.shutdown()
        self.readers.join()


@contextlib.contextmanager
def load(cluster, topic, partitions):
    """Produces to every partition all the time; yields the list of acknowledged records."""
    stop, sent, futures = threading.Event(), [], []
    with Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}) as producer:

        def run():
            for number in itertools.count():
                if stop.wait(0.002):
                    return
                futures.append(producer.send(topic, b"x", partition=number % partitions[0]))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield sent
        finally:
            stop.set()
            thread.join()
            for future in futures:
                metadata = future.result(30)
                sent.append((topic, metadata.partition, metadata.offset))


@pytest.fixture
def topic(cluster, topic_name):
    return cluster.topic(topic_name, partitions=6)


@pytest.fixture
def group(cluster, topic):
    made = Group(cluster, topic)
    yield made
    made.close()


def test_clean_rebalances_under_load_show_every_record_once(cluster, topic, group):
    with load(cluster, topic, [6]) as sent:
        for turn in range(TURNS):
            if turn % 3 == 2 or len(group.members) > 3:
                group.leave()
            else:
                group.join()
            group.wait_for_owners(6)
    wait_until(lambda: set(sent) <= set(group.readers.seen))
    assert group.readers.errors == []
    assert len(sent) > TURNS
    assert [
        topic_partition for topic_partition, times in group.readers.seen.items() if times > 1
    ] == []


def test_growth_lost_sessions_and_a_dead_leader_lose_nothing(cluster, topic, group):
    partitions = [6]
    with load(cluster, topic, partitions) as sent:
        group.join()
        group.join()
        group.wait_for_owners(6)
        cluster.admin.create_partitions({topic: 8})
        group.wait_for_owners(8)
        partitions[0] = 8
        group.expire_one()
        group.wait_for_owners(8)
        leader = cluster.admin.describe_topics([topic]).ok[topic].partitions[0].leader
        cluster.kill(leader)
        before = len(group.readers.seen)
        wait_until(lambda: len(group.readers.seen) > before + 500)
        cluster.start(leader)
    wait_until(lambda: set(sent) <= set(group.readers.seen))
    assert group.readers.errors == []
