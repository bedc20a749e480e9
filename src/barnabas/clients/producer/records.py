"""Prepares the records of `send()`: interceptors, serializers, size check, partition.

`send()` raises for incorrect use of the call: wrong types, a serializer that raises, a closed
producer. A record that is used correctly and cannot be delivered fails its future, its
`on_delivery` and its transaction, as in Kafka.
"""

import logging
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from barnabas.clients.core.serialization import Conversion, SerializationError
from barnabas.clients.producer._futures_hot import SendFuture
from barnabas.clients.producer._send_hot import Headers, TopicAppender, as_bytes
from barnabas.clients.producer.accumulator import check_size, record_bytes
from barnabas.clients.producer.custom_partitioner import Cluster
from barnabas.clients.producer.partitioners import (
    PartitionChooser,
    check_partition,
    unknown_partition,
)
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.errors import BrokerError, LocalError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.model.record_metadata import RecordMetadata
from barnabas.security.mechanism import AuthenticationError

logger = logging.getLogger(__name__)


def as_timestamp(value: object) -> int:
    """Returns the timestamp of `send()` as an int.

    A float is rejected: it is usually a time in seconds, which would be stored as a day in 1970.
    """
    try:
        stamp = operator.index(value)  # type: ignore[arg-type]  # checked by index
    except TypeError:
        wanted = "milliseconds since 1970 as an int, such as int(time.time() * 1000)"
        raise TypeError(f"the timestamp must be {wanted}, not {value!r}") from None
    if stamp < 0:
        raise LocalError(f"the timestamp must not be negative: {stamp}")
    return stamp


def as_headers(headers: Headers) -> list[tuple[str, Any]]:
    """Returns pairs of a name and bytes; text is encoded as UTF-8."""
    # The check of an abstract class takes as long as the rest of the call for one header.
    if isinstance(headers, list | tuple):
        pairs: Iterable[tuple[str, Any]] = headers
    else:
        pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return [_as_header(pair) for pair in pairs]


def _as_header(pair: tuple[str, Any]) -> tuple[str, Any]:
    if isinstance(pair, str):  # a text of two letters would be a pair of them
        raise TypeError(f"a header is a pair of a name and bytes, not {pair!r}")
    name, data = pair
    return name, data.encode() if isinstance(data, str) else data


def explain_mistake(topic: object, headers: object) -> None:
    """Raises a TypeError that names the wrong argument of `send()`, if it finds one."""
    check_topic(topic)
    if isinstance(headers, Mapping):
        headers = list(headers.items())
    if isinstance(headers, str | bytes) or not isinstance(headers, Iterable):
        wrong = [headers]
    elif isinstance(headers, Sequence):
        wrong = [header for header in headers if not _is_header(header)]
    else:
        return
    if wrong:
        wanted = "pairs of a name and bytes or str, such as [('source', b'web')]"
        raise TypeError(f"headers must be {wanted}, not {wrong[0]!r}")


def _is_header(pair: object) -> bool:
    match pair:
        case (str(), bytes() | bytearray() | memoryview() | str() | None):
            return True
    return False


def check_topic(topic: object) -> None:
    """Raises TypeError if the topic of `send()` is not a name."""
    if not isinstance(topic, str):
        raise TypeError(f"the topic must be a str, not {type(topic).__name__}")


@dataclass(slots=True)
class SentRecord:
    """A record as the application gave it; interceptors see and may replace it."""

    topic: str
    value: Any
    key: Any
    headers: list[tuple[str, bytes | None]]
    partition: int | None = None
    timestamp: int | None = None
    unserialized: "SentRecord | None" = None
    """The record before its key and value were serialized; partitioner objects see both."""
    size: int = field(default=0, init=False, compare=False, repr=False)
    """An upper bound of the record's bytes in its batch; set by `RecordMaker.make`."""
    chosen: int | None = field(default=None, init=False, compare=False, repr=False)
    """The partition that the partitioner chose; it is called once for a record."""


class RecordMaker:
    """Prepares the records of one producer. Thread-safe."""

    def __init__(self, settings: ProducerSettings, chooser: PartitionChooser) -> None:
        self._settings = settings
        self._chooser = chooser

    def intercept(self, record: SentRecord) -> SentRecord:
        """Returns the record that the interceptors return; logs and skips one that fails."""
        for interceptor in self._settings.interceptors:
            try:
                changed = interceptor.on_send(record)
                if not isinstance(changed, SentRecord):
                    raise TypeError(f"on_send() returned {changed!r} instead of a record")
                record = changed
            except Exception:
                logger.exception("%s failed in on_send()", interceptor)
        return record

    def make(self, record: SentRecord) -> SentRecord:
        """Returns the serialized record. Raises BrokerError if it is too large."""
        key = _serialized(self._settings.key_serializer, record.topic, record.key, "key")
        value = _serialized(self._settings.value_serializer, record.topic, record.value, "value")
        if key is not record.key or value is not record.value:
            record = replace(record, key=key, value=value, unserialized=record)
        record.size = record_bytes(key, value, record.headers)
        check_size(record.size, "max.request.size", self._settings.max_request_size)
        return record

    def topic_partition_of(self, record: SentRecord, appender: TopicAppender) -> TopicPartition:
        """Returns the given partition, or the one that the partitioner chooses."""
        number = record.partition
        if type(number) is int and number >= appender.count:
            raise unknown_partition(record.topic, number, appender)
        if number is None:
            if record.chosen is None:
                record.chosen = self._choose(record, appender)
            number = record.chosen
        return TopicPartition(record.topic, check_partition(record.topic, number, appender))

    def _choose(self, record: SentRecord, appender: TopicAppender) -> int:
        custom = self._settings.partitioner_object
        if custom is None:
            return self._chooser.choose(
                record.topic, record.key, record.value, record.size, appender
            )
        given = record.unserialized or record
        cluster = Cluster(record.topic, appender)
        return custom.partition(
            record.topic, given.key, record.key, given.value, record.value, cluster
        )

    def sent(self, record: SentRecord, future: SendFuture) -> None:
        """Notifies the interceptors when the record is acknowledged or has failed."""
        if self._settings.interceptors:
            future.add_done_callback(partial(self._acknowledged, record))

    def rejected(self, record: SentRecord, error: Exception) -> None:
        """Notifies the interceptors of a record that was not appended to a batch."""
        self._notify_interceptors(record, None, error)

    def _acknowledged(self, record: SentRecord, future: SendFuture) -> None:
        # Not exception(): the error counts as read only when the application has seen it.
        error = future.final_batch.error
        metadata = None if error is not None else future.result(0)
        self._notify_interceptors(record, metadata, error)

    def _notify_interceptors(
        self, record: SentRecord, metadata: RecordMetadata | None, error: Exception | None
    ) -> None:
        for interceptor in self._settings.interceptors:
            try:
                interceptor.on_acknowledgement(record, metadata, error)
            except Exception:
                logger.exception("%s failed in on_acknowledgement()", interceptor)


def is_delivery_failure(error: Exception) -> bool:
    """Whether an error fails the record's future; others are raised from `send()`."""
    return isinstance(error, BrokerError | UnavailableError | AuthenticationError)


def _serialized(conversion: Conversion | None, topic: str, data: Any, what: str) -> bytes | None:
    encoded: bytes | None
    if conversion is None or data is None:
        encoded = as_bytes(data, what)
        return encoded
    try:
        encoded = as_bytes(conversion.for_topic(topic)(data), what)
        return encoded
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        text = f"{conversion.setting} failed for a {type(data).__name__}: {cause}"
        raise SerializationError(text) from error
