"""process() and the database sink of the asyncio consumer, against a real broker."""

import asyncio
import sqlite3
from collections import Counter, defaultdict

import pytest

from barnabas import Producer, TopicPartition, aio
from barnabas.clients.group import ProcessingError
from barnabas.model.errors import LocalError

pytestmark = pytest.mark.integration

COUNT = 200


@pytest.fixture
def filled(broker, topic_name):
    """Two partitions with records of ten keys."""
    broker.topic(topic_name, partitions=2)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(COUNT):
            value, key = b"%d" % number, b"k%d" % (number % 10)
            producer.send(topic_name, value, key=key, partition=number % 2, timestamp=1000 + number)
    return topic_name


@pytest.fixture
def settings(broker, filled):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": filled,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.max.wait.ms": 50,
    }


async def committed_total(consumer, topic):
    found = await consumer.committed(*(TopicPartition(topic, n) for n in range(2)))
    return sum(at.offset for at in found.values() if at is not None)


@pytest.mark.parametrize("ordering", ["partition", "key"])
async def test_handlers_run_at_once_and_keep_the_order_asked_for(settings, filled, ordering):
    done, running, most = defaultdict(list), 0, 0

    async def handle(record):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        done[record.partition if ordering == "partition" else record.key].append(record.offset)

    async with aio.Consumer(settings) as consumer:
        await consumer.subscribe([filled])
        total = lambda: sum(map(len, done.values())) == COUNT  # noqa: E731
        await consumer.process(handle, concurrency=4, ordering=ordering, stop=total)
        assert await committed_total(consumer, filled) == COUNT
    assert all(offsets == sorted(offsets) for offsets in done.values())
    assert most > 1


async def test_a_failure_stops_and_nothing_past_it_is_committed(settings, filled):
    async def handle(record):
        if record.value == b"50":
            raise ValueError("no")

    async with aio.Consumer(settings) as consumer:
        await consumer.subscribe([filled])
        with pytest.raises(ProcessingError) as error:
            await consumer.process(handle)
        assert error.value.record.value == b"50"
        topic_partition = TopicPartition(filled, 0)
        assert (await consumer.committed(topic_partition))[
            topic_partition
        ].offset <= error.value.record.offset
        assert await consumer.position(topic_partition) <= error.value.record.offset


async def test_dead_letters_are_stored_with_their_reason_and_time(broker, settings, filled):
    seen = Counter()

    async def handle(record):
        seen[record.value] += 1
        if record.value == b"13":
            raise ValueError("unlucky")

    async with (
        aio.Consumer(settings) as consumer,
        aio.Producer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        await consumer.subscribe([filled])
        await consumer.process(
            handle,
            concurrency=3,
            on_error="dlq",
            retries=2,
            backoff_s=0.001,
            producer=producer,
            stop=lambda: len(seen) == COUNT and seen[b"13"] == 3,
        )
        assert await committed_total(consumer, filled) == COUNT
    async with aio.SimpleConsumer(bootstrap_servers=broker.bootstrap_servers) as reader:
        [letter] = [record async for record in reader.records(f"{filled}.dlq", 0)]
    assert letter.value == b"13"
    assert letter.timestamp == 1013
    assert dict(letter.headers)["dlq.error.message"] == b"unlucky"


async def test_a_plain_function_and_wakeup(settings, filled):
    seen = []

    async with aio.Consumer(settings) as consumer:

        def handle(record):
            seen.append(record.value)
            if len(seen) == COUNT:
                consumer.wakeup()

        await consumer.subscribe([filled])
        await consumer.process(handle)
        assert await committed_total(consumer, filled) == COUNT


async def test_mistakes_are_named(broker, settings, filled):
    async with aio.Consumer({**settings, "enable.auto.commit": True}) as consumer:
        await consumer.subscribe([filled])
        with pytest.raises(LocalError, match=r"enable\.auto\.commit"):
            await consumer.process(print)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as blocking:
        async with aio.Consumer(settings) as consumer:
            await consumer.subscribe([filled])
            with pytest.raises(LocalError, match=r"barnabas\.aio\.Producer"):
                await consumer.process(print, on_error="dlq", producer=blocking)


async def test_each_record_is_in_the_database_once(settings, filled, tmp_path):
    def connect():
        return sqlite3.connect(tmp_path / "results.db")

    def write(cursor, records):
        cursor.executemany("INSERT INTO results VALUES (?)", [(int(r.value),) for r in records])

    def fail(cursor, records):
        write(cursor, records)
        raise ValueError("the disk is full")

    with sqlite3.connect(tmp_path / "results.db") as setup:
        setup.execute("CREATE TABLE results (value INTEGER)")
    for limit in (COUNT // 2, COUNT):
        async with (
            aio.DatabaseSink(connect, group="g") as sink,
            aio.Consumer(settings, max_poll_records=20) as consumer,
        ):
            await sink.create_table()
            await sink.subscribe(consumer, [filled])
            while True:
                try:
                    await sink.consume(consumer, fail)
                except ValueError:
                    break
            topic_partitions = [TopicPartition(filled, number) for number in range(2)]
            while sum((await sink.offsets(topic_partitions)).values()) < limit:
                await sink.consume(consumer, write)
    with sqlite3.connect(tmp_path / "results.db") as check:
        values = [row[0] for row in check.execute("SELECT value FROM results")]
    assert sorted(values) == list(range(COUNT))
