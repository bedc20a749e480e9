"""Cost of the metrics: a broker that is scraped every second beside one without HTTP endpoint.

    python -m benchmarks metrics_cost

Both brokers run at the same time. Turns of a second follow one another, the next round in the
opposite order, and a figure is the median of the ratios of the rounds, with a 95 % interval by
resampling: single turns scatter by more than the cost. `BARNABAS_BENCH_PAIRS` sets the number of
rounds; 0 leaves them out.

Two processes of the same program differ by some percent, too, and more rounds do not change that.
Both have the same hash seed, and in each round the broker with the endpoint also has a turn without
a scrape: the second comparison, within one process, shows the cost of the scrapes alone. Where
turns scatter by more than 2 %, a fourth kind of turn decides, with `MANY` scrapes in its second:
its loss divided by `MANY` is the loss by one scrape per second.

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

PAIRS = int(os.environ.get("BARNABAS_BENCH_PAIRS", "25"))
SCRAPED = int(os.environ.get("BARNABAS_BENCH_SCRAPED", "10000"))
CONNECTIONS = 20
MANY = 20
TURN_S = 1.0
WARM_UP_S = 3.0
RECORD_BYTES = 100
_SCRAPES = 3
_IDLE_SCRAPES = 20
_IDLE_PERIOD_S = 0.2
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
    os.environ.setdefault("PYTHONHASHSEED", "0")  # of the brokers
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

    def turn(self, seconds: float = TURN_S, *, scrapes: int = 1) -> Turn:
        """Measures the load; a broker with an endpoint is scraped in both kinds of load."""
        self._scrape(scrapes)
        cpu, begin = _cpu_ns(self._pid), time.perf_counter()
        served = self._load.run(seconds)
        took = time.perf_counter() - begin
        cpu = _cpu_ns(self._pid) - cpu
        self._load.drain()
        self._scrape(scrapes)
        found = self._latencies(seconds)
        p50, p99 = (found[int(len(found) * share)] for share in (0.5, 0.99))
        return Turn(served / took, cpu / served / 1000, p50 * 1e6, p99 * 1e6)

    def scrape_cpu_ms(self) -> float:
        """Returns the CPU time of one scrape: an idle broker with scrapes minus one without."""
        used = []
        for scrapes in (0, 1):
            cpu = _cpu_ns(self._pid)
            for _ in range(_IDLE_SCRAPES):
                self._scrape(scrapes)
                threading.Event().wait(_IDLE_PERIOD_S)
            used.append(_cpu_ns(self._pid) - cpu)
        return (used[1] - used[0]) / _IDLE_SCRAPES / 1e6

    def close(self) -> None:
        if self._scraper is not None:
            self._scraper.communicate()  # ends with its input

    def _scrape(self, times: int) -> None:
        """Lets the scraper read the metrics, one time after the other."""
        if self._scraper is not None and self._scraper.stdin is not None:
            self._scraper.stdin.write("\n" * times)
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


def compare(report: Report, rounds: int) -> None:
    """Measures two brokers in alternating order; reports medians and ratios of the rounds."""
    without: list[Turn] = []
    scraped: list[Turn] = []
    not_scraped: list[Turn] = []
    many: list[Turn] = []
    with broker(http=False) as plain, broker(http=True) as served:
        for measured in (plain, served):
            measured.turn(WARM_UP_S)
        kinds = (
            (plain, 0, without),
            (served, 1, scraped),
            (served, 0, not_scraped),
            (served, MANY, many),
        )
        for number in range(rounds):
            for measured, scrapes, turns in kinds if number % 2 else reversed(kinds):
                turns.append(measured.turn(scrapes=scrapes))
        cpu_ms = served.scrape_cpu_ms()
    report_ratios(report, "without HTTP", without, scraped)
    report_ratios(report, "same broker, not scraped", not_scraped, scraped)
    report_loss(report, not_scraped, many)
    report.add("CPU of a scrape", cpu_ms, "ms")
    share = cpu_ms / 10  # one each second
    report.add("CPU of scrapes each second, share of a core", share, "%", goal="<= 2")


def report_ratios(
    report: Report, beside: str, before: Sequence[Turn], after: Sequence[Turn]
) -> None:
    for name, unit, field, goal in MEASURES:
        a, b = ([getattr(turn, field) for turn in turns] for turns in (before, after))
        ratios = [second / first for first, second in zip(a, b, strict=True)]
        low, high = interval(ratios)
        report.add(f"{name}: {beside}", median(a), unit)
        more = {"beside": beside, "ratio": median(ratios), "goal": goal}
        report.add(f"{name}: scraped, beside {beside}", median(b), unit, **more)
        report.add(f"{name}: ratio to {beside}, 2.5 % quantile", low, "")
        report.add(f"{name}: ratio to {beside}, 97.5 % quantile", high, "")


def report_loss(report: Report, before: Sequence[Turn], many: Sequence[Turn]) -> None:
    """Reports what one scrape each second costs, from turns with `MANY` scrapes a second."""
    for name, _, field, goal in MEASURES[:2]:
        pairs = zip(before, many, strict=True)
        ratios = [getattr(second, field) / getattr(first, field) for first, second in pairs]
        sign = -1 if goal.startswith(">") else 1
        loss, *bounds = (
            sign * 100 * (value - 1) / MANY for value in (median(ratios), *interval(ratios))
        )
        what = f"{name}: loss by one scrape each second"
        report.add(f"{name}: ratio with {MANY} scrapes each second", median(ratios), "")
        report.add(what, loss, "%", goal="<= 2")
        report.add(f"{what}, 2.5 % quantile", min(bounds), "%")
        report.add(f"{what}, 97.5 % quantile", max(bounds), "%")


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
