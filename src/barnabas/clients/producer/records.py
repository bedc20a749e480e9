"""What a caller hands to `send()`, made ready: serialized, checked, placed on a partition."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import randrange
from typing import Any

from barnabas.clients.producer._send_hot import SendFuture, TopicAppender
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError
from barnabas.model.ids import TopicPartition


def explain_mistake(topic: object, headers: object) -> None:
    """After a record could not be made: TypeError in the caller's words, if it is one of these."""
    if not isinstance(topic, str):
        raise TypeError(f"the topic is {type(topic).__name__}, not a name")
    if isinstance(headers, Mapping | str | bytes) or not isinstance(headers, Iterable):
        wrong = [headers]
    elif isinstance(headers, Sequence):
        wrong = [header for header in headers if not _is_header(header)]
    else:
        return
    if wrong:
        wanted = "pairs of a name and bytes, such as [('source', b'web')]"
        raise TypeError(f"headers are {wanted}, not {wrong[0]!r}")


def _is_header(pair: object) -> bool:
    match pair:
        case (str(), bytes() | bytearray() | memoryview() | None):
            return True
    return False


@dataclass(slots=True)
class SentRecord:
    """A record as the application gave it; interceptors see and may replace it."""

    topic: str
    value: Any
    key: Any
    headers: list[tuple[str, bytes | None]]
    partition: int | None = None
    timestamp: int | None = None


class RecordMaker:
    """Thread-safe: holds settings, and a counter that hands out turns."""

    def __init__(self, settings: ProducerSettings) -> None:
        self._settings = settings
        self._turns = itertools.count(randrange(1 << 16))

    def make(self, record: SentRecord) -> SentRecord:
        """Intercepted, serialized and checked."""
        for interceptor in self._settings.interceptors:
            record = interceptor.on_send(record)
        key = _serialized(self._settings.key_serializer, record.key, "key")
        value = _serialized(self._settings.value_serializer, record.value, "value")
        size = len(key or b"") + len(value or b"")
        if size > self._settings.max_request_size:
            raise BrokerError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"the record has {size} bytes, max.request.size is "
                f"{self._settings.max_request_size}",
            )
        if key is record.key and value is record.value:
            return record
        return replace(record, key=key, value=value)

    def place(self, record: SentRecord, appender: TopicAppender) -> TopicPartition:
        """The partition: given, chosen by the application, by the key's hash, or in turn."""
        settings = self._settings
        number = record.partition
        if number is None and settings.partitioner is not None:
            number = settings.partitioner(record.topic, record.key, record.value, appender.count)
        if number is None and settings.round_robin:
            number = next(self._turns) % appender.count
        if number is None:
            number = self._by_key_or_sticky(record, appender)
        if not 0 <= number < appender.count:
            raise LocalError(
                f"topic {record.topic!r} has partitions 0 to {appender.count - 1}, not {number}"
            )
        return TopicPartition(record.topic, number)

    def _by_key_or_sticky(self, record: SentRecord, appender: TopicAppender) -> int:
        if record.key is not None and self._settings.hash_keys:
            return appender.partition_for(record.key)
        sticky = appender.sticky
        if appender.batch_of(sticky) is not None or appender.count == 1:
            # The open batch is full: move on, so that keyless records spread (KIP-480).
            others = appender.count - 1
            sticky = (sticky + 1 + randrange(others)) % appender.count if others else sticky
        return sticky

    def sent(self, record: SentRecord, future: SendFuture) -> None:
        """Let interceptors hear of the acknowledgement."""
        for interceptor in self._settings.interceptors:
            future.add_done_callback(_acknowledged(interceptor, record))


def _acknowledged(interceptor: Any, record: SentRecord) -> Any:
    def tell(future: SendFuture) -> None:
        error = future.exception(0)
        metadata = None if error is not None else future.result(0)
        interceptor.on_acknowledgement(record, metadata, error)

    return tell


def _serialized(serializer: Any, data: Any, what: str) -> bytes | None:
    if serializer is not None and data is not None:
        data = serializer(data)
    if data is None or type(data) is bytes:
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise TypeError(
        f"the {what} is {type(data).__name__}, not bytes: encode it, or set {what}.serializer"
    )
