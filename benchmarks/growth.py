"""Costs of one broker by its number of partitions and connections: do they grow linearly?

    python -m benchmarks growth

`BARNABAS_BENCH_PARTITIONS=1,1000,20000` and `BARNABAS_BENCH_CONNECTIONS=1,1000,10000` set the
steps. Each step starts a new broker, creates topics of 100 partitions, writes one record to each
partition, and measures: creation, metadata of all topics, memory, idle CPU, clean stop, start after
it, and start after a kill. Connections send one ApiVersions request and then stay idle.

Costs are seconds of the clock and CPU seconds of the broker; the latter are comparable on a busy
machine. The exponent of a cost is the slope of its curve on logarithmic axes over the steps from
`CURVE_FROM` on, where the fixed part of a start no longer counts: 1 is linear growth.
"""

import math
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import linear_regression
from typing import NamedTuple

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas import Producer
from benchmarks.broker_process import wait_for_address
from benchmarks.report import Report

PARTITIONS = os.environ.get("BARNABAS_BENCH_PARTITIONS", "1,100,1000,5000,10000,20000")
CONNECTIONS = os.environ.get("BARNABAS_BENCH_CONNECTIONS", "1,100,1000,5000,10000")
CURVE_FROM = 1000
MAX_EXPONENT = 1.1
PER_TOPIC = 100
TOPICS_PER_REQUEST = 10
IDLE_SECONDS = 3.0
TIMEOUT = 300
API_VERSIONS_V0 = struct.pack(">ihhih", 10, 18, 0, 1, -1)


class Cost(NamedTuple):
    """One cost of a broker with a given number of partitions or connections."""

    name: str
    value: float
    unit: str


Curves = dict[str, list[tuple[float, float]]]


class Server:
    """A broker process on a data directory that outlives it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._child: subprocess.Popen[str] | None = None
        self.address = ""

    @property
    def process(self) -> psutil.Process:
        assert self._child is not None
        return psutil.Process(self._child.pid)

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def start(self) -> float:
        """Seconds until it listens."""
        began = time.perf_counter()
        command = [sys.executable, "-m", "barnabas.cli.main", "up", "--port", "0"]
        self._child = subprocess.Popen(
            [*command, "--data-dir", str(self._directory), "-X", "min.insync.replicas=1"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = wait_for_address(self._child)
        return time.perf_counter() - began

    def stop(self, how: signal.Signals = signal.SIGTERM) -> float:
        """Seconds until the process has ended."""
        assert self._child is not None
        began = time.perf_counter()
        self._child.send_signal(how)
        self._child.wait(TIMEOUT)
        return time.perf_counter() - began

    def idle_cpu(self) -> float:
        """Share of a core that an idle broker uses, without any request."""
        return float(self.process.cpu_percent(IDLE_SECONDS)) / 100

    def cpu_seconds(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def resident_kib(self) -> float:
        return float(self.process.memory_info().rss) / 1024


@contextmanager
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="barnabas-growth-") as directory:
        made = Server(Path(directory))
        made.start()
        try:
            yield made
        finally:
            if made.running:
                made.stop()


def run(report: Report) -> None:
    report.merge = True
    _raise_limit()
    for what, steps, measure in (
        ("partitions", PARTITIONS, _partitions),
        ("connections", CONNECTIONS, _connections),
    ):
        curves: Curves = {}
        for count in map(int, filter(None, steps.split(","))):
            for cost in measure(count):
                name = f"{count} {what}: {cost.name}"
                plot = f"growth: {what}, {cost.unit}"
                report.add(name, cost.value, cost.unit, plot=plot, series=cost.name, x=count)
                curves.setdefault(cost.name, []).append((count, cost.value))
        for name, points in curves.items():
            slope = exponent([point for point in points if point[0] >= CURVE_FROM])
            if slope is not None:
                report.add(f"{what}: {name}, exponent", slope, "", goal=f"<= {MAX_EXPONENT}")


def _raise_limit() -> None:
    """The connections of this process need descriptors too."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Meter:
    """Measures steps of one broker in seconds of the clock and of its CPU time."""

    def __init__(self, broker: Server) -> None:
        self._broker = broker
        self.costs: list[Cost] = []

    def timed(self, name: str, action: Callable[[], object]) -> None:
        """Measures an action of a client."""
        before = self._broker.cpu_seconds()
        self.costs.append(Cost(name, _timed(action), "s"))
        self.costs.append(Cost(f"{name}, CPU", self._broker.cpu_seconds() - before, "CPU s"))

    def started(self, name: str) -> None:
        self.costs.append(Cost(name, self._broker.start(), "s"))
        self.costs.append(Cost(f"{name}, CPU", self._broker.cpu_seconds(), "CPU s"))

    def stopped(self, name: str) -> None:
        self.costs.append(Cost(name, self._broker.stop(), "s"))


def _partitions(count: int) -> list[Cost]:
    with server() as broker:
        meter, empty_kib = Meter(broker), broker.resident_kib()
        meter.timed("create", lambda: _create(broker.address, count))
        meter.timed("write one record each", lambda: _write(broker.address, count))
        admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
        meter.timed("metadata", lambda: admin.list_topics(timeout=TIMEOUT))
        meter.costs.append(Cost("idle", broker.idle_cpu() * 100, "% of a core"))
        meter.costs.append(Cost("memory", broker.resident_kib() - empty_kib, "KiB"))
        meter.stopped("stop")
        meter.started("start after a stop")
        broker.stop(signal.SIGKILL)
        meter.started("start after a kill")
        meter.stopped("stop without writes")
    return meter.costs


def _create(address: str, count: int) -> None:
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    sizes = [PER_TOPIC] * (count // PER_TOPIC) + ([count % PER_TOPIC] if count % PER_TOPIC else [])
    topics = [NewTopic(f"growth-{n}", size, 1) for n, size in enumerate(sizes)]

    for start in range(0, len(topics), TOPICS_PER_REQUEST):
        made = admin.create_topics(
            topics[start : start + TOPICS_PER_REQUEST], request_timeout=TIMEOUT
        )
        for future in made.values():
            future.result(TIMEOUT)


def _write(address: str, count: int) -> None:
    # Our producer: librdkafka requests all its topics again for each new one, so the
    # requests of this step would contain a quadratic number of partitions.
    with Producer(bootstrap_servers=address, linger_ms=50) as producer:
        for number in range(count):
            topic, partition = divmod(number, PER_TOPIC)
            producer.send(f"growth-{topic}", b"value", partition=partition)


def _connections(count: int) -> list[Cost]:
    with server() as broker:
        meter, before = Meter(broker), broker.resident_kib()
        host, port = broker.address.rsplit(":", 1)
        opened: list[socket.socket] = []

        def connect() -> None:
            for _ in range(count):
                made = socket.create_connection((host, int(port)), TIMEOUT)
                made.sendall(API_VERSIONS_V0)
                made.recv(4096)
                opened.append(made)

        meter.timed("open and ask", connect)
        meter.costs.append(Cost("idle", broker.idle_cpu() * 100, "% of a core"))
        meter.costs.append(Cost("memory", broker.resident_kib() - before, "KiB"))
        meter.stopped("stop")
        for made in opened:
            made.close()
    return meter.costs


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of a cost on logarithmic axes, by least squares; None with fewer than two points.

    >>> round(exponent([(10, 5), (100, 50), (1000, 500)]), 3)
    1.0
    """
    usable = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(usable) < 2:
        return None
    return linear_regression(*zip(*usable, strict=True)).slope


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
