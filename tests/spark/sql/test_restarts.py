"""Queries come back: after a clean end, in another process, and after a kill in the middle.

Whatever moment the kill hits, the table has counted every record once, and its changelog never
told a number twice.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest
from support.pipelines.sql_topics import rows, table
from support.soak import SOAK

from barnabas import Producer, SimpleConsumer

ROUNDS = 5 if SOAK else 1
RECORDS = 400
KEYS = 7
WAIT_SECONDS = RUN_SECONDS = 240
pytestmark = [
    pytest.mark.faults,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(3600 if SOAK else 600),
]


def produce(servers, topic, numbers):
    with Producer(bootstrap_servers=servers) as producer:
        for number in numbers:
            value = b'{"n":%d}' % number
            producer.send(topic, value, key=b"k%d" % (number % KEYS), timestamp=number)


def wait_for(condition, process):
    """Until a condition holds; the process must live so long."""
    pause = threading.Event()
    for _ in range(WAIT_SECONDS * 4):
        if condition():
            return
        assert process.poll() is None, "the program ended by itself"
        pause.wait(0.25)
    raise AssertionError("waited too long")


def test_a_query_continues_in_a_later_engine(engine_factory, broker):
    servers = broker.bootstrap_servers
    first = engine_factory("later")
    first.run(
        """CREATE STREAM s (k VARCHAR KEY, n INT)
             WITH (kafka_topic='later_s', partitions=2, retention_ms=-1);
           CREATE TABLE counts WITH (kafka_topic='later_counts') AS
             SELECT k, COUNT(*) AS c, SUM(n) AS total FROM s GROUP BY k;"""
    )
    produce(servers, "later_s", range(10))
    first.run_available(RUN_SECONDS)
    queries = [query.query_id for query in first.catalog.queries]
    first.close()
    produce(servers, "later_s", range(10, 20))
    second = engine_factory("later")
    second.run_available(RUN_SECONDS)
    assert [query.query_id for query in second.catalog.queries] == queries
    expected = {}
    for number in range(20):
        entry = expected.setdefault(f"k{number % KEYS}", {"c": 0, "total": 0})
        entry["c"] += 1
        entry["total"] += number
    assert table(servers, "later_counts") == expected


def test_only_one_process_runs_a_query(engine_factory):
    one, two = engine_factory("locks"), engine_factory("locks")
    one.run(
        """CREATE STREAM s (k VARCHAR KEY, n INT) WITH (kafka_topic='locks_s', partitions=1);
           CREATE STREAM t WITH (kafka_topic='locks_t') AS SELECT k, n + 1 AS n FROM s;"""
    )
    assert len(one.resume()) == 1
    assert two.resume() == []
    assert [row["status"] for row in two.run("SHOW QUERIES")[0].rows] == ["RUNNING ELSEWHERE"]
    one.close()
    assert len(two.resume()) == 1


def test_a_query_stays_where_its_checkpoint_is(engine_factory, tmp_path):
    """Another state directory, as another machine has it, does not begin a query anew."""
    one, other = engine_factory("homes"), engine_factory("homes", state_dir=tmp_path / "other")
    one.run(
        """CREATE STREAM s (k VARCHAR KEY, n INT) WITH (kafka_topic='homes_s', partitions=1);
           CREATE STREAM t WITH (kafka_topic='homes_t') AS SELECT k, n + 1 AS n FROM s;"""
    )
    assert len(one.resume()) == 1
    one.close()
    assert other.resume() == []
    ((query_id, where),) = other.queries_elsewhere().items()
    status = other.run("SHOW QUERIES")[0].rows[0]["status"]
    assert status == f"ON {where}"
    assert f"{query_id}: {status}" in other.run(f"EXPLAIN {query_id}")[0].text
    again = engine_factory("homes")
    assert len(again.resume()) == 1
    assert again.queries_elsewhere() == {}
    # Made anew, the query belongs to whoever takes it first.
    other.run("CREATE OR REPLACE STREAM t WITH (kafka_topic='homes_t') AS SELECT k, n FROM s;")
    assert len(other.resume()) == 1
    assert again.resume() == []


SCRIPT = """
SET 'auto.offset.reset'='earliest';
CREATE STREAM s (k VARCHAR KEY, n INT) WITH (kafka_topic='kill_s', partitions=2,
  retention_ms=-1);
CREATE TABLE counts WITH (kafka_topic='kill_counts') AS
  SELECT k, COUNT(*) AS c, SUM(n) AS total FROM s GROUP BY k;
"""


LIGHT = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that is killed soon has no use for the costly compiler."""


class Program:
    """`barnabas sql --keep-running` in a process group of its own, JVM and workers included."""

    def __init__(self, arguments, log):
        self._log = log.open("ab")
        # The command would take it for a setting, as it takes every BARNABAS_… .
        own = {name: value for name, value in os.environ.items() if name != "BARNABAS_SOAK"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "barnabas.cli.main", "sql", *arguments, "--keep-running"],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            env={**own, **LIGHT, "TMPDIR": str(log.parent), "PYTHONUNBUFFERED": "1"},
        )

    def kill(self):
        with contextlib.suppress(ProcessLookupError):  # it ended by itself, and the test says so
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._log.close()


def test_killed_in_the_middle(broker, spark, tmp_path):
    """A program is killed while it counts; a running engine completes the work."""
    from barnabas.streams.sql.engine.engine import Engine

    servers = broker.bootstrap_servers
    state, script = tmp_path / "state", tmp_path / "app.sql"
    script.write_text(SCRIPT)
    produced = 0
    for round_number in range(ROUNDS):
        arguments = ["-b", servers, "--state-dir", str(state)]
        arguments += [str(script)] if round_number == 0 else ["-e", "SHOW QUERIES"]
        program = Program(arguments, tmp_path / "program.log")
        try:
            if round_number == 0:
                wait_for(lambda: "kill_counts" in topics(servers), program.process)
            told = counted(servers)
            produce(servers, "kill_s", range(produced, produced + RECORDS))
            produced += RECORDS
            wait_for(partial(moved, servers, told), program.process)
            produce(servers, "kill_s", range(produced, produced + RECORDS))
            produced += RECORDS
        finally:
            program.kill()
    with Engine({"bootstrap.servers": servers}, state_dir=state, spark=spark) as engine:
        engine.run_available(RUN_SECONDS)
        # The cluster's own catalog was used, as the program does: leave nothing in it.
        engine.run("DROP TABLE counts; DROP STREAM s;")
    found = table(servers, "kill_counts")
    assert sum(row["c"] for row in found.values()) == produced
    assert sum(row["total"] for row in found.values()) == sum(range(produced))
    for key in found:
        counts = [value["c"] for name, value in rows(servers, "kill_counts") if name == key]
        assert counts == sorted(set(counts)), f"{key} told a number twice"


def counted(servers):
    """Committed records by now; a transaction that a killed program left open is not waited for."""
    with SimpleConsumer(bootstrap_servers=servers, isolation_level="read_committed") as consumer:
        return sum(
            len(list(consumer.records("kill_counts", partition)))
            for partition in consumer.partitions("kill_counts")
        )


def moved(servers, told):
    return counted(servers) > told


def topics(servers):
    from barnabas import Admin

    with Admin(bootstrap_servers=servers) as admin:
        return {listing.name for listing in admin.list_topics()}
