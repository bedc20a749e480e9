"""Spark on a topic, `local[2]`, 100-byte values; every figure beside its ceiling in the same run.

Two ceilings: the same data source with Arrow batches from memory (`spark_ceiling`), for what
fetching and producing cost; Spark's rate source into `noop`, for what a micro-batch costs that has
nothing to do. With Spark's own Kafka connector in `BARNABAS_SPARK_KAFKA_JARS` (paths of its jars,
separated by commas) the connector runs on the same topic, in the same session, in turns with ours.
"""

import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from barnabas import Admin, Producer
from barnabas.spark import session
from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.report import Report
from benchmarks.spark_ceiling import FORMAT, VALUE_BYTES, PreparedDataSource, key_of

JARS = os.environ.get("BARNABAS_SPARK_KAFKA_JARS", "")
SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
PARTITIONS = 2
ROWS = int(4_000_000 * SCALE)
STREAM_BATCH = int(1_000_000 * SCALE)
ROUNDS = 5
SMALL_ROWS, SMALL_WARM_UP, SMALL_BATCHES = 10, 40, 80
DRIVER_MEMORY = "3g"

OURS, CONNECTOR, CEILING = "barnabas", "kafka", FORMAT
Measure = Callable[[str], float]
"""A figure of one format, measured once."""


def run(report: Report) -> None:
    with broker() as server, _spark() as (spark, place):
        bench = Bench(spark, server, place)
        bench.fill()
        report.add(f"Spark {spark.version}, rows in the topic", ROWS, "rows")
        _rates(report, bench, "topic to noop", bench.to_noop, 0.75)
        _rates(report, bench, "topic to count by key", bench.to_count, 0.75)
        _rates(report, bench, "stream, topic to noop", bench.stream_to_noop)
        _rates(report, bench, "stream, topic to topic", bench.to_topic, 0.6)
        _small_batches(report, bench)


def _rates(report: Report, bench: "Bench", name: str, measure: Measure, goal: float = 0) -> None:
    kinds = [CEILING, OURS, *([CONNECTOR] if JARS else [])]
    best = _best(bench, measure, kinds)
    ours, ceiling = best[OURS], best[CEILING]
    report.add(f"ceiling, {name.replace('topic', 'memory', 1)}", ceiling.rate, "rows/s")
    text = f">= {goal:g}" if goal else ""
    ratio = ours.rate / ceiling.rate
    report.add(name, ours.rate, "rows/s", beside="ceiling", ratio=ratio, goal=text)
    ratio = ours.cpu_us / ceiling.cpu_us
    report.add(f"{name}, processor", ours.cpu_us, "us/row", beside="ceiling", ratio=ratio)
    if JARS:
        theirs = best[CONNECTOR]
        _beside_connector(report, name, ours.rate, theirs.rate, "rows/s", ">= 1")
        cpu = f"{name}, processor"
        _beside_connector(report, cpu, ours.cpu_us, theirs.cpu_us, "us/row", "")


def _small_batches(report: Report, bench: "Bench") -> None:
    """The median of each round's batches; the best round of each, as everywhere."""
    kinds = ["rate", OURS, *([CONNECTOR] if JARS else [])]
    rounds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS - 2):
        for kind in kinds:
            rounds[kind].append(bench.small_batch(kind))
    best = {kind: min(values) for kind, values in rounds.items()}
    name = f"micro-batch of {SMALL_ROWS} rows, topic to topic"
    report.add("micro-batch, rate source to noop", best["rate"], "ms")
    ratio = best[OURS] / best["rate"]
    report.add(name, best[OURS], "ms", beside="rate source", ratio=ratio, goal="<= 1.8")
    if JARS:
        _beside_connector(report, name, best[OURS], best[CONNECTOR], "ms", "<= 1")


def _beside_connector(
    report: Report, name: str, ours: float, theirs: float, unit: str, goal: str
) -> None:
    report.add(f"Spark's connector, {name}", theirs, unit)
    report.add(name, ours, unit, beside="connector", ratio=ours / theirs, goal=goal)


@dataclass(slots=True)
class Best:
    """The best of some rounds: neighbours on the machine only ever make it worse."""

    rate: float = 0.0
    cpu_us: float = float("inf")

    def take(self, rate: float, cpu_us: float) -> None:
        self.rate = max(self.rate, rate)
        # A worker that ended unseen took its time with it.
        self.cpu_us = min(self.cpu_us, cpu_us) if cpu_us > 0 else self.cpu_us


def _best(bench: "Bench", measure: Measure, kinds: list[str]) -> dict[str, Best]:
    """The best of `ROUNDS` after a warm-up, taken in turns."""
    best = {kind: Best() for kind in kinds}
    for turn in range(ROUNDS + 1):
        for kind in kinds:
            before = bench.cpu_seconds()
            rate = measure(kind)
            cpu_us = (bench.cpu_seconds() - before) / ROWS * 1e6
            if turn:
                best[kind].take(rate, cpu_us)
    return best


