"""Three brokers and three ZooKeeper servers, each on a separate host in a network namespace."""

import socket
import subprocess
import sys
from pathlib import Path

from support.cluster.workload import wait_until
from support.faults import faulty_broker
from support.faults.network_namespaces import Network

from barnabas.broker.broker_process import BrokerProcess
from barnabas.runtime.child_process import spawn
from barnabas.runtime.java import find_java
from barnabas.testing.cluster import Cluster
from barnabas.zk.zookeeper_server import ServerConfig, find_jars

BROKERS = (1, 2, 3)
PORT = 9092
_CLIENT, _QUORUM, _ELECTION = 2181, 2888, 3888


class Keeper:
    """One member of the ZooKeeper ensemble."""

    def __init__(self, number, network, directory, tick_ms):
        self.host = f"z{number}"
        self.address = network.address(self.host)
        self.connect_string = f"{self.address}:{_CLIENT}"
        self._directory = directory / f"zookeeper-{number}"
        self._prefix = network.command(self.host)
        self._process = None
        members = {
            n: f"{network.address(f'z{n}')}:{_QUORUM}:{_ELECTION}"
            for n in range(1, len(BROKERS) + 1)
        }
        self._config = ServerConfig(
            self._directory,
            _CLIENT,
            self.address,
            tick_ms,
            server_id=number,
            members=members,
        )

    def start(self):
        self._directory.mkdir(parents=True, exist_ok=True)
        (self._directory / "myid").write_text(f"{self._config.server_id}\n")
        config_file = self._directory / "zoo.cfg"
        config_file.write_text(self._config.render(_CLIENT))
        java = [find_java("ZooKeeper"), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        command = [*self._prefix, *java, "-cp", f"{find_jars()}/*", main, str(config_file)]
        with (self._directory / "zookeeper.log").open("ab") as log:
            self._process = spawn(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def mode(self):
        """Returns `leader`, `follower`, or an empty string while it serves no client."""
        answer = b""
        try:
            with socket.create_connection((self.address, _CLIENT), 1) as connection:
                connection.sendall(b"srvr")
                while data := connection.recv(1 << 12):
                    answer += data
        except OSError:
            return ""
        modes = [line for line in answer.decode().splitlines() if line.startswith("Mode: ")]
        return modes[0].removeprefix("Mode: ") if modes else ""

    def wait_until_serving(self):
        wait_until(lambda: self.mode, what=f"{self.host} serves")


class NamespaceCluster(Cluster):
    """`network` cuts links between the hosts "b1".."b3" and "z1".."z3".

    Every broker has two log directories; `set_faults` makes its disk or clock fail.
    """

    def __init__(self, config, data_dir, tick_ms=250):
        super().__init__(len(BROKERS), config, data_dir=data_dir, tick_ms=tick_ms)
        hosts = [f"{kind}{number}" for kind in "bz" for number in BROKERS]
        self.network = Network(hosts)
        self.keepers = []

    @property
    def zookeeper_connect(self):
        return ",".join(keeper.connect_string for keeper in self.keepers)

    def _start_tree(self):
        self.network.__enter__()
        self.keepers += [
            Keeper(number, self.network, self.data_dir, self._tick_ms) for number in BROKERS
        ]
        for keeper in self.keepers:
            keeper.start()
        for keeper in self.keepers:
            keeper.wait_until_serving()

    def make_broker(self, number):
        host = f"b{number}"
        folder = self.data_dir / f"broker-{number}"
        settings = {
            **self._config,
            "zookeeper.connect": self.zookeeper_connect,
            "log.dirs": f"{folder}/one,{folder}/two",
        }
        broker = BrokerProcess(number, self.data_dir, settings, PORT, self.network.address(host))
        script = Path(faulty_broker.__file__)
        command = [*self.network.command(host), sys.executable, str(script)]
        broker.program = [*command, str(self._control_file(number))]
        self.set_faults(number)
        return broker

    def _control_file(self, number):
        return self.data_dir / f"faults-{number}.json"

    def set_faults(self, number, **changes):
        """See `faulty_broker`; without changes the broker is healthy."""
        faulty_broker.set_faults(self._control_file(number), **changes)

    def faults_in_force(self, number):
        """Whether the broker runs with the faults that were set last."""
        control = self._control_file(number)
        seen = faulty_broker.seen_file(control)
        return seen.exists() and seen.read_text() == control.read_text()

    def close(self):
        super().close()
        for keeper in self.keepers:
            keeper.kill()
        self.network.close()

    def log_text(self, number):
        return self.brokers[number].log_file.read_text(errors="replace")
