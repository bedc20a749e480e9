"""Cost of the metrics: a broker that is scraped every second beside one without HTTP endpoint.

Prints throughput and latency of both in many short, alternating turns with the same client, and the
median of the ratios of the turns; then how long a scrape of many partitions holds the event loop at
most. 0 leaves a part out.

    python -m benchmarks.metrics_cost [--turns 15] [--partitions 10000]
"""

import argparse
import asyncio
import gc
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import confluent_kafka

from barnabas.admin import Admin
from barnabas.broker.broker_process import BrokerProcess, free_port
from barnabas.testing import Broker

_RECORDS = 300_000
_SYNCHRONOUS = 2_500
_WARM_UP = 200_000
_SCRAPES = 3
_NEW_OBJECTS_BEFORE_COLLECTION = 50_000
"""As the server commands set it."""


@contextmanager
def broker(http: bool) -> Iterator[tuple[str, str | None]]:
    port = free_port()
    settings: dict[str, object] = {"log.segment.delete.delay.ms": 0}
    if http:
        settings["http.listener"] = f"127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        process = BrokerProcess(1, Path(directory), settings, 0, "127.0.0.1")
        process.launch()
        process.wait_until_ready()
        try:
            yield process.address, f"http://127.0.0.1:{port}/metrics" if http else None
        finally:
            process.terminate()


@contextmanager
def scraping(url: str | None) -> Iterator[None]:
    """Reads the metrics every second while the block runs."""
    stop = threading.Event()

    def run() -> None:
        while url is not None and not stop.wait(1.0):
            with urllib.request.urlopen(url, timeout=10) as reply:
                reply.read()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def throughput(servers: str, topic: str, records: int) -> float:
    """Returns records per second of a connected producer."""
    settings = {"bootstrap.servers": servers, "linger.ms": 5, "queue.buffering.max.messages": 10**6}
    producer = confluent_kafka.Producer(settings)
    value = bytes(100)
    producer.produce(topic, value)
    producer.flush(60)
    started = time.perf_counter()
    for number in range(records):
        while True:
            try:
                producer.produce(topic, value)
                break
            except BufferError:
                producer.poll(0.01)
        if not number % 1000:
            producer.poll(0)
    producer.flush(60)
    return records / (time.perf_counter() - started)


def latencies(servers: str, topic: str) -> list[float]:
    """Returns the sorted times in microseconds of records that are sent one by one."""
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "linger.ms": 0})
    found = []
    for _ in range(_SYNCHRONOUS):
        started = time.perf_counter()
        producer.produce(topic, b"x")
        producer.flush(10)
        found.append((time.perf_counter() - started) * 1e6)
    return sorted(found)


def measure(servers: str, url: str | None, topic: str) -> tuple[float, float, float]:
    """Returns throughput, median and 99th percentile of one turn; deletes its records."""
    with scraping(url):
        rate = throughput(servers, topic, _RECORDS)
        found = latencies(servers, topic)
    with Admin(bootstrap_servers=servers) as admin:
        admin.delete_topics([topic])
    return rate, found[len(found) // 2], found[int(len(found) * 0.99)]


def compare(turns: int) -> None:
    """Measures two brokers in alternating order; prints the medians and the median of the ratios.

    Both run at the same time, so a slower phase of the machine concerns both.
    """
    without, scraped = [], []
    with broker(http=False) as plain, broker(http=True) as served:
        for servers, _ in (plain, served):
            throughput(servers, "warm-up", _WARM_UP)
        for turn in range(turns):
            pair = [(plain, without), (served, scraped)]
            for (servers, url), results in pair if turn % 2 else reversed(pair):
                results.append(measure(servers, url, f"load-{turn}"))
    for index, name in enumerate(("records/s", "p50 µs", "p99 µs")):
        before, after = ([turn[index] for turn in turns_] for turns_ in (without, scraped))
        ratios = sorted(b / a for a, b in zip(before, after, strict=True))
        print(
            f"{name:10} without HTTP {statistics.median(before):12,.0f}  "
            f"scraped {statistics.median(after):12,.0f}  ratio {statistics.median(ratios):.3f} "
            f"({ratios[0]:.3f} to {ratios[-1]:.3f})"
        )


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


def blocked_by_scrape(partitions: int) -> None:
    """Prints how long scrapes hold the loop, beside the same time without a scrape.

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
    for held, without, took in holds:
        print(
            f"scrape of {partitions} partitions: {size:,} bytes in {took:.2f} s, the loop was held "
            f"for {held:.1f} ms at most, without a scrape for {without:.1f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--partitions", type=int, default=10_000)
    arguments = parser.parse_args()
    if arguments.turns:
        compare(arguments.turns)
    if not arguments.partitions:
        return
    blocked_by_scrape(arguments.partitions)


if __name__ == "__main__":
    main()
