"""Topics: list, describe, create, delete, add partitions, delete records."""

from collections.abc import Callable

from barnabas.admin import (
    EARLIEST,
    HIGH_WATERMARK,
    LATEST,
    NewPartitions,
    PartitionDescription,
    TopicDescription,
)
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.common import ListPage, ListQuery, select_part
from barnabas.console.models.topics import (
    CreatedTopicBody,
    DeletedRecords,
    GroupPosition,
    NewTopicBody,
    PartitionDetail,
    RecordDeletion,
    ReplicaDetail,
    TopicDetail,
    TopicSummary,
)
from barnabas.console.services.rates import RateSampler, TopicRate
from barnabas.console.services.snapshots import ClusterSnapshot, ClusterSnapshots
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

_BROKER_DEFAULT = -1


class TopicService:
    def __init__(self, link: ClusterLink, snapshots: ClusterSnapshots, rates: RateSampler) -> None:
        self._link = link
        self._snapshots = snapshots
        self._rates = rates

    async def list_topics(self, query: ListQuery, *, internal: bool) -> ListPage[TopicSummary]:
        """Returns one page; rates, groups and lag are None until two samples were taken."""
        self._rates.touch()
        snapshot = await self._snapshots.current()
        text = query.search.lower()
        found = [
            topic
            for topic in snapshot.topics.values()
            if text in topic.name.lower() and (internal or not topic.internal)
        ]
        field = _FIELDS.get(query.sort, _FIELDS["name"])
        sizes, rates = snapshot.sizes, self._rates.topics

        def value(topic: TopicDescription) -> object:
            return field(topic, sizes.get(topic.name), rates.get(topic.name))

        # Summaries are made for the rows of the page only: a cluster may have 10,000 topics.
        items = [
            summary_of(topic, sizes.get(topic.name), rates.get(topic.name))
            for topic in select_part(found, query, value)
        ]
        return ListPage(items=items, total=len(found), offset=query.offset, limit=query.limit)

    async def describe(self, name: str) -> TopicDetail:
        self._rates.touch()
        snapshot = await self._snapshot(name)
        topic = snapshot.topics[name]
        rate = self._rates.topics.get(name)
        live = {node.id for node in snapshot.cluster.brokers}
        holders = {replica for item in topic.partitions for replica in item.replicas}
        return TopicDetail(
            name=name,
            topic_id=str(topic.topic_id),
            internal=topic.internal,
            partitions=len(topic.partitions),
            replication_factor=topic.replication_factor,
            brokers=sorted(live | holders),
            size_bytes=snapshot.sizes.get(name),
            records_per_second=None if rate is None else rate.records_per_second,
        )

    async def list_partitions(self, name: str, query: ListQuery) -> ListPage[PartitionDetail]:
        """Returns one page of partitions with replicas, offsets and the positions of groups."""
        self._rates.touch()
        snapshot = await self._snapshot(name)
        topic = snapshot.topics[name]
        shown = topic.partitions[query.offset : query.offset + query.limit]
        led = [TopicPartition(name, item.partition) for item in shown if item.leader is not None]
        admin = self._link.admin
        starts = (await admin.list_offsets(dict.fromkeys(led, EARLIEST))).ok if led else {}
        ends = (await admin.list_offsets(dict.fromkeys(led, LATEST))).ok if led else {}
        items = []
        for item in shown:
            topic_partition = TopicPartition(name, item.partition)
            start, end = starts.get(topic_partition), ends.get(topic_partition)
            high = None if end is None else end.offset
            items.append(
                PartitionDetail(
                    partition=item.partition,
                    leader=item.leader,
                    leader_epoch=item.leader_epoch,
                    replicas=replicas_of(item, topic_partition, snapshot),
                    log_start_offset=None if start is None else start.offset,
                    high_watermark=high,
                    groups=self._positions(topic_partition, high),
                )
            )
        return ListPage(
            items=items, total=len(topic.partitions), offset=query.offset, limit=query.limit
        )

    async def create(self, body: NewTopicBody) -> CreatedTopicBody:
        created = await self._link.admin.create_topic(
            body.name,
            partitions=body.partitions or _BROKER_DEFAULT,
            replication_factor=body.replication_factor or _BROKER_DEFAULT,
            configs=body.configs,
        )
        self._snapshots.discard()
        return CreatedTopicBody(
            name=created.name,
            partitions=created.partitions if created.partitions > 0 else None,
            replication_factor=(
                created.replication_factor if created.replication_factor > 0 else None
            ),
        )

    async def delete(self, name: str) -> None:
        await self._link.admin.delete_topic(name)
        self._snapshots.discard()

    async def add_partitions(self, name: str, total: int) -> None:
        found = await self._link.admin.create_partitions({name: NewPartitions(total)})
        found.check()
        self._snapshots.discard()

    async def delete_records(self, name: str, body: RecordDeletion) -> DeletedRecords:
        """Deletes records before the given offsets, or all records of all partitions."""
        if body.offsets is None:
            topic = await self._link.admin.describe_topic(name)
            before = {
                TopicPartition(name, item.partition): HIGH_WATERMARK for item in topic.partitions
            }
        else:
            before = {
                TopicPartition(name, int(key)): offset for key, offset in body.offsets.items()
            }
        if not before:
            return DeletedRecords(log_start_offsets={})
        results = (await self._link.admin.delete_records(before)).check()
        return DeletedRecords(
            log_start_offsets={
                topic_partition.partition: offset for topic_partition, offset in results.items()
            }
        )

    async def _snapshot(self, name: str) -> ClusterSnapshot:
        """Returns a snapshot that has the topic; UNKNOWN_TOPIC_OR_PARTITION if there is none."""
        if len(name) > 249 or not name:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
        return await self._snapshots.topic(name)

    def _positions(self, topic_partition: TopicPartition, high: int | None) -> list[GroupPosition]:
        found = []
        for group, offsets in sorted(self._rates.committed.items()):
            offset = offsets.get(topic_partition)
            if offset is not None:
                lag = max((high or 0) - offset, 0)
                found.append(GroupPosition(group=group, offset=offset, lag=lag))
        return found


