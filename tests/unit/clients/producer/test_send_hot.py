"""The path per record, compiled and as plain Python, with the same results."""

import asyncio
import importlib.machinery
import importlib.util
import threading
from pathlib import Path

import pytest

from barnabas.clients.producer import _send_hot, murmur2
from barnabas.clients.producer.batch import ProducerBatch, build
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import parse_header
from barnabas.records.builder import BatchBuilder
from barnabas.records.reader import iter_raw

TOPIC_PARTITION = TopicPartition("t", 0)


def _pure():
    path = Path(_send_hot.__file__).parent / "_send_hot.py"
    loader = importlib.machinery.SourceFileLoader("pure_send_hot", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


PURE = _pure()


@pytest.fixture(params=[_send_hot, PURE], ids=["installed", "pure"])
def hot(request):
    return request.param


class IdleDriver:
    def __init__(self):
        self.woken = []

    def wake(self):
        self.woken.append(True)

    def wake_by(self, due_ms):
        self.woken.append(True)

    def wait(self, awaited, timeout_s):
        awaited.end_linger()
        return awaited.done


def new_batch(partition=0, driver=None):
    topic_partition = TopicPartition("t", partition)
    return ProducerBatch(topic_partition, 200, 0, threading.Lock(), driver or IdleDriver())


@pytest.fixture
def appender(hot):
    made = hot.TopicAppender(3, True)
    made.open(new_batch(), 200)
    return made


def test_records_fill_the_open_batch_until_it_is_full(appender):
    futures = []
    while (future := appender.try_send(None, b"v" * 30, (), None, 5)) is not None:
        futures.append(future)
    assert [future.delta for future in futures] == [0, 1, 2]
    assert appender.batch_of(0).appender.count == 3


def test_without_an_open_batch_nothing_is_appended(appender):
    assert appender.try_send(None, b"v", (), 1, None) is None
    assert appender.try_send(None, b"v", (), 99, None) is None
    appender.close(0)
    assert appender.try_send(None, b"v", (), 0, None) is None


def test_keys_go_by_their_hash_and_no_key_to_the_sticky_partition(appender):
    expected = (murmur2(b"key") & 0x7FFFFFFF) % 3
    assert appender.partition_for(b"key") == expected
    appender.stick_to(2)
    assert appender.partition_for(None) == appender.sticky == 2


def test_sticky_partition_takes_records_without_a_key_up_to_its_limit(appender, hot):
    appender.stick_to(0, 50)
    assert appender.try_send(None, b"v" * 60, (), None, 5) is not None
    assert appender.try_send(None, b"v", (), None, 5) is None, "another partition is to be chosen"
    assert appender.try_send(None, b"v", (), 0, 5) is not None, "the application chose it"
    key = next(b"%d" % n for n in range(99) if appender.partition_for(b"%d" % n) == 0)
    assert appender.try_send(key, b"v", (), None, 5) is not None, "the key chose it"
    appender.stick_to(0, 20)  # bytes from now on
    assert appender.try_send(None, b"v", (), None, 5) is not None


def test_hashing_can_be_switched_off(hot):
    appender = hot.TopicAppender(3, False)
    appender.stick_to(1)
    assert appender.partition_for(b"key") == 1


def test_a_grown_topic_has_room_for_its_new_partitions(appender):
    appender.resize(5)
    assert appender.count == 5
    appender.open(new_batch(4), 200)
    assert appender.try_send(None, b"v", (), 4, None) is not None


def test_text_is_encoded_and_other_types_need_a_serializer(appender):
    assert appender.try_send(None, "text", (), 0, None) is not None
    assert appender.partition_for(b"key") != 0
    assert appender.try_send("key", b"v", (), None, None) is None  # no batch is open there
    with pytest.raises(TypeError, match=r"the value is int.*value\.serializer"):
        appender.try_send(None, 5, (), None, None)
    with pytest.raises(TypeError, match=r"the key is list.*key\.serializer"):
        appender.try_send([1], b"v", (), None, None)


def test_a_future_has_the_index_and_the_time_of_its_record(appender):
    futures = [appender.try_send(None, b"v", (), None, time) for time in (11, 12)]
    assert [future.delta for future in futures] == [0, 1]
    appender.batch_of(0).complete(100, -1, None)
    assert futures[1].result(0) == ("t", 0, 101, 12)


async def test_an_asyncio_producer_gets_deliveries(appender):
    loop = asyncio.get_running_loop()
    assert appender.try_deliver(None, b"v", (), 1, None, loop) is None
    first, second = (appender.try_deliver(None, b"v", (), None, 11, loop) for _ in range(2))
    assert first.get_loop() is loop
    appender.batch_of(0).complete(100, -1, None)
    assert await second == ("t", 0, 101, 11)


class Name(str):
    """A name of a header whose type is a subclass, such as a member of a StrEnum."""


@pytest.mark.parametrize("container", [list, tuple])
def test_headers_are_taken_as_the_application_gave_them(appender, container):
    text = [(Name("a"), "ä"), ("ö", b"1"), ["c", bytearray(b"2")], ("d", None)]
    headers = container(text)
    assert appender.try_send(None, b"v", headers, 0, 1).delta == 0
    batch = appender.batch_of(0)
    build(batch, BatchBuilder())
    (record,) = iter_raw(batch.payload, 0, parse_header(batch.payload))
    expected = (("a", "ä".encode()), ("ö", b"1"), ("c", b"2"), ("d", None))
    assert tuple(record.headers) == expected
    assert headers == container(text), "the list of the application is not changed"


@pytest.mark.parametrize("headers", [[(b"a", b"1")], [("a", 1)], [("a",)], [7], ["ab"]])
def test_wrong_headers_append_nothing(appender, headers):
    with pytest.raises((TypeError, ValueError, AttributeError)):
        appender.try_send(None, b"v", headers, 0, 1)
    assert appender.batch_of(0).record_count == 0


def test_the_place_of_a_new_batch(hot):
    appender = hot.TopicAppender(3, True)
    appender.stick_to(1)
    place = appender.partition_to_open("t", None, 2, 50, 100)
    assert (type(place), place) == (TopicPartition, ("t", 2))
    assert appender.partition_to_open("t", None, None, 50, 100) == ("t", 1)
    assert appender.partition_to_open("t", b"k", None, 50, 100) == (
        "t",
        appender.partition_for(b"k"),
    )
    for partition in (-1, 3, "0", True, 1.0):
        assert appender.partition_to_open("t", None, partition, 50, 100) is None


def test_a_partition_with_an_open_batch_needs_no_new_one(hot):
    appender = hot.TopicAppender(2, True)
    appender.open(new_batch(0), 1000)
    assert appender.partition_to_open("t", None, 0, 50, 100) is None
    assert appender.partition_to_open("t", None, 1, 50, 100) == ("t", 1)


def test_the_chooser_chooses_after_the_bytes_of_the_sticky_partition(hot):
    appender = hot.TopicAppender(2, True)
    appender.stick_to(0)
    appender.open(new_batch(0), 1000)
    appender.try_send(None, b"x" * 100, (), 0, 5)
    appender.close(0)
    used = appender.sticky_bytes
    assert appender.partition_to_open("t", None, None, 50, used + 50) == ("t", 0)
    assert appender.partition_to_open("t", None, None, 50, used + 49) is None
    appender.available = (1,)
    assert appender.partition_to_open("t", None, None, 50, used + 50) is None
