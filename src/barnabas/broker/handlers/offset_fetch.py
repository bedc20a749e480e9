"""OffsetFetch: returns the committed offsets of groups.

v2 a top-level error, null means all topics of the group; v5 leader epochs; v6 flexible;
v7 an error for offsets with a pending transaction; v8 several groups; v9 members of KIP-848
groups; v10 topics by id. Version 0 read offsets from ZooKeeper and is not served.
"""

from collections.abc import Callable
from typing import Protocol

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.coordination.append_errors import coordinator_error
from barnabas.groups.replies import FetchedOffset, OffsetFetchReply
from barnabas.groups.requests import OffsetFetchRequest
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest as WireRequest,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_TOP_LEVEL_ERROR_FROM = 2
_BATCHED_FROM = 8
_IDS_FROM = 10


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    groups: GroupCoordinator


def handle_offset_fetch(ctx: HandlerContext[Ports], request: WireRequest) -> Result:
    groups = request.groups if ctx.version >= _BATCHED_FROM else [_as_group(request)]
    job = _Job(ctx, request.require_stable, len(groups))
    for index, group in enumerate(groups):
        job.fetch(index, group)
    return job.result()


def _as_group(request: WireRequest) -> OffsetFetchRequestGroup:
    """Converts a request of the old layout, with a single group, to the new layout."""
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(topic.name, ZERO_UUID, topic.partition_indexes)
            for topic in request.topics
        ]
    return OffsetFetchRequestGroup(request.group_id, topics=topics)


class _Job:
    """Collects the results of the groups; each may have to wait for its shard."""

    def __init__(self, ctx: HandlerContext[Ports], require_stable: bool, groups: int) -> None:
        self._ctx = ctx
        self._require_stable = require_stable
        self._answers: list[OffsetFetchResponseGroup | None] = [None] * groups
        self._missing = groups
        self._respond: Callable[[OffsetFetchResponse], None] | None = None

    def fetch(self, index: int, group: OffsetFetchRequestGroup) -> None:
        asked = OffsetFetchRequest(
            group.group_id,
            self._partitions(group),
            self._require_stable,
            group.member_id,
            group.member_epoch,
        )
        try:
            driver = self._ctx.services.groups.shard_of(group.group_id)
        except BrokerError as error:
            self._take(index, self._failed(group, error.code))
            return
        # The offsets are read now and returned after they are replicated.
        reply = driver.shard.fetch_offsets(asked)

        def release(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                self._take(index, self._group(group, reply))
            else:
                self._take(index, self._failed(group, coordinator_error(code)))

        driver.read(release)

    def result(self) -> Result:
        if self._missing == 0:
            return self._response()
        deferred = self._ctx.defer()
        self._respond = deferred.respond
        return deferred

    def _take(self, index: int, answer: OffsetFetchResponseGroup) -> None:
        self._answers[index] = answer
        self._missing -= 1
        if self._missing == 0 and self._respond is not None:
            self._respond(self._response())

    def _partitions(self, group: OffsetFetchRequestGroup) -> tuple[TopicPartition, ...] | None:
        if group.topics is None:
            return None
        return tuple(
            TopicPartition(name, number)
            for topic in group.topics
            if (name := self._name(topic)) is not None
            for number in topic.partition_indexes
        )

    def _name(self, topic: OffsetFetchRequestTopics) -> str | None:
        if self._ctx.version >= _IDS_FROM:
            return self._ctx.services.metadata.topic_name(topic.topic_id)
        return topic.name

    # --- responses ---

    def _group(
        self, group: OffsetFetchRequestGroup, reply: OffsetFetchReply
    ) -> OffsetFetchResponseGroup:
        if reply.error_code is not ErrorCode.NONE:
            return self._failed(group, reply.error_code)
        topics: dict[str, OffsetFetchResponseTopics] = {}
        for fetched in reply.offsets:
            name = fetched.topic_partition.topic
            if name not in topics:
                topics[name] = OffsetFetchResponseTopics(name, self._topic_id(name), [])
            topics[name].partitions.append(_partition(fetched))
        unknown = [
            _failed_topic(topic, ErrorCode.UNKNOWN_TOPIC_ID)
            for topic in group.topics or ()
            if self._name(topic) is None
        ]
        return OffsetFetchResponseGroup(group.group_id, [*topics.values(), *unknown])

    def _topic_id(self, name: str) -> Uuid:
        return self._ctx.services.metadata.topic_id(name) or ZERO_UUID

    def _failed(self, group: OffsetFetchRequestGroup, code: ErrorCode) -> OffsetFetchResponseGroup:
        topics = []
        if self._ctx.version < _TOP_LEVEL_ERROR_FROM:
            topics = [_failed_topic(topic, code) for topic in group.topics or ()]
        return OffsetFetchResponseGroup(group.group_id, topics, code)

    def _response(self) -> OffsetFetchResponse:
        answers = [answer for answer in self._answers if answer is not None]
        if self._ctx.version >= _BATCHED_FROM:
            return OffsetFetchResponse(groups=answers)
        one = answers[0]
        topics = [
            OffsetFetchResponseTopic(
                topic.name,
                [
                    OffsetFetchResponsePartition(
                        part.partition_index,
                        part.committed_offset,
                        part.committed_leader_epoch,
                        part.metadata,
                        part.error_code,
                    )
                    for part in topic.partitions
                ],
            )
            for topic in one.topics
        ]
        return OffsetFetchResponse(topics=topics, error_code=one.error_code)


def _partition(fetched: FetchedOffset) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        fetched.topic_partition.partition,
        fetched.offset,
        fetched.leader_epoch,
        fetched.metadata,
        fetched.error_code,
    )


def _failed_topic(topic: OffsetFetchRequestTopics, code: ErrorCode) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic.name,
        topic.topic_id,
        [
            OffsetFetchResponsePartitions(number, -1, error_code=code)
            for number in topic.partition_indexes
        ],
    )


HANDLER = ApiHandler(ApiKey.OFFSET_FETCH, (1, 10), handle_offset_fetch)
