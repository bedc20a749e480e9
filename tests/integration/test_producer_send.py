"""`send()`: the types it accepts, the errors it raises, and its use in a delivery callback."""

import asyncio
import logging
import threading

import pytest

from barnabas import BrokerError, ErrorCode, Producer, SerializationError
from barnabas.aio import Producer as AioProducer
from barnabas.clients.producer.sender import IDLE_CHECK_MS
from barnabas.model.errors import BarnabasError, ClosedError, DeadlineError, LocalError
from barnabas.runtime.child_process import free_port

pytestmark = pytest.mark.integration


class Deliveries:
    """Collects the arguments of `on_delivery`, and notifies a waiting thread."""

    def __init__(self):
        self.arguments = []
        self.called = threading.Event()

    def __call__(self, metadata, error):
        self.arguments.append((metadata, error))
        self.called.set()


def config_of(broker, **more):
    return {"bootstrap.servers": broker.bootstrap_servers, **more}


async def test_text_without_a_serializer_is_encoded_as_utf_8(broker, topic_name):
    with Producer(config_of(broker)) as producer:
        for _ in range(2):  # the first record opens a batch, the second joins it
            producer.send(topic_name, "värde", key="nyckel")
    async with AioProducer(config_of(broker)) as producer:
        await producer.send_and_wait(topic_name, "värde", key="nyckel")
    stored = [(record.key, record.value) for record in broker.records(topic_name)]
    assert stored == [(b"nyckel", "värde".encode())] * 3


async def test_text_in_headers_is_encoded_as_utf_8(broker, topic_name):
    with Producer(config_of(broker)) as producer:
        for _ in range(2):  # the first record opens a batch, the second joins it
            producer.send(topic_name, b"v", headers={"a": "ä", "b": None})
        producer.send(topic_name, b"v", headers=None)
    async with AioProducer(config_of(broker)) as producer:
        await producer.send_and_wait(topic_name, b"v", headers=[("a", "ä"), ("b", None)])
    stored = [record.headers for record in broker.records(topic_name)]
    both = (("a", "ä".encode()), ("b", None))
    assert stored == [both, both, (), both]


def test_a_record_after_an_awaited_one_is_sent_when_its_linger_has_passed(broker, topic_name):
    """The second record wakes no thread: the timer of the first one is still running."""
    with Producer(config_of(broker), linger_ms=20) as producer:
        for _ in range(3):
            producer.send(topic_name, b"awaited", partition=0).result(60)
            delivered = Deliveries()
            producer.send(topic_name, b"not awaited", partition=0, on_delivery=delivered)
            assert delivered.called.wait(60)
        queued_ms = producer.metrics().value("record-queue-time-max")
    assert queued_ms < IDLE_CHECK_MS / 2


def test_a_future_describes_itself(broker, topic_name):
    with Producer(config_of(broker), linger_ms=60_000) as producer:
        assert repr(producer).startswith("<Producer bootstrap.servers=")
        sent = producer.send(topic_name, b"v", partition=0)
        assert repr(sent) == f"<SendFuture {topic_name}-0 pending>"
        assert repr(sent.result(60)) in repr(sent)
        failed = producer.send(topic_name, bytes(2_000_000))
        assert repr(failed).startswith(f"<SendFuture {topic_name} failed: MESSAGE_TOO_LARGE")


def test_a_text_key_selects_the_partition_of_its_bytes(broker, topic_name):
    broker.topic(topic_name, partitions=7)
    with Producer(config_of(broker)) as producer:
        for number in range(20):
            as_text = producer.send(topic_name, b"v", key=f"key {number}")
            as_bytes = producer.send(topic_name, b"v", key=b"key %d" % number)
            assert as_text.result(60).partition == as_bytes.result(10).partition


@pytest.mark.parametrize(("field", "given"), [("value", 5), ("key", {"a": 1}), ("value", 1.5)])
async def test_another_type_names_the_serializer_setting(broker, topic_name, field, given):
    wanted = rf"the {field} is {type(given).__name__}.*{field}\.serializer"
    record = {"value": b"v", field: given}
    with Producer(config_of(broker)) as producer:
        for _ in range(2):
            with pytest.raises(TypeError, match=wanted):
                producer.send(topic_name, **record)
            producer.send(topic_name, b"v")
    async with AioProducer(config_of(broker)) as producer:
        with pytest.raises(TypeError, match=wanted):
            await producer.send(topic_name, **record)


