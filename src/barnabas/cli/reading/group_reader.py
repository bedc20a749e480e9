"""Reading as a group for a tool that may stop in the middle of what a poll returned.

Automatic commits cover everything that poll() returned. A tool that ends after ten records gives
the others back, so that the commit of its consumer's close() does not skip them.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

if TYPE_CHECKING:
    from barnabas.clients.group import Consumer


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
