"""Decodes OpenTelemetry's MetricsData, in which clients report their metrics (KIP-714).

Only what Kafka's clients send is read: gauges and sums with numbers. A protobuf message is a
sequence of fields with number and wire type; unknown fields are skipped. The package of
OpenTelemetry needs protobuf, which is larger than this broker.

Numbers of the fields: MetricsData.resource_metrics 1, ResourceMetrics.scope_metrics 2,
ScopeMetrics.metrics 2, Metric.name 1, gauge 5, sum 7; Gauge and Sum.data_points 1;
NumberDataPoint.as_double 4, as_int 6, attributes 7; KeyValue.key 1, value 2; AnyValue.string 1.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from barnabas.model.errors import ProtocolError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_GAUGE, _SUM = 5, 7

Field = tuple[int, int, int | memoryview]


class ClientSample(NamedTuple):
    """One number that a client reported."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    value: float


def decode_metrics(data: memoryview, max_samples: int) -> list[ClientSample]:
    """Returns the samples of a MetricsData message, at most `max_samples`.

    Raises:
        ProtocolError: The data is not a valid message.
    """
    found: list[ClientSample] = []
    try:
        for metric in _descend(data, (1, 2, 2)):
            found += _samples(metric)
            if len(found) > max_samples:
                return found[:max_samples]
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"invalid OpenTelemetry metrics: {error}") from error
    return found


def _descend(data: memoryview, path: tuple[int, ...]) -> Iterator[memoryview]:
    if not path:
        yield data
        return
    for number, _, value in _fields(data):
        if number == path[0] and isinstance(value, memoryview):
            yield from _descend(value, path[1:])


def _samples(metric: memoryview) -> Iterator[ClientSample]:
    name = ""
    points: list[memoryview] = []
    for number, _, value in _fields(metric):
        if isinstance(value, memoryview):
            if number == 1:
                name = str(value, "utf-8")
            elif number in (_GAUGE, _SUM):
                points += _descend(value, (1,))
    for point in points:
        sample = _sample(name, point)
        if sample is not None:
            yield sample


def _sample(name: str, point: memoryview) -> ClientSample | None:
    result: float | None = None
    attributes: list[tuple[str, str]] = []
    for number, kind, value in _fields(point):
        if kind == _FIXED64 and isinstance(value, memoryview) and number in (4, 6):
            result = struct.unpack("<d" if number == 4 else "<q", value)[0]
        elif number == 7 and isinstance(value, memoryview):
            attributes.append(_attribute(value))
    if result is None or not name:
        return None
    return ClientSample(name, tuple(sorted(attributes)), float(result))


def _attribute(data: memoryview) -> tuple[str, str]:
    key = text = ""
    for number, _, value in _fields(data):
        if not isinstance(value, memoryview):
            continue
        if number == 1:
            key = str(value, "utf-8")
        elif number == 2:
            text = _any_value(value)
    return key, text


def _any_value(data: memoryview) -> str:
    for number, _, value in _fields(data):
        if number == 1 and isinstance(value, memoryview):
            return str(value, "utf-8")
        if isinstance(value, int):
            return str(value)
    return ""


def _fields(data: memoryview) -> Iterator[Field]:
    """Yields number, wire type and value of each field."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, kind, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ProtocolError(f"invalid OpenTelemetry metrics: wire type {kind}")
        if size > end - at:
            raise ProtocolError("invalid OpenTelemetry metrics: a field is longer than the message")
        yield number, kind, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    result = 0
    for index in range(_MAX_VARINT_BYTES):
        byte = data[at + index]
        result |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return result, at + index + 1
    raise ProtocolError("invalid OpenTelemetry metrics: a number is longer than 10 bytes")
