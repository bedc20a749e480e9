"""Calls that complete without a coroutine, seen through `send()` of the asyncio producer.

Each test runs with the installed modules and with plain Python.
"""

import asyncio
import importlib.machinery
import importlib.util
import sys
import threading
import warnings
from pathlib import Path

import pytest

from barnabas.clients.core import _direct_call_hot
from barnabas.clients.producer import _send_hot
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.ids import TopicPartition


def _pure(module, name):
    path = Path(module.__file__).parent / f"{module.__name__.rpartition('.')[2]}.py"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(made)
    return made


def _pure_send_hot():
    """Returns `_send_hot` in plain Python on a `DirectCall` in plain Python."""
    name = _direct_call_hot.__name__
    sys.modules[name] = _pure(_direct_call_hot, "pure_direct_call_hot")
    try:
        return _pure(_send_hot, "pure_send_hot_on_pure_call")
    finally:
        sys.modules[name] = _direct_call_hot


PURE = _pure_send_hot()


@pytest.fixture(params=[_send_hot, PURE], ids=["installed", "pure"])
def hot(request):
    return request.param


class IdleDriver:
    def wake(self): ...

    def wake_by(self, due_ms): ...

    def wait(self, awaited, timeout_s):
        return awaited.done


class Suspension:
    """Suspends a coroutine once; the result is what `send` passes."""

    def __await__(self):
        return (yield "suspended")


def new_producer(hot):
    """Returns a producer with one open batch, whose coroutine suspends once."""

    class Producer(hot.DirectSender):
        def __init__(self):
            self.state = hot.SendState()
            self.state.direct = True
            self.slow = []
            appender = hot.TopicAppender(1, True)
            topic_partition = TopicPartition("t", 0)
            batch = ProducerBatch(topic_partition, 200, 0, threading.Lock(), IdleDriver())
            appender.open(batch, 200)
            self.batch = batch
            self._enable_sends({"t": appender}, self.state, object())

        async def _send(self, *record):
            self.slow.append(record)
            given = await Suspension()
            if isinstance(given, Exception):
                raise given
            return "slow"

    return Producer()


@pytest.fixture
def producer(hot):
    return new_producer(hot)


@pytest.mark.parametrize("headers", [(), [("a", b"b")], (("a", b"b"),)])
async def test_completes_without_suspending(producer, headers):
    call = producer.send("t", b"v", headers=headers)
    with pytest.raises(StopIteration) as ended:
        call.send(None)
    assert repr(ended.value.value) == "<Delivery t-0 pending>"
    assert producer.batch.appender.count == 1
    assert producer.slow == []


async def test_await_gives_the_result(producer):
    delivery = await producer.send("t", b"v")
    assert "t-0 pending" in repr(delivery)
    assert producer.batch.appender.count == 1


def test_makes_a_coroutine_after_many_records(hot, producer):
    """The coroutine lets other tasks run, although a batch has room for many more records."""
    producer.batch.appender.close()
    appender = hot.TopicAppender(1, True)
    batch = ProducerBatch(TopicPartition("t", 0), 10**6, 0, threading.Lock(), IdleDriver())
    appender.open(batch, 10**6)
    producer._enable_sends({"t": appender}, producer.state, object())
    slow = []
    for number in range(3 * hot.RECORDS_PER_CHECK):
        try:
            producer.send("t", b"v").send(None)
        except StopIteration:
            continue
        slow.append(number + 1)
    assert slow == [hot.RECORDS_PER_CHECK, 2 * hot.RECORDS_PER_CHECK, 3 * hot.RECORDS_PER_CHECK]


def test_does_nothing_before_it_is_awaited(producer):
    call = producer.send("t", b"v")
    assert producer.batch.appender.count == 0
    call.close()


def test_cannot_be_awaited_twice(producer):
    call = producer.send("t", b"v")
    with pytest.raises(StopIteration):
        call.send(None)
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        call.send(None)
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        next(iter(call))
    assert producer.batch.appender.count == 1


def test_warns_if_it_was_never_awaited(producer):
    with pytest.warns(
        RuntimeWarning,
        match=r"send\('t', ...\) of an asyncio producer was never awaited, so it did nothing",
    ):
        producer.send("t", b"v")
    assert producer.batch.appender.count == 0


def test_closed_call_does_not_warn_and_does_not_begin(producer):
    call = producer.send("t", b"v")
    call.close()
    with pytest.raises(RuntimeError, match="cannot reuse"):
        call.send(None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del call
    assert producer.batch.appender.count == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"headers": iter([("a", b"b")])},
        {"timestamp": 5},
        {"topic": "other"},
        {"partition": 7},
        {"value": object()},
        {"partition": "0"},
    ],
    ids=["headers of an iterator", "timestamp", "topic", "partition", "value", "partition type"],
)
def test_other_records_are_sent_by_the_coroutine(producer, fields):
    fields = {"topic": "t", "value": b"v", **fields}
    call = producer.send(**fields)
    assert call.send(None) == "suspended"
    with pytest.raises(StopIteration) as ended:
        call.send(None)
    assert ended.value.value == "slow"
    [record] = producer.slow
    assert record[:2] == (fields["topic"], fields["value"])
    assert producer.batch.appender.count == 0


def test_record_that_does_not_fit_is_sent_by_the_coroutine(producer):
    with pytest.raises(StopIteration):
        producer.send("t", b"v").send(None)
    call = producer.send("t", bytes(300))
    assert call.send(None) == "suspended"
    assert producer.batch.appender.count == 1


def test_producer_that_is_not_direct_uses_the_coroutine(producer):
    producer.state.direct = False
    assert next(producer.send("t", b"v")) == "suspended"


def test_errors_are_thrown_into_the_coroutine(producer):
    call = producer.send("other", b"v")
    assert call.send(None) == "suspended"
    with pytest.raises(KeyError, match="thrown"):
        call.throw(KeyError("thrown"))


def test_error_before_the_first_step_is_raised(producer):
    call = producer.send("t", b"v")
    with pytest.raises(asyncio.CancelledError):
        call.throw(asyncio.CancelledError())
    assert producer.batch.appender.count == 0


def test_error_of_the_coroutine_is_raised(producer):
    call = producer.send("other", b"v")
    call.send(None)
    with pytest.raises(ValueError, match="of the coroutine"):
        call.send(ValueError("of the coroutine"))


async def test_is_accepted_where_a_coroutine_is(producer):
    call = producer.send("t", b"v")
    assert asyncio.iscoroutine(call)
    delivery = await asyncio.create_task(call)
    assert "t-0 pending" in repr(delivery)
    first, second = await asyncio.gather(producer.send("t", b"v"), producer.send("t", b"v"))
    assert first is not second
    assert await asyncio.wait_for(producer.send("t", b"v"), 1)
    assert producer.batch.appender.count == 4


async def test_cancelled_task_does_not_send(producer):
    task = asyncio.create_task(producer.send("t", b"v"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert producer.batch.appender.count == 0


async def test_on_delivery_is_called_with_the_result(hot):
    producer = new_producer(hot)
    seen = []
    await producer.send("t", b"v", on_delivery=lambda metadata, error: seen.append(metadata))
    producer.batch.complete(7, -1, None)
    assert [metadata.offset for metadata in seen] == [7]
