"""Drivers and workers killed at any moment: each record is copied exactly once, in order.

Each round kills a Python worker, then the driver with all its processes, while queries copy to a
topic and into databases. Before some rounds the checkpoints forget a micro-batch that the sinks
have written. A session that lives finishes the work.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from pyspark.errors import StreamingQueryException
from support.pipelines.postgres import postgres_server
from support.pipelines.spark_copy import CREATE_TABLE, IN_ORDER, TABLE, Plan, start_query
from support.soak import SOAK

from barnabas.spark.sink.database import connection_to

PROGRAM = Path(__file__).parents[1] / "support" / "pipelines" / "spark_copy.py"
ROUNDS = 20 if SOAK else 1
PARTITIONS = 2
RECORDS_PER_ROUND = 1000
FINISH_SECONDS = 240
TRIES = 5
pytestmark = [
    pytest.mark.faults,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(3600 if SOAK else 600),
]


class Program:
    """The queries in a process group of their own, JVM and Python workers included."""

    def __init__(self, plan, log):
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), plan.text()],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            # What a killed process leaves goes with the test's directory.
            env={**os.environ, "TMPDIR": str(log.parent)},
        )

    @property
    def running(self):
        return self._process.poll() is None

    def kill_a_worker(self, dice):
        """One of the forks of Spark's Python daemons, which run tasks; False if there is none."""
        workers = []
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if "pyspark.daemon" in child.cmdline() and not child.children():
                        workers.append(child)
        if not workers:
            return False
        with contextlib.suppress(psutil.Error):
            dice.choice(workers).kill()
        return True

    def kill(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()


@pytest.fixture
def databases(tmp_path):
    """SQLite; in the long form PostgreSQL too, if the machine has a server."""
    with contextlib.ExitStack() as stack:
        urls = [f"sqlite:///{tmp_path / 'copies.db'}"]
        if SOAK:
            server = stack.enter_context(postgres_server())
            urls += [server] if server else []
        for url in urls:
            execute(url, CREATE_TABLE.format(order=IN_ORDER[url.partition(":")[0]]))
        yield urls


def execute(url, statement):
    with contextlib.closing(connection_to(url)[0]()) as connection:
        cursor = connection.cursor()
        cursor.execute(statement)
        rows = cursor.fetchall() if statement.startswith("SELECT") else []
        connection.commit()
    return rows


def forget_last_commit(checkpoint):
    """As if the driver had died after the sink's work and before its own note of it.

    Only the last micro-batch that was planned may be forgotten; False when it is not done yet.
    """

    def last(name):
        numbers = [int(p.name) for p in (checkpoint / name).glob("[0-9]*") if p.name.isdigit()]
        return max(numbers, default=-1)

    if last("commits") < 0 or last("commits") != last("offsets"):
        return False
    (checkpoint / "commits" / str(last("commits"))).unlink()
    return True


@pytest.mark.parametrize("tasks", [1, 2] if SOAK else [1])
def test_kills(spark, broker, topic_name, tmp_path, databases, tasks):
    dice, pause = random.Random(3), threading.Event()
    source = broker.topic(f"{topic_name}-in", partitions=PARTITIONS)
    target = broker.topic(f"{topic_name}-out", partitions=PARTITIONS)
    checkpoints = str(tmp_path / "checkpoints")
    plan = Plan(broker.bootstrap_servers, source, target, checkpoints, databases, tasks)
    log, forgotten, workers = tmp_path / "log", 0, 0

    def copied():
        return len(broker.records(target, read_committed=True))

    for number in range(ROUNDS):
        for partition in range(PARTITIONS):
            values = [f"{number}-{n}" for n in range(RECORDS_PER_ROUND)]
            broker.produce(source, *values, partition=partition)
        before, program = copied(), Program(plan, log)
        try:
            while copied() == before:
                if not program.running:  # Spark gives a Python process ten seconds to start
                    program.kill()
                    program = Program(plan, log)
                pause.wait(0.2)
            pause.wait(dice.random())
            workers += program.kill_a_worker(dice)
            pause.wait(0.3 + dice.random())
        finally:
            program.kill()
        forgotten += sum(forget_last_commit(plan.checkpoint(name)) for name in plan.names)
    assert workers, "a run without a killed worker proves little"
    finish(spark, plan)
    # Once more, with the certainty that the last micro-batch of each was written and forgotten.
    assert all(forget_last_commit(plan.checkpoint(name)) for name in plan.names)
    finish(spark, plan)
    check_topic(broker, source, target)
    for url in databases:
        check_table(broker, source, url)


def finish(spark, plan):
    """One after the other: a busy machine may not start several Python processes in the ten
    seconds that Spark gives each, and what failed to start is started again."""
    for name in plan.names:
        for _ in range(TRIES):
            query = start_query(spark, plan, name, batch=5000, finish=True)
            try:
                assert query.awaitTermination(FINISH_SECONDS)
                break
            except StreamingQueryException as error:
                if "failed to connect back" not in str(error):
                    raise
        else:
            raise AssertionError(f"{name} could not be started")


def values_of(broker, topic, partition):
    records = broker.records(topic, read_committed=True)
    return [record.value for record in records if record.partition == partition]


def check_topic(broker, source, target):
    for partition in range(PARTITIONS):
        assert values_of(broker, target, partition) == values_of(broker, source, partition)


def check_table(broker, source, url):
    rows = execute(url, f"SELECT part, at, val FROM {TABLE} ORDER BY turn")
    for partition in range(PARTITIONS):
        wanted = [value.decode() for value in values_of(broker, source, partition)]
        found = [(at, value) for part, at, value in rows if part == partition]
        assert [value for _, value in found] == wanted, url
        assert [at for at, _ in found] == list(range(len(wanted))), url
