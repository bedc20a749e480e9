"""Handlers of committed offsets: OffsetCommit, OffsetFetch, OffsetDelete."""

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple

from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse, run_on_group
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.coordination import coordinator_error
from barnabas.groups.requests import (
    FetchedOffset,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetDeleteReply,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    OffsetToCommit,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.runtime.slices import in_slices
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.offset_commit import OffsetCommitRequest as WireCommitRequest
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.wire.messages.offset_delete import OffsetDeleteRequest as WireDeleteRequest
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest as WireFetchRequest
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

# --- OffsetCommit ---------------------------------------------------------------------------------


_MEMBER_EPOCHS_FROM = 9
_TOPIC_IDS_FROM = 10

_PartitionErrors = dict[TopicPartition, ErrorCode]


def handle_offset_commit(ctx: HandlerContext[GroupPorts], request: WireCommitRequest) -> Result:
    """Stores the committed offsets of a group.

    v2-v4 retention time; v6 leader epochs; v7 static members; v8 flexible; v9 members of KIP-848
    groups; v10 topics by id. Versions 0 and 1 stored offsets in ZooKeeper and are not served.
    """
    names = {id(topic): _topic_name(ctx, topic) for topic in request.topics}
    offsets = tuple(
        OffsetToCommit(
            name,
            one.partition_index,
            one.committed_offset,
            one.committed_leader_epoch,
            one.committed_metadata,
        )
        for topic in request.topics
        if (name := names[id(topic)]) is not None
        for one in topic.partitions
        if _partition_exists(ctx, name, one.partition_index)
    )

    def respond(errors: _PartitionErrors, other: ErrorCode) -> OffsetCommitResponse:
        """Returns the response; partitions without an entry in `errors` get `other`."""
        return OffsetCommitResponse(
            topics=[
                _committed_topic(ctx, topic, names[id(topic)], errors, other)
                for topic in request.topics
            ]
        )

    if request.topics and not offsets:
        return respond({}, ErrorCode.NONE)
    committing = OffsetCommitRequest(
        group_id=request.group_id,
        offsets=offsets,
        generation_id=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        member_epochs_supported=ctx.version >= _MEMBER_EPOCHS_FROM,
    )

    def encode(reply: OffsetCommitReply) -> OffsetCommitResponse:
        return respond(dict(reply.partitions), ErrorCode.NONE)

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.commit_offsets(committing, now_ms),
        PendingResponse(ctx, encode, lambda code: respond({}, code)),
    )


def _topic_name(ctx: HandlerContext[GroupPorts], topic: OffsetCommitRequestTopic) -> str | None:
    """Returns the name of the topic, or None if it does not exist."""
    metadata = ctx.services.metadata
    if ctx.version >= _TOPIC_IDS_FROM:
        return metadata.topic_name(topic.topic_id)
    return topic.name if metadata.has_topic(topic.name) else None


def _partition_exists(ctx: HandlerContext[GroupPorts], name: str, partition: int) -> bool:
    return ctx.services.metadata.partition(TopicPartition(name, partition)) is not None


def _committed_topic(
    ctx: HandlerContext[GroupPorts],
    topic: OffsetCommitRequestTopic,
    name: str | None,
    errors: _PartitionErrors,
    other: ErrorCode,
) -> OffsetCommitResponseTopic:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if ctx.version >= _TOPIC_IDS_FROM:
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    partitions = []
    for one in topic.partitions:
        code = unknown
        if name is not None and not _partition_exists(ctx, name, one.partition_index):
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif name is not None:
            code = errors.get(TopicPartition(name, one.partition_index), other)
        partitions.append(OffsetCommitResponsePartition(one.partition_index, code))
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions)


# --- OffsetFetch ----------------------------------------------------------------------------------


_TOP_LEVEL_ERROR_FROM = 2
_BATCHED_FROM = 8
_MANY_OFFSETS = 250
"""Up to this number a response is made at once, in less than a millisecond."""


