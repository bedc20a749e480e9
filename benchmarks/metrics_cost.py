"""Cost of the metrics: a broker that is scraped every second beside one without HTTP endpoint.

Prints throughput and latency of both in alternating turns with the same client, as ratios; then how
long a scrape of many partitions blocks the event loop at most.

    python -m benchmarks.metrics_cost [--turns 5] [--partitions 10000]
"""

import argparse
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

from barnabas.broker.broker_process import BrokerProcess, free_port
from barnabas.testing import Broker

_RECORDS = 200_000
_SYNCHRONOUS = 2_000


@contextmanager
def broker(http: bool) -> Iterator[tuple[str, str | None]]:
    port = free_port()
    settings: dict[str, object] = {"http.listener": f"127.0.0.1:{port}"} if http else {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        process = BrokerProcess(1, Path(directory), settings, 0, "127.0.0.1")
        process.launch()
        process.wait_until_ready()
        try:
            yield process.address, f"http://127.0.0.1:{port}/metrics" if http else None
        finally:
            process.terminate()


@contextmanager
def scraping(url: str | None) -> Iterator[list[int]]:
    """Reads the metrics every second while the block runs; yields the sizes of the texts."""
    sizes: list[int] = []
    stop = threading.Event()

    def run() -> None:
        while url is not None and not stop.wait(1.0):
            with urllib.request.urlopen(url, timeout=10) as reply:
                sizes.append(len(reply.read()))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield sizes
    finally:
        stop.set()
        thread.join()


def throughput(servers: str) -> float:
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "linger.ms": 5})
    value = bytes(100)
    started = time.perf_counter()
    for _ in range(_RECORDS):
        while True:
            try:
                producer.produce("load", value)
                break
            except BufferError:
                producer.poll(0.01)
        producer.poll(0)
    producer.flush(60)
    return _RECORDS / (time.perf_counter() - started)


def latencies(servers: str) -> list[float]:
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "linger.ms": 0})
    found = []
    for _ in range(_SYNCHRONOUS):
        started = time.perf_counter()
        producer.produce("latency", b"x")
        producer.flush(10)
        found.append((time.perf_counter() - started) * 1e6)
    return found


def measure(http: bool) -> tuple[float, float, float]:
    with broker(http) as (servers, url), scraping(url):
        rate = throughput(servers)
        found = sorted(latencies(servers))
    return rate, found[len(found) // 2], found[int(len(found) * 0.99)]


def blocked_by_scrape(partitions: int) -> tuple[float, float, int]:
    """Returns the longest CPU time (ms) of a callback in a scrape, its duration (s) and size."""
    with Broker(in_memory=True, config={"http.listener": "0"}) as running:
        for number in range(0, partitions, 1000):
            running.topic(f"many-{number}", partitions=min(1000, partitions - number))
        assert running.http_url is not None and running._loop is not None  # noqa: SLF001, PT018
        loop, gaps, stop = running._loop, [], threading.Event()  # noqa: SLF001

        def tick(last: float) -> None:
            now = time.thread_time()  # CPU time: other processes do not count
            gaps.append(now - last)
            if not stop.is_set():
                loop.call_soon(tick, now)

        gc.collect()  # the objects of the new partitions are not the scrape's
        loop.call_soon_threadsafe(tick, 0.0)
        started = time.perf_counter()
        with urllib.request.urlopen(running.http_url + "/metrics", timeout=60) as reply:
            size = len(reply.read())
        took = time.perf_counter() - started
        stop.set()
        return max(gaps[1:]) * 1000, took, size


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--partitions", type=int, default=10_000)
    arguments = parser.parse_args()
    without, scraped = [], []
    for _ in range(arguments.turns):
        without.append(measure(http=False))
        scraped.append(measure(http=True))
    for index, name in enumerate(("records/s", "p50 µs", "p99 µs")):
        before = statistics.median(turn[index] for turn in without)
        after = statistics.median(turn[index] for turn in scraped)
        print(
            f"{name:10} without HTTP {before:12,.0f}  scraped {after:12,.0f}  {after / before:.3f}"
        )
    blocked, took, size = blocked_by_scrape(arguments.partitions)
    print(
        f"scrape of {arguments.partitions} partitions: {size:,} bytes in {took:.2f} s, "
        f"the loop was blocked for {blocked:.1f} ms at most"
    )


if __name__ == "__main__":
    main()
