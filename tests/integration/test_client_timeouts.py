"""Timeouts that are not a number: an error before the client has changed anything."""

import pytest

from barnabas import Consumer, Producer
from barnabas.aio import Consumer as AioConsumer
from barnabas.aio import Producer as AioProducer

pytestmark = pytest.mark.integration
NAN = float("nan")
BAD = [("5", TypeError), (NAN, ValueError)]


@pytest.mark.parametrize(("timeout", "error"), BAD)
def test_a_bad_timeout_of_close_loses_no_record(broker, topic_name, timeout, error):
    with Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000) as producer:
        future = producer.send(topic_name, b"kept")
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            producer.close(timeout)
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            producer.flush(timeout)
    assert future.result(10).offset == 0


@pytest.mark.parametrize(("timeout", "error"), BAD)
async def test_a_bad_timeout_of_close_loses_no_record_in_asyncio(
    broker, topic_name, timeout, error
):
    servers = broker.bootstrap_servers
    async with AioProducer(bootstrap_servers=servers, linger_ms=60_000) as producer:
        delivery = await producer.send(topic_name, b"kept")
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            await producer.close(timeout)
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            await producer.flush(timeout)
    assert (await delivery).offset == 0


@pytest.mark.parametrize(("timeout", "error"), BAD)
def test_a_bad_timeout_of_close_leaves_the_consumer_open(broker, topic_name, timeout, error):
    broker.produce(topic_name, "one")
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=topic_name,
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.subscribe([topic_name])
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            consumer.close(timeout)
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            consumer.poll(timeout)
        assert next(iter(consumer)).value == b"one"


@pytest.mark.parametrize(("timeout", "error"), BAD)
async def test_a_bad_timeout_of_close_leaves_the_consumer_open_in_asyncio(
    broker, topic_name, timeout, error
):
    broker.produce(topic_name, "one")
    async with AioConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=topic_name,
        auto_offset_reset="earliest",
    ) as consumer:
        await consumer.subscribe([topic_name])
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            await consumer.close(timeout)
        with pytest.raises(error, match="the timeout must be a number of seconds"):
            await consumer.poll(timeout)
        assert (await anext(aiter(consumer))).value == b"one"
