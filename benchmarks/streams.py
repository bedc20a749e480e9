"""Streams and tables beside the same jobs written by hand in Structured Streaming.

Same session settings, source, sink and topics; in turns. Rates are of the micro-batches after each
query's first, from Spark's own reports, so that starting a query is not in them.

In the job written by hand every micro-batch reads the topic of the table again and takes the last
record of each key by offset, without null values. So it follows changes and deletions as our table
does, except that rows are joined with the table of the micro-batch, not of their own time.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import functions as sf

from barnabas import Admin, Producer
from barnabas.spark import session
from barnabas.streams import Runner, Schema, Stream, Table, Topic, Topology
from barnabas.streams.engine.assembly import own_session
from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.report import Report

SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
PARTITIONS = 2
KEYS = 100_000
BATCHES = 4
ROWS = int(2_000_000 * SCALE)
ROUNDS = 3
SCHEMA = "user string, amount bigint"
USERS = "name string"
GOAL = ">= 0.9"


def run(report: Report) -> None:
    with broker() as server, _spark() as (spark, place):
        bench = Bench(spark, server, place)
        bench.fill()
        report.add("rows of the stream", ROWS, "rows")
        jobs: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
            "stateless map": (bench.map_by_hand, bench.map),
            f"count over {KEYS:,} keys": (bench.count_by_hand, bench.count),
            f"join with a table of {KEYS:,} rows": (bench.join_by_hand, bench.join),
            f"join with a table, {KEYS // BATCHES:,} changes per micro-batch": (
                bench.join_by_hand,
                bench.join_changing,
            ),
        }
        for name, (by_hand, ours) in jobs.items():
            best = [0.0, 0.0]
            for _ in range(ROUNDS):
                best = [max(best[0], by_hand()), max(best[1], ours())]
            report.add(f"{name}, by hand", best[0], "rows/s")
            ratio = best[1] / best[0]
            report.add(name, best[1], "rows/s", beside="by hand", ratio=ratio, goal=GOAL)


class Bench:
    """Each call is one query on a checkpoint of its own; the result is rows per second."""

    def __init__(self, spark: Any, server: BrokerProcess, place: Path) -> None:
        self._spark = own_session(spark)
        self._server = server
        self._place = place
        self._made = 0
        self._limit = str(ROWS // BATCHES)

    def fill(self) -> None:
        address = self._server.address
        with Admin({"bootstrap.servers": address}) as admin:
            for name in ("rows", "users", "out"):
                admin.create_topic(name, PARTITIONS)
        with Producer({"bootstrap.servers": address, "batch.size": 131072}) as producer:
            for number in range(KEYS):
                value = json.dumps({"name": f"name of {number}"}).encode()
                producer.send("users", value, f"u{number}".encode())
            for number in range(ROWS):
                user = f"u{number * 7919 % KEYS}"
                value = b'{"user":"%s","amount":%d}' % (user.encode(), number % 1000)
                producer.send("rows", value, user.encode())

    # --- ours ---

    def map(self) -> float:
        rows = Stream("rows", SCHEMA)
        return self._ours(rows.select("user", double="amount * 2").to("out"))

    def count(self) -> float:
        return self._ours(Stream("rows", SCHEMA).group_by("user").count().to("out"))

    def join(self) -> float:
        """The whole table comes in the first micro-batch, and stays as it is."""
        return self._join(Table("users", USERS))

    def join_changing(self) -> float:
        """A part of the table's topic comes in each micro-batch."""
        limit = (("maxOffsetsPerTrigger", str(KEYS // BATCHES)),)
        return self._join(Table(Topic("users", Schema.of(USERS), options=limit)))

    def _join(self, users: Table) -> float:
        columns = {"name": "right.name", "amount": "left.amount"}
        return self._ours(Stream("rows", SCHEMA).join(users, columns=columns).to("out"))

    def _ours(self, sink: Any) -> float:
        runner = Runner(
            Topology("bench", sink),
            bootstrap_servers=self._server.address,
            checkpoint=self._checkpoint(),
            spark=self._spark,
            options={"maxOffsetsPerTrigger": self._limit},
            lost_state="rebuild",  # each run begins without a checkpoint and with old output
        )
        (reports,) = runner.run()
        return _rate(reports)

    # --- by hand ---

    def map_by_hand(self) -> float:
        made = self._rows().selectExpr(
            "key",
            "to_json(struct(value.user, value.amount * 2 as double)) as value",
            "timestamp as time",
        )
        writer = made.writeStream.format("barnabas").options(**self._sink())
        return self._by_hand(writer)

    def count_by_hand(self) -> float:
        counted = self._rows().groupBy("value.user").agg({"*": "count", "timestamp": "max"})
        made = counted.selectExpr(
            "user as key",
            "to_json(struct(user, `count(1)` as count)) as value",
            "`max(timestamp)` as time",
        )
        return self._by_hand(made.writeStream.outputMode("update").foreachBatch(self._write))

    def join_by_hand(self) -> float:
        users = self._read(self._spark.read, "users", USERS)
        last = users.groupBy("key").agg(sf.max_by("value", "offset").alias("value"))
        known = last.where("value is not null").selectExpr("key", "value.name as name")
        made = self._rows().join(known.hint("broadcast"), "key")
        records = made.selectExpr(
            "key",
            "to_json(struct(name, value.amount as amount)) as value",
            "timestamp as time",
        )
        return self._by_hand(records.writeStream.format("barnabas").options(**self._sink()))

    def _write(self, frame: Any, batch_id: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        options = {**self._sink(), "queryId": query, "batchId": str(batch_id)}
        frame.write.format("barnabas").mode("append").options(**options).save()

    def _by_hand(self, writer: Any) -> float:
        writer = writer.option("checkpointLocation", self._checkpoint())
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return _rate(query.recentProgress)

    def _rows(self) -> Any:
        frame = self._read(self._spark.readStream, "rows", SCHEMA)
        return frame.selectExpr("key", "value", "timestamp")

    def _read(self, reader: Any, topic: str, schema: str) -> Any:
        options = {
            "kafka.bootstrap.servers": self._server.address,
            "kafka.isolation.level": "read_committed",
            "subscribe": topic,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": self._limit,
            "value.format": "json",
            "value.schema": schema,
            "key.format": "string",
        }
        return reader.format("barnabas").options(**options).load()

    def _sink(self) -> dict[str, str]:
        servers = {"kafka.bootstrap.servers": self._server.address}
        return {**servers, "topic": "out", "timestampColumn": "time"}

    def _checkpoint(self) -> str:
        self._made += 1
        return str(self._place / f"checkpoint-{self._made}")


def _rate(reports: list[Any]) -> float:
    """Rows per second of the micro-batches after the first that had rows."""
    batches = [report for report in reports if report["numInputRows"]][1:]
    seconds = sum(report["durationMs"]["triggerExecution"] for report in batches) / 1000
    return sum(report["numInputRows"] for report in batches) / seconds


@contextlib.contextmanager
def _spark() -> Iterator[tuple[Any, Path]]:
    with tempfile.TemporaryDirectory() as name:
        config = {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "3g",
            "spark.local.dir": f"{name}/local",
            "spark.sql.session.timeZone": "UTC",
        }
        spark = session("local[2]", config=config)
        spark.sparkContext.setLogLevel("ERROR")
        try:
            yield spark, Path(name)
        finally:
            spark.stop()
