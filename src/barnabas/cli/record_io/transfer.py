"""Reads and writes many records.

Records are read by spans of offsets without a group, or as a member of a group, and filtered.
`BulkWriter` writes with a bounded number of records in flight; a failed record is an error.

Both readers yield an empty list when a poll returns no records, so that callers can check their
timeouts. Filters are regular expressions on key, value and headers.
"""

import argparse
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from barnabas.cli.framework.connection import Connection
from barnabas.cli.record_io.selection import OffsetSpan
from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

if TYPE_CHECKING:
    from barnabas.clients.group import Consumer
    from barnabas.clients.producer import SendFuture


POLL_SECONDS = 0.25
POLL_RECORDS = 10_000
WINDOW = 10_000
"""Number of records in flight at which the writer waits for the oldest ones."""


def read_spans(
    connection: Connection, spans: Mapping[TopicPartition, OffsetSpan], **options: object
) -> Iterator[list[Record]]:
    """Yields the records of all spans, read by one consumer without a group.

    Ends when every span has reached its stop; a span without a stop never ends.
    """
    open_spans = {p: span for p, span in spans.items() if span.stop is None or span.size}
    if not open_spans:
        return
    settings: dict[str, object] = {
        "enable_auto_commit": "false",
        "auto_offset_reset": "none",
        "max_poll_records": POLL_RECORDS,
        "allow_auto_create_topics": "false",
        **options,
    }
    with connection.consumer(**settings) as consumer:
        consumer.assign(list(open_spans))
        for topic_partition, span in open_spans.items():
            consumer.seek(topic_partition, span.start)
        while open_spans:
            polled = consumer.poll(POLL_SECONDS)
            yield [
                record
                for topic_partition, records in polled.items()
                for record in _within(records, spans[topic_partition].stop)
            ]
            _close_finished(consumer, open_spans, idle=not polled)


def _within(records: list[Record], stop: int | None) -> list[Record]:
    if stop is None or not records or records[-1].offset < stop:
        return records
    return [record for record in records if record.offset < stop]


def _close_finished(
    consumer: "Consumer", open_spans: dict[TopicPartition, OffsetSpan], *, idle: bool
) -> None:
    """Removes the spans that have reached their stop.

    The position is compared, since the last offsets of a span can be gaps or control records.
    """
    for topic_partition, span in list(open_spans.items()):
        if span.stop is not None and consumer.position(topic_partition) >= span.stop:
            del open_spans[topic_partition]
            if open_spans and not idle:
                consumer.pause(topic_partition)


class GroupReader:
    """Polls a consumer for a tool that can stop in the middle of a poll's result.

    Automatic commits cover all records that poll() returned. A tool that ends after ten records
    rewinds to the eleventh, so that the commit in the consumer's close() does not skip records.
    The caller subscribes and closes the consumer.

    >>> reader = GroupReader(consumer)  # doctest: +SKIP
    >>> for records in reader.batches(0.1):  # doctest: +SKIP
    ...     reader.rewind(records[10:])
    """

    def __init__(self, consumer: "Consumer") -> None:
        self._consumer = consumer

    def batches(self, poll_s: float) -> Iterator[list[Record]]:
        """Yields the result of each poll, without end."""
        while True:
            polled = self._consumer.poll(poll_s)
            yield [record for records in polled.values() for record in records]

    def rewind(self, unread: Iterable[Record]) -> None:
        """Moves the position of each partition back to its first unread record."""
        first: dict[TopicPartition, int] = {}
        for record in unread:
            topic_partition = TopicPartition(record.topic, record.partition)
            first.setdefault(topic_partition, record.offset)
        assigned = self._consumer.assignment()
        for topic_partition, offset in first.items():
            if topic_partition in assigned:
                self._consumer.seek(topic_partition, offset)


