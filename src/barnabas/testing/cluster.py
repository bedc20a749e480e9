"""A cluster for tests: a real ZooKeeper and brokers in separate processes.

Every broker runs `barnabas broker` with a configuration file, so `kill` is a real crash and `stop`
is what an operator does. A broker keeps its port and data over restarts.

Without ZooKeeper the brokers are threads of the test process, which is faster and needs no Java.
They share an embedded metadata tree and the event loop of one thread, and communicate over sockets
as separate processes do. They can be stopped and started, but not killed.
"""

import asyncio
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from barnabas.broker.app import Broker
from barnabas.broker.broker_process import START_SECONDS, STOP_SECONDS, BrokerProcess
from barnabas.broker.config import BrokerConfig
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.runtime.child_process import free_port
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.closing import ClosesOnExit
from barnabas.testing.server import PRODUCE_SECONDS, KafkaServer
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

_Result = TypeVar("_Result")
_OPTIONS = ConnectionOptions("barnabas-testing", connect_timeout_s=5.0, request_timeout_s=5.0)
_POLL_SECONDS = 0.02
CLUSTER_DEFAULTS: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.num.partitions": 3,
    "zookeeper.session.timeout.ms": 2000,
    "default.replication.factor": 3,
    "min.insync.replicas": 2,
    "replica.lag.time.max.ms": 4000,
    "replica.fetch.backoff.ms": 200,
    "controlled.shutdown.retry.backoff.ms": 500,
}
"""Broker settings for tests: short sessions, small coordinator topics."""


