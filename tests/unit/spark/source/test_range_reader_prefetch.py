"""Prefetch: the right offset, one fetch at a time, no fetch left in flight."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from barnabas.clients.simple import FetchedBatches
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import build_batch
from barnabas.spark.source.range_reader import Prefetch, following_offset

TOPIC_PARTITION = TopicPartition("t", 0)


def batch_at(offset, count=3):
    return bytes(build_batch([(None, b"v")] * count, base_offset=offset))


class Log:
    """Returns three records per fetch, records the requests, and fails on demand."""

    def __init__(self, end=9, fails_at=None):
        self.asked = []
        self.end = end
        self.fails_at = fails_at
        self._busy = threading.Lock()

    def __call__(self, position):
        assert self._busy.acquire(blocking=False), "two fetches at once"
        try:
            self.asked.append(position)
            if position == self.fails_at:
                raise UnavailableError("gone")
            data = batch_at(position) if position < self.end else b""
            return FetchedBatches(
                TOPIC_PARTITION, position, memoryview(data), 0, 0, 0, None, 1 << 20
            )
        finally:
            self._busy.release()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield lambda: made


def test_the_following_offset_ignores_a_partial_batch():
    two = batch_at(0) + batch_at(5, count=2)
    assert following_offset(memoryview(two), 0) == 7
    assert following_offset(memoryview(two[:-1]), 0) == 3, "a batch that is cut off is not there"
    assert following_offset(memoryview(b""), 4) == 4


def test_the_next_fetch_is_in_flight(pool):
    log = Log()
    fetches = Prefetch(log, pool, 9)
    assert [fetches.get(at).fetch_offset for at in (0, 3, 6)] == [0, 3, 6]
    fetches.close()
    assert log.asked == [0, 3, 6], "not past the end of the range"


def test_a_fetch_of_an_unexpected_offset(pool):
    log = Log()
    fetches = Prefetch(log, pool, 9)
    fetches.get(0)
    assert fetches.get(1).fetch_offset == 1
    fetches.close()
    assert log.asked[:3] == [0, 3, 1]


def test_an_error_is_raised_when_its_data_is_needed(pool):
    fetches = Prefetch(Log(fails_at=3), pool, 9)
    assert fetches.get(0).fetch_offset == 0
    with pytest.raises(UnavailableError):
        fetches.get(3)
    fetches.close()


def test_close_waits_and_ignores_errors(pool):
    """Passes when `close` does not raise the error of a fetch."""
    log = Log(fails_at=3)
    fetches = Prefetch(log, pool, 9)
    fetches.get(0)
    fetches.close()
    log(0)