class Bench:
    """Queries on one session and one broker; each call is one measurement."""

    def __init__(self, spark: Any, server: BrokerProcess, place: Path) -> None:
        self._spark = spark
        self._kafka = {"kafka.bootstrap.servers": server.address}
        self._server = server
        self._place = place
        self._made = 0

    def fill(self) -> None:
        value = bytes(VALUE_BYTES)
        with Admin({"bootstrap.servers": self._server.address}) as admin:
            admin.create_topic("in", PARTITIONS)
            admin.create_topic("out", PARTITIONS)
        with Producer(
            {"bootstrap.servers": self._server.address, "batch.size": 131072}
        ) as producer:
            for number in range(ROWS):
                producer.send("in", value, key_of(number), (), number % PARTITIONS)

    def cpu_seconds(self) -> float:
        """Of Spark's processes, those that have ended included, and the broker."""
        total = self._server.cpu_seconds()
        own = psutil.Process()
        for process in own.children(recursive=True):
            if process.pid != self._server.process.pid:
                with contextlib.suppress(psutil.Error):
                    total += sum(process.cpu_times()[:4])
        return total

    def to_noop(self, kind: str) -> float:
        frame = self._read(kind)
        return ROWS / _seconds(frame.write.format("noop").mode("overwrite").save)

    def to_count(self, kind: str) -> float:
        frame = self._read(kind).groupBy("key").count()
        return ROWS / _seconds(frame.write.format("noop").mode("overwrite").save)

    def stream_to_noop(self, kind: str) -> float:
        return self._rate(self._stream(kind, STREAM_BATCH).writeStream.format("noop"))

    def to_topic(self, kind: str) -> float:
        rows = self._stream(kind, STREAM_BATCH).select("key", "value")
        return self._rate(rows.writeStream.format(kind).options(**self._kafka, topic="out"))

    def small_batch(self, kind: str) -> float:
        """Milliseconds of the median micro-batch."""
        if kind == "rate":
            rate = self._spark.readStream.format("rate-micro-batch")
            frame = rate.options(rowsPerBatch=SMALL_ROWS, numPartitions=PARTITIONS).load()
            writer = frame.writeStream.format("noop")
        else:
            frame = self._stream(kind, SMALL_ROWS).select("key", "value")
            writer = frame.writeStream.format(kind).options(**self._kafka, topic="out")
        query = writer.option("checkpointLocation", self._checkpoint()).start()
        wanted = SMALL_WARM_UP + SMALL_BATCHES
        times: dict[int, float] = {}
        while len(times) < wanted:
            if query.exception() is not None:
                raise RuntimeError(str(query.exception()))
            query.awaitTermination(1)
            times.update(_batch_times(query))
        query.stop()
        return statistics.median([ms for number, ms in times.items() if number >= SMALL_WARM_UP])

    def _read(self, kind: str) -> Any:
        reader = self._spark.read.format(kind)
        if kind == CEILING:
            return reader.option("rows", ROWS).load()
        return reader.options(**self._kafka, subscribe="in").load()

    def _stream(self, kind: str, batch_rows: int) -> Any:
        reader = self._spark.readStream.format(kind)
        if kind == CEILING:
            return reader.options(rows=ROWS, rowsPerBatch=batch_rows).load()
        reader = reader.options(**self._kafka, subscribe="in", startingOffsets="earliest")
        return reader.option("maxOffsetsPerTrigger", batch_rows).load()

    def _rate(self, writer: Any) -> float:
        """Rows per second of the best micro-batch: start-up and first batches are no part."""
        writer = writer.option("checkpointLocation", self._checkpoint())
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        return max(
            item["numInputRows"] / item["durationMs"]["triggerExecution"] * 1000
            for item in query.recentProgress
            if item["durationMs"].get("triggerExecution")
        )

    def _checkpoint(self) -> str:
        self._made += 1
        return str(self._place / f"checkpoint-{self._made}")


def _batch_times(query: Any) -> dict[int, float]:
    return {
        item["batchId"]: item["durationMs"]["triggerExecution"]
        for item in query.recentProgress
        if item["numInputRows"]
    }


def _seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


@contextlib.contextmanager
def _spark() -> Iterator[tuple[Any, Path]]:
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as directory:
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.memory": DRIVER_MEMORY,
            "spark.local.dir": directory,
            "spark.sql.streaming.numRecentProgressUpdates": "500",
        }
        if JARS:
            settings["spark.jars"] = JARS
        spark = session(f"local[{PARTITIONS}]", app_name="benchmarks", config=settings)
        spark.sparkContext.setLogLevel("OFF")
        spark.dataSource.register(PreparedDataSource)
        try:
            yield spark, Path(directory)
        finally:
            spark.stop()
