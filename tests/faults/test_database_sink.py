"""Consumers killed in the middle of a batch: every record is in the database exactly once."""

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from barnabas import Producer
from barnabas.testing import Broker

pytestmark = [pytest.mark.faults, pytest.mark.integration]

MEMBER = Path(__file__).parent.parent / "support" / "groups" / "database_member.py"
COUNT = 6000
KILLS = 6


@pytest.fixture
def broker():
    with Broker({"num.partitions": 3, "group.min.session.timeout.ms": 500}) as running:
        yield running


def start(broker, topic, database):
    command = [sys.executable, str(MEMBER), broker.bootstrap_servers, topic, str(database)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def stored(database):
    connection = sqlite3.connect(database, timeout=30)
    try:
        rows = connection.execute("SELECT value FROM results").fetchall()
    except sqlite3.OperationalError:
        rows = []
    connection.close()
    return [value for (value,) in rows]


def test_killed_consumers_count_each_record_once(broker, topic_name, tmp_path):
    database = tmp_path / "results.db"
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(COUNT):
            producer.send(topic_name, b"%d" % number)
    for turn in range(KILLS):
        member = start(broker, topic_name, database)
        member.stdout.readline()
        # Somewhere in the next few batches, and never at the same point.
        threading.Event().wait(random.Random(turn).uniform(0, 0.02))
        member.send_signal(signal.SIGKILL)
        member.wait()
        member.stdout.close()
        assert len(set(stored(database))) == len(stored(database))
    assert len(stored(database)) < COUNT, "the kills came while there was work"
    member = start(broker, topic_name, database)
    deadline = time.monotonic() + 60
    while len(set(stored(database))) < COUNT and time.monotonic() < deadline:
        threading.Event().wait(0.1)
    member.kill()
    member.wait()
    member.stdout.close()
    assert sorted(stored(database)) == list(range(COUNT))
