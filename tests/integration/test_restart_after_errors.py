"""Programs that an error or Ctrl-C ends while they process a record, and where they begin again.

Each program runs in a bare interpreter. It prints the offset of its 25th record and fails there.
The records in progress are read again, the records before them are not.
"""

import signal
import subprocess
import sys
import textwrap

import pytest

from barnabas import Consumer, Producer, TopicPartition

pytestmark = pytest.mark.integration
CHILD_SECONDS = 60
COUNT = 40

BLOCKING = """
    import os, signal, sys, threading, time
    from barnabas import Consumer

    def process(record):
        if record.offset == int(sys.argv[4]):
            print(record.offset, flush=True)
            if sys.argv[3] == "error":
                raise ValueError("a mistake")
            if sys.argv[3] == "interrupt":
                time.sleep(60)
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    def run(consumer):
        consumer.subscribe([sys.argv[2]])
        READ

    config = {
        "bootstrap.servers": sys.argv[1],
        "group.id": sys.argv[2],
        "auto.offset.reset": "earliest",
        "max.poll.records": 10,
    }
    END
"""
ITERATE = """
        for record in consumer:
            process(record)
"""
POLL = """
        while True:
            for records in consumer.poll(1.0).values():
                for record in records:
                    process(record)
"""
WITH_BLOCK = """
    with Consumer(config) as consumer:
        run(consumer)
"""
NO_BLOCK = """
    run(Consumer(config))
"""
ASYNCIO = """
    import asyncio, os, signal, sys, threading
    from barnabas.aio import Consumer

    async def process(record):
        if record.offset == int(sys.argv[4]):
            print(record.offset, flush=True)
            if sys.argv[3] == "error":
                raise ValueError("a mistake")
            if sys.argv[3] == "interrupt":
                await asyncio.sleep(60)
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    async def run(consumer):
        await consumer.subscribe([sys.argv[2]])
        READ

    async def main():
        config = {
            "bootstrap.servers": sys.argv[1],
            "group.id": sys.argv[2],
            "auto.offset.reset": "earliest",
            "max.poll.records": 10,
        }
        END

    asyncio.run(main())
"""
ASYNCIO_ITERATE = """
        async for record in consumer:
            await process(record)
"""
ASYNCIO_POLL = """
        while True:
            for records in (await consumer.poll(1.0)).values():
                for record in records:
                    await process(record)
"""
ASYNCIO_WITH_BLOCK = """
        async with Consumer(config) as consumer:
            await run(consumer)
"""
ASYNCIO_NO_BLOCK = """
        await run(Consumer(config))
"""
CONFLUENT = """
    import sys, time
    from confluent_kafka import Consumer

    config = {
        "bootstrap.servers": sys.argv[1],
        "group.id": sys.argv[2],
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(config)
    consumer.subscribe([sys.argv[2]])
    try:
        while True:
            record = consumer.poll(1.0)
            if record is not None and record.offset() == int(sys.argv[4]):
                print(record.offset(), flush=True)
                if sys.argv[3] == "error":
                    raise ValueError("a mistake")
                time.sleep(60)
    finally:
        consumer.close()
"""


def program(frame, read, end):
    """Puts indented parts into a program."""
    parts = textwrap.dedent(frame)
    for name, part in (("READ", read), ("END", end)):
        place = next(line for line in parts.splitlines() if line.strip() == name)
        depth = place[: len(place) - len(name)]
        parts = parts.replace(place, textwrap.indent(textwrap.dedent(part).strip(), depth))
    return parts


def run(source, broker, topic, how, stop):
    """Runs a program up to the record at the offset `stop`, where it ends as `how` says."""
    arguments = [sys.executable, "-c", source, broker.bootstrap_servers, topic, how, str(stop)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(arguments, **pipes) as child:
        assert child.stdout.readline() == f"{stop}\n", child.communicate(CHILD_SECONDS)
        if how == "interrupt":
            child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=CHILD_SECONDS)
    assert ("a mistake" if how == "error" else "KeyboardInterrupt") in errors
    assert child.returncode != 0


@pytest.fixture
def filled(broker, topic_name):
    with Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=1000) as producer:
        for number in range(COUNT):
            producer.send(topic_name, b"%d" % number)
    return topic_name


def committed(broker, group):
    found = broker.admin.list_group_offsets([group])[group]
    return {partition: position.offset for partition, position in found.items()}


def first_offset(broker, topic):
    """Returns the offset at which the next start of the program begins."""
    config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic}
    with Consumer({**config, "auto.offset.reset": "earliest"}) as consumer:
        consumer.subscribe([topic])
        return next(iter(consumer)).offset


@pytest.mark.parametrize("how", ["error", "interrupt"])
@pytest.mark.parametrize(
    ("source", "offset"),
    [
        (program(BLOCKING, ITERATE, WITH_BLOCK), 24),
        (program(BLOCKING, ITERATE, NO_BLOCK), 24),
        (program(BLOCKING, POLL, WITH_BLOCK), 20),
        (program(BLOCKING, POLL, NO_BLOCK), 20),
        (program(ASYNCIO, ASYNCIO_ITERATE, ASYNCIO_WITH_BLOCK), 24),
        (program(ASYNCIO, ASYNCIO_ITERATE, ASYNCIO_NO_BLOCK), 24),
        (program(ASYNCIO, ASYNCIO_POLL, ASYNCIO_WITH_BLOCK), 20),
        (program(ASYNCIO, ASYNCIO_POLL, ASYNCIO_NO_BLOCK), 20),
        # confluent-kafka goes on as well, but commits the record in progress.
        (CONFLUENT, 25),
    ],
    ids=[
        "iterate-with-block",
        "iterate-no-block",
        "poll-with-block",
        "poll-no-block",
        "asyncio-iterate-with-block",
        "asyncio-iterate-no-block",
        "asyncio-poll-with-block",
        "asyncio-poll-no-block",
        "confluent-kafka",
    ],
)
def test_the_next_start_goes_on_at_the_record_in_progress(broker, filled, source, offset, how):
    run(textwrap.dedent(source), broker, filled, how, 24)
    assert committed(broker, filled) == {TopicPartition(filled, 0): offset}
    assert first_offset(broker, filled) == offset


@pytest.mark.parametrize(
    "source",
    [
        program(BLOCKING, ITERATE, WITH_BLOCK),
        program(BLOCKING, POLL, NO_BLOCK),
        program(ASYNCIO, ASYNCIO_ITERATE, ASYNCIO_WITH_BLOCK),
        program(ASYNCIO, ASYNCIO_POLL, ASYNCIO_NO_BLOCK),
    ],
    ids=["iterate-with-block", "poll-no-block", "asyncio-iterate", "asyncio-poll-no-block"],
)
def test_nothing_is_read_again_if_the_program_waits_for_records(broker, filled, source):
    run(textwrap.dedent(source), broker, filled, "wait", COUNT - 1)
    assert committed(broker, filled) == {TopicPartition(filled, 0): COUNT}
