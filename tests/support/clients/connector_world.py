"""A metadata tree with brokers and topics in it, and connectors that share it in one process."""

import threading
import time
from collections import Counter
from contextlib import contextmanager

from barnabas.clients.connector import ConsumerConnector, ConsumerTimeoutError
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.control import Endpoint
from barnabas.model.ids import ReplicaAssignment, TopicPartition, Uuid
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import NodeExistsError
from barnabas.zk.znodes import BrokerNode, TopicNode

QUICK = {
    "zookeeper.connect": "embedded",
    "auto.offset.reset": "smallest",
    "rebalance.backoff.ms": 200,
    "rebalance.max.retries": 10,
    "refresh.leader.backoff.ms": 20,
    "consumer.timeout.ms": 300,
}


async def put_broker(tree, broker_id, host, port):
    await tree.ensure_path(paths.BROKER_IDS)
    node = BrokerNode((Endpoint("PLAINTEXT", host, port, "PLAINTEXT"),))
    await tree.create(paths.broker(broker_id), node.encode(), ephemeral=True)


async def put_topic(tree, name, partitions, broker_id=0):
    """Create or grow a topic's node."""
    await tree.ensure_path(paths.BROKER_TOPICS)
    places = {p: ReplicaAssignment((broker_id,)) for p in range(partitions)}
    data = TopicNode(Uuid(b"t" * 16), places).encode()
    try:
        await tree.create(paths.topic(name), data)
    except NodeExistsError:
        await tree.set(paths.topic(name), data)


class World:
    """One embedded tree on one loop; `connector` makes members, `trees` has their sessions."""

    def __init__(self):
        self.loop = LoopThread("test-world")
        self.trees = {}
        self.connectors = []
        self.store = self.run(self._open())
        self.admin = self.run(self._session())

    def run(self, coroutine):
        return self.loop.call(coroutine, 30)

    def serve(self, broker, *topics):
        """Register a testing broker, and topics with their numbers of partitions."""
        self.run(put_broker(self.admin, 0, broker.host, broker.port))
        for name, partitions in topics:
            self.run(put_topic(self.admin, name, partitions))

    def connector(self, name, group="g", *, enable_fetchers=True, **options):
        async def open_tree(settings):
            self.trees[name] = self.store.session()
            return self.trees[name]

        config = {**QUICK, "group.id": group, "consumer.id": name, **options}
        parts = {"open_tree": open_tree, "loop_thread": self.loop}
        made = ConsumerConnector(config, enable_fetchers=enable_fetchers, **parts)
        self.connectors.append(made)
        return made

    def owners(self, topic, group="g"):
        """Partition to thread id."""
        path = paths.consumer_owners(group, topic)

        async def read():
            names = await self.admin.children(path)
            return {int(n): (await self.admin.get(f"{path}/{n}"))[0].decode() for n in names}

        return self.run(read())

    def offset(self, topic, partition, group="g"):
        path = paths.consumer_offset(group, TopicPartition(topic, partition))
        return int(self.run(self.admin.get(path))[0])

    def close(self):
        for connector in self.connectors:
            connector.shutdown()
        self.run(self.store.close())
        self.loop.close()

    async def _open(self):
        return EmbeddedStore(SystemClock())

    async def _session(self):
        return self.store.session()


@contextmanager
def running_world():
    world = World()
    try:
        yield world
    finally:
        world.close()


def drain(stream):
    """All records until the stream has been quiet for consumer.timeout.ms."""
    found = []
    try:
        for record in stream:
            found.append(record)
    except ConsumerTimeoutError:
        pass
    return found


class Readers:
    """Threads that read streams until they end; counts the records."""

    def __init__(self):
        self.seen = Counter()
        self.errors = []
        self._lock = threading.Lock()
        self._threads = []

    def read(self, *streams):
        for stream in streams:
            thread = threading.Thread(target=self._run, args=(stream,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def join(self):
        for thread in self._threads:
            thread.join(20)
            assert not thread.is_alive()

    def _run(self, stream):
        while True:
            try:
                for record in stream:
                    with self._lock:
                        self.seen[record.topic, record.partition, record.offset] += 1
                return
            except ConsumerTimeoutError:
                continue
            except Exception as error:  # noqa: BLE001
                self.errors.append(error)
                return


def wait_until(condition, seconds=150.0):
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        pause.wait(0.01)
