"""Storage of a group's offsets: ZooKeeper, Kafka, or both during a migration.

With dual commit the higher of the two is read: the group may have members that commit to
ZooKeeper only, until all of them are restarted with the new setting.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from barnabas.clients.connector.fetcher import ClientSource
from barnabas.clients.connector.registry import OPS_PER_MULTI, GroupRegistry
from barnabas.clients.core.apis.committed_offsets import (
    LAST_OFFSET_COMMIT_BY_NAME,
    LAST_OFFSET_FETCH_BY_NAME,
    check_offset_commit,
    committed_only,
    offset_commit_request,
    offset_fetch_request,
    read_offset_fetch,
)
from barnabas.clients.core.client import GROUP
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.wire.message import Request, ResponseT
from barnabas.zk import paths
from barnabas.zk.tree import (
    CreateOp,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    SetOp,
    TreeError,
    parent_of,
)
from barnabas.zk.znodes import decode_offset, encode_offset

T = TypeVar("T")
Offsets = Mapping[TopicPartition, OffsetAndMetadata]


class OffsetStorage(Protocol):
    """Stores offsets: one attempt per call, the caller retries."""

    async def fetch(
        self, topic_partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Returns the stored offsets."""
        ...

    async def commit(self, offsets: Offsets) -> None: ...


class ZooKeeperOffsets:
    """The nodes /consumers/G/offsets/T/P, plain decimal text. Metadata is not stored."""

    def __init__(self, registry: GroupRegistry) -> None:
        self._registry = registry
        self._tree = registry.tree
        self._group = registry.group
        self._known: set[str] = set()

    async def fetch(
        self, topic_partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        found = await asyncio.gather(
            *(self._read(topic_partition) for topic_partition in topic_partitions)
        )
        return {
            topic_partition: offset
            for topic_partition, offset in zip(topic_partitions, found, strict=True)
            if offset is not None
        }

    async def commit(self, offsets: Offsets) -> None:
        values = {
            paths.consumer_offset(self._group, topic_partition): encode_offset(given.offset)
            for topic_partition, given in offsets.items()
        }
        for parent in {parent_of(path) for path in values if path not in self._known}:
            await self._tree.ensure_path(parent)
        items = list(values.items())
        for start in range(0, len(items), OPS_PER_MULTI):
            await self._write(items[start : start + OPS_PER_MULTI])

    async def topic_partitions(self) -> list[TopicPartition]:
        """Returns every partition that has an offset."""
        root = paths.consumer_offsets(self._group)
        return [
            TopicPartition(topic, int(partition))
            for topic in await self._children(root)
            for partition in await self._children(f"{root}/{topic}")
        ]

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNodeError:
            return []

    async def _read(self, topic_partition: TopicPartition) -> int | None:
        path = paths.consumer_offset(self._group, topic_partition)
        try:
            data, _ = await self._tree.get(path)
        except NoNodeError:
            return None
        self._known.add(path)
        return decode_offset(data)

    async def _write(self, items: Sequence[tuple[str, bytes]]) -> None:
        """Sets existing nodes and creates missing ones, as the responses require."""
        while True:
            ops: list[Op] = [
                SetOp(path, data) if path in self._known else CreateOp(path, data)
                for path, data in items
            ]
            try:
                await self._registry.write(ops)
            except MultiError as error:
                self._update_known(error.cause)
            else:
                self._known.update(path for path, _ in items)
                return

    def _update_known(self, cause: TreeError) -> None:
        match cause:
            case NodeExistsError():
                self._known.add(cause.path)
            case NoNodeError() if cause.path in self._known:
                self._known.discard(cause.path)
            case _:
                raise cause


class KafkaOffsets:
    """Offsets at the group coordinator."""

    def __init__(self, client_source: ClientSource, group: str, timeout_s: float) -> None:
        self._client_source = client_source
        self._group = group
        self._timeout_s = timeout_s

    async def fetch(
        self, topic_partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        return await self._fetch(sorted(topic_partitions))

    async def fetch_all(self) -> dict[TopicPartition, int]:
        """Returns every committed offset of the group."""
        return await self._fetch(None)

    async def commit(self, offsets: Offsets) -> None:
        request = offset_commit_request(GroupMetadata(self._group), dict(sorted(offsets.items())))
        await self._send(
            request,
            LAST_OFFSET_COMMIT_BY_NAME,
            lambda response: check_offset_commit(response, offsets),
        )

    async def _fetch(
        self, topic_partitions: list[TopicPartition] | None
    ) -> dict[TopicPartition, int]:
        request = offset_fetch_request(GroupMetadata(self._group), topic_partitions)
        found = await self._send(request, LAST_OFFSET_FETCH_BY_NAME, read_offset_fetch)
        return {
            topic_partition: position.offset
            for topic_partition, position in committed_only(found).items()
        }

    async def _send(
        self, request: Request[ResponseT], last_version: int, read: Callable[[ResponseT], T]
    ) -> T:
        """Sends one request to the coordinator; looks the coordinator up again after an error."""
        client = await self._client_source()
        try:
            response = await client.send_to_coordinator(
                GROUP, self._group, request, timeout_s=self._timeout_s, max_version=last_version
            )
            return read(response)
        except BarnabasError:
            client.forget_coordinator(GROUP, self._group)
            raise


class DualOffsets:
    """Stores offsets in Kafka and in ZooKeeper."""

    def __init__(self, kafka: OffsetStorage, zookeeper: OffsetStorage) -> None:
        self._kafka = kafka
        self._zookeeper = zookeeper

    async def fetch(
        self, topic_partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        in_kafka = await self._kafka.fetch(topic_partitions)
        in_zookeeper = await self._zookeeper.fetch(topic_partitions)
        return {
            topic_partition: max(
                in_kafka.get(topic_partition, -1), in_zookeeper.get(topic_partition, -1)
            )
            for topic_partition in in_kafka.keys() | in_zookeeper.keys()
        }

    async def commit(self, offsets: Offsets) -> None:
        await self._zookeeper.commit(offsets)
        await self._kafka.commit(offsets)


async def with_retries(operation: Callable[[], Awaitable[T]], retries: int, backoff_s: float) -> T:
    """Calls a function and retries transient errors; raises other errors at once."""
    for left in range(retries, -1, -1):
        try:
            return await operation()
        except BarnabasError as error:
            if not left or not error.retriable:
                raise
        await asyncio.sleep(backoff_s)
    raise AssertionError("unreachable")
