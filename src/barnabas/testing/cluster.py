"""A cluster for tests: a real ZooKeeper and brokers in processes of their own, to be mistreated.

Every broker is `barnabas broker` with a configuration file, so killing one is what a crash is, and
stopping one is what an operator does. Ports and data of a broker stay over its restarts.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from barnabas.model.errors import DeadlineError, LocalError
from barnabas.testing.server import KafkaServer
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

START_SECONDS = 60.0
STOP_SECONDS = 30.0

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
"""What tests want: sessions that end soon, and small coordinator topics."""


class BrokerProcess:
    """One broker of a cluster; `kills` counts the real kills."""

    def __init__(
        self, broker_id: int, directory: Path, settings: Mapping[str, object], port: int = 0
    ) -> None:
        self.broker_id = broker_id
        self.port = port or free_port()
        self.data_dir = directory / f"broker-{broker_id}"
        self.log_file = directory / f"broker-{broker_id}.log"
        self.kills = 0
        self._config = directory / f"broker-{broker_id}.properties"
        self.settings = {
            "broker.id": broker_id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.data_dir),
            **settings,
        }
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Start the process; `wait_until_ready` waits for the broker in it."""
        lines = [f"{key}={value}\n" for key, value in self.settings.items()]
        self._config.write_text("".join(lines))
        command = [sys.executable, "-m", "barnabas.cli.main", "broker"]
        command += ["--config", str(self._config), "--log-level", "INFO"]
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is for us, who then stop them in turn
            )

    def wait_until_ready(self) -> None:
        process = self._running_process()
        assert process.stdout is not None
        guard = threading.Timer(START_SECONDS, process.kill)
        guard.start()
        try:
            for line in process.stdout:
                if "listening on" in line:
                    return
        finally:
            guard.cancel()
        tail = self.log_file.read_text(errors="replace")[-2000:]
        raise DeadlineError(f"broker {self.broker_id} ended with {process.wait()}:\n{tail}")

    def kill(self) -> None:
        """SIGKILL: no hand-over, no clean logs, a session that has to expire."""
        process = self._running_process()
        process.kill()
        process.wait()
        self._close()
        self.kills += 1

    def terminate(self) -> int:
        """SIGTERM and wait: leaders move first. Returns the exit code."""
        process = self._running_process()
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        self._close()
        return code

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._running_process().pid, number)

    def _running_process(self) -> "subprocess.Popen[str]":
        if self._process is None:
            raise LocalError(f"broker {self.broker_id} is not running")
        return self._process

    def _close(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None


class Cluster(KafkaServer):
    """Brokers 1 to n on one ZooKeeper; use it as a context manager.

    Broker settings go by Kafka's names: `Cluster(3, {"min.insync.replicas": 1})`. With
    `data_dir` everything, the logs of the processes included, stays after the cluster stopped.
    The brokers take the ports from `port` on, or free ones.
    """

    def __init__(
        self,
        brokers: int = 3,
        config: Mapping[str, object] | None = None,
        *,
        data_dir: Path | str | None = None,
        port: int = 0,
        tick_ms: int = 250,
    ) -> None:
        super().__init__()
        self._temporary = data_dir is None
        self.data_dir = Path(tempfile.mkdtemp(prefix="barnabas-") if data_dir is None else data_dir)
        self._loop = asyncio.new_event_loop()
        self.zookeeper = ZooKeeperServer(ServerConfig(self.data_dir / "zookeeper", tick_ms=tick_ms))
        self._config = {**CLUSTER_DEFAULTS, **(config or {})}
        self._count = brokers
        self._first_port = port
        self.brokers: dict[int, BrokerProcess] = {}

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers.values())

    @property
    def zookeeper_connect(self) -> str:
        """What `zookeeper.connect` wants."""
        return self.zookeeper.connect_string

    # -- life ----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            self._loop.run_until_complete(self.zookeeper.start(START_SECONDS))
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

    def make_broker(self, number: int) -> BrokerProcess:
        """A broker that is yet to be started; a subclass may change its settings."""
        settings = {**self._config, "zookeeper.connect": self.zookeeper_connect}
        port = self._first_port + number - 1 if self._first_port else 0
        return BrokerProcess(number, self.data_dir, settings, port)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process; a temporary directory goes with them."""
        self.close_clients()
        for broker in self.brokers.values():
            if broker.running:
                broker.kill()
        self._loop.run_until_complete(self.zookeeper.stop())
        self._loop.close()
        if self._temporary:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    # -- what may happen to a broker -----------------------------------------------------------

    def kill(self, broker_id: int) -> None:
        """SIGKILL."""
        self.brokers[broker_id].kill()

    def stop(self, broker_id: int) -> int:
        """SIGTERM, a controlled shutdown; the exit code."""
        return self.brokers[broker_id].terminate()

    def start(self, broker_id: int) -> None:
        """Start again on the same port and data, and wait until it serves."""
        self.brokers[broker_id].launch()
        self.brokers[broker_id].wait_until_ready()

    def pause(self, broker_id: int) -> None:
        """SIGSTOP: the process hangs, its connections stay."""
        self.brokers[broker_id].signal(signal.SIGSTOP)

    def resume(self, broker_id: int) -> None:
        """SIGCONT."""
        self.brokers[broker_id].signal(signal.SIGCONT)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
