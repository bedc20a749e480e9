"""Cost of the metrics: a broker that is scraped every second beside one without HTTP endpoint.

Prints throughput and latency of both in alternating turns with the same client, as ratios; then how
long a scrape of many partitions blocks the event loop at most. 0 leaves a part out.

    python -m benchmarks.metrics_cost [--turns 9] [--partitions 10000]
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

from barnabas.admin import Admin
from barnabas.broker.broker_process import BrokerProcess, free_port
from barnabas.testing import Broker

_RECORDS = 1_500_000
_SYNCHRONOUS = 5_000
_WARM_UP = 200_000


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
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--partitions", type=int, default=10_000)
    arguments = parser.parse_args()
    if arguments.turns:
        compare(arguments.turns)
    if not arguments.partitions:
        return
    blocked, took, size = blocked_by_scrape(arguments.partitions)
    print(
        f"scrape of {arguments.partitions} partitions: {size:,} bytes in {took:.2f} s, "
        f"the loop was blocked for {blocked:.1f} ms at most"
    )


if __name__ == "__main__":
    main()
