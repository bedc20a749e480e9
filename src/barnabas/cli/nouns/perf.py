"""Measure throughput and latency of produce and consume, against any cluster."""

import argparse
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options, add_progress_options
from barnabas.cli.framework.output import DONE, ProgressBar, show
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.cli.record_io.selection import END, START, ReadRange, resolve, select_partitions
from barnabas.cli.record_io.transfer import Pace, read_spans

if TYPE_CHECKING:
    from barnabas import Producer
    from barnabas.clients.producer import SendFuture

SAMPLE_EVERY = 50
WINDOW = 20_000
PRODUCE_COLUMNS = (
    "records",
    "seconds",
    "records_per_second",
    "mb_per_second",
    "avg_latency_ms",
    "p50_ms",
    "p99_ms",
    "max_ms",
)
CONSUME_COLUMNS = ("records", "bytes", "seconds", "records_per_second", "mb_per_second")
MEGABYTE = 1024 * 1024
PACE_EVERY = 100


class Latencies:
    """Samples send latencies and checks every send for failure.

    A callback for each record costs more than sending it, so only one of SAMPLE_EVERY records is
    timed. The other records are only checked for errors. The producer's thread adds the values;
    read them after `finish`.
    """

    def __init__(self) -> None:
        self.values_ms: list[float] = []
        self._lists: tuple[list[float], ...] = (self.values_ms,)
        self._sent = 0
        self._in_flight: deque[SendFuture] = deque()

    def send(self, producer: "Producer", topic: str, value: bytes) -> None:
        """Sends a record; raises the error of an earlier record that failed."""
        timer = self._timer() if self._sent % SAMPLE_EVERY == 0 else None
        self._sent += 1
        future = producer.send(topic, value, on_delivery=timer)
        if future.done():
            future.result()  # raises at once if the record cannot be sent
        self._in_flight.append(future)
        if len(self._in_flight) >= WINDOW:
            self._check(WINDOW // 2)

    def finish(self, producer: "Producer") -> None:
        """Waits until all records are acknowledged."""
        producer.flush()
        self._check(0)

    def _check(self, leave: int) -> None:
        while len(self._in_flight) > leave:
            self._in_flight.popleft().result()

    def _timer(self) -> Callable[[object, object], None]:
        """Returns a delivery callback that stores the time since now."""
        started, lists = time.perf_counter(), self._lists

        def delivered(metadata: object, error: object) -> None:
            elapsed_ms = (time.perf_counter() - started) * 1000
            for values in lists:
                values.append(elapsed_ms)

        return delivered

    def later(self) -> "Latencies":
        """Returns the latencies of the records sent from now on; this object also counts them."""
        child = Latencies()
        self._lists = (*self._lists, child.values_ms)
        return child

    def percentile(self, share: float) -> float:
        """Returns the value below which this share of the values lies.

        >>> latencies = Latencies(); latencies.values_ms.extend([1.0, 2.0, 3.0, 4.0])
        >>> latencies.percentile(0.5), latencies.percentile(0.99)
        (3.0, 4.0)
        """
        ordered = sorted(self.values_ms)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0

    @property
    def average(self) -> float:
        return sum(self.values_ms) / len(self.values_ms) if self.values_ms else 0.0

    @property
    def highest(self) -> float:
        return max(self.values_ms, default=0.0)

    def summary(self) -> dict[str, float]:
        return {
            "avg_latency_ms": round(self.average, 2),
            "p50_ms": round(self.percentile(0.5), 2),
            "p95_ms": round(self.percentile(0.95), 2),
            "p99_ms": round(self.percentile(0.99), 2),
            "p999_ms": round(self.percentile(0.999), 2),
            "max_ms": round(self.highest, 2),
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _produce_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic")
    parser.add_argument("-n", "--records", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=100, help="bytes of a value")
    parser.add_argument("--rate", type=float, help="records per second (default: no limit)")
    add_progress_options(parser)
    add_common_options(parser)


def _produce(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    with ProgressBar("producing", arguments.records, enabled=not arguments.quiet) as progress:
        latencies, elapsed = measure_produce(
            connection, arguments.topic, b"x" * arguments.size, arguments, progress
        )
    row: dict[str, object] = {
        "records": arguments.records,
        "size_bytes": arguments.size,
        "seconds": round(elapsed, 3),
        "records_per_second": round(arguments.records / elapsed),
        "mb_per_second": round(arguments.records * arguments.size / elapsed / MEGABYTE, 2),
        **latencies.summary(),
    }
    show(arguments, [row], PRODUCE_COLUMNS)
    return DONE


def measure_produce(
    connection: Connection,
    topic: str,
    value: bytes,
    arguments: argparse.Namespace,
    progress: ProgressBar,
) -> tuple[Latencies, float]:
    """Sends the records and returns their latencies and the elapsed seconds."""
    latencies = Latencies()
    pace = Pace(arguments.rate)
    with connection.producer() as producer:
        producer.partitions_for(topic)
        started = time.perf_counter()
        for number in range(arguments.records):
            latencies.send(producer, topic, value)
            if number % PACE_EVERY == 0:
                progress.advance(PACE_EVERY if number else 0)
                pace.after(PACE_EVERY)
        latencies.finish(producer)
        elapsed = time.perf_counter() - started
    return latencies, elapsed


def _consume_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic")
    parser.add_argument("-n", "--records", type=int, help="stop after N records")
    add_progress_options(parser)
    add_common_options(parser)


def _consume(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    with connection.admin() as admin:
        spans = resolve(
            admin, select_partitions(admin, [(arguments.topic, None)]), ReadRange(START, END)
        )
    total = min(sum(s.size for s in spans.values()), arguments.records or sys.maxsize)
    count = size = 0
    started = time.perf_counter()
    with ProgressBar("consuming", total, enabled=not arguments.quiet) as progress:
        for records in read_spans(connection, spans):
            count += len(records)
            size += sum(len(r.value or b"") + len(r.key or b"") for r in records)
            progress.advance(len(records))
            if count >= total:
                break
    elapsed = time.perf_counter() - started
    row = {
        "records": count,
        "bytes": size,
        "seconds": round(elapsed, 3),
        "records_per_second": round(count / elapsed),
        "mb_per_second": round(size / elapsed / MEGABYTE, 2),
    }
    show(arguments, [row], CONSUME_COLUMNS)
    return DONE


VERBS = (
    Verb(
        "produce",
        "send records and measure",
        "barnabas perf produce bench -n 1000000 --size 100",
        _produce_arguments,
        _produce,
    ),
    Verb(
        "consume",
        "read a topic and measure",
        "barnabas perf consume bench",
        _consume_arguments,
        _consume,
    ),
)
