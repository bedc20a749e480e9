"""Batches waiting to be sent: when they are ready, in which order they go."""

import threading
from contextlib import nullcontext

import pytest

from barnabas.clients.producer.accumulator import Accumulator, BufferMemory, record_bytes
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.ids import TopicPartition

TOPIC_PARTITION = TopicPartition("t", 0)


class IdleDriver:
    def __init__(self):
        self.woken = []

    def wake(self):
        self.woken.append(True)

    def wake_by(self, due_ms):
        self.woken.append(due_ms)

    def wait(self, awaited, timeout_s):
        awaited.end_linger()
        return awaited.done


@pytest.fixture
def make(settings_of, clock):
    def accumulator(**config):
        driver = IdleDriver()
        made = Accumulator(settings_of(**config), clock, driver)
        made.topic("t", 2, 0)
        made.woken = driver.woken
        return made

    return accumulator


def send(accumulator, value=b"v", topic_partition=TOPIC_PARTITION):
    record = (None, value, [], 5)
    appender = accumulator.topic("t", 2, 0)
    future = appender.try_send(None, value, (), topic_partition.partition, 5)
    if future is None:
        size = accumulator.batch_bytes(record_bytes(*record[:3]))
        assert accumulator.memory.try_reserve(size)
        future = accumulator.append_to_new(appender, topic_partition, record, size)
    return future


def heads(accumulator):
    return {batch.partition: batch for batch in accumulator.waiting()}


def test_a_batch_lingers_then_is_ready(make, clock):
    accumulator = make(linger_ms=10)
    send(accumulator)
    assert accumulator.woken == [clock.time + 10]
    assert accumulator.ready_at_ms(heads(accumulator)[TOPIC_PARTITION]) == clock.time + 10


@pytest.mark.parametrize("reason", ["no linger", "full", "flush", "memory"])
def test_a_batch_that_is_ready_wakes_the_sender_at_once(make, reason):
    memory = 200 if reason == "memory" else 5000
    accumulator = make(
        linger_ms=0 if reason == "no linger" else 10, batch_size=150, buffer_memory=memory
    )
    with accumulator.no_lingering() if reason == "flush" else nullcontext():
        send(accumulator, b"x" * 50)
        if reason == "full":
            send(accumulator, b"x" * 50)
    assert accumulator.woken[-1] == 0


@pytest.mark.parametrize("reason", ["full", "urgent", "flush", "memory"])
def test_a_batch_is_ready_before_linger_ms_has_passed(make, reason):
    accumulator = make(linger_ms=10_000, batch_size=200, buffer_memory=500)
    send(accumulator)
    batch = heads(accumulator)[TOPIC_PARTITION]
    if reason == "full":
        for _ in range(9):
            send(accumulator, b"x" * 20)
    elif reason == "urgent":
        batch.urgent = True
    elif reason == "memory":
        accumulator.memory.try_reserve(250)
    if reason == "flush":
        with accumulator.no_lingering() as batches:
            assert batches == [batch]
            assert accumulator.ready_at_ms(batch) == 0
    assert (accumulator.ready_at_ms(batch) == 0) == (reason != "flush")


def test_a_drained_batch_takes_no_more_records(make):
    accumulator = make()
    send(accumulator)
    batch = accumulator.drain(TOPIC_PARTITION)
    send(accumulator)
    assert batch.appender.count == 1
    assert heads(accumulator)[TOPIC_PARTITION] is not batch


def test_a_drained_batch_is_closed_before_a_thread_can_open_the_next_one(make):
    """A late close would hit that one, whose first record would then find no open batch."""
    accumulator = make()
    send(accumulator)
    appender, locked = accumulator.topics["t"], []

    class Watched:
        batch_of = appender.batch_of

        def close(self, partition):
            locked.append(accumulator._lock.locked())
            appender.close(partition)

    accumulator.topics["t"] = Watched()
    accumulator.drain(TOPIC_PARTITION)
    assert locked == [True]


