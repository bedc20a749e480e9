"""The push of metrics: encoding, subscription, and what a broker's errors cause."""

import asyncio
import math

import pytest

from barnabas.broker.metrics.client_telemetry import decode_metrics
from barnabas.clients.metrics import telemetry
from barnabas.clients.metrics.client_metrics import ClientMetrics, MetricsSettings
from barnabas.clients.metrics.telemetry import TelemetryPush, encode_metrics
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.model.records import Codec
from barnabas.records.compression import decompress
from barnabas.runtime._meter_hot import Meter
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.metric_types import Metric, MetricName
from barnabas.runtime.metrics import MetricKind
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from barnabas.wire.messages.push_telemetry import PushTelemetryResponse

ID = Uuid(b"0123456789abcdef")


def test_encoding_is_decoded_by_the_broker():
    tags = (("client-id", "c"), ("node-id", "node-1"))
    metrics = [
        Metric(
            MetricName("request-rate", "producer-node-metrics", tags), 2.5, "", MetricKind.GAUGE
        ),
        Metric(MetricName("byte-total", "producer-metrics"), 7.0, "", MetricKind.COUNTER),
        Metric(MetricName("batch-size-avg", "producer-metrics"), math.nan, "", MetricKind.GAUGE),
    ]
    found = decode_metrics(memoryview(encode_metrics(metrics, 1, 2)), 10)
    assert [(sample.name, sample.attributes, sample.value) for sample in found] == [
        ("org.apache.kafka.producer.node.request.rate", (("node_id", "node-1"),), 2.5),
        ("org.apache.kafka.producer.byte.total", (), 7.0),
    ]


class Broker:
    """A connection whose broker returns the given subscription and errors."""

    def __init__(self, prefixes=("",), codecs=(), errors=(), delta=False, serves=True):
        self.versions = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: (0, 0)} if serves else {}
        self._answer = (list(prefixes), list(codecs), delta)
        self._errors = list(errors)
        self.asked = []
        self.pushed = []

    async def send(self, request):
        if isinstance(request, GetTelemetrySubscriptionsRequest):
            self.asked.append(request.client_instance_id)
            prefixes, codecs, delta = self._answer
            return GetTelemetrySubscriptionsResponse(
                client_instance_id=ID if request.client_instance_id == ZERO_UUID else ZERO_UUID,
                subscription_id=5,
                accepted_compression_types=codecs,
                push_interval_ms=1,
                telemetry_max_bytes=100_000,
                delta_temporality=delta,
                requested_metrics=prefixes,
            )
        self.pushed.append(request)
        error = self._errors.pop(0) if self._errors else ErrorCode.NONE
        return PushTelemetryResponse(error_code=error)

    def open_connection(self):
        return self

    async def any_connection(self):
        return self

    def values(self, index=-1):
        push = self.pushed[index]
        data = push.metrics
        if push.compression_type:
            data = decompress(Codec(push.compression_type), memoryview(data), 10**6)
        return {
            s.name.rpartition("kafka.")[2]: s.value for s in decode_metrics(memoryview(data), 99)
        }


@pytest.fixture
def splits():
    return Meter()


def push_of(broker, splits):
    metrics = ClientMetrics("producer", "c", MetricsSettings(push=True), SystemClock())
    group = metrics.group("producer-metrics")
    group.counted("batch-split", splits)
    group.gauge("metadata-age", lambda: 3)
    metrics.add(group)
    return TelemetryPush(broker, metrics)


async def until(condition):
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0)


async def test_pushes_until_closed_with_a_last_push(splits):
    broker = Broker(codecs=[int(Codec.ZSTD)])
    push = push_of(broker, splits)
    push.connected(broker)
    push.connected(broker)
    splits.record(1)
    await until(lambda: len(broker.pushed) >= 2)
    await push.close()
    assert broker.asked == [ZERO_UUID]
    first, last = broker.pushed[0], broker.pushed[-1]
    assert (first.terminating, last.terminating) == (False, True)
    assert (first.client_instance_id, first.subscription_id) == (ID, 5)
    assert first.compression_type == Codec.ZSTD
    assert broker.values()["producer.batch.split.total"] == 1
    assert await push.instance_id(1) == ID


