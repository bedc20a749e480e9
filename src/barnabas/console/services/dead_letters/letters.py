"""The origin and the reason of a dead letter, from its headers.

Headers of Barnabas (`dlq.*`), of Kafka Connect (`__connect.errors.*`) and of Spring Kafka
(`kafka_dlt-*`, with numbers as big-endian bytes) are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.text_views import visible
from barnabas.model.records import Header

SUFFIXES = (".dlq", "-dlq", ".dlt", "-dlt", ".DLT", "-dead-letters")
UNKNOWN_REASON = "unknown"
_MAX_MESSAGE = 1000
_NAMES = {
    "topic": ("dlq.topic", "__connect.errors.topic", "kafka_dlt-original-topic"),
    "partition": (
        "dlq.partition",
        "__connect.errors.partition",
        "kafka_dlt-original-partition",
    ),
    "offset": ("dlq.offset", "__connect.errors.offset", "kafka_dlt-original-offset"),
    "reason": (
        "dlq.error.class",
        "__connect.errors.exception.class.name",
        "kafka_dlt-exception-fqcn",
    ),
    "message": (
        "dlq.error.message",
        "__connect.errors.exception.message",
        "kafka_dlt-exception-message",
    ),
}
_PREFIXES = ("dlq.", "__connect.errors.", "kafka_dlt-")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a letter is from; None for parts that it does not name."""

    topic: str | None
    partition: int | None
    offset: int | None
    reason: str
    message: str


def origin_of(entry: LogEntry) -> Origin:
    headers = dict(entry.headers)
    message = _text(_first(headers, "message"))
    return Origin(
        _text(_first(headers, "topic")),
        _number(_first(headers, "partition")),
        _number(_first(headers, "offset")),
        visible(_text(_first(headers, "reason")) or UNKNOWN_REASON),
        visible((message or "")[:_MAX_MESSAGE]),
    )


def original_headers(entry: LogEntry) -> list[Header]:
    """Returns the headers that the record had before it became a dead letter."""
    return [(name, value) for name, value in entry.headers if not name.startswith(_PREFIXES)]


def _first(headers: Mapping[str, bytes | None], part: str) -> bytes | None:
    return next((headers[name] for name in _NAMES[part] if headers.get(name) is not None), None)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="backslashreplace")


def _number(data: bytes | None) -> int | None:
    """Returns a number from decimal text, or from 4 or 8 bytes.

    >>> _number(b"12"), _number(b"\\0\\0\\0\\7"), _number(b"x")
    (12, 7, None)
    """
    if data is None:
        return None
    if data.isdigit():
        return int(data) if len(data) < 20 else None
    return int.from_bytes(data, "big") if len(data) in (4, 8) else None