def test_retries_stand_before_new_batches_in_the_order_they_had(make):
    accumulator = make(batch_size=100)
    drained = []
    for _ in range(3):
        send(accumulator, b"x" * 60)
        drained.append(accumulator.drain(TOPIC_PARTITION))
    send(accumulator, b"new")
    for batch in (drained[1], drained[2], drained[0]):
        accumulator.requeue(batch)
    order = [accumulator.drain(TOPIC_PARTITION) for _ in range(4)]
    assert order[:3] == drained


def test_parts_of_split_batches_keep_the_order_of_their_wholes(make):
    accumulator = make(batch_size=100)
    wholes = []
    for _ in range(2):
        send(accumulator, b"x" * 60)
        wholes.append(accumulator.drain(TOPIC_PARTITION))
    parts = {whole: [new_batch(), new_batch()] for whole in wholes}
    accumulator.replace(wholes[1], parts[wholes[1]])
    accumulator.replace(wholes[0], parts[wholes[0]])
    order = [accumulator.drain(TOPIC_PARTITION) for _ in range(4)]
    assert order == parts[wholes[0]] + parts[wholes[1]]


def new_batch():
    return ProducerBatch(TOPIC_PARTITION, 0, 0, threading.Lock(), IdleDriver())


def test_memory_comes_back_when_a_batch_is_answered(make):
    accumulator = make(batch_size=100, buffer_memory=1000)
    send(accumulator)
    assert accumulator.memory.available == 900
    batch = accumulator.drain(TOPIC_PARTITION)
    accumulator.finished(batch)
    assert accumulator.memory.available == 1000
    assert accumulator.incomplete() == []


def test_a_record_larger_than_a_batch_has_one_of_its_own(make):
    accumulator = make(batch_size=100)
    send(accumulator, b"x" * 5000)
    send(accumulator, b"small")
    assert accumulator.drain(TOPIC_PARTITION).appender.count == 1


def test_waiters_for_memory_are_served_in_order():
    memory = BufferMemory(100)
    served = []
    assert memory.try_reserve(80)
    memory.reserve_later(50, lambda: served.append("first"))
    memory.reserve_later(10, lambda: served.append("second"))
    assert not memory.try_reserve(5)
    memory.release(40)
    assert served == ["first", "second"]
    assert memory.available == 0


def test_cancelling_a_reservation_returns_whether_it_was_granted():
    memory = BufferMemory(10)

    granted = threading.Event().set

    memory.try_reserve(10)
    memory.reserve_later(5, granted)
    assert memory.withdraw(granted)
    memory.reserve_later(5, granted)
    memory.release(10)
    assert not memory.withdraw(granted)


def enlarge(accumulator, value):
    """Appends to the open batch after enlarging it; the future or None."""
    record = (None, value, [], 5)
    appender = accumulator.topic("t", 2, 0)
    return accumulator.append_to_enlarged(
        appender, TOPIC_PARTITION, record, record_bytes(*record[:3])
    )


def test_a_batch_grows_while_it_cannot_be_sent(make):
    accumulator = make()
    for _ in range(4):
        send(accumulator, b"x" * 4000)
    batch = heads(accumulator)[TOPIC_PARTITION]
    assert accumulator.ready_at_ms(batch) > 0
    woken = len(accumulator.woken)
    future = enlarge(accumulator, b"x" * 4000)
    assert future.batch is batch
    assert len(accumulator.woken) == woken + 1  # the batch has batch.size bytes
    assert accumulator.ready_at_ms(batch) == 0
    while send(accumulator, b"x" * 4000).batch is batch or enlarge(accumulator, b"x" * 4000):
        pass
    sizes = [waiting.appender.size for waiting in accumulator.queued(TOPIC_PARTITION)]
    assert 16_384 < sizes[0] <= 512 * 1024
    reserved = accumulator.memory.total_bytes - accumulator.memory.available
    assert reserved == sum(
        waiting.reserved_bytes for waiting in accumulator.queued(TOPIC_PARTITION)
    )
    for waiting in accumulator.queued(TOPIC_PARTITION):
        accumulator.discard(waiting)
        accumulator.finished(waiting)
    assert accumulator.memory.available == accumulator.memory.total_bytes


