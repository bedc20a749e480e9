"""Fetches of a follower: the connection to one leader, and the replication throttles (KIP-73).

Fetches use a session (KIP-227): after the first request the leader knows the partitions, and
requests and responses name only those that changed. A leader that restarted does not know the
session; the next request then names all partitions again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from barnabas.broker.cluster.links import BrokerLink
from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, TopicPartition, Uuid
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from barnabas.net.fetch_session import SESSION_ERRORS, FetchSession
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.ports import (
    FetchedPartition,
    FetchPartition,
    LeaderOffsets,
    OffsetsPlan,
    ReplicaFetchPlan,
)
from barnabas.replication.throttle import ReplicationThrottle, ThrottledReplicas
from barnabas.wire.messages import fetch, list_offsets


class WireSource:
    """A `ReplicaSource`; owned by the task of one fetcher."""

    def __init__(
        self,
        link: BrokerLink,
        broker_id: BrokerId,
        broker_epoch: Callable[[], int],
        timeout_s: float,
    ) -> None:
        self._link = link
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._timeout_s = timeout_s
        self._session: FetchSession[FetchPartition] = FetchSession()

    async def fetch(self, plan: ReplicaFetchPlan) -> Sequence[FetchedPartition]:
        limits = plan.limits
        step = self._session.next({item.topic_partition: item for item in plan.partitions})
        request = fetch.FetchRequest(
            replica_id=self._broker_id,
            replica_state=fetch.ReplicaState(self._broker_id, self._broker_epoch()),
            max_wait_ms=limits.max_wait_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.max_bytes,
            session_id=step.session_id,
            session_epoch=step.epoch,
            topics=_fetch_topics(step.changed.values(), limits.partition_max_bytes),
            forgotten_topics_data=_forgotten_topics(step.forgotten),
        )
        names = {item.topic_id: item.topic_partition.topic for item in plan.partitions}
        timeout_s = self._timeout_s + limits.max_wait_ms / 1000
        try:
            response: fetch.FetchResponse = await self._link.request(request, timeout_s=timeout_s)
        except BaseException:
            self._session.lost()
            raise
        error = ErrorCode.of(response.error_code)
        self._session.on_response(error, response.session_id)
        if error in SESSION_ERRORS:
            return ()  # the next request is a full one
        if error is not ErrorCode.NONE:
            raise BrokerError(error)
        return [
            _fetched(TopicPartition(names[topic.topic_id], data.partition_index), data)
            for topic in response.responses
            if topic.topic_id in names
            for data in topic.partitions
        ]

    async def leader_offsets(self, plan: OffsetsPlan) -> Sequence[LeaderOffsets]:
        starts = await self._offsets(plan, EARLIEST_TIMESTAMP)
        ends = await self._offsets(plan, LATEST_TIMESTAMP)
        found = []
        for item in plan.partitions:
            start_error, start = starts[item.topic_partition]
            end_error, end = ends[item.topic_partition]
            found.append(LeaderOffsets(item.topic_partition, start_error or end_error, start, end))
        return found

    async def close(self) -> None:
        self._link.close()

    async def _offsets(
        self, plan: OffsetsPlan, timestamp: int
    ) -> dict[TopicPartition, tuple[ErrorCode, int]]:
        request = list_offsets.ListOffsetsRequest(
            replica_id=self._broker_id,
            topics=[
                list_offsets.ListOffsetsTopic(
                    item.topic_partition.topic,
                    [
                        list_offsets.ListOffsetsPartition(
                            item.topic_partition.partition, item.leader_epoch, timestamp
                        )
                    ],
                )
                for item in plan.partitions
            ],
        )
        response: list_offsets.ListOffsetsResponse = await self._link.request(
            request, timeout_s=self._timeout_s
        )
        unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
        offsets = {item.topic_partition: unknown for item in plan.partitions}
        for topic in response.topics:
            for found in topic.partitions:
                topic_partition = TopicPartition(topic.name, found.partition_index)
                offsets[topic_partition] = (ErrorCode.of(found.error_code), found.offset)
        return offsets


def _fetch_topics(partitions: Iterable[FetchPartition], max_bytes: int) -> list[fetch.FetchTopic]:
    """Groups adjacent partitions of a topic; the leader fills the response in this order."""
    return [
        fetch.FetchTopic(
            topic_id=topic_id, partitions=[_fetch_partition(item, max_bytes) for item in items]
        )
        for topic_id, items in groupby(partitions, lambda item: item.topic_id)
    ]


def _forgotten_topics(forgotten: Mapping[TopicPartition, Uuid]) -> list[fetch.ForgottenTopic]:
    return [
        fetch.ForgottenTopic(
            topic_id=topic_id,
            partitions=[topic_partition.partition for topic_partition, _ in items],
        )
        for topic_id, items in groupby(forgotten.items(), lambda item: item[1])
    ]


def _fetch_partition(item: FetchPartition, max_bytes: int) -> fetch.FetchPartition:
    return fetch.FetchPartition(
        item.topic_partition.partition,
        item.leader_epoch,
        item.offset,
        item.last_fetched_epoch,
        item.log_start_offset,
        max_bytes,
    )


def _fetched(topic_partition: TopicPartition, data: fetch.PartitionData) -> FetchedPartition:
    diverging = data.diverging_epoch
    records = data.records
    return FetchedPartition(
        topic_partition,
        ErrorCode.of(data.error_code),
        data.high_watermark,
        data.log_start_offset,
        records if isinstance(records, memoryview) else b"",
        None if diverging is None else LogEpochEnd(diverging.epoch, diverging.end_offset),
    )


class ReplicationQuotas:
    """Caches values of the configuration; `forget` must be called after each change.

    The rates are dynamic broker settings, the throttled replicas are topic settings;
    `kafka-reassign-partitions --throttle` writes both. Leaders and followers have separate
    throttles.
    """

    def __init__(self, layers: ConfigLayers, broker_id: BrokerId) -> None:
        self._layers = layers
        self._broker_id = broker_id
        self._leading: dict[str, ThrottledReplicas] = {}
        self._following: dict[str, ThrottledReplicas] = {}
        self.leader = ReplicationThrottle(self._throttled_as_leader)
        self.follower = ReplicationThrottle(self._throttled_as_follower)
        self.forget(None)

    @property
    def fetchers_per_source(self) -> int:
        """Number of fetchers per source broker; read when the broker starts."""
        return int(self._layers.broker_value("num.replica.fetchers"))

    def forget(self, topic: str | None) -> None:
        """Applies a change of a topic's settings, or of the broker's if `topic` is None."""
        if topic is None:
            self.leader.set_rate(self._layers.broker_value("leader.replication.throttled.rate"))
            self.follower.set_rate(self._layers.broker_value("follower.replication.throttled.rate"))
        else:
            self._leading.pop(topic, None)
            self._following.pop(topic, None)

    def _throttled_as_leader(self, topic_partition: TopicPartition) -> bool:
        key = "leader.replication.throttled.replicas"
        return self._is_throttled(self._leading, key, topic_partition)

    def _throttled_as_follower(self, topic_partition: TopicPartition) -> bool:
        key = "follower.replication.throttled.replicas"
        return self._is_throttled(self._following, key, topic_partition)

    def _is_throttled(
        self, cache: dict[str, ThrottledReplicas], key: str, topic_partition: TopicPartition
    ) -> bool:
        throttled = cache.get(topic_partition.topic)
        if throttled is None:
            entries = self._layers.topic_value(topic_partition.topic, key)
            throttled = cache[topic_partition.topic] = ThrottledReplicas(entries, self._broker_id)
        return topic_partition.partition in throttled
