"""Reading a range with a fake consumer."""

import pytest

from barnabas.clients.simple import FetchedBatches
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import build_batch
from barnabas.spark.source import range_reader
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import OffsetRange, RangesPartition
from barnabas.spark.source.schema import source_schema

ROWS_PER_FETCH = 3
OPTIONS = SourceOptions.parse(
    {"kafka.bootstrap.servers": "nobody:1", "subscribe": "t"}, streaming=False
)


class Rooms:
    """A consumer whose fetches have memory of their own, which can be told free from in use."""

    def __init__(self):
        self.rooms = []
        self.in_use_at_fetch = []

    def fetch(self, topic, partition, position, size):
        self.in_use_at_fetch.append(sum(map(in_use, self.rooms)))
        records = [(None, b"v%d" % (position + row)) for row in range(ROWS_PER_FETCH)]
        self.rooms.append(bytearray(build_batch(records, base_offset=position)))
        topic_partition = TopicPartition(topic, partition)
        return FetchedBatches(
            topic_partition, position, memoryview(self.rooms[-1]), 0, 0, 0, None, 1 << 20
        )


def in_use(room):
    try:
        room.append(0)
    except BufferError:
        return True
    room.pop()
    return False


@pytest.fixture
def rooms(monkeypatch):
    made = Rooms()
    cache = range_reader.ConsumerCache()
    monkeypatch.setattr(cache, "get", lambda settings: made)
    monkeypatch.setattr(range_reader, "_consumers", cache)
    yield made
    cache.ahead().shutdown()


def read(start, end):
    task = RangesPartition((OffsetRange("t", 0, start, end),), 0)
    return list(range_reader.read_task(task, OPTIONS, source_schema(False)))


def test_a_task_reads_its_range_over_many_fetches(rooms):
    batches = read(1, 11)
    assert [value for batch in batches for value in batch.column("value").to_pylist()] == [
        b"v%d" % offset for offset in range(1, 11)
    ]


def test_a_fetch_begins_when_only_the_one_being_decoded_is_held(rooms):
    """The connection keeps memory for two: with a third in use it would need fresh pages."""
    read(0, 30)
    assert len(rooms.rooms) == 10
    assert max(rooms.in_use_at_fetch) == 1, rooms.in_use_at_fetch
    assert not any(map(in_use, rooms.rooms)), "nothing is kept after the task"
