"""Reads offsets from brokers (start, end, by time, committed) and commits offsets.

It does not change positions: `position_keeper` does. `core` decides which offsets to commit.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from time import monotonic_ns
from typing import TypeVar

from barnabas.clients.core.apis.committed_offsets import (
    LAST_OFFSET_COMMIT_BY_NAME,
    LAST_OFFSET_FETCH_BY_NAME,
    CommittedOffsets,
    check_offset_commit,
    offset_commit_request,
    offset_fetch_request,
    read_requested_committed,
)
from barnabas.clients.core.apis.list_offsets import (
    ListedOffsets,
    OffsetAndTimestamp,
    OffsetQuery,
    list_offsets_request,
    read_requested_offsets,
)
from barnabas.clients.core.client import GROUP, KafkaClient
from barnabas.clients.group.errors import CommitFailedError
from barnabas.clients.group.metrics import CoordinatorMeters
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.wire.message import Request, ResponseT

T = TypeVar("T")
MEMBER_IS_OUT = frozenset(
    {
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.FENCED_MEMBER_EPOCH,
    }
)
COORDINATOR_MOVED = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.REQUEST_TIMED_OUT}
)


class Offsets:
    """Reads offsets from brokers and commits offsets.

    Owned by the client's event loop.

    `member` returns the identity of this consumer in its group; `committer` returns the one for a
    commit, and raises if this consumer must not commit. `on_rebalance` is called when the
    coordinator rejects a commit because the group rebalances.
    """

    def __init__(self, settings: ConsumerSettings, client: KafkaClient) -> None:
        self.member: Callable[[], GroupMetadata | None] = lambda: None
        self.committer: Callable[[], GroupMetadata | None] = lambda: None
        self.on_rebalance: Callable[[], None] = lambda: None
        self.member_in_fetch = False
        self._settings = settings
        self._client = client
        self.meters = CoordinatorMeters()
        self._in_order = asyncio.Lock()

    # -- from leaders --------------------------------------------------------------------------

    async def find(
        self, timestamps: Mapping[TopicPartition, int], deadline_s: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """Returns the offset at each timestamp, -1 if no record has that time or a later one."""
        found: dict[TopicPartition, OffsetAndTimestamp] = {}

        async def attempt() -> None:
            missing = {
                topic_partition: ts
                for topic_partition, ts in timestamps.items()
                if topic_partition not in found
            }
            by_node = await self._by_leader(missing, deadline_s)
            responses = await asyncio.gather(
                *(self.list_offsets(node, part) for node, part in by_node.items())
            )
            errors = []
            for topic_partition, response in (item for part in responses for item in part.items()):
                if isinstance(response, BarnabasError):
                    errors.append(response)
                else:
                    found[topic_partition] = response
            if errors:
                await self._client.refresh()
                raise next((error for error in errors if not error.retriable), errors[0])

        await self._client.retry(attempt, deadline_s, "offsets")
        return found

    async def list_offsets(
        self, node_id: int, queries: Mapping[TopicPartition, OffsetQuery]
    ) -> ListedOffsets:
        """Sends one request to one leader."""
        ordered = dict(sorted(queries.items()))
        request = list_offsets_request(ordered, self._settings.fetch_limits.isolation)
        return read_requested_offsets(await self._client.send(node_id, request), queries)

    async def _by_leader(
        self, timestamps: Mapping[TopicPartition, int], deadline_s: float
    ) -> dict[int, dict[TopicPartition, OffsetQuery]]:
        by_node: dict[int, dict[TopicPartition, OffsetQuery]] = {}
        for topic_partition, timestamp in timestamps.items():
            node, epoch = await self._client.leader(topic_partition, deadline_s)
            by_node.setdefault(node.id, {})[topic_partition] = OffsetQuery(timestamp, epoch)
        return by_node

    # -- from the coordinator ------------------------------------------------------------------

    async def committed(
        self, topic_partitions: Collection[TopicPartition], deadline_s: float
    ) -> CommittedOffsets:
        """Returns committed offsets; waits for transactions with offset commits (KIP-447)."""

        async def attempt() -> CommittedOffsets:
            member = self._group_member()
            if not self.member_in_fetch:
                member = GroupMetadata(member.group_id)
            request = offset_fetch_request(member, sorted(topic_partitions), require_stable=True)
            response = await self._to_coordinator(request, LAST_OFFSET_FETCH_BY_NAME)
            return read_requested_committed(response, topic_partitions)

        if not topic_partitions:
            return {}
        return await self._client.retry(
            lambda: self._watching(attempt), deadline_s, "committed offsets"
        )

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], deadline_s: float
    ) -> None:
        """Commits offsets and retries transient errors; commits are sent one after the other."""
        if offsets:
            async with self._in_order:
                await self._client.retry(
                    lambda: self._watching(lambda: self._commit_once(offsets)),
                    deadline_s,
                    "committing",
                )

    async def commit_once(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commits once, as Kafka's commitAsync: a later commit would supersede a retry."""
        if offsets:
            async with self._in_order:
                await self._watching(lambda: self._commit_once(offsets))

    async def _commit_once(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        member = _required(self.committer())
        started_ns = monotonic_ns()
        try:
            request = offset_commit_request(member, dict(sorted(offsets.items())))
            response = await self._to_coordinator(request, LAST_OFFSET_COMMIT_BY_NAME)
            self.meters.commits.record((monotonic_ns() - started_ns) // 1000)
            check_offset_commit(response, offsets)
        except BrokerError as error:
            if error.code is ErrorCode.REBALANCE_IN_PROGRESS:
                self.on_rebalance()
            if error.code in MEMBER_IS_OUT:
                raise CommitFailedError(
                    f"the commit was rejected ({error.code.name}): the group has rebalanced "
                    "without this member; poll() more often, or process less per poll"
                ) from error
            raise

    async def _to_coordinator(self, request: Request[ResponseT], last_version: int) -> ResponseT:
        group_id = self._group_member().group_id
        return await self._client.send_to_coordinator(
            GROUP, group_id, request, max_version=last_version
        )

    async def _watching(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Forgets the coordinator after an error, so that the next attempt looks it up again."""
        try:
            return await attempt()
        except BrokerError as error:
            if error.code is ErrorCode.STALE_MEMBER_EPOCH:
                # The coordinator has changed the epoch: retry with the one of the next heartbeat.
                # For a member that was removed the next attempt raises CommitFailedError.
                raise UnavailableError(str(error)) from error
            if error.code in COORDINATOR_MOVED:
                self._client.forget_coordinator(GROUP, self._group_member().group_id)
            raise
        except UnavailableError:
            self._client.forget_coordinator(GROUP, self._group_member().group_id)
            raise

    def _group_member(self) -> GroupMetadata:
        return _required(self.member())


def _required(member: GroupMetadata | None) -> GroupMetadata:
    if member is None:
        raise LocalError("committed offsets need the configuration group.id")
    return member