async def test_only_requested_metrics_are_pushed(splits):
    broker = Broker(prefixes=["org.apache.kafka.producer.metadata"])
    push = push_of(broker, splits)
    push.connected(broker)
    await until(lambda: broker.pushed)
    await push.close()
    assert broker.values(0) == {"producer.metadata.age": 3}


async def test_without_a_subscription_nothing_is_pushed(splits):
    broker = Broker(prefixes=[])
    push = push_of(broker, splits)
    push.connected(broker)
    await until(lambda: len(broker.asked) >= 2)
    await push.close()
    assert broker.pushed == []


async def test_a_broker_without_the_api_starts_no_task(splits):
    broker = Broker(serves=False)
    push = push_of(broker, splits)
    before = len(asyncio.all_tasks())
    push.connected(broker)
    assert len(asyncio.all_tasks()) == before
    await push.close()
    assert broker.asked == broker.pushed == []


async def test_an_unknown_subscription_is_requested_again(splits):
    broker = Broker(errors=[ErrorCode.UNKNOWN_SUBSCRIPTION_ID])
    push = push_of(broker, splits)
    push.connected(broker)
    await until(lambda: len(broker.pushed) >= 2)
    await push.close()
    assert broker.asked == [ZERO_UUID, ID]


async def test_an_unsupported_codec_ends_compression(splits):
    errors = [ErrorCode.UNSUPPORTED_COMPRESSION_TYPE]
    broker = Broker(codecs=[int(Codec.GZIP)], errors=errors)
    push = push_of(broker, splits)
    push.connected(broker)
    await until(lambda: len(broker.pushed) >= 2)
    await push.close()
    assert [each.compression_type for each in broker.pushed[:2]] == [Codec.GZIP, Codec.NONE]


async def test_an_invalid_request_ends_the_pushes(splits):
    broker = Broker(errors=[ErrorCode.INVALID_REQUEST])
    push = push_of(broker, splits)
    push.connected(broker)
    await until(lambda: push._task.done())
    assert len(broker.pushed) == 1


async def test_a_delta_contains_only_values_since_the_last_push(splits):
    broker = Broker(delta=True)
    push = push_of(broker, splits)
    splits.record(1)
    push.connected(broker)
    await until(lambda: len(broker.pushed) >= 2)
    await push.close()
    assert broker.values(0)["producer.batch.split.total"] == 1
    assert broker.values(1)["producer.batch.split.total"] == 0


async def test_the_last_push_does_not_delay_close(splits, monkeypatch):
    monkeypatch.setattr(telemetry, "LAST_PUSH_SECONDS", 0.01)
    broker = Broker()
    push = push_of(broker, splits)
    push.connected(broker)
    await until(lambda: broker.asked)
    await asyncio.sleep(0)

    async def never(request):
        await asyncio.Event().wait()

    broker.send = never
    async with asyncio.timeout(2):
        await push.close()


async def test_the_instance_id_has_a_time_limit(splits):
    broker = Broker()
    push = push_of(broker, splits)

    async def never(request):
        await asyncio.Event().wait()

    broker.send = never
    with pytest.raises(DeadlineError):
        await push.instance_id(0.01)


async def test_the_error_of_a_broker_is_raised_by_instance_id(splits):
    broker = Broker()
    push = push_of(broker, splits)

    async def refused(request):
        return GetTelemetrySubscriptionsResponse(error_code=ErrorCode.THROTTLING_QUOTA_EXCEEDED)

    broker.send = refused
    with pytest.raises(BrokerError):
        await push.instance_id(1)