def handle_offset_fetch(ctx: HandlerContext[GroupPorts], request: WireFetchRequest) -> Result:
    """Returns the committed offsets of groups.

    v2 a top-level error, null means all topics of the group; v5 leader epochs; v6 flexible; v7 an
    error for offsets with a pending transaction; v8 several groups; v9 members of KIP-848 groups;
    v10 topics by id. Version 0 read offsets from ZooKeeper and is not served.
    """
    groups = request.groups if ctx.version >= _BATCHED_FROM else [_as_group(request)]
    job = _OffsetFetch(ctx, request.require_stable, len(groups))
    for index, group in enumerate(groups):
        job.fetch(index, group)
    return job.result()


def _as_group(request: WireFetchRequest) -> OffsetFetchRequestGroup:
    """Converts a request of the old layout, with a single group, to the new layout."""
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(topic.name, ZERO_UUID, topic.partition_indexes)
            for topic in request.topics
        ]
    return OffsetFetchRequestGroup(request.group_id, topics=topics)


class _FetchedGroup(NamedTuple):
    """The offsets of one requested group, or the error that it gets instead."""

    group: OffsetFetchRequestGroup
    offsets: tuple[FetchedOffset, ...]
    error: ErrorCode = ErrorCode.NONE


class _OffsetFetch:
    """Collects the results of the groups; each may have to wait for its shard.

    The response is made when all results are there: of many offsets in slices, because a group may
    have offsets of all partitions of the cluster.
    """

    def __init__(self, ctx: HandlerContext[GroupPorts], require_stable: bool, groups: int) -> None:
        self._ctx = ctx
        self._require_stable = require_stable
        self._fetched: list[_FetchedGroup | None] = [None] * groups
        self._missing = groups
        self._count = 0
        self._on_complete: Callable[[], None] | None = None

    def fetch(self, index: int, group: OffsetFetchRequestGroup) -> None:
        requested = OffsetFetchRequest(
            group.group_id,
            self._partitions(group),
            self._require_stable,
            group.member_id,
            group.member_epoch,
        )
        try:
            driver = self._ctx.services.groups.shard_of(group.group_id)
        except BrokerError as error:
            self._take(index, _FetchedGroup(group, (), error.code))
            return
        # The offsets are read now and returned after they are replicated.
        reply = driver.shard.fetch_offsets(requested)
        self._count += len(reply.offsets)

        def release(code: ErrorCode) -> None:
            error = reply.error_code if code is ErrorCode.NONE else coordinator_error(code)
            self._take(index, _FetchedGroup(group, reply.offsets, error))

        driver.read(release)

    def result(self) -> Result:
        if self._count > _MANY_OFFSETS:
            return self._respond_in_slices()
        if self._missing == 0:
            return self._response()
        deferred = self._ctx.defer()
        self._on_complete = lambda: deferred.respond(self._response())
        return deferred

    async def _respond_in_slices(self) -> OffsetFetchResponse:
        if self._missing:
            complete = asyncio.Event()
            self._on_complete = complete.set
            await complete.wait()
        response = OffsetFetchResponse()
        async for _ in in_slices(self._make(response)):
            pass
        return response

    def _response(self) -> OffsetFetchResponse:
        response = OffsetFetchResponse()
        for _ in self._make(response):
            pass
        return response

    def _take(self, index: int, fetched: _FetchedGroup) -> None:
        self._fetched[index] = fetched
        self._missing -= 1
        if self._missing == 0 and self._on_complete is not None:
            self._on_complete()

    def _partitions(self, group: OffsetFetchRequestGroup) -> tuple[TopicPartition, ...] | None:
        if group.topics is None:
            return None
        return tuple(
            TopicPartition(name, partition)
            for topic in group.topics
            if (name := self._name(topic)) is not None
            for partition in topic.partition_indexes
        )

    def _name(self, topic: OffsetFetchRequestTopics) -> str | None:
        if self._ctx.version >= _TOPIC_IDS_FROM:
            return self._ctx.services.metadata.topic_name(topic.topic_id)
        return topic.name

    # --- responses ---

    def _make(self, response: OffsetFetchResponse) -> Iterator[None]:
        """Adds the groups to the response; yields after each offset."""
        for fetched in self._fetched:
            assert fetched is not None, "called when all results are there"
            one = OffsetFetchResponseGroup(fetched.group.group_id, error_code=fetched.error)
            if fetched.error is not ErrorCode.NONE:
                one.topics = self._failed_topics(fetched.group, fetched.error)
            else:
                yield from self._add_offsets(one, fetched)
            if self._ctx.version >= _BATCHED_FROM:
                response.groups.append(one)
            else:
                response.error_code = one.error_code
                response.topics = [
                    OffsetFetchResponseTopic(topic.name, list(map(_old_layout, topic.partitions)))
                    for topic in one.topics
                ]

    def _add_offsets(
        self, response: OffsetFetchResponseGroup, fetched: _FetchedGroup
    ) -> Iterator[None]:
        topics: dict[str, OffsetFetchResponseTopics] = {}
        for offset in fetched.offsets:
            name = offset.topic_partition.topic
            if name not in topics:
                topics[name] = OffsetFetchResponseTopics(name, self._topic_id(name), [])
            topics[name].partitions.append(_fetched_partition(offset))
            yield
        unknown = [
            _failed_topic(topic, ErrorCode.UNKNOWN_TOPIC_ID)
            for topic in fetched.group.topics or ()
            if self._name(topic) is None
        ]
        response.topics = [*topics.values(), *unknown]

    def _topic_id(self, name: str) -> Uuid:
        return self._ctx.services.metadata.topic_id(name) or ZERO_UUID

    def _failed_topics(
        self, group: OffsetFetchRequestGroup, code: ErrorCode
    ) -> list[OffsetFetchResponseTopics]:
        if self._ctx.version >= _TOP_LEVEL_ERROR_FROM:
            return []
        return [_failed_topic(topic, code) for topic in group.topics or ()]


