"""The programs of examples/seeds run as they are, against a broker and where needed ZooKeeper."""

import os
import queue
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from support.cluster.brokers import broker_with
from support.cluster.zookeeper_broker import register

from barnabas.clients.core.loop_thread import LoopThread

PROGRAMS = Path(__file__).parents[2] / "examples" / "seeds"
LINE_SECONDS = 40.0

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server(pytestconfig):
    """A broker of their own: the programs' topics and groups have fixed names."""
    with broker_with({}, pytestconfig) as running:
        yield running


class Program:
    """A program that runs until Ctrl-C; its lines come through a queue."""

    def __init__(self, name, *args):
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / name), *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))

    def lines(self, count):
        """The next lines; the program's error when they do not come."""
        try:
            return [self._lines.get(timeout=LINE_SECONDS) for _ in range(count)]
        except queue.Empty:
            self._process.kill()
            raise AssertionError(self._process.stderr.read()) from None

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)
        with self._process:
            try:
                code = self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()  # or leaving the block waits for its end
                raise
            self._reader.join()
            return code, self._process.stderr.read()


@pytest.fixture
def start():
    programs = []

    def run(name, *args):
        programs.append(Program(name, *args))
        return programs[-1]

    yield run
    for program in programs:
        if program._process.poll() is None:
            program.interrupt()


def test_producer_demo(server):
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "kafka_producer_demo.py"), server.bootstrap_servers],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("test1\n", "", 0)
    (record,) = server.records("test1")
    assert (record.key, record.value) == (b"key1", b"value1")


def test_consumer_demo(server, start):
    server.topic("test")
    server.produce("test", "hello", "world", key="k")
    program = start("kafka_consumer_demo.py", server.bootstrap_servers)
    assert program.lines(2) == [
        "topic = test, partition = 0, offset = 0, key = k, value = hello",
        "topic = test, partition = 0, offset = 1, key = k, value = world",
    ]
    assert program.interrupt() == (130, "")


def test_partitioner_demo(server):
    server.topic("partitioned", partitions=4)
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "key_partitioner_demo.py"), server.bootstrap_servers],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout
        == "key1 -> partition 0\nkey2 -> partition 3\nno key: INVALID_RECORD: key can not be null\n"
    )


def test_simple_consumer_example(server, start):
    server.topic("simple")
    server.produce("simple", "first", "second")
    program = start("simple_consumer_example.py", str(server.port), "simple")
    assert program.lines(2) == ["message : [first]", "message : [second]"]
    server.produce("simple", "third")
    assert program.lines(1) == ["message : [third]"]
    assert program.interrupt() == (130, "")


@pytest.mark.xdist_group("zookeeper")
def test_high_level_consumer(server, start, zookeeper):
    server.topic("streams", partitions=3)
    for partition in range(3):
        server.produce("streams", f"value {partition}", partition=partition)
    hosts = f"{zookeeper.connect_string}/{uuid.uuid4().hex}"
    loop = LoopThread("test-seed-programs")
    loop.call(register(hosts, server, {"streams": 3}))
    loop.close()
    program = start("high_level_consumer.py", hosts, "streams")
    lines = program.lines(3)
    assert sorted(line.partition(": ")[2] for line in lines) == [
        f"partition = {number}, value = value {number}" for number in range(3)
    ]
    assert len({line.partition(":")[0] for line in lines}) == 3
    assert program.interrupt() == (130, "")
