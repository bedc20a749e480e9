"""Transactions: list, find hanging ones, abort.

A transaction hangs in a partition if a producer has it open there and no coordinator has the
partition in a current transaction. It stops read_committed consumers until it is aborted.
"""

from barnabas.admin import HangingTransaction
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import AbortBody, HangingItem, TransactionItem
from barnabas.console.services.snapshots import ClusterSnapshots
from barnabas.model.ids import TopicPartition

_MAX_DESCRIBED = 500
_ONE_PARTITION_BATCH = 2000


class TransactionService:
    def __init__(self, link: ClusterLink, snapshots: ClusterSnapshots) -> None:
        self._link = link
        self._snapshots = snapshots

    async def list_transactions(self) -> list[TransactionItem]:
        """Returns the transactional ids, open ones first."""
        listed = await self._link.admin.list_transactions()
        names = [item.transactional_id for item in listed[:_MAX_DESCRIBED]]
        found = (await self._link.admin.describe_transactions(names)).ok if names else {}
        items = []
        for item in listed:
            detail = found.get(item.transactional_id)
            items.append(
                TransactionItem(
                    transactional_id=item.transactional_id,
                    producer_id=item.producer_id,
                    state=item.state,
                    coordinator=item.coordinator,
                    started_ms=None if detail is None else detail.started_ms,
                    timeout_ms=None if detail is None else detail.timeout_ms,
                    partitions=[]
                    if detail is None
                    else [str(topic_partition) for topic_partition in detail.partitions],
                )
            )
        return sorted(items, key=lambda item: (item.started_ms is None, item.transactional_id))

    async def find_hanging(self, topic: str | None) -> list[HangingItem]:
        """Returns open transactions of partitions that no coordinator has."""
        snapshot = await self._snapshots.current()
        partitions = [
            TopicPartition(name, item.partition)
            for name, described in snapshot.topics.items()
            if topic is None or name == topic
            for item in described.partitions
            if item.leader is not None
        ]
        known = await self._open_by_coordinators()
        found: list[HangingItem] = []
        for start in range(0, len(partitions), _ONE_PARTITION_BATCH):
            part = partitions[start : start + _ONE_PARTITION_BATCH]
            described = (await self._link.admin.describe_producers(part)).ok
            for topic_partition, producers in described.items():
                found += [
                    HangingItem(
                        topic=topic_partition.topic,
                        partition=topic_partition.partition,
                        producer_id=item.producer_id,
                        producer_epoch=item.producer_epoch,
                        coordinator_epoch=item.coordinator_epoch or 0,
                        start_offset=item.transaction_start_offset,
                        last_timestamp=item.last_timestamp,
                    )
                    for item in producers
                    if item.transaction_start_offset is not None
                    and (topic_partition, item.producer_id) not in known
                ]
        return found

    async def abort(self, body: AbortBody) -> None:
        await self._link.admin.abort_transaction(
            HangingTransaction(
                TopicPartition(body.topic, body.partition),
                body.producer_id,
                body.producer_epoch,
                body.coordinator_epoch,
            )
        )

    async def _open_by_coordinators(self) -> set[tuple[TopicPartition, int]]:
        admin = self._link.admin
        listed = [item for item in await admin.list_transactions() if item.state != "Empty"]
        names = [item.transactional_id for item in listed]
        found = (await admin.describe_transactions(names)).ok if names else {}
        return {
            (topic_partition, item.producer_id)
            for item in found.values()
            for topic_partition in item.partitions
        }
