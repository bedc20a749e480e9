"""Committed offsets of groups: list, alter, delete."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.admin.calls import AdminCalls, by_topic
from barnabas.admin.errors import error_of, is_transient
from barnabas.admin.fan_out import Outcome, per_coordinator, per_item
from barnabas.admin.results import Results
from barnabas.clients.core.client import COORDINATOR, GROUP
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.wire.message import Message
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

LAST_BY_NAME = 9
"""Later versions of OffsetCommit and OffsetFetch use topic ids, which deleted topics lack."""

Offsets = dict[TopicPartition, OffsetAndMetadata]


class GroupOffsetCalls(AdminCalls):
    """Calls on the committed offsets of groups."""

    async def list_group_offsets(
        self,
        groups: Iterable[str] | Mapping[str, Iterable[TopicPartition] | None],
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Results[str, Offsets]:
        """Returns the committed offsets of groups.

        Args:
            groups: group ids, or a mapping from group id to partitions (None: all partitions).
            require_stable: wait for open transactions that commit offsets (KIP-447).

        Partitions without a committed offset are not in the result.
        """
        deadline = self._deadline("list group offsets", timeout)
        wanted = dict(groups) if isinstance(groups, Mapping) else dict.fromkeys(groups)
        partitions = {
            group: None if topic_partitions is None else by_topic(topic_partitions)
            for group, topic_partitions in wanted.items()
        }

        async def ask(node: int, pending: list[str]) -> Outcome[str, Offsets]:
            requests = [_fetch(group, partitions[group], require_stable) for group in pending]
            responses = await asyncio.gather(*(self._send_by_name(node, one) for one in requests))
            return {
                group: _committed(response)
                for group, response in zip(pending, responses, strict=True)
            }

        return await per_coordinator(self._session, GROUP, wanted, ask, deadline)

    async def alter_group_offsets(
        self,
        group: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Set committed offsets; fails with UNKNOWN_MEMBER_ID while the group has members."""
        deadline = self._deadline(f"alter offsets of group {group!r}", timeout)

        async def attempt(pending: list[TopicPartition]) -> Outcome[TopicPartition, None]:
            request = _commit(
                group,
                {
                    topic_partition: _position(offsets[topic_partition])
                    for topic_partition in pending
                },
            )
            node = await self._session.client.coordinator(GROUP, group)
            try:
                outcomes = _per_partition(await self._send_by_name(node, request))
            except UnavailableError:
                self._session.client.forget_coordinator(GROUP, group)
                raise
            if any(error is not None and is_transient(error) for error in outcomes.values()):
                self._session.client.forget_coordinator(GROUP, group)
            return outcomes

        return await per_item(self._session, offsets, attempt, deadline)

    async def delete_group_offsets(
        self, group: str, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Delete committed offsets; fails for topics to which members are subscribed."""
        deadline = self._deadline(f"delete offsets of group {group!r}", timeout)
        topic_partitions = list(dict.fromkeys(partitions))
        request = OffsetDeleteRequest(
            group_id=group,
            topics=[
                OffsetDeleteRequestTopic(
                    name=topic,
                    partitions=[OffsetDeleteRequestPartition(partition_index=n) for n in numbers],
                )
                for topic, numbers in by_topic(topic_partitions).items()
            ],
        )
        response = await self._session.to_coordinator(GROUP, group, request, deadline)
        outcomes = _per_partition(response)
        return Results(
            {topic_partition: outcomes.get(topic_partition) for topic_partition in topic_partitions}
        )

    # -- inside --------------------------------------------------------------------------------

    async def _send_by_name(self, node: int, request: Message) -> Any:
        connection = await self._session.client.connection(node, COORDINATOR)
        version = min(connection.version_of(type(request)), LAST_BY_NAME)
        if isinstance(request, OffsetFetchRequest) and request.topics is None and version < 2:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_VERSION, "the broker cannot list all offsets of a group"
            )
        if isinstance(request, OffsetFetchRequest) and request.require_stable and version < 7:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_VERSION, "the broker cannot wait for open transactions"
            )
        return await connection.send(request, version=version)


def _fetch(
    group: str, partitions: Mapping[str, list[int]] | None, require_stable: bool
) -> OffsetFetchRequest:
    """Builds a request with the fields of both forms: one group (old) and many groups (new)."""
    old = new = None
    if partitions is not None:
        old = [
            OffsetFetchRequestTopic(name=topic, partition_indexes=numbers)
            for topic, numbers in partitions.items()
        ]
        new = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=numbers)
            for topic, numbers in partitions.items()
        ]
    return OffsetFetchRequest(
        group_id=group,
        topics=old,
        groups=[OffsetFetchRequestGroup(group_id=group, topics=new)],
        require_stable=require_stable,
    )


def _committed(response: OffsetFetchResponse) -> Offsets | BarnabasError:
    answer: Any = response.groups[0] if response.groups else response
    error = error_of(answer)
    if error is not None:
        return error
    offsets: Offsets = {}
    for topic in answer.topics:
        for item in topic.partitions:
            error = error_of(item)
            if error is not None:
                topic_partition = TopicPartition(topic.name, item.partition_index)
                return BrokerError(error.code, f"{topic_partition}: {error.code.explanation}")
            if item.committed_offset >= 0:
                offsets[TopicPartition(topic.name, item.partition_index)] = OffsetAndMetadata(
                    item.committed_offset, item.metadata or "", item.committed_leader_epoch
                )
    return offsets


def _commit(group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    _commit_partition(number, offsets[TopicPartition(topic, number)])
                    for number in numbers
                ],
            )
            for topic, numbers in by_topic(offsets).items()
        ],
    )


def _commit_partition(number: int, position: OffsetAndMetadata) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=number,
        committed_offset=position.offset,
        committed_leader_epoch=position.leader_epoch,
        committed_metadata=position.metadata,
    )


def _position(value: OffsetAndMetadata | int) -> OffsetAndMetadata:
    return OffsetAndMetadata(value) if isinstance(value, int) else value


def _per_partition(response: Any) -> dict[TopicPartition, BrokerError | None]:
    return {
        TopicPartition(topic.name, item.partition_index): error_of(item)
        for topic in response.topics
        for item in topic.partitions
    }
