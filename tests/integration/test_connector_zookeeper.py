"""Groups of the high-level consumer on a real ZooKeeper alone: restarts, and many members."""

import json
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.clients.connector_world import Readers, put_topic, wait_until

from barnabas.clients.connector import ConsumerConnector
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.control import Endpoint
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.kazoo_tree import connect
from barnabas.zk.znodes import BrokerNode
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


async def furnish(hosts, broker, topic, partitions):
    """A broker and a topic in the tree as persistent nodes, which no session deletes."""
    tree = await connect(hosts)
    await tree.ensure_path(paths.BROKER_IDS)
    node = BrokerNode((Endpoint("PLAINTEXT", broker.host, broker.port, "PLAINTEXT"),))
    await tree.create(paths.broker(0), node.encode())
    await put_topic(tree, topic, partitions)
    await tree.close()


def config(hosts, name, **options):
    return {
        "zookeeper.connect": hosts,
        "group.id": "g",
        "consumer.id": name,
        "auto.offset.reset": "smallest",
        "rebalance.max.retries": 20,
        **options,
    }


@pytest.fixture
def loop():
    made = LoopThread("test-connector-zookeeper")
    yield made
    made.close()


def test_zookeeper_restarts_and_the_group_goes_on(broker, loop, topic_name, tmp_path):
    broker.topic(topic_name, partitions=4)
    server = ZooKeeperServer(ServerConfig(tmp_path, tick_ms=250))
    loop.call(server.start(), 60)
    hosts, readers = server.connect_string, Readers()
    loop.call(furnish(hosts, broker, topic_name, 4))
    options = {"zookeeper.session.timeout.ms": 2000, "rebalance.backoff.ms": 300}
    members = [ConsumerConnector(config(hosts, f"C{n}", **options)) for n in range(2)]
    try:
        for member in members:
            readers.read(*member.create_message_streams({topic_name: 1})[topic_name])
        broker.produce(topic_name, *map(str, range(40)))
        wait_until(lambda: len(readers.seen) == 40)
        loop.call(server.stop(), 60)
        broker.produce(topic_name, *map(str, range(40)))
        wait_until(lambda: len(readers.seen) == 80)
        loop.call(server.start(), 60)
        wait_until(lambda: {len(m.owned_partitions()) for m in members} == {2}, 60)
        broker.produce(topic_name, *map(str, range(40)))
        wait_until(lambda: len(readers.seen) == 120, 60)
    finally:
        for member in members:
            member.shutdown()
        loop.call(server.stop(), 60)
    readers.join()
    assert readers.errors == []


def test_sixteen_consumers_over_512_partitions_rebalance_in_little_time(
    broker, zookeeper, loop, topic_name
):
    hosts = f"{zookeeper.connect_string}/{uuid.uuid4().hex}"
    loop.call(furnish(hosts, broker, topic_name, 512))
    members = [ConsumerConnector(config(hosts, f"C{n:02}"), loop_thread=loop) for n in range(17)]
    last = members.pop()
    try:
        with ThreadPoolExecutor(len(members)) as together:
            list(together.map(lambda m: m.create_message_streams({topic_name: 1}), members))
        wait_until(lambda: {len(m.owned_partitions()) for m in members} == {32}, 60)
        started = time.process_time()
        last.create_message_streams({topic_name: 1})
        everyone = [*members, last]
        wait_until(lambda: sorted({len(m.owned_partitions()) for m in everyone}) == [30, 31])
        joined = time.process_time()
        last.shutdown()
        wait_until(lambda: {len(m.owned_partitions()) for m in members} == {32})
        # CPU time of all members: a busy machine takes longer by the clock.
        assert joined - started < 5
        assert time.process_time() - joined < 5
    finally:
        for member in [*members, last]:
            member.shutdown()


def test_a_consumer_that_was_killed_comes_back_under_its_name(broker, zookeeper, loop, topic_name):
    """Its registration and ownership outlive it by the session's time-out."""
    broker.topic(topic_name)
    broker.produce(topic_name, "1")
    hosts = f"{zookeeper.connect_string}/{uuid.uuid4().hex}"
    loop.call(furnish(hosts, broker, topic_name, 1))
    options = {"zookeeper.session.timeout.ms": 1000, "consumer.timeout.ms": 10_000}
    settings = config(hosts, "C1", **options)
    with subprocess.Popen(
        [sys.executable, "-c", VICTIM, json.dumps(settings), topic_name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as victim:
        assert victim.stdout.readline() == b"owns 1\n"
        victim.kill()
    with ConsumerConnector(settings) as heir:
        [stream] = heir.create_message_streams({topic_name: 1})[topic_name]
        assert next(stream).value == b"1"


VICTIM = """
import json, sys
from barnabas import ConsumerConnector
connector = ConsumerConnector(json.loads(sys.argv[1]))
connector.create_message_streams({sys.argv[2]: 1})
print("owns", len(connector.owned_partitions()), flush=True)
sys.stdin.read()
"""


CONSUME_AND_EXIT = """
import sys
from barnabas.clients.connector import ConsumerConnector

config = {"zookeeper.connect": sys.argv[1], "group.id": sys.argv[3], "consumer.id": "C1"}
connector = ConsumerConnector({**config, "auto.offset.reset": "smallest"})
[stream] = connector.create_message_streams({sys.argv[2]: 1})[sys.argv[2]]
for _ in range(5):
    next(stream)
"""


@pytest.mark.parametrize(
    ("ending", "committed"),
    [
        ("", 5),
        ("sys.exit(3)", 5),
        # The record in progress is read again.
        ("raise ValueError('a mistake')", 4),
        ("with connector: raise ValueError('a mistake')", 4),
        ("with connector: raise KeyboardInterrupt", 4),
    ],
)
def test_a_connector_that_is_never_shut_down_leaves_at_exit(
    broker, loop, zookeeper, topic_name, ending, committed
):
    """Its session ends with the program, long before zookeeper.session.timeout.ms."""
    chroot = f"{zookeeper.connect_string}/{topic_name}"
    broker.topic(topic_name, partitions=1)
    loop.call(furnish(chroot, broker, topic_name, 1))
    broker.produce(topic_name, *[f"{number}" for number in range(10)])
    done = subprocess.run(
        [sys.executable, "-c", CONSUME_AND_EXIT + ending, chroot, topic_name, "g"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ("Traceback" in done.stderr) == ("raise" in ending), done.stderr

    async def left():
        tree = await connect(chroot)
        try:
            ids = await tree.children(paths.consumer_ids("g"))
            owners = await tree.children(paths.consumer_owners("g", topic_name))
            path = paths.consumer_offset("g", TopicPartition(topic_name, 0))
            stored = await tree.get(path) if await tree.exists(path) else None
            return list(ids), list(owners), stored and int(stored[0])
        finally:
            await tree.close()

    assert loop.call(left()) == ([], [], committed)
