"""Small micro-batches come from the driver with their plan, everything else from the tasks.

Spark's own Python half is asked, as its engine asks it, without a JVM.
"""

import io
import json
import threading

import pyarrow as pa
import pytest
from pyspark.serializers import read_int, write_with_length
from pyspark.sql.datasource_internal import _SimpleStreamReaderWrapper
from pyspark.sql.streaming.python_streaming_source_runner import (
    PREFETCHED_RECORDS_NOT_FOUND,
    SUPPORTS_ADMISSION_CONTROL,
    SUPPORTS_TRIGGER_AVAILABLE_NOW,
    check_support_func,
    partitions_func,
    report_latest_offset_func,
)
from pyspark.worker_util import pickleSer

from barnabas import Producer, TopicPartition
from barnabas.clients.simple import SimpleConsumer
from barnabas.spark.source import small_batches
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.schema import source_schema
from barnabas.spark.source.stream_reader import stream_reader

pytestmark = pytest.mark.integration
SCHEMA = source_schema(include_headers=False)


class Engine:
    """The JVM's questions to the process of one query."""

    def __init__(self, servers, topic, **options):
        given = {
            "startingOffsets": "earliest",
            "commitOffsets": "false",
            "smallBatchesOnDriver": "true",
            **options,
        }
        texts = {"kafka.bootstrap.servers": servers, "subscribe": topic, **given}
        self._topic = topic
        self.reader = stream_reader(SourceOptions.parse(texts, streaming=True), SCHEMA)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.reader.stop()

    def plan(self, start, end):
        """The tasks, and the rows that came with them or None."""
        offsets = io.BytesIO()
        for numbers in (start, end):
            write_with_length(json.dumps(self.offsets(numbers)).encode(), offsets)
        offsets.seek(0)
        out = io.BytesIO()
        partitions_func(self.reader, None, SCHEMA, 10_000, offsets, out)
        out.seek(0)
        tasks = [pickleSer.loads(out.read(read_int(out))) for _ in range(read_int(out))]
        if read_int(out) == PREFETCHED_RECORDS_NOT_FOUND:
            return tasks, None
        rest = out.read()[4:]
        rows = pa.ipc.open_stream(rest).read_all().to_pylist() if rest else []
        return tasks, rows

    def offsets(self, numbers):
        return {self._topic: {str(number): offset for number, offset in enumerate(numbers)}}

    def answer(self, ask):
        out = io.BytesIO()
        ask(self.reader, out)
        out.seek(0)
        return out


@pytest.fixture
def topic(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    broker.produce(topic_name, *[str(n) for n in range(1500)], partition=0)
    broker.produce(topic_name, *"abc", partition=1)
    return topic_name


def test_a_small_batch_is_handed_over_with_its_plan(broker, topic):
    with Engine(broker.bootstrap_servers, topic) as engine:
        tasks, rows = engine.plan([4, 1], [9, 3])
        read = [row for b in engine.reader.read(tasks[0]) for row in b.to_pylist()]
        assert len(tasks) == 1
        assert rows == read
        found = [(row["partition"], row["offset"], row["value"]) for row in rows]
        numbers = [(0, n, b"%d" % n) for n in range(4, 9)]
        assert found == [*numbers, (1, 1, b"b"), (1, 2, b"c")]


def test_the_reader_has_its_own_class_before_and_after(broker, topic):
    with Engine(broker.bootstrap_servers, topic) as engine:
        for _ in range(2):
            assert not isinstance(engine.reader, _SimpleStreamReaderWrapper)
            flags = read_int(engine.answer(check_support_func))
            assert flags == SUPPORTS_ADMISSION_CONTROL | SUPPORTS_TRIGGER_AVAILABLE_NOW
            limit = engine.reader.getDefaultReadLimit()
            engine.reader.latestOffset({topic: {"0": 0, "1": 0}}, limit)
            out = engine.answer(report_latest_offset_func)
            assert json.loads(out.read(read_int(out))) == {topic: {"0": 1500, "1": 3}}
            assert engine.plan([0, 0], [1, 1])[1] is not None


def test_one_fetch_serves_the_ranges_that_follow_each_other(broker, topic, monkeypatch):
    fetched = []
    fetch = SimpleConsumer.fetch

    def counted(self, *args, **options):
        fetched.append(args)
        return fetch(self, *args, **options)

    monkeypatch.setattr(SimpleConsumer, "fetch", counted)
    with Engine(broker.bootstrap_servers, topic) as engine:
        for start in range(0, 50, 10):
            rows = engine.plan([start, 3], [start + 10, 3])[1]
            assert [row["offset"] for row in rows] == list(range(start, start + 10))
        assert len(fetched) == 1
        rows = engine.plan([10, 3], [20, 3])[1]
        assert [row["offset"] for row in rows] == list(range(10, 20))
        assert len(fetched) == 2, "not where the last one ended: a partition may be another by now"


def test_a_small_batch_is_read_between_its_end_and_its_plan(broker, topic, monkeypatch):
    readers = []
    read_at_once = small_batches.read_at_once

    def noted(ranges, *rest):
        readers.append(threading.current_thread().name)
        return read_at_once(ranges, *rest)

    monkeypatch.setattr(small_batches, "read_at_once", noted)
    with Engine(broker.bootstrap_servers, topic, maxOffsetsPerTrigger="4") as engine:
        limit = engine.reader.getDefaultReadLimit()
        start = [0, 0]
        for _ in range(3):
            end = engine.reader.latestOffset(engine.offsets(start), limit)[topic]
            end = [end[str(number)] for number in range(2)]
            assert len(engine.plan(start, end)[1]) == 4
            start = end
        assert [name.startswith("fetch-ahead") for name in readers] == [True] * 3
        engine.reader.latestOffset(engine.offsets(start), limit)
        rows = engine.plan([7, 0], [9, 0])[1]
        assert [row["offset"] for row in rows] == [7, 8], "another plan than was expected"


def test_transactions_in_ranges_that_follow_each_other(broker, topic_name):
    """An aborted one, and a committed one of the same producer, in one fetch."""
    broker.topic(topic_name)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic_name}
    with Producer(settings) as producer:
        producer.init_transactions()
        for turn in range(4):
            producer.begin_transaction()
            for n in range(3):
                producer.send(topic_name, b"%d %d" % (turn, n))
            producer.flush()
            producer.commit_transaction() if turn % 2 else producer.abort_transaction()
    committed = [r.offset for r in broker.records(topic_name, read_committed=True)]
    assert len(committed) == 6
    options = {"kafka.isolation.level": "read_committed"}
    with Engine(broker.bootstrap_servers, topic_name, **options) as engine:
        found = [engine.plan([n], [n + 1])[1] for n in range(16)]
        assert [row["offset"] for rows in found for row in rows] == committed


def test_micro_batches_that_the_tasks_read(broker, topic):
    servers = broker.bootstrap_servers
    with Engine(servers, topic) as engine:
        assert engine.plan([0, 0], [1500, 3])[1] is None, "too many"
        assert engine.plan([0, 3], [0, 3]) == ([], None), "nothing"
    for options in ({"smallBatchesOnDriver": "false"}, {"minPartitions": "2"}):
        with Engine(servers, topic, **options) as engine:
            assert engine.plan([0, 0], [2, 2])[1] is None, options
    broker.admin.delete_records({TopicPartition(topic, 0): 100})
    with Engine(servers, topic) as engine:
        tasks, rows = engine.plan([0, 0], [5, 0])
        assert rows is None, "the task tells what is gone"
        with pytest.raises(Exception, match="offsets 0 to 4"):
            list(engine.reader.read(tasks[0]))
