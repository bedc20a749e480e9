"""What a caller hands to `send()`, made ready: serialized, checked, placed on a partition."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from barnabas.clients.producer._send_hot import SendFuture, TopicAppender
from barnabas.clients.producer.accumulator import RECORD_OVERHEAD
from barnabas.clients.producer.partitioners import PartitionChooser, check_partition
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
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
    """Thread-safe."""

    def __init__(self, settings: ProducerSettings, chooser: PartitionChooser) -> None:
        self._settings = settings
        self._chooser = chooser

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
        """The partition: the given one, else the partitioner's choice."""
        number = record.partition
        if number is None:
            size = RECORD_OVERHEAD + len(record.key or b"") + len(record.value or b"")
            number = self._chooser.choose(record.topic, record.key, record.value, size, appender)
        return TopicPartition(record.topic, check_partition(record.topic, number, appender))

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
