"""Drivers and workers killed at any moment: each record is copied exactly once, in order.

Each round kills a worker, then the driver with all its processes.
"""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

PROGRAM = Path(__file__).parents[1] / "support" / "spark_copy.py"
SOAK = bool(os.environ.get("BARNABAS_SOAK"))
ROUNDS = 10 if SOAK else 1
PARTITIONS = 2
RECORDS_PER_ROUND = 200
pytestmark = [
    pytest.mark.faults,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(3600 if SOAK else 300),
]


class Program:
    """The query in a process group of its own, JVM and Python workers included."""

    def __init__(self, *arguments, log):
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            # What a killed process leaves goes with the test's directory.
            env={**os.environ, "TMPDIR": str(log.parent)},
        )

    @property
    def running(self):
        return self._process.poll() is None

    def workers(self):
        """Forks of Spark's Python daemons: they run tasks."""
        found = []
        for child in psutil.Process(self._process.pid).children(recursive=True):
            try:
                if "pyspark.daemon" in child.cmdline() and not child.children():
                    found.append(child)
            except psutil.Error:
                continue
        return found

    def kill(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()

    def finish(self, seconds):
        code = self._process.wait(seconds)
        self._log.close()
        return code


def test_kills(broker, topic_name, tmp_path):
    dice, pause = random.Random(3), threading.Event()
    source = broker.topic(f"{topic_name}-in", partitions=PARTITIONS)
    target = broker.topic(f"{topic_name}-out", partitions=PARTITIONS)
    arguments = (broker.bootstrap_servers, source, target, str(tmp_path / "checkpoint"))
    log = tmp_path / "log"

    def copied():
        return len(broker.records(target, read_committed=True))

    for number in range(ROUNDS):
        for partition in range(PARTITIONS):
            values = [f"{number}-{n}" for n in range(RECORDS_PER_ROUND)]
            broker.produce(source, *values, partition=partition)
        before, program = copied(), Program(*arguments, "follow", log=log)
        try:
            while program.running and copied() == before:
                pause.wait(0.2)
            pause.wait(dice.random())
            workers = program.workers()
            if workers:
                dice.choice(workers).kill()
                pause.wait(0.5 + dice.random())
        finally:
            program.kill()
    program = Program(*arguments, "finish", log=log)
    assert program.finish(240) == 0, log.read_text()[-3000:]

    def values(topic, partition):
        records = broker.records(topic, read_committed=True)
        return [r.value for r in records if r.partition == partition]

    for partition in range(PARTITIONS):
        assert values(target, partition) == values(source, partition)
