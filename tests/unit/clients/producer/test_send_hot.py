"""The path per record, compiled and as plain Python: the same answers from both."""

import asyncio
import importlib.machinery
import importlib.util
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as kafka_python_murmur2

from barnabas.clients.producer import _send_hot
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError
from barnabas.model.ids import TopicPartition

PLACE = TopicPartition("t", 0)


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

    def wait(self, awaited, timeout_s):
        return awaited.done


def new_batch(partition=0, driver=None):
    place = TopicPartition("t", partition)
    return ProducerBatch(place, 200, 0, threading.Lock(), driver or IdleDriver())


@pytest.fixture
def appender(hot):
    made = hot.TopicAppender(3, True)
    made.open(new_batch(), 200)
    return made


@pytest.mark.parametrize(
    ("key", "expected"),
    [(b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536)],
)
def test_murmur2_equals_javas_published_values(hot, key, expected):
    assert hot.murmur2(key) == expected % 2**32


@given(st.binary(max_size=100))
def test_murmur2_equals_kafka_pythons(key):
    assert _send_hot.murmur2(key) == PURE.murmur2(key) == kafka_python_murmur2(key) % 2**32


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


def test_keys_go_by_their_hash_and_no_key_to_the_sticky_partition(appender, hot):
    expected = (hot.murmur2(b"key") & 0x7FFFFFFF) % 3
    assert appender.partition_for(b"key") == expected
    appender.stick_to(2)
    assert appender.partition_for(None) == appender.sticky == 2


def test_hashing_can_be_switched_off(hot):
    appender = hot.TopicAppender(3, False)
    appender.stick_to(1)
    assert appender.partition_for(b"key") == 1


def test_a_grown_topic_has_room_for_its_new_partitions(appender):
    appender.resize(5)
    assert appender.count == 5
    appender.open(new_batch(4), 200)
    assert appender.try_send(None, b"v", (), 4, None) is not None


def test_a_future_reads_its_batchs_answer(appender):
    first = appender.try_send(None, b"a", (), None, 11)
    second = appender.try_send(None, b"b", (), None, 12)
    assert not second.done()
    appender.batch_of(0).complete(100, -1, None)
    assert first.result(0) == ("t", 0, 100, 11)
    assert second.result(0) == ("t", 0, 101, 12)


def test_the_brokers_time_counts_where_it_set_one(appender):
    future = appender.try_send(None, b"a", (), None, 11)
    appender.batch_of(0).complete(7, 9999, None)
    assert future.result(0).timestamp == 9999


def test_a_failed_batch_fails_all_its_futures(appender):
    future = appender.try_send(None, b"a", (), None, None)
    appender.batch_of(0).complete(-1, -1, BrokerError(ErrorCode.NOT_ENOUGH_REPLICAS))
    assert future.exception(0).code is ErrorCode.NOT_ENOUGH_REPLICAS
    with pytest.raises(BrokerError):
        future.result(0)


def test_waiting_has_a_deadline_and_ends_the_linger(hot):
    driver = IdleDriver()
    appender = hot.TopicAppender(1, True)
    appender.open(new_batch(driver=driver), 200)
    future = appender.try_send(None, b"a", (), None, None)
    with pytest.raises(DeadlineError):
        future.result(0.001)
    assert driver.woken == [True]
    assert appender.batch_of(0).urgent


def test_callbacks_come_once_before_or_after_the_answer(appender):
    seen = []
    future = appender.try_send(None, b"a", (), None, None)
    future.add_done_callback(seen.append)
    appender.batch_of(0).complete(0, -1, None)
    future.add_done_callback(seen.append)
    assert seen == [future, future]


def test_futures_follow_their_records_into_a_split_batch(appender):
    futures = [appender.try_send(None, b"v", (), None, 1) for _ in range(4)]
    seen = []
    futures[3].add_done_callback(lambda future: seen.append(future.result(0).offset))
    whole, parts = appender.batch_of(0), [new_batch(), new_batch()]
    whole.split_into([(0, parts[0]), (2, parts[1])])
    assert not any(future.done() for future in futures)
    parts[0].complete(10, -1, None)
    parts[1].complete(50, -1, None)
    assert [future.result(0).offset for future in futures] == [10, 11, 50, 51]
    assert seen == [51]


def test_text_is_encoded_and_other_types_need_a_serializer(appender):
    assert appender.try_send(None, "text", (), 0, None) is not None
    assert appender.partition_for(b"key") != 0
    assert appender.try_send("key", b"v", (), None, None) is None  # no batch is open there
    with pytest.raises(TypeError, match=r"the value is int.*value\.serializer"):
        appender.try_send(None, 5, (), None, None)
    with pytest.raises(TypeError, match=r"the key is list.*key\.serializer"):
        appender.try_send([1], b"v", (), None, None)


def test_callbacks_follow_a_record_into_a_part_that_is_split_again(appender):
    futures = [appender.try_send(None, b"v", (), None, 1) for _ in range(4)]
    seen = []
    futures[1].add_done_callback(lambda future: seen.append(future.result(0).offset))
    whole, parts = appender.batch_of(0), [new_batch() for _ in range(4)]
    whole.split_into([(0, parts[0]), (2, parts[1])])
    parts[0].split_into([(0, parts[2]), (1, parts[3])])
    parts[2].complete(10, -1, None)
    assert seen == []
    parts[3].complete(20, -1, None)
    assert seen == [20]


async def test_a_delivery_is_a_future_of_asyncio(appender, hot):
    loop = asyncio.get_running_loop()
    sent = [appender.try_send(None, b"v", (), None, 1) for _ in range(3)]
    deliveries = [hot.Delivery(future, loop) for future in sent]
    assert all(asyncio.isfuture(delivery) for delivery in deliveries)
    with pytest.raises(asyncio.InvalidStateError):
        deliveries[0].result()
    seen = []
    deliveries[0].add_done_callback(lambda future: seen.append(future.result().offset))
    assert deliveries[2].cancel()
    loop.call_soon(appender.batch_of(0).complete, 7, -1, None)
    done, pending = await asyncio.wait(deliveries)
    assert not pending
    assert done == set(deliveries)
    assert [metadata.offset for metadata in await asyncio.gather(*deliveries[:2])] == [7, 8]
    assert (await asyncio.wait_for(deliveries[1], 5)).offset == 8
    assert (await asyncio.shield(deliveries[1])).offset == 8
    assert seen == [7]
    assert deliveries[2].cancelled()


async def test_the_error_of_a_delivery(appender, hot, caplog):
    loop = asyncio.get_running_loop()
    delivery = hot.Delivery(appender.try_send(None, b"v", (), None, 1), loop)
    appender.batch_of(0).complete(-1, -1, BrokerError(ErrorCode.MESSAGE_TOO_LARGE))
    assert delivery.done()
    with pytest.raises(BrokerError):
        await delivery
    assert isinstance(delivery.exception(), BrokerError)
