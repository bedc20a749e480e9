"""The futures of sent records, compiled and as plain Python, with the same results."""

import asyncio
import importlib.machinery
import importlib.util
import threading
from pathlib import Path

import pytest

from barnabas.clients.producer import _futures_hot
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError
from barnabas.model.ids import TopicPartition


def _pure():
    path = Path(_futures_hot.__file__).parent / "_futures_hot.py"
    loader = importlib.machinery.SourceFileLoader("pure_futures_hot", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


PURE = _pure()


@pytest.fixture(params=[_futures_hot, PURE], ids=["installed", "pure"])
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


def new_batch(driver=None):
    topic_partition = TopicPartition("t", 0)
    return ProducerBatch(topic_partition, 200, 0, threading.Lock(), driver or IdleDriver())


@pytest.fixture
def batch():
    return new_batch()


@pytest.fixture
def futures(hot, batch):
    """The futures of four records with the timestamps 11 to 14."""
    return [hot.future_of(batch, delta, 11 + delta) for delta in range(4)]


def test_a_future_reads_its_batchs_answer(batch, futures):
    assert not futures[1].done()
    batch.complete(100, -1, None)
    assert futures[0].result(0) == ("t", 0, 100, 11)
    assert futures[1].result(0) == ("t", 0, 101, 12)


def test_the_brokers_time_counts_where_it_set_one(batch, futures):
    batch.complete(7, 9999, None)
    assert futures[0].result(0).timestamp == 9999


def test_a_failed_batch_fails_all_its_futures(batch, futures):
    batch.complete(-1, -1, BrokerError(ErrorCode.NOT_ENOUGH_REPLICAS))
    assert futures[0].exception(0).code is ErrorCode.NOT_ENOUGH_REPLICAS
    with pytest.raises(BrokerError):
        futures[0].result(0)


def test_waiting_has_a_deadline_and_ends_the_linger(hot):
    driver = IdleDriver()
    batch = new_batch(driver)
    future = hot.SendFuture(batch, 0, 1)
    with pytest.raises(DeadlineError):
        future.result(0.001)
    assert driver.woken == [True]
    assert batch.urgent


def test_callbacks_come_once_before_or_after_the_answer(batch, futures):
    seen = []
    futures[0].add_done_callback(seen.append)
    batch.complete(0, -1, None)
    futures[0].add_done_callback(seen.append)
    assert seen == [futures[0], futures[0]]


def test_futures_follow_their_records_into_a_split_batch(batch, futures):
    seen = []
    futures[3].add_done_callback(lambda future: seen.append(future.result(0).offset))
    parts = [new_batch(), new_batch()]
    batch.split_into([(0, parts[0]), (2, parts[1])])
    assert not any(future.done() for future in futures)
    parts[0].complete(10, -1, None)
    parts[1].complete(50, -1, None)
    assert [future.result(0).offset for future in futures] == [10, 11, 50, 51]
    assert seen == [51]


def test_callbacks_follow_a_record_into_a_part_that_is_split_again(batch, futures):
    seen = []
    futures[1].add_done_callback(lambda future: seen.append(future.result(0).offset))
    parts = [new_batch() for _ in range(4)]
    batch.split_into([(0, parts[0]), (2, parts[1])])
    parts[0].split_into([(0, parts[2]), (1, parts[3])])
    parts[2].complete(10, -1, None)
    assert seen == []
    parts[3].complete(20, -1, None)
    assert seen == [20]


async def test_a_delivery_is_a_future_of_asyncio(hot, batch, futures):
    loop = asyncio.get_running_loop()
    deliveries = [hot.Delivery(future, loop) for future in futures[:3]]
    assert all(asyncio.isfuture(delivery) for delivery in deliveries)
    with pytest.raises(asyncio.InvalidStateError):
        deliveries[0].result()
    seen = []
    deliveries[0].add_done_callback(lambda future: seen.append(future.result().offset))
    assert deliveries[2].cancel()
    loop.call_soon(batch.complete, 7, -1, None)
    done, pending = await asyncio.wait(deliveries)
    assert not pending
    assert done == set(deliveries)
    assert [metadata.offset for metadata in await asyncio.gather(*deliveries[:2])] == [7, 8]
    assert (await asyncio.wait_for(deliveries[1], 5)).offset == 8
    assert (await asyncio.shield(deliveries[1])).offset == 8
    assert seen == [7]
    assert deliveries[2].cancelled()


@pytest.mark.parametrize("eager", [True, False])
async def test_awaiting_ends_the_linger_of_an_eager_batch(hot, batch, eager):
    batch.eager = eager
    delivery = hot.delivery_of(batch, 0, 1, asyncio.get_running_loop())
    asyncio.get_running_loop().call_soon(batch.complete, 7, -1, None)
    await delivery
    assert batch.urgent is eager


async def test_the_error_of_a_delivery(hot, batch):
    delivery = hot.delivery_of(batch, 0, 1, asyncio.get_running_loop())
    batch.complete(-1, -1, BrokerError(ErrorCode.MESSAGE_TOO_LARGE))
    assert delivery.done()
    with pytest.raises(BrokerError):
        await delivery
    assert isinstance(delivery.exception(), BrokerError)


async def test_a_delivery_callback_of_an_asyncio_producer():
    batch, seen = new_batch(), []
    loop = asyncio.get_running_loop()
    deliveries = [_futures_hot.delivery_of(batch, delta, 11, loop) for delta in range(2)]
    for delivery in deliveries:
        delivery.notify(lambda metadata, error: seen.append((metadata, error)))
    batch.complete(100, -1, None)
    assert seen == [(("t", 0, 100, 11), None), (("t", 0, 101, 11), None)]
