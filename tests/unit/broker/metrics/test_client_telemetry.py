"""Metrics that clients push: decoding, limits, expiry."""

import contextlib
import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.broker.metrics.client_telemetry import ClientTelemetry, decode_metrics
from barnabas.model.config_keys.metrics import ClientMetricsSubscription
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, ProtocolError
from barnabas.model.ids import Uuid
from barnabas.model.records import Codec
from barnabas.records.compression import compress
from barnabas.runtime.metrics import Registry
from barnabas.testing.virtual_clock import VirtualClock

CLIENT = Uuid(bytes(range(16)))
LABELS = ("my-client", "librdkafka 2.0", "User:ANONYMOUS")


def varint(value):
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def nested(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def point(value, attributes):
    if isinstance(value, int):
        number = varint(6 << 3 | 1) + struct.pack("<q", value)
    else:
        number = varint(4 << 3 | 1) + struct.pack("<d", value)
    pairs = [
        nested(7, nested(1, key.encode()) + nested(2, nested(1, text.encode())))
        for key, text in attributes.items()
    ]
    return varint(3 << 3 | 1) + bytes(8) + number + b"".join(pairs)


def message(*metrics):
    """MetricsData with (name, field of the data, [(value, attributes)])."""
    encoded = b""
    for name, kind, points in metrics:
        data = b"".join(nested(1, point(*item)) for item in points)
        encoded += nested(2, nested(1, name.encode()) + nested(kind, data))
    return nested(1, nested(2, encoded))


def test_gauges_and_sums_with_attributes_are_decoded():
    data = message(
        ("org.apache.kafka.producer.record.send.total", 7, [(12, {"topic": "a"})]),
        ("org.apache.kafka.producer.latency.avg", 5, [(1.5, {}), (2.5, {"node": "1"})]),
    )
    assert decode_metrics(memoryview(data), 100) == [
        ("org.apache.kafka.producer.record.send.total", (("topic", "a"),), 12.0),
        ("org.apache.kafka.producer.latency.avg", (), 1.5),
        ("org.apache.kafka.producer.latency.avg", (("node", "1"),), 2.5),
    ]
    assert len(decode_metrics(memoryview(data), 1)) == 1


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_rejected(data):
    """Passes when decoding raises only ProtocolError."""
    with contextlib.suppress(ProtocolError):
        decode_metrics(memoryview(data), 10)


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def telemetry(registry, clock):
    made = ClientTelemetry(registry, clock, interval_ms=1000, max_bytes=10_000)
    made.subscribe(CLIENT, LABELS, {})
    return made


def values(registry):
    return {labels[:2]: value for labels, value in registry.find("kafka_client_telemetry").source()}


def push(telemetry, data, codec=0, **changes):
    arguments = {"terminating": False, **changes}
    subscription = arguments.pop("subscription_id", telemetry.subscription_of({}).subscription_id)
    telemetry.push(CLIENT, subscription, codec, memoryview(data), **arguments)


@pytest.mark.parametrize("codec", list(Codec))
def test_a_push_appears_with_the_labels_of_the_client(registry, telemetry, codec):
    data = message(("m", 5, [(7, {})]))
    push(telemetry, compress(codec, data) if codec else data, codec=int(codec))
    assert values(registry) == {("m", "my-client"): 7}


def refused(telemetry, data, **arguments):
    with pytest.raises(BrokerError) as caught:
        push(telemetry, data, **arguments)
    return caught.value.code


def test_each_invalid_push_has_its_error_code(telemetry, clock):
    assert refused(telemetry, b"", subscription_id=1) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert refused(telemetry, bytes(10_001)) is ErrorCode.TELEMETRY_TOO_LARGE
    assert refused(telemetry, b"x", codec=99) is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert refused(telemetry, b"not gzip", codec=1) is ErrorCode.INVALID_RECORD
    assert refused(telemetry, b"\xff\xff") is ErrorCode.INVALID_RECORD
    bomb = compress(Codec.GZIP, bytes(1_000_000))
    assert refused(telemetry, bomb, codec=1) is ErrorCode.INVALID_RECORD
    push(telemetry, b"")
    clock.advance(100)
    assert refused(telemetry, b"") is ErrorCode.THROTTLING_QUOTA_EXCEEDED


def test_values_disappear_when_the_client_closes_or_is_silent(registry, telemetry, clock):
    push(telemetry, message(("m", 5, [(7, {})])))
    clock.advance(2_000)
    telemetry.subscribe(Uuid(bytes(15) + b"1"), LABELS, {})
    assert values(registry)
    clock.advance(2_000)
    assert not values(registry)
    assert list(registry.find("kafka_client_telemetry_clients").source()) == [((), 1)]
    telemetry.subscribe(CLIENT, LABELS, {})
    push(telemetry, message(("m", 5, [(7, {})])))
    push(telemetry, b"", terminating=True)
    assert not values(registry)


def subscriptions(**resources):
    parsed = {name: ClientMetricsSubscription.parse(values) for name, values in resources.items()}
    return ClientTelemetry(Registry(), VirtualClock(), 60_000, 10_000, lambda: parsed)


def test_subscriptions_select_clients_and_metrics():
    telemetry = subscriptions(
        orders={"metrics": "org.apache.kafka.producer", "match": "client_id=orders-.*"},
        java={
            "metrics": "org.apache.kafka.consumer,org.apache.kafka.producer",
            "interval.ms": "1000",
            "match": "client_software_name=apache-kafka-java,client_source_address=10\\..*",
        },
    )
    assert telemetry.subscription_of({"client_id": "other"}).metrics == []
    found = telemetry.subscription_of({"client_id": "orders-1"})
    assert (found.metrics, found.interval_ms) == (["org.apache.kafka.producer"], 300_000)
    java = {
        "client_id": "orders-1",
        "client_software_name": "apache-kafka-java",
        "client_source_address": "10.0.0.1",
    }
    found = telemetry.subscription_of(java)
    assert found.metrics == ["org.apache.kafka.consumer", "org.apache.kafka.producer"]
    assert found.interval_ms == 1000
    assert subscriptions(all={"metrics": "*"}).subscription_of({}).metrics == [""]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("interval.ms", "99"),
        ("match", "client=x"),
        ("match", "client_id"),
        ("match", "client_id=("),
        ("other", "1"),
    ],
)
def test_an_invalid_resource_is_rejected(key, value):
    with pytest.raises(ConfigError, match=re.escape(key) if key != "other" else "other"):
        ClientMetricsSubscription.parse({key: value})