def _old_layout(part: OffsetFetchResponsePartitions) -> OffsetFetchResponsePartition:
    return OffsetFetchResponsePartition(
        part.partition_index,
        part.committed_offset,
        part.committed_leader_epoch,
        part.metadata,
        part.error_code,
    )


def _fetched_partition(fetched: FetchedOffset) -> OffsetFetchResponsePartitions:
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


# --- OffsetDelete ---------------------------------------------------------------------------------


def handle_offset_delete(ctx: HandlerContext[GroupPorts], request: WireDeleteRequest) -> Result:
    """Deletes committed offsets of topics to which the group is not subscribed."""
    metadata = ctx.services.metadata
    requested = [
        TopicPartition(topic.name, one.partition_index)
        for topic in request.topics
        for one in topic.partitions
    ]
    if not request.group_id:
        return _failed_deletion(ErrorCode.INVALID_GROUP_ID)
    known = tuple(
        topic_partition
        for topic_partition in requested
        if metadata.partition(topic_partition) is not None
    )
    deleting = OffsetDeleteRequest(request.group_id, known)

    def encode(reply: OffsetDeleteReply) -> OffsetDeleteResponse:
        if reply.error_code is not ErrorCode.NONE:
            return _failed_deletion(reply.error_code)
        errors = dict(reply.partitions)
        topics: dict[str, OffsetDeleteResponseTopic] = {}
        for name, partition in requested:
            code = errors.get(TopicPartition(name, partition), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            topic = topics.setdefault(name, OffsetDeleteResponseTopic(name, []))
            topic.partitions.append(OffsetDeleteResponsePartition(partition, code))
        return OffsetDeleteResponse(topics=list(topics.values()))

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.delete_offsets(deleting, now_ms),
        PendingResponse(ctx, encode, _failed_deletion),
    )


def _failed_deletion(code: ErrorCode) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=code)


HANDLERS = (
    ApiHandler(ApiKey.OFFSET_COMMIT, (2, 10), handle_offset_commit),
    ApiHandler(ApiKey.OFFSET_FETCH, (1, 10), handle_offset_fetch),
    ApiHandler(ApiKey.OFFSET_DELETE, (0, 0), handle_offset_delete),
)
