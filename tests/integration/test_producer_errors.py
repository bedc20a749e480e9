"""Records that are rejected or fail: the errors of the caller, the interceptors and the log."""

import logging

import pytest
from support.clients.mock_cluster import LIBRARY, mock_cluster
from support.cluster.workload import wait_until

from barnabas import BrokerError, Consumer, DeadlineError, ErrorCode, Producer, TopicPartition
from barnabas.aio import Producer as AioProducer
from barnabas.clients.producer.sender import Sender
from barnabas.model.errors import BarnabasError, LocalError, UnavailableError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration
PRODUCE = 0


class Listening:
    """An interceptor that notes every record and its end."""

    def __init__(self):
        self.ends = []

    def on_send(self, record):
        return record

    def on_acknowledgement(self, record, metadata, error):
        self.ends.append((record.value, metadata, error))


class Failing:
    def on_send(self, record):
        raise ZeroDivisionError("a mistake in on_send")

    def on_acknowledgement(self, record, metadata, error):
        raise ZeroDivisionError("a mistake in on_acknowledgement")


class Forgetful(Listening):
    def on_send(self, record):
        """Forgets to return the record."""


@pytest.mark.parametrize("broken", [Failing, Forgetful])
def test_an_interceptor_that_fails_is_logged_and_has_no_effect(broker, topic_name, caplog, broken):
    listening = Listening()
    config = {"bootstrap.servers": broker.bootstrap_servers}
    config["interceptor.classes"] = [broken(), listening]
    with caplog.at_level(logging.ERROR), Producer(config) as producer:
        assert producer.send(topic_name, b"v").result(60).offset == 0
        producer.flush(10)
    assert [(value, metadata.offset, error) for value, metadata, error in listening.ends] == [
        (b"v", 0, None)
    ]
    assert "failed in on_send()" in caplog.text


@pytest.mark.parametrize(
    ("record", "error"),
    [({"value": b"v" * 2000}, BrokerError), ({"value": b"v", "partition": 7}, BrokerError)],
)
async def test_interceptors_are_notified_of_records_that_fail_in_send(
    broker, topic_name, record, error
):
    blocking, asynchronous = Listening(), Listening()
    config = {"bootstrap.servers": broker.bootstrap_servers, "max.request.size": 1000}
    with Producer(config, interceptor_classes=[blocking]) as producer:
        assert isinstance(producer.send(topic_name, **record).exception(10), error)
    async with AioProducer(config, interceptor_classes=[asynchronous]) as producer:
        with pytest.raises(error):
            await (await producer.send(topic_name, **record))
    for listening in (blocking, asynchronous):
        ((value, metadata, cause),) = listening.ends
        assert (value, metadata, type(cause)) == (record["value"], None, error)


@pytest.mark.parametrize(
    ("record", "error"),
    [({"value": 5}, TypeError), ({"value": b"v", "partition": -1}, LocalError)],
)
async def test_interceptors_are_notified_of_records_for_which_send_raises(
    broker, topic_name, record, error
):
    blocking, asynchronous = Listening(), Listening()
    config = {"bootstrap.servers": broker.bootstrap_servers}
    with Producer(config, interceptor_classes=[blocking]) as producer, pytest.raises(error):
        producer.send(topic_name, **record)
    async with AioProducer(config, interceptor_classes=[asynchronous]) as producer:
        with pytest.raises(error):
            await producer.send(topic_name, **record)
    for listening in (blocking, asynchronous):
        ((value, metadata, cause),) = listening.ends
        assert (value, metadata, type(cause)) == (record["value"], None, error)


def test_an_interceptor_may_change_the_topic(broker, topic_name):
    class Redirecting(Listening):
        def on_send(self, record):
            record.topic = f"{topic_name}-b"
            return record

    config = {"bootstrap.servers": broker.bootstrap_servers}
    with Producer(config, interceptor_classes=[Redirecting()]) as producer:
        assert producer.send(topic_name, b"v").result(60).topic == f"{topic_name}-b"


@pytest.mark.parametrize("linger_ms", [0, 5])
def test_headers_count_for_max_request_size(broker, topic_name, linger_ms):
    config = {"bootstrap.servers": broker.bootstrap_servers, "max.request.size": 1000}
    with Producer(config, linger_ms=linger_ms) as producer:
        producer.send(topic_name, b"v").result(60)
        for _ in range(2):
            with pytest.raises(BrokerError, match=r"max\.request\.size is 1000") as caught:
                producer.send(topic_name, b"v", headers=[("h", b"x" * 1000)]).result(60)
            assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
            producer.send(topic_name, b"v").result(60)