def grown_and_drained(accumulator):
    """Sends a batch that was enlarged to 64 KB and filled; returns it."""
    send(accumulator, b"x" * 15_000)
    assert enlarge(accumulator, b"x" * 30_000)
    return accumulator.drain(TOPIC_PARTITION)


def test_a_new_batch_gets_the_size_of_the_last_one_while_that_is_in_flight(make):
    accumulator = make()
    first = grown_and_drained(accumulator)
    assert accumulator.try_reserve(TOPIC_PARTITION, 100) == first.reserved_bytes == 4 * 16_384
    appender = accumulator.topic("t", 2, 0)
    accumulator.append_to_new(appender, TOPIC_PARTITION, (None, b"v", [], 5), 4 * 16_384)
    assert appender.try_send(None, b"x" * 50_000, (), 0, 5) is not None, "it is not enlarged again"
    second = accumulator.drain(TOPIC_PARTITION)
    accumulator.finished(first)
    accumulator.finished(second)
    assert accumulator.memory.available == accumulator.memory.total_bytes
    assert accumulator.try_reserve(TOPIC_PARTITION, 100) == 16_384, "nothing is in flight"


@pytest.mark.parametrize("reason", ["memory is short", "another partition", "not filled"])
def test_a_new_batch_has_the_ordinary_size(make, reason):
    accumulator = make()
    grown_and_drained(accumulator)
    if reason == "memory is short":
        accumulator.memory.try_reserve(accumulator.memory.available - 20_000)
    elif reason == "not filled":
        size = accumulator.try_reserve(TOPIC_PARTITION, 100)
        record = (None, b"v", [], 5)
        accumulator.append_to_new(accumulator.topic("t", 2, 0), TOPIC_PARTITION, record, size)
        accumulator.drain(TOPIC_PARTITION)
    number = 1 if reason == "another partition" else 0
    assert accumulator.try_reserve(TopicPartition("t", number), 100) == 16_384
    accumulator.memory.try_reserve(accumulator.memory.available)
    assert accumulator.try_reserve(TOPIC_PARTITION, 100) == 0


def test_a_batch_that_is_drained_grows_no_more(make):
    accumulator = make()
    send(accumulator)
    accumulator.drain(TOPIC_PARTITION)
    assert enlarge(accumulator, b"v") is None


def test_a_batch_needs_memory_to_grow(make):
    accumulator = make(buffer_memory=200_000)
    send(accumulator)
    accumulator.memory.try_reserve(accumulator.memory.available)
    assert enlarge(accumulator, b"v") is None


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        ({}, 512 * 1024),
        ({"batch_size": 16_384}, 16_384),  # also the default is obeyed when the user sets it
        ({"max_request_size": 100_000}, 100_000),
        ({"buffer_memory": 40_000}, 16_384),
    ],
)
def test_the_limit_of_a_batch(settings_of, config, limit):
    settings = settings_of(**config)
    assert settings.max_batch_size == limit
    assert settings.adaptive == (limit > settings.batch_size)


def test_the_only_batch_is_one_that_is_new_and_ready(make):
    accumulator = make(linger_ms=5)
    assert accumulator.only_batch() is None
    batch = send(accumulator).batch
    assert accumulator.only_batch() is None  # it lingers
    batch.urgent = True
    assert accumulator.only_batch() is batch
    other = send(accumulator, topic_partition=TopicPartition("t", 1)).batch
    assert accumulator.only_batch() is None
    assert accumulator.drain(other.partition) is other
    assert accumulator.only_batch() is batch
    batch.attempts = 1
    assert accumulator.only_batch() is None


def test_the_only_batch_of_a_producer_without_linger_is_ready(make):
    accumulator = make(linger_ms=0, batch_size=100)
    batch = send(accumulator).batch
    assert accumulator.only_batch() is batch
    send(accumulator, b"v" * 100)
    assert accumulator.only_batch() is None  # a second one of the partition
