"""`barnabas up --brokers N`: ZooKeeper and N brokers on this machine, in the foreground.

Each server is a separate process with data and log file below the data directory. Ctrl-C or
SIGTERM stops one broker after the other, then ZooKeeper; when this process is killed, the servers
are killed too. Settings that are not given have the broker's defaults, except those in
`_cluster_settings`.
"""

import asyncio
import queue
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from barnabas.broker.broker_process import START_SECONDS, BrokerEndedError, BrokerProcess
from barnabas.broker.http_server import parse_http_listener
from barnabas.cli.framework.options import locked_directory
from barnabas.model.errors import ConfigError, LocalError
from barnabas.runtime.closing import ClosesOnExit
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

_SESSION_MS = 6000
_CHECK_SECONDS = 0.5
_TICK_MS = 1000
_MAX_BROKERS = 100
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class LocalClusterConfig:
    """Brokers 1 to n listen on the ports from `port` on; 0 selects free ports.

    `log_options` are the options of the brokers for their log files; empty: text at INFO.
    """

    brokers: int
    host: str
    port: int
    data_dir: Path
    settings: Mapping[str, object]
    log_options: Sequence[str] = ()


class LocalCluster(ClosesOnExit):
    """The processes of a cluster; a context manager that starts and stops them."""

    def __init__(self, config: LocalClusterConfig) -> None:
        self._config = config
        self._settings = {**_cluster_settings(config.brokers), **config.settings}
        self._zookeeper = ZooKeeperServer(
            ServerConfig(config.data_dir / "zookeeper", tick_ms=_TICK_MS)
        )
        self._stack = ExitStack()
        self.brokers: list[BrokerProcess] = []

    @property
    def zookeeper_connect(self) -> str:
        return self._zookeeper.connect_string

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(lambda: asyncio.run(self._zookeeper.stop()))
            asyncio.run(self._zookeeper.start(START_SECONDS))
            self.brokers = [self._broker(number) for number in range(1, self._config.brokers + 1)]
            for broker in self.brokers:
                stack.callback(_kill, broker)
                broker.launch()
            for broker in self.brokers:
                broker.wait_until_ready()
            self._stack = stack.pop_all()
        return self

    def close(self) -> None:
        """Ends the processes of the brokers and of ZooKeeper."""
        self._stack.close()

    def stop_brokers(self) -> None:
        """Stops one broker after the other, each with a controlled shutdown."""
        for broker in self.brokers:
            if broker.running:
                broker.terminate()

    def _broker(self, number: int) -> BrokerProcess:
        config = self._config
        port = config.port + number - 1 if config.port else 0
        settings = {**self._settings, "zookeeper.connect": self.zookeeper_connect}
        http = str(settings.get("http.listener") or "")
        if http:
            http_host, http_port = parse_http_listener(http)
            each = http_port + number - 1 if http_port else 0
            settings["http.listener"] = f"{http_host}:{each}"
        broker = BrokerProcess(number, config.data_dir, settings, port, config.host)
        broker.log_options = [*config.log_options] or broker.log_options
        return broker


def run_cluster(
    config: LocalClusterConfig, started: Callable[[str, str], None] | None = None
) -> int:
    """Runs the cluster until a signal and returns the exit code.

    `started` is called with the addresses of the brokers and of ZooKeeper.
    """
    if config.brokers > _MAX_BROKERS:
        raise ConfigError(f"--brokers {config.brokers}: at most {_MAX_BROKERS} are supported")
    received: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: received.put(number))
    with locked_directory(config.data_dir):
        try:
            with LocalCluster(config) as cluster:
                last = _serve(cluster, received, started)
        except BrokerEndedError as error:
            raise LocalError(f"broker {error.broker_id}: {error.last_line}") from error
    return _INTERRUPTED if last == signal.SIGINT else 0


def _serve(
    cluster: LocalCluster,
    received: "queue.SimpleQueue[int]",
    started: Callable[[str, str], None] | None,
) -> int:
    """Prints the addresses, waits for a signal, stops the brokers and returns the signal."""
    sys.stdout.write(f"ZooKeeper on {cluster.zookeeper_connect}\n")
    sys.stdout.write(f"listening on {cluster.bootstrap_servers}\n")
    for broker in cluster.brokers:
        if broker.http_url is not None:
            sys.stdout.write(f"metrics at {broker.http_url}/metrics\n")
    sys.stdout.flush()
    if started is not None:
        started(cluster.bootstrap_servers, cluster.zookeeper_connect)
    last = _next_signal(cluster, received)
    cluster.stop_brokers()
    return last


def _next_signal(cluster: LocalCluster, received: "queue.SimpleQueue[int]") -> int:
    """Waits for a signal and reports each broker process that ends before it."""
    watched = list(cluster.brokers)
    while True:
        with suppress(queue.Empty):
            return received.get(timeout=_CHECK_SECONDS)
        for broker in [item for item in watched if not item.running]:
            watched.remove(broker)
            sys.stderr.write(
                f"barnabas up: broker {broker.broker_id} has ended; see {broker.log_file}\n"
            )


def _cluster_settings(brokers: int) -> dict[str, object]:
    """Returns the settings that differ from the defaults: replication and session timeout."""
    return {
        "zookeeper.session.timeout.ms": _SESSION_MS,
        "default.replication.factor": min(3, brokers),
        "min.insync.replicas": min(2, brokers),
    }


def _kill(broker: BrokerProcess) -> None:
    if broker.running:
        broker.kill()