def under_replicated(topic: TopicDescription) -> int:
    return sum(item.under_replicated for item in topic.partitions)


def offline(topic: TopicDescription) -> int:
    return sum(item.leader is None for item in topic.partitions)


_FIELDS: dict[str, Callable[[TopicDescription, int | None, TopicRate | None], object]] = {
    "name": lambda topic, _size, _rate: topic.name,
    "partitions": lambda topic, _size, _rate: len(topic.partitions),
    "replication_factor": lambda topic, _size, _rate: topic.replication_factor,
    "under_replicated": lambda topic, _size, _rate: under_replicated(topic),
    "offline": lambda topic, _size, _rate: offline(topic),
    "size_bytes": lambda _topic, size, _rate: size,
    "records_per_second": lambda _topic, _size, rate: rate and rate.records_per_second,
    "groups": lambda _topic, _size, rate: rate and rate.groups,
    "lag": lambda _topic, _size, rate: rate and rate.lag,
}
"""The values by which the list can be sorted."""


def summary_of(
    topic: TopicDescription, size_bytes: int | None, rate: TopicRate | None
) -> TopicSummary:
    return TopicSummary(
        name=topic.name,
        internal=topic.internal,
        partitions=len(topic.partitions),
        replication_factor=topic.replication_factor,
        under_replicated=under_replicated(topic),
        offline=offline(topic),
        size_bytes=size_bytes,
        records_per_second=None if rate is None else rate.records_per_second,
        groups=None if rate is None else rate.groups,
        lag=None if rate is None else rate.lag,
    )


def replicas_of(
    item: PartitionDescription, topic_partition: TopicPartition, snapshot: ClusterSnapshot
) -> list[ReplicaDetail]:
    """Returns the replicas in order of preference, with size and lag from the log directories."""
    live = {node.id for node in snapshot.cluster.brokers}
    found = []
    for broker in item.replicas:
        infos = [
            directory.replicas[topic_partition]
            for directory in snapshot.log_dirs.get(broker, ())
            if topic_partition in directory.replicas
            and not directory.replicas[topic_partition].future
        ]
        info = infos[0] if infos else None
        found.append(
            ReplicaDetail(
                broker=broker,
                leader=broker == item.leader,
                in_sync=broker in item.isr,
                online=broker in live and broker not in item.offline_replicas,
                size_bytes=None if info is None else info.size_bytes,
                lag=None if info is None else info.offset_lag,
            )
        )
    return found
