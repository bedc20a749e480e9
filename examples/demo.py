"""End to end on the embedded default: a broker, a producer, a Spark pipeline, and a check.

Users of a small social network get messages, likes and comments. A producer writes one event per
notification, a few of them broken. Spark reads the topic, sets the broken ones aside in a
dead-letter topic, counts the others per user and minute, and writes the counts to a topic and to a
SQLite table, all exactly once. The table on the terminal grows while it runs. At the end everything
is compared with the events that the producer sent. The demo then stops all its processes.
"""

import contextlib
import json
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from barnabas import BarnabasError, Producer
from barnabas.spark import DatabaseSink, session
from barnabas.testing import Broker

EVENTS_TOPIC, COUNTS_TOPIC, BROKEN_TOPIC = "notifications", "notification-counts", "dead-letters"
PARTITIONS = 3
USERS = ("alice", "bob", "chen", "dana", "erik")
KINDS = ("message", "like", "comment")
EVENTS = 20_000
MINUTES = 5
FIRST_MINUTE = 1_767_258_000  # 2026-01-01 09:00 UTC
BROKEN_EVERY = 499
SECONDS = 10
FRAME_SECONDS = 0.5
GIVE_UP_SECONDS = 300

Table = Counter[tuple[str, str]]
"""Notifications by user and minute."""


@dataclass
class Sent:
    """Counts of the sent events, for the comparison at the end."""

    counts: Table = field(default_factory=Counter)
    broken: list[bytes] = field(default_factory=list)


def main() -> int:
    with (
        tempfile.TemporaryDirectory(prefix="barnabas-demo-") as place,
        Broker() as broker,
        quiet_spark(Path(place)) as spark,
    ):
        print(f"broker listening on {broker.bootstrap_servers}, Spark {spark.version} is up")
        for topic in (EVENTS_TOPIC, COUNTS_TOPIC, BROKEN_TOPIC):
            broker.topic(topic, partitions=PARTITIONS)
        return run(broker, spark, Path(place))


def run(broker: Broker, spark: Any, place: Path) -> int:
    database = place / "counts.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "CREATE TABLE counts (user TEXT, minute TEXT, count INT, PRIMARY KEY (user, minute))"
        )
    begin, sent = time.perf_counter(), Sent()
    query = start_pipeline(spark, broker.bootstrap_servers, database, place)
    writer = threading.Thread(target=produce, args=(broker.bootstrap_servers, sent))
    writer.start()
    follow(database, query, writer)
    query.processAllAvailable()
    query.stop()
    show_last(database)
    print(f"{EVENTS} events through the pipeline in {time.perf_counter() - begin:.0f} s")
    return compare(broker, database, sent)


# -- the pipeline ------------------------------------------------------------------------------


def start_pipeline(spark: Any, address: str, database: Path, place: Path) -> Any:
    """One query: decode, count, write; the source sends undecodable records to dead letters."""
    from pyspark.sql import functions as f

    kafka = {"kafka.bootstrap.servers": address}
    events = (
        spark.readStream.format("barnabas")
        .options(**kafka, subscribe=EVENTS_TOPIC, startingOffsets="earliest")
        .option("value.format", "json")
        .option("value.schema", "user string, kind string, at timestamp")
        .option("on.decode.error", "dlq")
        .option("dlq.topic", BROKEN_TOPIC)
        .load()
    )
    minute = f.date_format(f.window("at", "1 minute").start, "HH:mm").alias("minute")
    counts = (
        events.select("value.*")
        .where(f.col("kind").isin(*KINDS))
        .withWatermark("at", "1 hour")
        .groupBy("user", minute)
        .count()
    )
    table = DatabaseSink.at(f"sqlite:///{database}", "counts", keys=["user", "minute"])

    def write_counts(frame: Any, batch_id: int) -> None:
        frame.persist()
        key = f.concat_ws(" ", "user", "minute").alias("key")
        records = frame.select(key, f.col("count").cast("string").alias("value"))
        sink = records.write.format("barnabas").mode("append").options(**kafka)
        sink.options(topic=COUNTS_TOPIC, queryId="counts", batchId=batch_id).save()
        table(frame, batch_id)
        frame.unpersist()

    counting = counts.writeStream.outputMode("update").foreachBatch(write_counts)
    return counting.option("checkpointLocation", str(place / "counting")).start()


