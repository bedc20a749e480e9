"""Cost of the metrics: a broker that is scraped every second beside one without HTTP endpoint.

    python -m benchmarks metrics_cost

Both brokers run at the same time. Turns of a second follow one another in the order A B B A, and a
figure is the median of the ratios of the pairs, with a 95 % interval by resampling: single turns
scatter by more than the cost. `BARNABAS_BENCH_PAIRS` sets the number of pairs; 0 leaves them out.

The load is that of `raw_driver`, in this process: requests of one record on 20 connections (for
throughput and the broker's CPU time per request) and on one (for latency), so the broker is the
limit. The scraper is a process of its own with the lowest priority that only reads bytes: parsing
is the cost of Prometheus, not of the broker. Each turn of a second contains one scrape. Both
brokers record metrics: Kafka cannot switch that off either.

The last part measures how long a scrape of `BARNABAS_BENCH_SCRAPED` partitions holds the event loop
at most; 0 leaves it out.
"""

import asyncio
import gc
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from barnabas.broker.broker_process import BrokerProcess, free_port
from barnabas.testing import Broker
from benchmarks.raw_driver import Peer, RepeatedRequest, make_topic, produce_frame
from benchmarks.report import Report

PAIRS = int(os.environ.get("BARNABAS_BENCH_PAIRS", "30"))
SCRAPED = int(os.environ.get("BARNABAS_BENCH_SCRAPED", "10000"))
CONNECTIONS = 20
TURN_S = 1.0
WARM_UP_S = 3.0
RECORD_BYTES = 100
_SCRAPES = 3
_RESAMPLES = 2000
_NEW_OBJECTS_BEFORE_COLLECTION = 50_000
"""As the server commands set it."""

SCRAPER = """
import os, socket, sys
os.nice(19)
port = int(sys.argv[1])
for _ in iter(sys.stdin.readline, ""):
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(b"GET /metrics HTTP/1.0\\r\\nAccept: application/openmetrics-text;"
                     b"version=1.0.0\\r\\n\\r\\n")
        while peer.recv(1 << 20):
            pass
"""
"""Reads the metrics once for each line of its input."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of a turn of one broker."""

    rate: float
    cpu_us: float
    p50_us: float
    p99_us: float


MEASURES = (
    ("requests on 20 connections", "1/s", "rate", ">= 0.98"),
    ("broker CPU per request", "us", "cpu_us", "<= 1.02"),
    ("synchronous request, p50", "us", "p50_us", "<= 1.02"),
    ("synchronous request, p99", "us", "p99_us", "<= 1.02"),
)


def run(report: Report) -> None:
    if PAIRS:
        compare(report, PAIRS)
    if SCRAPED:
        blocked_by_scrape(report, SCRAPED)


class Measured:
    """A broker under load, with a scraper if it serves metrics."""

    def __init__(self, process: BrokerProcess, port: int | None) -> None:
        frame = produce_frame("load", 1, RECORD_BYTES)
        self._pid = process.pid
        self._peer = Peer(process.address)
        make_topic(self._peer, "load")
        self._load = RepeatedRequest(process.address, frame, CONNECTIONS)
        self._frame = frame
        self._scraper: subprocess.Popen[str] | None = None
        if port is not None:
            command = [sys.executable, "-c", SCRAPER, str(port)]
            self._scraper = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)

    def turn(self, seconds: float = TURN_S) -> Turn:
        self._scrape()
        cpu, begin = _cpu_ns(self._pid), time.perf_counter()
        served = self._load.run(seconds)
        took = time.perf_counter() - begin
        cpu = _cpu_ns(self._pid) - cpu
        self._load.drain()
        self._scrape()
        found = self._latencies(seconds)
        p50, p99 = (found[int(len(found) * share)] for share in (0.5, 0.99))
        return Turn(served / took, cpu / served / 1000, p50 * 1e6, p99 * 1e6)

    def close(self) -> None:
        if self._scraper is not None:
            self._scraper.communicate()  # ends with its input

    def _scrape(self) -> None:
        if self._scraper is not None and self._scraper.stdin is not None:
            self._scraper.stdin.write("\n")
            self._scraper.stdin.flush()

    def _latencies(self, seconds: float) -> list[float]:
        """Returns the sorted times of requests that follow one another."""
        found, clock, end = [], time.perf_counter, time.perf_counter() + seconds
        began = clock()
        while began < end:
            self._peer.send(self._frame)
            self._peer.receive()
            now = clock()
            found.append(now - began)
            began = now
        return sorted(found)