async def test_a_record_larger_than_the_buffer_fails_at_once(broker, topic_name):
    config = {"bootstrap.servers": broker.bootstrap_servers, "buffer.memory": 30_000}
    config["max.block.ms"] = 600_000
    with Producer(config) as producer:
        with pytest.raises(BrokerError, match=r"buffer\.memory is 30000") as caught:
            producer.send(topic_name, b"x" * 40_000).result(60)
        assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
        producer.send(topic_name, b"small").result(60)
    async with AioProducer(config) as producer:
        with pytest.raises(BrokerError, match=r"buffer\.memory is 30000"):
            await producer.send_and_wait(topic_name, b"x" * 40_000)
        await producer.send_and_wait(topic_name, b"small")


def test_a_batch_size_above_the_buffer_holds_no_record_back(broker, topic_name):
    """Passes when no send waits for buffer memory until `max.block.ms`."""
    config = {"bootstrap.servers": broker.bootstrap_servers, "buffer.memory": 30_000}
    with Producer(config, batch_size=100_000, max_block_ms=2000) as producer:
        for _ in range(3):
            producer.send(topic_name, b"v")
        producer.flush(10)


@pytest.fixture
def unsafe_topic():
    """A topic whose leader rejects every batch with NOT_ENOUGH_REPLICAS."""
    if LIBRARY is None:
        pytest.skip("confluent-kafka brings no librdkafka of its own")
    with mock_cluster(1) as kafka:
        kafka.topic("t", 1)
        kafka.fail(PRODUCE, *[ErrorCode.NOT_ENOUGH_REPLICAS] * 1000)
        yield kafka.bootstrap_servers, "t"


def deadline_with_cause(call):
    """Calls until the first response has come and the DeadlineError names its error code."""
    for _ in range(100):
        with pytest.raises(DeadlineError) as caught:
            call()
        if "NOT_ENOUGH_REPLICAS" in str(caught.value):
            return caught.value
    raise AssertionError(f"no cause in {caught.value}")


def test_a_deadline_names_the_last_cause(unsafe_topic):
    servers, topic = unsafe_topic
    config = {"bootstrap.servers": servers, "request.timeout.ms": 500, "linger.ms": 0}
    with Producer(config, delivery_timeout_ms=3000, retry_backoff_ms=400) as producer:
        future = producer.send(topic, b"v")
        deadline_with_cause(lambda: future.result(0.5))
        with pytest.raises(BarnabasError, match="NOT_ENOUGH_REPLICAS") as caught:
            future.result(60)
    cause = caught.value.__cause__ if isinstance(caught.value, DeadlineError) else caught.value
    assert cause.code is ErrorCode.NOT_ENOUGH_REPLICAS


def test_a_flush_names_the_last_cause(unsafe_topic):
    servers, topic = unsafe_topic
    with Producer({"bootstrap.servers": servers}, retry_backoff_ms=20) as producer:
        producer.send(topic, b"v")
        error = deadline_with_cause(lambda: producer.flush(0.5))
        assert error.__cause__.code is ErrorCode.NOT_ENOUGH_REPLICAS
        with pytest.raises(DeadlineError, match="NOT_ENOUGH_REPLICAS"):
            producer.close(0.5)


def test_a_callback_that_fails_keeps_no_other_from_being_called(broker, topic_name, caplog):
    called = []
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(topic_name, b"a", on_delivery=lambda *_: 1 / 0)
        producer.send(topic_name, b"b", on_delivery=lambda *outcome: called.append(outcome))
        producer.flush(10)
        producer.send(topic_name, b"c").result(60)
    assert len(called) == 1
    assert "a delivery callback failed" in caplog.text


def test_a_callback_gets_the_metadata_or_the_error(broker, topic_name):
    broker.topic(topic_name, config={"max.message.bytes": 1000})
    heard = []
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for size in (10, 5000):
            future = producer.send(
                topic_name, b"x" * size, on_delivery=lambda *outcome: heard.append(outcome)
            )
            future.exception(10)
    (stored, no_error), (nothing, refused) = heard
    assert (stored.offset, no_error, nothing) == (0, None, None)
    assert refused.code is ErrorCode.MESSAGE_TOO_LARGE


async def test_a_callback_of_the_asyncio_producer_gets_the_same(broker, topic_name):
    broker.topic(topic_name, config={"max.message.bytes": 1000})
    heard = []
    async with AioProducer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for size in (10, 5000):
            await producer.send(
                topic_name, b"x" * size, on_delivery=lambda *outcome: heard.append(outcome)
            )
            await producer.flush(10)
    (stored, no_error), (nothing, refused) = heard
    assert (stored.offset, no_error, nothing) == (0, None, None)
    assert refused.code is ErrorCode.MESSAGE_TOO_LARGE


UNREAD = "barnabas.clients.producer.unread_failures"


def _failing_config(broker):
    return {"bootstrap.servers": broker.bootstrap_servers, "max.request.size": 1000}