def add_filter_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("filters (regular expressions; all must match)")
    group.add_argument("--filter-key", metavar="REGEX")
    group.add_argument("--filter-value", metavar="REGEX")
    group.add_argument(
        "--filter-header",
        metavar="NAME[=REGEX]",
        action="append",
        default=[],
        help="repeatable; the name alone requires the header to exist",
    )


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """A record filter; an empty filter accepts all records."""

    key: re.Pattern[bytes] | None
    value: re.Pattern[bytes] | None
    headers: tuple[tuple[str, re.Pattern[bytes] | None], ...]

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "RecordFilter":
        headers = []
        for text in arguments.filter_header:
            name, equals, pattern = text.partition("=")
            headers.append((name, _compiled(pattern) if equals else None))
        return cls(
            _compiled(arguments.filter_key), _compiled(arguments.filter_value), tuple(headers)
        )

    @property
    def empty(self) -> bool:
        return self.key is None and self.value is None and not self.headers

    def first(self, records: list[Record], limit: int) -> tuple[list[Record], int]:
        """Returns the first `limit` matching records and the number of records examined."""
        kept: list[Record] = []
        for number, record in enumerate(records):
            if len(kept) >= limit:
                return kept, number
            if self.empty or self.passes(record):
                kept.append(record)
        return kept, len(records)

    def apply(self, records: list[Record]) -> list[Record]:
        if self.empty:
            return records
        return [record for record in records if self.passes(record)]

    def passes(self, record: Record) -> bool:
        return (
            _matches(self.key, record.key)
            and _matches(self.value, record.value)
            and all(_has_header(record.headers, name, want) for name, want in self.headers)
        )


def _matches(pattern: re.Pattern[bytes] | None, data: bytes | None) -> bool:
    return pattern is None or (data is not None and pattern.search(data) is not None)


def _has_header(
    headers: Iterable[tuple[str, bytes | None]], name: str, pattern: re.Pattern[bytes] | None
) -> bool:
    return any(key == name and _matches(pattern, value) for key, value in headers)


def _compiled(text: str | None) -> re.Pattern[bytes] | None:
    if text is None:
        return None
    try:
        return re.compile(text.encode())
    except re.error as error:
        raise ConfigError(f"{text!r} is not a regular expression: {error}") from error


class BulkWriter:
    """A producer with a bounded number of records in flight; use it as a context manager.

    `on_delivered(count)` is called after records have been acknowledged.
    """

    def __init__(
        self, connection: Connection, on_delivered: Callable[[int], object] = lambda _: None
    ) -> None:
        self._producer = connection.producer(linger_ms=20, batch_size=256 * 1024)
        self._on_delivered = on_delivered
        self._in_flight: deque[SendFuture] = deque()
        self.delivered = 0

    def send(self, topic: str, value: bytes | None, **fields: Any) -> None:
        """Sends a record; raises the error of an earlier record that failed."""
        future = self._producer.send(topic, value, **fields)
        if future.done():
            future.result()  # raises at once if the record cannot be sent
        self._in_flight.append(future)
        if len(self._in_flight) >= WINDOW:
            self._settle(WINDOW // 2)

    def finish(self) -> None:
        """Waits until all records are acknowledged."""
        self._producer.flush()
        self._settle(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.finish()
        finally:
            self._producer.close(None if error is None else 0)

    def _settle(self, leave: int) -> None:
        count = len(self._in_flight) - leave
        for _ in range(count):
            self._in_flight.popleft().result()
        self.delivered += max(count, 0)
        self._on_delivered(max(count, 0))


class Pace:
    """Limits a loop to a number of items per second."""

    def __init__(self, per_second: float | None) -> None:
        self._per_second = per_second
        self._started = time.monotonic()
        self._done = 0

    def after(self, count: int) -> None:
        """Waits until `count` more items fit into the rate."""
        if not self._per_second:
            return
        self._done += count
        ahead = self._done / self._per_second - (time.monotonic() - self._started)
        if ahead > 0:
            threading.Event().wait(ahead)
