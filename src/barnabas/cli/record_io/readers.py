"""Reading spans of partitions: records as they come, until every span is done.

One consumer without a group fetches all partitions at once. An empty list is yielded whenever a
poll brought nothing, so that callers can look at their clocks.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection
from barnabas.cli.record_io.spans import Span
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

if TYPE_CHECKING:
    from barnabas.clients.group import Consumer

POLL_SECONDS = 0.25
POLL_RECORDS = 10_000


def read_spans(
    connection: Connection, spans: Mapping[TopicPartition, Span], **options: object
) -> Iterator[list[Record]]:
    """Records of all spans; ends when each has reached its stop, never when one has none."""
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
        for place, span in open_spans.items():
            consumer.seek(place, span.start)
        while open_spans:
            polled = consumer.poll(POLL_SECONDS)
            yield [
                record
                for place, records in polled.items()
                for record in _within(records, spans[place].stop)
            ]
            _close_finished(consumer, open_spans, idle=not polled)


def _within(records: list[Record], stop: int | None) -> list[Record]:
    if stop is None or not records or records[-1].offset < stop:
        return records
    return [record for record in records if record.offset < stop]


def _close_finished(
    consumer: "Consumer", open_spans: dict[TopicPartition, Span], *, idle: bool
) -> None:
    """Drop spans whose stop is reached. Positions pass over gaps and markers, offsets do not."""
    for place, span in list(open_spans.items()):
        if span.stop is not None and consumer.position(place) >= span.stop:
            del open_spans[place]
            if open_spans and not idle:
                consumer.pause(place)


class GroupReader:
    """Polls a consumer, which the caller has subscribed and closes.

    >>> reader = GroupReader(consumer)  # doctest: +SKIP
    >>> for records in reader.batches(0.1):  # doctest: +SKIP
    ...     reader.give_back(records[10:])
    """

    def __init__(self, consumer: "Consumer") -> None:
        self._consumer = consumer

    def batches(self, poll_s: float) -> Iterator[list[Record]]:
        """What polls bring, empty lists included, for ever."""
        while True:
            polled = self._consumer.poll(poll_s)
            yield [record for records in polled.values() for record in records]

    def give_back(self, unread: Iterable[Record]) -> None:
        """Move each partition back to the first of these records of the last batch."""
        first: dict[TopicPartition, int] = {}
        for record in unread:
            place = TopicPartition(record.topic, record.partition)
            first.setdefault(place, record.offset)
        assigned = self._consumer.assignment()
        for place, offset in first.items():
            if place in assigned:
                self._consumer.seek(place, offset)
