"""Spark on a topic, `local[2]`, 100-byte values; every figure beside its ceiling in the same run.

There are two ceilings: the same data source with Arrow batches from memory (`spark_ceiling`), which
shows the cost of fetching and producing, and Spark's rate source into `noop`, which shows the cost
of an empty micro-batch. With Spark's own Kafka connector in `BARNABAS_SPARK_KAFKA_JARS` (paths of
its jars, separated by commas) the connector runs on the same topic, in the same session, in turns
with ours.

All sides run in alternating rounds. The first rounds, in which the JVM still compiles, do not
count. A figure is the median of its rounds, a ratio that of two medians. All written data goes to
memory that was used recently (`warm_memory`).
"""

import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from barnabas import Admin, Producer
from barnabas.spark import session
from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.machine import warm_memory
from benchmarks.report import Report
from benchmarks.spark_ceiling import FORMAT, VALUE_BYTES, PreparedDataSource, key_of

JARS = os.environ.get("BARNABAS_SPARK_KAFKA_JARS", "")
SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
PARTITIONS = 2
ROWS = int(4_000_000 * SCALE)
STREAM_BATCH = int(1_000_000 * SCALE)
WARM_UPS, ROUNDS = 2, 5
SMALL_ROWS, SMALL_WARM_UP, SMALL_BATCHES, SMALL_ROUNDS = 10, 40, 80, 5
RECORD_BYTES = 160
"""More than a record takes in the log."""
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
    found = _in_turns(bench, measure, kinds, (WARM_UPS, ROUNDS))
    ours, ceiling = found[OURS], found[CEILING]
    report.add(f"ceiling, {name.replace('topic', 'memory', 1)}", ceiling.figure, "rows/s")
    text = f">= {goal:g}" if goal else ""
    ratio = ours.beside(ceiling)
    report.add(name, ours.figure, "rows/s", beside="ceiling", ratio=ratio, goal=text)
    ratio = ours.cpu_us / ceiling.cpu_us
    report.add(f"{name}, processor", ours.cpu_us, "us/row", beside="ceiling", ratio=ratio)
    if JARS:
        theirs = found[CONNECTOR]
        _beside_connector(report, name, ours, theirs, "rows/s", ">= 1")
        report.add(f"Spark's connector, {name}, processor", theirs.cpu_us, "us/row")


def _small_batches(report: Report, bench: "Bench") -> None:
    """The median micro-batch of each round, and the median of the rounds."""
    kinds = ["rate", OURS, *([CONNECTOR] if JARS else [])]
    found = _in_turns(bench, bench.small_batch, kinds, (WARM_UPS, SMALL_ROUNDS))
    ours, rate = found[OURS], found["rate"]
    name = f"micro-batch of {SMALL_ROWS} rows, topic to topic"
    report.add("micro-batch, rate source to noop", rate.figure, "ms")
    ratio = ours.beside(rate)
    report.add(name, ours.figure, "ms", beside="rate source", ratio=ratio, goal="<= 1.8")
    if JARS:
        _beside_connector(report, name, ours, found[CONNECTOR], "ms", "<= 1")


def _beside_connector(
    report: Report, name: str, ours: "Rounds", theirs: "Rounds", unit: str, goal: str
) -> None:
    report.add(f"Spark's connector, {name}", theirs.figure, unit)
    ratio = ours.beside(theirs)
    report.add(name, ours.figure, unit, beside="connector", ratio=ratio, goal=goal)


@dataclass(slots=True)
class Rounds:
    """One party's figures, round by round."""

    figures: list[float] = field(default_factory=list)
    cpus_us: list[float] = field(default_factory=list)

    @property
    def figure(self) -> float:
        return statistics.median(self.figures)

    @property
    def cpu_us(self) -> float:
        # A worker that ended unseen took its time with it.
        return statistics.median([value for value in self.cpus_us if value > 0])

    def beside(self, other: "Rounds") -> float:
        return self.figure / other.figure


def _in_turns(
    bench: "Bench", measure: Measure, kinds: list[str], rounds: tuple[int, int]
) -> dict[str, Rounds]:
    """Warm-ups and rounds; the order of the sides changes with every round."""
    found = {kind: Rounds() for kind in kinds}
    warm_ups, counted = rounds
    for turn in range(warm_ups + counted):
        for kind in kinds if turn % 2 else reversed(kinds):
            bench.warm()
            before = bench.cpu_seconds()
            figure = measure(kind)
            cpu_us = (bench.cpu_seconds() - before) / ROWS * 1e6
            if turn >= warm_ups:
                found[kind].figures.append(figure)
                found[kind].cpus_us.append(cpu_us)
    return found


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

    def warm(self) -> None:
        """Before each measurement, whosever it is: most of them write nothing, some all rows."""
        warm_memory(self._place, ROWS * RECORD_BYTES)

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
        """Rows per second of the median micro-batch, without the first: start-up is no part."""
        writer = writer.option("checkpointLocation", self._checkpoint())
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        rates: list[float] = [
            item["numInputRows"] / item["durationMs"]["triggerExecution"] * 1000
            for item in query.recentProgress
            if item["numInputRows"]
        ]
        return statistics.median(rates[1:])

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
