"""`barnabas up --brokers N`: a ZooKeeper and N brokers on this machine, in the foreground.

Each is a process of its own, as in a real cluster, with data and log file below the data
directory. Ctrl-C or SIGTERM stops the brokers in turn, then ZooKeeper.
"""

import queue
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from barnabas.cli.servers.data_dir import held
from barnabas.model.errors import ConfigError, LocalError
from barnabas.testing.broker_process import BrokerEndedError
from barnabas.testing.cluster import Cluster

_SESSION_MS = 6000
_INTERRUPTED = 130


def run_cluster(brokers: int, port: int, data_dir: Path, settings: Mapping[str, object]) -> int:
    """Serve until a signal; the exit code tells which."""
    if brokers > 100:
        raise ConfigError(f"--brokers {brokers}: one machine takes 100 at most")
    config = {
        "zookeeper.session.timeout.ms": _SESSION_MS,
        "default.replication.factor": min(3, brokers),
        "min.insync.replicas": min(2, brokers),
        "replica.lag.time.max.ms": 30_000,
        **settings,
    }
    received: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: received.put(number))
    with held(data_dir):
        try:
            with Cluster(brokers, config, data_dir=data_dir, port=port, tick_ms=1000) as cluster:
                last = _serve(cluster, received)
        except BrokerEndedError as error:
            raise LocalError(f"broker {error.broker_id}: {error.last_words}") from error
    return _INTERRUPTED if last == signal.SIGINT else 0


def _serve(cluster: Cluster, received: "queue.SimpleQueue[int]") -> int:
    """The signal that ended it."""
    sys.stdout.write(f"ZooKeeper on {cluster.zookeeper_connect}\n")
    sys.stdout.write(f"listening on {cluster.bootstrap_servers}\n")
    sys.stdout.flush()
    last = received.get()
    for broker_id in cluster.brokers:
        cluster.stop(broker_id)
    return last
