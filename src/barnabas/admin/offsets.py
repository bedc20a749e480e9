"""Offsets: of partitions (earliest, latest, by timestamp), and committed ones of groups.

Also deletes the records before an offset.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.admin.fan_out import Outcome, per_coordinator, per_item, per_leader
from barnabas.admin.results import Results, error_of, is_transient
from barnabas.admin.session import AdminCalls
from barnabas.admin.topic_types import (
    EARLIEST_LOCAL,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    ListedOffset,
    OffsetSpec,
)
from barnabas.clients.core.apis import list_offsets as api
from barnabas.clients.core.apis.committed_offsets import (
    LAST_OFFSET_COMMIT_BY_NAME,
    LAST_OFFSET_FETCH_BY_NAME,
    committed_only,
    offset_commit_request,
    offset_fetch_request,
    read_offset_fetch,
)
from barnabas.clients.core.client import COORDINATOR, GROUP
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.model.ids import TopicPartition, by_topic
from barnabas.model.records import GroupMetadata, IsolationLevel, OffsetAndMetadata
from barnabas.wire.message import Request, ResponseT
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from barnabas.wire.messages.list_offsets import ListOffsetsRequest
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

_NEEDED = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""First version of ListOffsets that supports each constant; older ones read it as a time."""
Offsets = dict[TopicPartition, OffsetAndMetadata]


class OffsetCalls(AdminCalls):
    """Calls on the offsets of partitions."""

    async def list_offsets(
        self,
        specs: Mapping[TopicPartition, OffsetSpec],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Results[TopicPartition, ListedOffset]:
        """Returns one offset per partition.

        Args:
            specs: for each partition EARLIEST, LATEST, MAX_TIMESTAMP or `OffsetSpec.at(time)`.
            isolation: with READ_COMMITTED, LATEST is the last stable offset.

        >>> orders = TopicPartition("orders", 0)                     # doctest: +SKIP
        >>> admin.list_offsets({orders: LATEST})[orders].offset      # doctest: +SKIP
        1200
        """
        deadline = self._deadline("list offsets", timeout)

        async def send(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, ListedOffset]:
            queries = {
                topic_partition: api.OffsetQuery(specs[topic_partition].timestamp)
                for topic_partition in partitions
            }
            request = api.list_offsets_request(queries, isolation, deadline.left_ms)
            needed = max(_NEEDED.get(specs[topic_partition], 0) for topic_partition in partitions)
            what = "for one of these offsets"
            await self._session.require(ListOffsetsRequest, needed, what, leader)
            response = await self._session.client.send(leader, request)
            return {
                topic_partition: _listed(found)
                for topic_partition, found in api.read_list_offsets(response).items()
            }

        return await per_leader(self._session, specs, send, deadline)


def _listed(
    found: api.OffsetAndTimestamp | BarnabasError,
) -> ListedOffset | BarnabasError:
    if isinstance(found, BarnabasError):
        return found
    return ListedOffset(_known(found.offset), _known(found.timestamp), _known(found.leader_epoch))


def _known(number: int) -> int | None:
    return number if number >= 0 else None


class RecordCalls(AdminCalls):
    """Calls on records."""

    async def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, int]:
        """Deletes the records before an offset; returns the new log start offset per partition."""
        deadline = self._deadline("delete records", timeout)

        async def send(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, int]:
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(
                                partition_index=partition,
                                offset=before[TopicPartition(topic, partition)],
                            )
                            for partition in numbers
                        ],
                    )
                    for topic, numbers in by_topic(partitions).items()
                ],
                timeout_ms=deadline.left_ms,
            )
            response = await self._session.client.send(leader, request)
            return {
                TopicPartition(topic.name, item.partition_index): error_of(item)
                or item.low_watermark
                for topic in response.topics
                for item in topic.partitions
            }

        return await per_leader(self._session, before, send, deadline)


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
        given = groups if isinstance(groups, Mapping) else dict.fromkeys(groups)
        wanted = {
            group: None if topic_partitions is None else list(topic_partitions)
            for group, topic_partitions in given.items()
        }

        async def send(node: int, pending: list[str]) -> Outcome[str, Offsets]:
            responses = await asyncio.gather(
                *(self._fetch(node, group, wanted[group], require_stable) for group in pending)
            )
            return {
                group: _committed(response)
                for group, response in zip(pending, responses, strict=True)
            }

        return await per_coordinator(self._session, GROUP, wanted, send, deadline)

    async def alter_group_offsets(
        self,
        group: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Sets committed offsets; fails with UNKNOWN_MEMBER_ID while the group has members.

        >>> start = {TopicPartition("orders", 0): 0}                 # doctest: +SKIP
        >>> admin.alter_group_offsets("billing", start).check()      # doctest: +SKIP
        """
        deadline = self._deadline(f"alter offsets of group {group!r}", timeout)

        async def attempt(pending: list[TopicPartition]) -> Outcome[TopicPartition, None]:
            positions = {
                topic_partition: _position(offsets[topic_partition]) for topic_partition in pending
            }
            request = offset_commit_request(GroupMetadata(group), positions)
            node = await self._session.client.coordinator(GROUP, group)
            try:
                response = await self._send(node, request, LAST_OFFSET_COMMIT_BY_NAME)
                outcomes = _per_partition(response)
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
        """Deletes committed offsets; fails for topics to which members are subscribed."""
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

    # -- private ------------------------------------------------------------------------------

    async def _fetch(
        self,
        node: int,
        group: str,
        topic_partitions: list[TopicPartition] | None,
        require_stable: bool,
    ) -> OffsetFetchResponse:
        request = offset_fetch_request(
            GroupMetadata(group), topic_partitions, require_stable=require_stable
        )
        connection = await self._session.client.connection(node, COORDINATOR)
        version = min(connection.version_of(OffsetFetchRequest), LAST_OFFSET_FETCH_BY_NAME)
        if topic_partitions is None and version < 2:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_VERSION, "the broker cannot list all offsets of a group"
            )
        if require_stable and version < 7:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_VERSION, "the broker cannot wait for open transactions"
            )
        response: OffsetFetchResponse = await connection.send(request, version=version)
        return response

    async def _send(self, node: int, request: Request[ResponseT], last_version: int) -> ResponseT:
        connection = await self._session.client.connection(node, COORDINATOR)
        version = min(connection.version_of(type(request)), last_version)
        return await connection.send(request, version=version)


def _committed(response: OffsetFetchResponse) -> Offsets | BarnabasError:
    try:
        return committed_only(read_offset_fetch(response))
    except BrokerError as error:
        return error


def _position(value: OffsetAndMetadata | int) -> OffsetAndMetadata:
    return OffsetAndMetadata(value) if isinstance(value, int) else value


def _per_partition(response: Any) -> dict[TopicPartition, BrokerError | None]:
    return {
        TopicPartition(topic.name, item.partition_index): error_of(item)
        for topic in response.topics
        for item in topic.partitions
    }