@pytest.mark.parametrize(
    ("config", "record", "code"),
    [
        ({"max.request.size": 1000}, {"value": b"v" * 2000}, ErrorCode.MESSAGE_TOO_LARGE),
        ({"buffer.memory": 30_000}, {"value": b"v" * 40_000}, ErrorCode.MESSAGE_TOO_LARGE),
        ({}, {"topic": "no/topic"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({}, {"partition": 7}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
    ids=["max.request.size", "buffer.memory", "topic name", "partition"],
)
async def test_a_record_that_cannot_be_delivered_fails_its_future(
    broker, topic_name, config, record, code
):
    given = {"topic": topic_name, "value": b"v", **record}
    blocking, asynchronous = Deliveries(), Deliveries()
    with Producer(config_of(broker, **config)) as producer:
        future = producer.send(**given, on_delivery=blocking)
        assert future.exception(10).code is code
        assert future.done()
        with pytest.raises(BrokerError):
            future.result(60)
        producer.send(topic_name, b"next").result(60)
    async with AioProducer(config_of(broker, **config)) as producer:
        delivery = await producer.send(**given, on_delivery=asynchronous)
        with pytest.raises(BrokerError):
            await delivery
    for heard in (blocking, asynchronous):
        ((metadata, error),) = heard.arguments
        assert (metadata, error.code) == (None, code)


def test_a_time_out_of_send_fails_its_future():
    config = {"bootstrap.servers": f"localhost:{free_port()}", "max.block.ms": 300}
    heard = Deliveries()
    with Producer(config) as producer:
        future = producer.send("t", b"v", on_delivery=heard)
        assert isinstance(future.exception(10), DeadlineError)
    assert heard.arguments == [(None, future.exception(0))]


def test_incorrect_use_raises(broker, topic_name):
    producer = Producer(config_of(broker), value_serializer="int")
    with pytest.raises(SerializationError, match=r"value\.serializer"):
        producer.send(topic_name, "text")
    with pytest.raises(TypeError, match="topic must be a str"):
        producer.send(3, 5)
    with pytest.raises(TypeError, match="topic must be a str"):
        producer.send(None, 5)
    with pytest.raises(LocalError, match="partition"):
        producer.send(topic_name, 5, partition=-1)
    for _ in range(2):  # the first record opens a batch, the second would join it
        with pytest.raises(TypeError, match="milliseconds since 1970"):
            producer.send(topic_name, 5, timestamp=1794900824.8)
        producer.send(topic_name, 5).result(60)
    producer.close()
    with pytest.raises(ClosedError):
        producer.send(topic_name, 5)


def test_a_failed_send_in_a_transaction_only_allows_an_abort(broker, topic_name):
    config = config_of(broker, **{"transactional.id": topic_name, "max.request.size": 1000})
    with Producer(config) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        assert producer.send(topic_name, b"v" * 2000).exception(10) is not None
        with pytest.raises(BarnabasError, match="MESSAGE_TOO_LARGE"):
            producer.commit_transaction()
        producer.abort_transaction()
        producer.begin_transaction()
        producer.send(topic_name, b"v")
        producer.commit_transaction()
    assert [record.value for record in broker.records(topic_name)] == [b"v"]


def test_send_in_a_delivery_callback_to_a_topic_without_metadata(broker, topic_name):
    """The callback runs on the loop thread, which has to fetch the metadata of the second topic."""
    other = f"{topic_name}-other"
    sent = []
    with Producer(config_of(broker)) as producer:

        def on_delivery(metadata, error):
            sent.extend(producer.send(other, b"%d" % number) for number in range(3))

        producer.send(topic_name, b"first", on_delivery=on_delivery).result(60)
        producer.flush(10)
        assert [future.result(60).offset for future in sent] == [0, 1, 2]
    assert [record.value for record in broker.records(other)] == [b"0", b"1", b"2"]


def test_send_in_a_delivery_callback_waits_for_memory_without_blocking(broker, topic_name):
    config = config_of(broker, **{"buffer.memory": 20_000, "max.block.ms": 60_000})
    sent = []
    with Producer(config) as producer:

        def on_delivery(metadata, error):
            sent.extend(producer.send(topic_name, b"x" * 9000) for _ in range(4))

        producer.send(topic_name, b"x" * 9000, on_delivery=on_delivery).result(60)
        producer.flush(10)
        assert [future.result(60).offset for future in sent] == [1, 2, 3, 4]


def test_a_blocking_call_in_a_delivery_callback_raises(broker, topic_name):
    raised = []
    called = threading.Event()
    with Producer(config_of(broker)) as producer:

        def on_delivery(metadata, error):
            for call in (producer.flush, producer.ping, producer.close):
                try:
                    call()
                except LocalError as error:
                    raised.append(str(error))
            called.set()

        producer.send(topic_name, b"v", on_delivery=on_delivery)
        assert called.wait(60)
        producer.send(topic_name, b"v").result(60)
    assert len(raised) == 3
    assert all("callback" in text for text in raised)


async def test_closing_during_an_outage_logs_no_retry(caplog):
    """A refresh that fails because the client is closed is not reported as an outage."""
    config = {"bootstrap.servers": f"localhost:{free_port()}", "max.block.ms": 50}
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            producer = Producer(config)
            producer.send("t", b"v")
            producer.close(0)
            producer = AioProducer(config)
            await producer.send("t", b"v")
            await producer.close(0)
            await asyncio.sleep(0)
    assert "the client is closed" not in caplog.text
