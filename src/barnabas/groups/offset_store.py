"""Committed offsets of one shard, and those waiting for the end of their transaction."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.groups.requests import NO_LEADER_EPOCH
from barnabas.model.ids import TopicPartition


class CommittedOffset(NamedTuple):
    """A committed offset of a group.

    `expire_timestamp_ms` is set only for commits of old clients that requested it (v2-v4).

    `order` is the position of the record among the records of the shard.
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp_ms: int = -1
    expire_timestamp_ms: int | None = None
    order: int = 0


_Offsets = dict[TopicPartition, CommittedOffset]


@dataclass(slots=True)
class OffsetStore:
    """Changed only in the order of the log: by settled commits, by replay, by markers.

    A regular commit may be newer than a pending transactional one. The later record wins, not the
    later marker, so that compaction cannot change the result.
    """

    _groups: dict[str, _Offsets] = field(default_factory=dict)
    _pending: dict[int, dict[str, _Offsets]] = field(default_factory=dict)
    _open_transactions: dict[str, set[int]] = field(default_factory=dict)
    _last_order: int = 0

    def put(
        self, group_id: str, topic_partition: TopicPartition, committed: CommittedOffset
    ) -> None:
        self._groups.setdefault(group_id, {})[topic_partition] = self._ordered(committed)

    def put_pending(
        self,
        producer_id: int,
        group_id: str,
        topic_partition: TopicPartition,
        committed: CommittedOffset,
    ) -> None:
        by_group = self._pending.setdefault(producer_id, {})
        by_group.setdefault(group_id, {})[topic_partition] = self._ordered(committed)
        self._open_transactions.setdefault(group_id, set()).add(producer_id)

    def remove(self, group_id: str, topic_partition: TopicPartition) -> None:
        """Removes an offset, also if it is pending in a transaction."""
        offsets = self._groups.get(group_id)
        if offsets is not None:
            offsets.pop(topic_partition, None)
            if not offsets:
                del self._groups[group_id]
        # Otherwise the marker of the transaction would bring the deleted offset back.
        for producer_id in self._open_transactions.get(group_id, ()):
            self._pending[producer_id].get(group_id, {}).pop(topic_partition, None)

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Publishes or drops the producer's pending offsets, if any."""
        for group_id, pending in self._pending.pop(producer_id, {}).items():
            producers = self._open_transactions[group_id]
            producers.discard(producer_id)
            if not producers:
                del self._open_transactions[group_id]
            if commit:
                self._publish(group_id, pending)

    def _publish(self, group_id: str, pending: _Offsets) -> None:
        offsets = self._groups.setdefault(group_id, {})
        for partition, committed in pending.items():
            existing = offsets.get(partition)
            if existing is None or committed.order > existing.order:
                offsets[partition] = committed
        if not offsets:
            del self._groups[group_id]

    def get(self, group_id: str, topic_partition: TopicPartition) -> CommittedOffset | None:
        return self._groups.get(group_id, {}).get(topic_partition)

    def of_group(self, group_id: str) -> dict[TopicPartition, CommittedOffset]:
        return dict(self._groups.get(group_id, {}))

    def pending_of_group(self, group_id: str) -> set[TopicPartition]:
        producers = self._open_transactions.get(group_id, ())
        return {
            topic_partition
            for pid in producers
            for topic_partition in self._pending[pid].get(group_id, {})
        }

    def is_pending(self, group_id: str, topic_partition: TopicPartition) -> bool:
        producers = self._open_transactions.get(group_id, ())
        return any(topic_partition in self._pending[pid].get(group_id, {}) for pid in producers)

    def has_open_transactions(self, group_id: str) -> bool:
        return group_id in self._open_transactions

    def group_ids(self) -> set[str]:
        return self._groups.keys() | self._open_transactions.keys()

    def partitions_of_topic(self, topics: frozenset[str]) -> Iterator[tuple[str, TopicPartition]]:
        """Yields (group, partition) of every stored or pending offset of these topics."""
        for group_id in sorted(self.group_ids()):
            known = self._groups.get(group_id, {}).keys() | self.pending_of_group(group_id)
            for partition in sorted(one for one in known if one.topic in topics):
                yield group_id, partition

    def _ordered(self, committed: CommittedOffset) -> CommittedOffset:
        self._last_order += 1
        return committed._replace(order=self._last_order)