class BrokerLoop:
    """The thread, event loop and metadata tree that the brokers share."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="barnabas-brokers", daemon=True
        )
        self._thread.start()
        self.store = EmbeddedStore(SystemClock())

    def run(self, work: Coroutine[Any, Any, _Result], timeout_s: float) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def close(self) -> None:
        self.run(self.store.close(), STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class BrokerInThread:
    """One broker with the interface of `BrokerProcess`; `kill` and `signal` raise LocalError."""

    def __init__(
        self, broker_id: int, directory: Path, settings: Mapping[str, object], loop: BrokerLoop
    ) -> None:
        self.broker_id = broker_id
        self.port = free_port()
        self.data_dir = directory / f"broker-{broker_id}"
        self.kills = 0
        self.settings = {
            "broker.id": broker_id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.data_dir),
            **settings,
        }
        self._loop = loop
        self._broker: Broker | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str | None:
        """Address of the HTTP endpoints; None if `http.listener` is not set or it is stopped."""
        return None if self._broker is None else self._broker.http_url

    @property
    def running(self) -> bool:
        return self._broker is not None

    def launch(self) -> None:
        self._broker = self._loop.run(self._start(), START_SECONDS)

    def wait_until_ready(self) -> None:
        """Does nothing: `launch` returns when the broker is ready."""

    def terminate(self) -> int:
        """Stops the broker by a controlled shutdown."""
        broker, self._broker = self._broker, None
        if broker is not None:
            self._loop.run(broker.stop(), STOP_SECONDS)
        return 0

    def kill(self) -> NoReturn:
        raise LocalError("a broker in a thread cannot be killed: use zookeeper=True")

    def signal(self, number: signal.Signals) -> NoReturn:
        raise LocalError("a broker in a thread gets no signals: use zookeeper=True")

    async def _start(self) -> Broker:
        broker = Broker(BrokerConfig.parse(self.settings), store=self._loop.store)
        await broker.start()
        return broker


def wait_until_known(address: str, topic: str, timeout_s: float) -> bool:
    """Waits until a broker has the leaders of a topic; returns False after a timeout or error."""
    host, _, port = address.rpartition(":")
    pause, deadline = threading.Event(), time.monotonic() + timeout_s
    try:
        connection = BlockingConnection.open(Address(host, int(port)), _OPTIONS)
    except BarnabasError:
        return False
    try:
        while not _has_topic(connection, topic):
            if time.monotonic() > deadline:
                return False
            pause.wait(_POLL_SECONDS)
        return True
    except BarnabasError:
        return False
    finally:
        connection.close()


def _has_topic(connection: BlockingConnection, topic: str) -> bool:
    requested = [MetadataRequestTopic(name=topic)]
    response = connection.send(MetadataRequest(requested, allow_auto_topic_creation=False))
    found = response.topics[0]
    return found.error_code == 0 and all(part.leader_id >= 0 for part in found.partitions)


class Cluster(KafkaServer, ClosesOnExit):
    """A cluster with brokers 1 to n; use it as a context manager.

    >>> with Cluster(brokers=3) as cluster:  # doctest: +SKIP
    ...     topic = cluster.topic(partitions=2)
    ...     cluster.kill(1)

    Args:
        brokers: number of brokers.
        config: broker settings by Kafka's names, for example `{"min.insync.replicas": 1}`.
        data_dir: keep data and process logs in this directory (default: temporary).
        port: port of the first broker; the others use the following ports (0: free ports).
        zookeeper: False runs the brokers in this process on an embedded metadata tree, without
            Java; they cannot be killed.
        tick_ms: ZooKeeper's tick time.
    """

    def __init__(
        self,
        brokers: int = 3,
        config: Mapping[str, object] | None = None,
        *,
        data_dir: Path | str | None = None,
        port: int = 0,
        zookeeper: bool = True,
        tick_ms: int = 250,
    ) -> None:
        super().__init__()
        self._temporary = data_dir is None
        self.data_dir = Path(tempfile.mkdtemp(prefix="barnabas-") if data_dir is None else data_dir)
        self._loop = asyncio.new_event_loop()
        self._tick_ms = tick_ms
        self._with_zookeeper = zookeeper
        self._zookeeper: ZooKeeperServer | None = None
        self._threads: BrokerLoop | None = None
        self._config = {**CLUSTER_DEFAULTS, **(config or {})}
        self._count = brokers
        self._first_port = port
        self.brokers: dict[int, BrokerProcess | BrokerInThread] = {}

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers.values())

    @property
    def zookeeper(self) -> ZooKeeperServer:
        """The running ZooKeeper server."""
        if self._zookeeper is None:
            raise LocalError("ZooKeeper is not running in this cluster")
        return self._zookeeper

    @property
    def zookeeper_connect(self) -> str:
        """The value for `zookeeper.connect`."""
        return self.zookeeper.connect_string

    # -- start and stop ------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            self._start_tree()
            for number in range(1, self._count + 1):
                self.brokers[number] = self.make_broker(number)
            for broker in self.brokers.values():
                broker.launch()
            for broker in self.brokers.values():
                broker.wait_until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def _start_tree(self) -> None:
        if self._with_zookeeper:
            server = ZooKeeperServer(
                ServerConfig(self.data_dir / "zookeeper", tick_ms=self._tick_ms, short_life=True)
            )
            self._loop.run_until_complete(server.start(START_SECONDS))
            self._zookeeper = server
        else:
            self._threads = BrokerLoop()

    def make_broker(self, number: int) -> BrokerProcess | BrokerInThread:
        """Creates a broker without starting it; a subclass may change its settings."""
        if self._threads is not None:
            return BrokerInThread(number, self.data_dir, self._config, self._threads)
        settings = {**self._config, "zookeeper.connect": self.zookeeper_connect}
        port = self._first_port + number - 1 if self._first_port else 0
        return BrokerProcess(number, self.data_dir, settings, port)

    def close(self) -> None:
        """Stops all processes and removes a temporary directory."""
        self.close_clients()
        for broker in self.brokers.values():
            if broker.running:
                broker.terminate() if self._threads else broker.kill()
        if self._threads is not None:
            self._threads.close()
        if self._zookeeper is not None:
            self._loop.run_until_complete(self._zookeeper.stop())
        self._loop.close()
        if self._temporary:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    def _wait_for(self, topic: str, partitions: int) -> None:
        super()._wait_for(topic, partitions)
        self.wait_until_known(topic)

    def wait_until_known(self, topic: str) -> bool:
        """Waits until every running broker has the metadata of a topic; returns False after a
        timeout.
        """
        running = [broker.address for broker in self.brokers.values() if broker.running]
        known = [wait_until_known(address, topic, PRODUCE_SECONDS) for address in running]
        return all(known)

    # -- single brokers ------------------------------------------------------------------------

    def kill(self, broker_id: int) -> None:
        """Kills a broker with SIGKILL."""
        self.brokers[broker_id].kill()

    def stop(self, broker_id: int) -> int:
        """Stops a broker by a controlled shutdown (SIGTERM) and returns its exit code."""
        return self.brokers[broker_id].terminate()

    def start(self, broker_id: int) -> None:
        """Starts a broker again on the same port and data, and waits until it is ready."""
        self.brokers[broker_id].launch()
        self.brokers[broker_id].wait_until_ready()

    def pause(self, broker_id: int) -> None:
        """Pauses a broker with SIGSTOP; its connections stay open."""
        self.brokers[broker_id].signal(signal.SIGSTOP)

    def resume(self, broker_id: int) -> None:
        """Continues a paused broker with SIGCONT."""
        self.brokers[broker_id].signal(signal.SIGCONT)
