"""SIGTERM under `barnabas.graceful()`: programs end, groups are left, nothing is lost."""

import signal
import subprocess
import sys
import threading

import pytest

from barnabas import Consumer, Producer, TopicPartition, graceful
from barnabas.model.errors import LocalError

pytestmark = pytest.mark.integration

HEAD = """
import asyncio, sys, threading, barnabas
from barnabas import aio
servers, topic = sys.argv[1:]
settings = {"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest"}
def work(record):
    print("begin", flush=True)
    threading.Event().wait(0.3)
    print("end", flush=True)
"""
PROGRAMS = {
    "poll": """
with barnabas.graceful(), barnabas.Consumer(settings, max_poll_records=1) as consumer:
    consumer.subscribe([topic])
    while True:
        for records in consumer.poll(5).values():
            for record in records:
                work(record)
print("after")
""",
    "iterate": """
with barnabas.graceful():
    consumer = barnabas.Consumer(settings)
    consumer.subscribe([topic])
    for record in consumer:
        work(record)
print("after")
""",
    "process": """
with barnabas.graceful(), barnabas.Consumer(settings, enable_auto_commit=False) as consumer:
    consumer.subscribe([topic])
    consumer.process(work, max_in_progress=1)
print("after")
""",
    "asyncio": """
async def main():
    async with aio.Consumer(settings) as consumer:
        await consumer.subscribe([topic])
        async for record in consumer:
            work(record)
with barnabas.graceful():
    asyncio.run(main())
print("after")
""",
    "thread": """
def run():
    with barnabas.Consumer(settings) as consumer:
        consumer.subscribe([topic])
        try:
            for record in consumer:
                work(record)
        except barnabas.clients.group.WakeupError:
            pass
with barnabas.graceful():
    import barnabas.clients.group
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
print("after")
""",
}


@pytest.fixture
def start(broker, topic_name):
    broker.topic(topic_name)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(100):
            producer.send(topic_name, b"%d" % number)
    running = []

    def run(program):
        command = [sys.executable, "-c", HEAD + program, broker.bootstrap_servers, topic_name]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running.append(subprocess.Popen(command, **pipes))
        return running[0]

    yield run
    for process in running:
        process.kill()
        process.communicate()


def committed(broker, topic):
    topic_partition = TopicPartition(topic, 0)
    with Consumer(bootstrap_servers=broker.bootstrap_servers, group_id=topic) as consumer:
        at = consumer.committed(topic_partition)[topic_partition]
    return 0 if at is None else at.offset


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_consumer_ends_after_the_record_at_hand(broker, topic_name, start, kind):
    process = start(PROGRAMS[kind])
    assert process.stdout.readline() == "begin\n"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    lines = ["begin", *out.splitlines()]
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert lines[-1] == "after"
    assert lines.count("begin") == lines.count("end") == committed(broker, topic_name)
    assert lines.count("end") < 50, "records that were only queued were processed"


def test_a_producer_delivers_what_it_has(broker, topic_name, start):
    program = """
with barnabas.graceful(), barnabas.Producer(settings_of_producer, linger_ms=60000) as producer:
    producer.send(topic, b"last")
    print("sent", flush=True)
    threading.Event().wait(60)
"""
    program = 'settings_of_producer = {"bootstrap.servers": servers}\n' + program
    process = start(program)
    assert process.stdout.readline() == "sent\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    with Consumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        assert consumer.end_offsets([(topic_name, 0)]) == {TopicPartition(topic_name, 0): 101}


def test_the_handler_from_before_is_back_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with graceful() as shutdown:
        assert signal.getsignal(signal.SIGTERM) is not before
        assert not shutdown.requested
    assert signal.getsignal(signal.SIGTERM) is before


def test_another_thread_cannot_have_it():
    caught = []

    def enter():
        try:
            with graceful():
                pass
        except LocalError as error:
            caught.append(str(error))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert "main thread" in caught[0]
