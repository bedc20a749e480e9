"""Stateful queries that are killed and restarted: rows exactly once, tables correct."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from support.pipelines.streams_program import runner
from support.soak import SOAK

from barnabas.streams import TableView
from barnabas.streams.testing import Bench, Fed

TESTS = Path(__file__).parents[2]
PROGRAM = TESTS / "support" / "pipelines" / "streams_program.py"
ROUNDS = 8 if SOAK else 1
USERS = 20
CLICKS = 300
START_SECONDS = 240
pytestmark = [
    pytest.mark.faults,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(3600 if SOAK else 600),
]


class Program:
    """The queries in a process group of their own, JVM and Python workers included."""

    def __init__(self, *arguments, log):
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(log.parent), "PYTHONPATH": str(TESTS)},
        )

    @property
    def running(self):
        return self._process.poll() is None

    def kill(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()


def clicks_of(number):
    dice = random.Random(number)
    return [(f"u{dice.randrange(USERS)}", number * CLICKS + n) for n in range(CLICKS)]


def test_kills(kafka_broker, kafka_spark, topic_name, tmp_path):
    bench = Bench(kafka_broker.bootstrap_servers, kafka_spark, tmp_path)
    prefix, dice, pause = topic_name, random.Random(5), threading.Event()
    users = [Fed({"name": f"name {n % 5}"}, f"u{n}") for n in range(USERS)]
    bench.feed(f"{prefix}-users", users, partitions=2)
    bench.feed(f"{prefix}-clicks", [], partitions=2)
    kafka_broker.topic(f"{prefix}-named", partitions=2)
    for number in range(ROUNDS):
        before = len(bench.records(f"{prefix}-named"))
        records = [Fed({"user": user, "number": n}, user) for user, n in clicks_of(number)]
        bench.feed(f"{prefix}-clicks", records)
        log = tmp_path / "log"
        program = Program(bench.bootstrap_servers, prefix, str(tmp_path), log=log)
        try:
            for _ in range(START_SECONDS * 5):
                if not program.running or len(bench.records(f"{prefix}-named")) > before:
                    break
                pause.wait(0.2)
            pause.wait(dice.random() * 2)
        finally:
            program.kill()
        assert len(bench.records(f"{prefix}-named")) > before, log.read_text()[-3000:]
    runner(bench.bootstrap_servers, prefix, tmp_path, kafka_spark, 10_000).run(START_SECONDS)
    check(bench, prefix, tmp_path)


def check(bench, prefix, directory):
    clicks = [click for number in range(ROUNDS) for click in clicks_of(number)]
    found = [(row["name"], row["number"]) for row in bench.rows(f"{prefix}-named")]
    wanted = [(f"name {int(user[1:]) % 5}", number) for user, number in clicks]
    assert Counter(found) == Counter(wanted)
    counts = Counter(name for name, _ in wanted)
    totals = {name: sum(n for owner, n in wanted if owner == name) for name in counts}
    table = bench.table(f"{prefix}-counts")
    assert {key: (row["n"], row["total"]) for key, row in table.items()} == {
        name: (counts[name], totals[name]) for name in counts
    }
    with TableView(str(Path(directory) / "counts.db")) as view:
        assert {row.key: row.value["n"] for row in view.scan()} == dict(counts)
