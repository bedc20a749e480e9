"""Offsets asked of brokers: beginnings, ends, by time, committed ones; and committing them.

What it does not do: move positions; `keeper` does that, `commits` decides what to commit.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from barnabas.clients.core.client import COORDINATOR, GROUP, KafkaClient
from barnabas.clients.group.errors import CommitFailedError
from barnabas.clients.group.positions.offset_requests import (
    LAST_OFFSETS_BY_NAME,
    Found,
    OffsetAndTimestamp,
    commit_request,
    committed_request,
    list_offsets_request,
    read_commit,
    read_committed,
    read_list_offsets,
)
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.wire.message import Message

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
    """Owned by the client's event loop.

    `member` tells who this consumer is to its group; `committer` the same for a commit, and raises
    where this consumer may not commit.
    """

    def __init__(self, settings: ConsumerSettings, client: KafkaClient) -> None:
        self.member: Callable[[], GroupMetadata | None] = lambda: None
        self.committer: Callable[[], GroupMetadata | None] = lambda: None
        self.member_in_fetch = False
        self._settings = settings
        self._client = client
        self._in_order = asyncio.Lock()

    # -- from leaders --------------------------------------------------------------------------

    async def find(
        self, timestamps: Mapping[TopicPartition, int], deadline_s: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """The offset at each timestamp; offset -1 where no record is that young."""
        found: dict[TopicPartition, OffsetAndTimestamp] = {}

        async def ask() -> None:
            missing = {place: ts for place, ts in timestamps.items() if place not in found}
            by_node = await self._divide(missing, deadline_s)
            answers = await asyncio.gather(
                *(self.ask(node, part) for node, part in by_node.items())
            )
            errors = []
            for place, answer in (item for part in answers for item in part.items()):
                if isinstance(answer, BarnabasError):
                    errors.append(answer)
                else:
                    found[place] = answer
            if errors:
                await self._client.refresh()
                raise next((error for error in errors if not error.retriable), errors[0])

        await self._client.retry(ask, deadline_s, "offsets")
        return found

    async def ask(
        self, node_id: int, timestamps: Mapping[TopicPartition, tuple[int, int]]
    ) -> Found:
        """One request to one leader: (timestamp, leader epoch) per partition."""
        request = list_offsets_request(timestamps, self._settings.fetch_limits.isolation)
        return read_list_offsets(await self._client.send(node_id, request), timestamps)

    async def _divide(
        self, timestamps: Mapping[TopicPartition, int], deadline_s: float
    ) -> dict[int, dict[TopicPartition, tuple[int, int]]]:
        by_node: dict[int, dict[TopicPartition, tuple[int, int]]] = {}
        for place, timestamp in timestamps.items():
            node, epoch = await self._client.leader(place, deadline_s)
            by_node.setdefault(node.id, {})[place] = (timestamp, epoch)
        return by_node

    # -- from the coordinator ------------------------------------------------------------------

    async def committed(
        self, places: Collection[TopicPartition], deadline_s: float
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets. Waits out open transactions (KIP-447)."""

        async def ask() -> dict[TopicPartition, OffsetAndMetadata | None]:
            member = self._group_member()
            if not self.member_in_fetch:
                member = GroupMetadata(member.group_id)
            request = committed_request(member, places)
            return read_committed(await self._to_coordinator(request), places)

        if not places:
            return {}
        return await self._client.retry(
            lambda: self._watching(ask), deadline_s, "committed offsets"
        )

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], deadline_s: float
    ) -> None:
        """Commit, retrying what can be retried; in order with every other commit."""
        if offsets:
            async with self._in_order:
                await self._client.retry(
                    lambda: self._watching(lambda: self._commit_once(offsets)),
                    deadline_s,
                    "committing",
                )

    async def commit_once(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """One try: a later commit would supersede a retry (as Kafka's commitAsync)."""
        if offsets:
            async with self._in_order:
                await self._watching(lambda: self._commit_once(offsets))

    async def _commit_once(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        member = _required(self.committer())
        try:
            read_commit(await self._to_coordinator(commit_request(member, offsets)), offsets)
        except BrokerError as error:
            if error.code in MEMBER_IS_OUT:
                raise CommitFailedError(
                    f"the commit was refused ({error.code.name}): the group has rebalanced "
                    "without this member; poll() more often, or process less per poll"
                ) from error
            raise

    async def _to_coordinator(self, request: Message) -> Any:
        group_id = self._group_member().group_id
        node_id = await self._client.coordinator(GROUP, group_id)
        connection = await self._client.connection(node_id, COORDINATOR)
        version = min(connection.version_of(type(request)), LAST_OFFSETS_BY_NAME)
        return await connection.send(request, version=version)

    async def _watching(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """A coordinator that is gone is looked for again at the next try."""
        member = self._group_member()
        try:
            return await ask()
        except BrokerError as error:
            if error.code is ErrorCode.STALE_MEMBER_EPOCH and self._group_member() != member:
                # The epoch moved while the request was under way: again with the new one.
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