@contextlib.contextmanager
def quiet_spark(place: Path) -> Iterator[Any]:
    """A tuned session whose start-up chatter does not reach the terminal."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.local.dir": str(place),
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "1g",
    }
    print("starting Spark ...", flush=True)
    with Path(os.devnull).open("w") as nowhere, redirected(2, nowhere.fileno()):
        spark = session("local[2]", app_name="barnabas demo", config=settings)
        spark.sparkContext.setLogLevel("OFF")
        try:
            yield spark
        finally:
            spark.stop()


@contextlib.contextmanager
def redirected(descriptor: int, target: int) -> Iterator[None]:
    kept = os.dup(descriptor)
    os.dup2(target, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


# -- the producer ------------------------------------------------------------------------------


def produce(address: str, sent: Sent) -> None:
    """Write all events; a context manager delivers what is left before it closes."""
    dice = random.Random(7)
    with Producer({"bootstrap.servers": address, "compression.type": "lz4"}) as producer:
        for number in range(EVENTS):
            user, second = dice.choice(USERS), number * MINUTES * 60 // EVENTS
            if number % BROKEN_EVERY == BROKEN_EVERY - 1:
                value = dice.choice([b"not json", b'{"user":', b'{"at":"yesterday"}'])
                sent.broken.append(value)
            else:
                value = event(user, dice.choice(KINDS), second).encode()
                sent.counts[user, clock(second)] += 1
            producer.send(EVENTS_TOPIC, value, key=user.encode())
            if number % 200 == 0:  # so that there is something to watch
                threading.Event().wait(SECONDS * 200 / EVENTS)


def event(user: str, kind: str, second: int) -> str:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST_MINUTE + second))
    return json.dumps({"user": user, "kind": kind, "at": at})


def clock(second: int) -> str:
    return time.strftime("%H:%M", time.gmtime(FIRST_MINUTE + second))


# -- the terminal ------------------------------------------------------------------------------


def follow(database: Path, query: Any, writer: threading.Thread) -> None:
    """Show the table as it grows, until the producer is done and its events are counted."""
    lines, give_up = 0, time.monotonic() + GIVE_UP_SECONDS
    wanted = EVENTS - EVENTS // BROKEN_EVERY
    while writer.is_alive() or read_table(database).total() < wanted:
        if query.exception() is not None:
            raise SystemExit(f"the pipeline has failed: {query.exception()}")
        if time.monotonic() > give_up:
            raise SystemExit("the pipeline did not finish in time")
        if sys.stdout.isatty():
            lines = draw(read_table(database), lines)
        threading.Event().wait(FRAME_SECONDS)
    if lines:
        print(f"\033[{lines}A\033[J", end="")


def show_last(database: Path) -> None:
    draw(read_table(database), 0)


def draw(table: Table, lines_before: int) -> int:
    minutes = [clock(60 * number) for number in range(MINUTES)]
    rows = [f"{'USER':10}" + "".join(f"{minute:>9}" for minute in minutes) + f"{'TOTAL':>9}"]
    for user in USERS:
        cells = [table[user, minute] for minute in minutes]
        rows.append(f"{user:10}" + "".join(f"{cell:9d}" for cell in [*cells, sum(cells)]))
    back = f"\033[{lines_before}A" if lines_before else ""
    print(back + "\n".join(rows), flush=True)
    return len(rows)


# -- the proof ---------------------------------------------------------------------------------


def compare(broker: Broker, database: Path, sent: Sent) -> int:
    """Topic, table and dead letters against the producer's own counts."""
    in_topic: Table = Counter()
    for record in broker.records(COUNTS_TOPIC, read_committed=True):
        user, minute = (record.key or b"").decode().split(" ")
        in_topic[user, minute] = int(record.value or b"0")
    dead = sorted(record.value for record in broker.records(BROKEN_TOPIC, read_committed=True))
    results = [
        ("the counts in the SQLite table", read_table(database) == sent.counts),
        (f"the counts in the topic {COUNTS_TOPIC!r}", in_topic == sent.counts),
        (f"the {len(sent.broken)} broken events in {BROKEN_TOPIC!r}", dead == sorted(sent.broken)),
    ]
    for what, equal in results:
        print(f"{what}: {'equal to' if equal else 'DIFFERENT from'} what the producer sent")
    return 0 if all(equal for _, equal in results) else 1


def read_table(database: Path) -> Table:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT user, minute, count FROM counts").fetchall()
    return Counter({(user, minute): count for user, minute, count in rows})


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BarnabasError as error:
        sys.exit(f"demo: {error}")
