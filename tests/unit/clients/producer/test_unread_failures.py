"""Which failed records are logged, and how often."""

import logging
import threading

import pytest

from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.unread_failures import (
    GRACE_S,
    MAX_HELD,
    MAX_LINES,
    REPEAT_S,
    UnreadFailures,
)
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition


class Handle:
    def __init__(self):
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


class StepLoop:
    """Timers of a loop whose time the test advances."""

    def __init__(self):
        self.now = 100.0
        self.timers = []

    def time(self):
        return self.now

    def call_later(self, delay_s, callback):
        handle = Handle()
        self.timers.append((self.now + delay_s, callback, handle))
        return handle

    def advance(self, seconds):
        end = self.now + seconds
        while due := [timer for timer in self.timers if timer[0] <= end]:
            timer = min(due, key=lambda item: item[0])
            self.timers.remove(timer)
            self.now = max(self.now, timer[0])
            if not timer[2].cancelled:
                timer[1]()
        self.now = end


def failed_batch(partition=0, count=1, *, read=False):
    batch = ProducerBatch(TopicPartition("t", partition), 10, 0, threading.Lock(), None)
    batch.count = count
    batch.complete(-1, -1, UnavailableError("no broker responds"))
    batch.read = read
    return batch


@pytest.fixture
def loop():
    return StepLoop()


@pytest.fixture
def failures(loop, caplog):
    caplog.set_level(logging.WARNING)
    return UnreadFailures(loop)


def test_a_failure_is_logged_after_the_grace_time(loop, failures, caplog):
    failures.failed(failed_batch(count=3))
    loop.advance(GRACE_S / 2)
    assert caplog.messages == []
    loop.advance(GRACE_S)
    assert caplog.messages == ["partition t-0: 3 records were not delivered: no broker responds"]


def test_a_record_without_a_partition_is_logged_with_its_topic(loop, failures, caplog):
    failures.failed(failed_batch(partition=-1))
    loop.advance(2 * GRACE_S)
    assert caplog.messages == ["topic t: 1 record was not delivered: no broker responds"]


def test_a_failure_that_is_read_in_time_is_not_logged(loop, failures, caplog):
    batch = failed_batch()
    failures.failed(batch)
    batch.read = True
    loop.advance(60)
    failures.close()
    assert caplog.messages == []
    assert loop.timers == []


def test_repeated_failures_are_counted_and_logged_once_per_period(loop, failures, caplog):
    for _ in range(10):
        failures.failed(failed_batch(count=2))
        loop.advance(1)
    assert len(caplog.messages) == 1
    loop.advance(REPEAT_S)
    counts = [int(message.split()[2]) for message in caplog.messages]
    assert len(counts) == 2
    assert sum(counts) == 20
    assert loop.timers == []


def test_close_logs_what_was_held_back(loop, failures, caplog):
    failures.failed(failed_batch())
    loop.advance(2)
    failures.failed(failed_batch(count=5))
    failures.close()
    assert caplog.messages[1].startswith("partition t-0: 5 records were not delivered")


def test_many_partitions_are_summed_up(loop, failures, caplog):
    for partition in range(MAX_LINES + 5):
        failures.failed(failed_batch(partition))
    loop.advance(2)
    assert len(caplog.messages) == MAX_LINES + 1
    assert caplog.messages[-1] == "5 records of other partitions were not delivered either"


def test_the_number_of_held_batches_is_bounded_and_none_is_forgotten(loop, failures, caplog):
    for _ in range(MAX_HELD * 3):
        failures.failed(failed_batch())
    assert len(failures._held) == MAX_HELD
    loop.advance(2)
    assert caplog.messages == [
        f"partition t-0: {MAX_HELD * 3} records were not delivered: no broker responds"
    ]