def _cpu_ns(pid: int) -> int:
    """CPU time of all threads in nanoseconds; the usual source counts in steps of 10 ms."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


@contextmanager
def broker(*, http: bool) -> Iterator[Measured]:
    port = free_port() if http else None
    settings: dict[str, object] = {"log.segment.bytes": 100_000_000, "log.retention.bytes": 10**8}
    if http:
        settings["http.listener"] = f"127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        process = BrokerProcess(1, Path(directory), settings, 0, "127.0.0.1")
        process.launch()
        process.wait_until_ready()
        measured = Measured(process, port)
        try:
            yield measured
        finally:
            measured.close()
            process.terminate()


def compare(report: Report, pairs: int) -> None:
    """Measures two brokers in alternating order; reports medians and ratios of the pairs."""
    without: list[Turn] = []
    scraped: list[Turn] = []
    with broker(http=False) as plain, broker(http=True) as served:
        for measured in (plain, served):
            measured.turn(WARM_UP_S)
        for number in range(pairs):
            order = [(plain, without), (served, scraped)]
            for measured, turns in order if number % 2 else reversed(order):
                turns.append(measured.turn())
    for name, unit, field, goal in MEASURES:
        before, after = ([getattr(turn, field) for turn in turns] for turns in (without, scraped))
        ratios = [b / a for a, b in zip(before, after, strict=True)]
        low, high = interval(ratios)
        report.add(f"{name}: without HTTP", median(before), unit)
        more = {"beside": "without HTTP", "ratio": median(ratios), "goal": goal}
        report.add(f"{name}: scraped", median(after), unit, **more)
        report.add(f"{name}: ratio, 2.5 % quantile", low, "")
        report.add(f"{name}: ratio, 97.5 % quantile", high, "")


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by resampling.

    >>> interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    source = random.Random(1)
    medians = sorted(median(source.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return medians[int(_RESAMPLES * 0.025)], medians[int(_RESAMPLES * 0.975)]


class LoopHold:
    """Longest CPU time in milliseconds between two iterations of a loop, while the block runs.

    CPU time, because other processes must not count.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._gaps: list[float] = []
        self._stopped = threading.Event()

    @property
    def longest_ms(self) -> float:
        return max(self._gaps[1:], default=0.0) * 1000  # the first one has no predecessor

    def __enter__(self) -> "LoopHold":
        self._loop.call_soon_threadsafe(self._tick, 0.0)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopped.set()

    def _tick(self, last: float) -> None:
        now = time.thread_time()
        self._gaps.append(now - last)
        if not self._stopped.is_set():
            self._loop.call_soon(self._tick, now)


def blocked_by_scrape(report: Report, partitions: int) -> None:
    """Reports how long scrapes hold the loop, beside the same time without a scrape.

    The creation of the partitions is not part of it: the measurement begins when its objects have
    been frozen, as the server commands do after the start. Without that, a collection of all
    objects of the process happens during a scrape and is taken for its work.
    """
    with Broker(in_memory=True, config={"http.listener": "0"}) as running:
        for number in range(0, partitions, 1000):
            running.topic(f"many-{number}", partitions=min(1000, partitions - number))
        assert running.http_url is not None and running._loop is not None  # noqa: SLF001, PT018
        gc.collect()
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS_BEFORE_COLLECTION)
        loop, holds = running._loop, []  # noqa: SLF001
        for _ in range(_SCRAPES):
            started = time.perf_counter()
            with (
                LoopHold(loop) as scraped,
                urllib.request.urlopen(running.http_url + "/metrics", timeout=60) as reply,
            ):
                size = len(reply.read())
            took = time.perf_counter() - started
            with LoopHold(loop) as idle:
                threading.Event().wait(took)
            holds.append((scraped.longest_ms, idle.longest_ms, took))
    held, without, took = (median(values) for values in zip(*holds, strict=True))
    what = f"scrape of {partitions} partitions"
    report.add(f"{what}: longest hold of the loop, CPU", held, "ms", goal="< 5")
    report.add(f"{what}: longest hold without a scrape, CPU", without, "ms")
    report.add(f"{what}: time", took, "s")
    report.add(f"{what}: size", size / 1e6, "MB")