def test_a_failed_record_without_a_reader_is_logged_at_close(broker, topic_name, caplog):
    with caplog.at_level(logging.WARNING, UNREAD), Producer(_failing_config(broker)) as producer:
        producer.send(topic_name, b"v" * 2000, partition=0)
        producer.flush(10)
    (line,) = [entry.getMessage() for entry in caplog.records if entry.name == UNREAD]
    assert line.startswith(f"partition {topic_name}-0: 1 record was not delivered: ")
    assert "MESSAGE_TOO_LARGE" in line or "max.request.size" in line


def test_a_record_that_the_broker_rejects_is_logged_after_a_flush(broker, topic_name, caplog):
    config = {"bootstrap.servers": broker.bootstrap_servers}
    config["interceptor.classes"] = [Listening()]  # an interceptor is no reader of the error
    broker.admin.create_topic(topic_name, configs={"max.message.bytes": "500"})
    with caplog.at_level(logging.WARNING, UNREAD), Producer(config) as producer:
        futures = [producer.send(topic_name, b"v" * 300) for _ in range(2)]
        futures.append(producer.send(topic_name, b"w" * 2000))
        producer.flush(10)
    (line,) = [entry.getMessage() for entry in caplog.records if entry.name == UNREAD]
    assert "1 record was not delivered" in line
    assert len([future for future in futures if future.exception(0) is None]) == 2


@pytest.mark.parametrize("reads", ["result", "on_delivery"])
def test_a_failed_record_whose_error_is_read_is_not_logged(broker, topic_name, caplog, reads):
    errors = []
    with caplog.at_level(logging.WARNING, UNREAD), Producer(_failing_config(broker)) as producer:
        if reads == "result":
            errors.append(producer.send(topic_name, b"v" * 2000).exception(10))
        else:
            producer.send(
                topic_name, b"v" * 2000, on_delivery=lambda _, error: errors.append(error)
            )
    assert isinstance(errors[0], BrokerError)
    assert [entry for entry in caplog.records if entry.name == UNREAD] == []


async def test_a_failed_asyncio_record_without_a_reader_is_logged(broker, topic_name, caplog):
    with caplog.at_level(logging.WARNING, UNREAD):
        async with AioProducer(_failing_config(broker)) as producer:
            await producer.send(topic_name, b"v" * 2000, partition=0)
    assert f"partition {topic_name}-0: 1 record was not delivered" in caplog.text


def test_a_batch_without_a_response_is_stored_once_when_another_batch_fails(
    broker, topic_name, monkeypatch
):
    """A failed batch starts a new producer epoch, in which a retry would not be recognized."""
    broker.topic(topic_name, partitions=2, config={"max.message.bytes": 2000})
    responses = []
    on_response = Sender._on_response

    def lose_first(sender, node_id, batches, sent_s, response, error):
        responses.append(response)
        if len(responses) == 1:
            response, error = None, UnavailableError("the response is lost")
        on_response(sender, node_id, batches, sent_s, response, error)

    monkeypatch.setattr(Sender, "_on_response", lose_first)
    config = {"bootstrap.servers": broker.bootstrap_servers, "retry.backoff.ms": 500}
    with Producer(config) as producer:
        kept = producer.send(topic_name, b"kept", partition=0)
        wait_until(lambda: responses, what="the first response")
        rejected = producer.send(topic_name, b"v" * 5000, partition=1)
        assert rejected.exception(60).code is ErrorCode.MESSAGE_TOO_LARGE
        assert not kept.done()
        assert kept.result(60).offset == 0
        assert producer.send(topic_name, b"later", partition=0).result(60).offset == 1
    assert [record.value for record in broker.records(topic_name)] == [b"kept", b"later"]


def test_offsets_of_a_transaction_need_the_group_metadata(broker, topic_name):
    servers = broker.bootstrap_servers
    broker.topic(topic_name)
    with (
        Producer(bootstrap_servers=servers, transactional_id=topic_name) as producer,
        Consumer(bootstrap_servers=servers, group_id=topic_name) as consumer,
    ):
        producer.init_transactions()
        producer.begin_transaction()
        offsets = {TopicPartition(topic_name, 0): 1}
        for group in (consumer, topic_name):
            with pytest.raises(TypeError, match=r"must be consumer.group_metadata\(\), not "):
                producer.send_offsets_to_transaction(offsets, group)
        producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        producer.abort_transaction()


def test_a_transaction_that_takes_too_long_names_the_limit():
    settings = {"transactional.id": "slow", "transaction.timeout.ms": 1000}
    with Broker(in_memory=True) as broker:
        topic = broker.topic()
        with Producer(settings, bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.init_transactions()
            producer.begin_transaction()
            producer.send(topic, b"first").result(10)
            broker.clock.advance(60_000)
            with pytest.raises(BrokerError, match="INVALID_PRODUCER_EPOCH"):
                send_until_rejected(producer, topic)
            with pytest.raises(LocalError, match=r"transaction\.timeout\.ms.*create a new one"):
                producer.abort_transaction()


def send_until_rejected(producer, topic):
    while True:
        producer.send(topic, b"next").result(10)
