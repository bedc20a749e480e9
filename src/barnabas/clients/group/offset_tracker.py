"""What may be committed while records are worked on out of order: never past unfinished work.

Per partition the tracker keeps the records handed to workers in the order of their offsets; the
committable position is that of the oldest unfinished one. Thread-safe.
"""

import threading
from collections import deque
from collections.abc import Iterable

from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record


class _Partition:
    __slots__ = ("committed", "epoch", "finished", "order", "position")

    def __init__(self) -> None:
        self.order: deque[int] = deque()
        self.finished: set[int] = set()
        self.position = -1
        self.epoch = -1
        self.committed = -1


class OffsetTracker:
    """`begin` and `finish` each record; `committable` says how far each partition is done."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._partitions: dict[TopicPartition, _Partition] = {}

    def begin(self, topic_partition: TopicPartition, records: Iterable[Record]) -> None:
        """Records that will be worked on; offsets of one partition come in ascending order."""
        with self._changed:
            held = self._partitions.setdefault(topic_partition, _Partition())
            held.order.extend(record.offset for record in records)

    def finish(self, topic_partition: TopicPartition, record: Record) -> None:
        """A record is done with, one way or another. Ignored once the partition is forgotten."""
        with self._changed:
            held = self._partitions.get(topic_partition)
            if held is None:
                return
            held.finished.add(record.offset)
            while held.order and held.order[0] in held.finished:
                offset = held.order.popleft()
                held.finished.discard(offset)
                held.position, held.epoch = offset + 1, record.leader_epoch
            self._changed.notify_all()

    def committable(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Positions that moved since they were last committed."""
        with self._changed:
            return {
                topic_partition: OffsetAndMetadata(held.position, "", held.epoch)
                for topic_partition, held in self._partitions.items()
                if held.position > held.committed
            }

    def committed(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        with self._changed:
            for topic_partition, at in offsets.items():
                held = self._partitions.get(topic_partition)
                if held is not None:
                    held.committed = max(held.committed, at.offset)

    def first_unfinished(self, topic_partition: TopicPartition) -> int | None:
        """The oldest offset that was handed out and is not done."""
        with self._changed:
            held = self._partitions.get(topic_partition)
            return held.order[0] if held is not None and held.order else None

    def unfinished(self, topic_partitions: Iterable[TopicPartition] | None = None) -> int:
        """Records under way, of some partitions or of all."""
        with self._changed:
            return self._unfinished(topic_partitions)

    def wait(self, topic_partitions: Iterable[TopicPartition] | None, timeout_s: float) -> bool:
        """Until nothing of these is under way; False when that took too long."""
        chosen = None if topic_partitions is None else list(topic_partitions)
        with self._changed:
            return self._changed.wait_for(lambda: not self._unfinished(chosen), timeout_s)

    def forget(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Partitions that are somebody else's now."""
        with self._changed:
            for topic_partition in topic_partitions:
                self._partitions.pop(topic_partition, None)
            self._changed.notify_all()

    def _unfinished(self, topic_partitions: Iterable[TopicPartition] | None) -> int:
        chosen = self._partitions if topic_partitions is None else topic_partitions
        held = (self._partitions.get(topic_partition) for topic_partition in chosen)
        return sum(len(one.order) - len(one.finished) for one in held if one is not None)
