"""`process` and the database sink, against a real broker."""

import sqlite3
import threading
import time
from collections import defaultdict

import pytest
from support.cluster.brokers import broker_with

from barnabas import Producer, TopicPartition
from barnabas.clients.group import Consumer
from barnabas.clients.group.database import DatabaseSink, FencedError
from barnabas.clients.group.failures import ProcessingError
from barnabas.model.errors import LocalError

pytestmark = pytest.mark.integration

COUNT = 400


@pytest.fixture(scope="module")
def broker(request):
    with broker_with({}, request.config) as running:
        yield running


@pytest.fixture
def filled(broker, topic_name):
    broker.topic(topic_name, partitions=4)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(COUNT):
            producer.send(topic_name, b"%d" % number, key=b"k%d" % (number % 20))
    return topic_name


def make(broker, group, **more):
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.max.wait.ms": 50,
            "heartbeat.interval.ms": 100,
            "max.poll.records": 37,
            **more,
        }
    )


def committed_total(consumer, topic):
    topic_partitions = [TopicPartition(topic, number) for number in range(4)]
    return sum(at.offset for at in consumer.committed(*topic_partitions).values() if at is not None)


@pytest.mark.parametrize("ordering", ["partition", "key"])
def test_workers_keep_the_order_asked_for(broker, filled, ordering):
    seen, lock, threads = defaultdict(list), threading.Lock(), set()

    def handle(record):
        with lock:
            threads.add(threading.current_thread().name)
            seen[record.key].append(int(record.value))
        threading.Event().wait(0.001)

    with make(broker, filled) as consumer:
        consumer.subscribe([filled])
        consumer.process(
            handle,
            concurrency=4,
            ordering=ordering,
            max_in_progress=50,
            stop=lambda: sum(map(len, seen.values())) >= COUNT,
        )
        assert sum(map(len, seen.values())) == COUNT
        assert all(values == sorted(values) for values in seen.values())
        assert len(threads) > 1
        assert committed_total(consumer, filled) == COUNT


def test_a_failure_stops_and_nothing_past_it_is_committed(broker, filled):
    done = []

    def handle(record):
        if record.partition == 1 and record.offset >= 10:
            raise ValueError("broken")
        done.append(record)

    with make(broker, filled) as consumer:
        consumer.subscribe([filled])
        with pytest.raises(ProcessingError) as error:
            consumer.process(handle, concurrency=3)
        assert (error.value.record.partition, error.value.record.offset) == (1, 10)
        topic_partition = TopicPartition(filled, 1)
        assert consumer.committed(topic_partition)[topic_partition].offset == 10
        while not (records := consumer.poll(5).get(topic_partition)):
            pass
        assert records[0].offset == 10, "the next poll begins with what was not done"


def test_dead_letters_are_stored_with_their_reason(broker, filled):
    def handle(record):
        if int(record.value) % 100 == 7:
            raise ValueError("seven")

    with (
        make(broker, filled) as consumer,
        Producer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        consumer.subscribe([filled])
        consumer.process(
            handle,
            concurrency=2,
            on_error="dlq",
            retries=0,
            producer=producer,
            stop=lambda: committed_total_is(consumer, filled),
            commit_interval_s=0.05,
        )
    with make(broker, f"{filled}-letters") as consumer:
        consumer.subscribe([f"{filled}.dlq"])
        letters = []
        while len(letters) < 4:
            letters += [record for found in consumer.poll(5).values() for record in found]
    assert sorted(int(record.value) for record in letters) == [7, 107, 207, 307]
    assert dict(letters[0].headers)["dlq.error.message"] == b"seven"


def committed_total_is(consumer, topic):
    return committed_total(consumer, topic) == COUNT


def test_work_is_finished_before_its_partition_goes(broker, filled):
    """Two members process one topic; each record is processed once although they rebalance."""
    counts, lock = defaultdict(int), threading.Lock()

    def handle(record):
        threading.Event().wait(0.002)
        with lock:
            counts[record.value] += 1

    def run(stop):
        with make(broker, filled) as consumer:
            consumer.subscribe([filled])
            consumer.process(handle, concurrency=4, stop=stop.is_set)

    stops = [threading.Event(), threading.Event()]
    threads = [threading.Thread(target=run, args=(stop,), daemon=True) for stop in stops]
    threads[0].start()
    deadline = time.monotonic() + 60
    while len(counts) < 40:
        threading.Event().wait(0.01)
        assert time.monotonic() < deadline
    threads[1].start()
    while len(counts) < COUNT:
        threading.Event().wait(0.01)
        assert time.monotonic() < deadline
    for stop, thread in zip(stops, threads, strict=True):
        stop.set()
        thread.join(60)
    assert set(counts.values()) == {1}


def test_process_rejects_what_would_commit_too_much(broker, filled):
    with make(broker, filled, **{"enable.auto.commit": True}) as consumer:
        consumer.subscribe([filled])
        with pytest.raises(LocalError, match="commits itself"):
            consumer.process(print)


# -- the database ------------------------------------------------------------------------------


def open_sink(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS results (value INTEGER)")
    sink = DatabaseSink(connection, group="g")
    sink.create_table()
    return connection, sink


def store(cursor, records):
    cursor.executemany("INSERT INTO results VALUES (?)", [(int(r.value),) for r in records])


def stored(connection):
    return sorted(value for (value,) in connection.execute("SELECT value FROM results"))


def test_each_record_is_in_the_database_once(broker, filled, tmp_path):
    connection, sink = open_sink(tmp_path / "results.db")
    failures = iter([False, True, False, True, True, False])

    def write(cursor, records):
        store(cursor, records)
        if next(failures, False):
            raise ValueError("after the insert")

    for _ in range(2):
        with make(broker, filled) as consumer:
            sink.subscribe(consumer, [filled])
            for _ in range(12):
                try:
                    sink.consume(consumer, write, 0.5)
                except ValueError:
                    continue
    assert stored(connection) == list(range(COUNT))
    connection.close()


def test_a_member_that_was_replaced_cannot_write(broker, filled, tmp_path):
    connection, sink = open_sink(tmp_path / "results.db")
    other_connection, other = open_sink(tmp_path / "results.db")
    topic_partition = TopicPartition(filled, 0)
    with make(broker, "one") as first, make(broker, "two") as second:
        for consumer, its_sink in ((first, sink), (second, other)):
            consumer.assign([topic_partition])
            its_sink.take_over(consumer, [topic_partition])
        while not sink.consume(first, store):
            pass
        with pytest.raises(sqlite3.IntegrityError):
            other.consume(second, store, 5)
        while not other.consume(second, store):
            pass
        with pytest.raises(FencedError):
            sink.consume(first, store, 5)
        while (
            sink.offsets([topic_partition])[topic_partition]
            < first.end_offsets([topic_partition])[topic_partition]
        ):
            sink.consume(first, store)
    values = stored(connection)
    assert len(values) == len(set(values)) == sink.offsets([topic_partition])[topic_partition]
    connection.close()
    other_connection.close()
