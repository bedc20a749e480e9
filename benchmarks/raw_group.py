"""Group members that speak the protocol by hand: a thousand of them fit into one process."""

import asyncio
import struct
from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire.api_keys import response_class
from barnabas.wire.coordinator_records import encode_versioned
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request
from barnabas.wire.message import Message
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from barnabas.wire.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from barnabas.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

SESSION_MS = 45_000


class Peer:
    """One connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._correlation = 0

    @classmethod
    async def connect(cls, address: str) -> "Peer":
        host, _, port = address.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def call(self, request: Message, version: int) -> Any:
        self._correlation += 1
        header = RequestHeader(request.API_KEY, version, self._correlation, "bench")
        self._writer.write(b"".join(bytes(p) for p in encode_request(header, request)))  # type: ignore[arg-type]
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        frame = memoryview(await self._reader.readexactly(size))
        _, offset = decode_response_header(frame, request.API_KEY, version)
        return response_class(request.API_KEY).decode(frame, version, offset)

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    # --- what a bench needs besides groups ---

    async def find(self, group: str) -> None:
        """Make the coordinator's topic and wait until it serves."""
        for _ in range(200):
            found = await self.call(FindCoordinatorRequest(coordinator_keys=[group]), 4)
            beat = await self.call(HeartbeatRequest(group, 1, "nobody"), 4)
            serving = beat.error_code == ErrorCode.UNKNOWN_MEMBER_ID
            if found.coordinators[0].error_code == 0 and serving:
                return
            await asyncio.sleep(0.05)
        raise RuntimeError("no coordinator")

    async def create(self, topic: str, partitions: int) -> Uuid:
        request = CreateTopicsRequest([CreatableTopic(topic, partitions, 1)], 60_000)
        topic_id: Uuid = (await self.call(request, 7)).topics[0].topic_id
        return topic_id

    async def commit(self, group: str, topic: str, partitions: int, offset: int) -> None:
        parts = [OffsetCommitRequestPartition(n, offset) for n in range(partitions)]
        request = OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(topic)])
        request.topics[0].partitions = parts
        answer = await self.call(request, 8)
        if answer.topics[0].partitions[0].error_code:
            raise RuntimeError(str(answer))


class ClassicMember:
    """A member of a classic group; the leader deals the partitions in turn."""

    def __init__(self, peer: Peer, group: str, topic: str, partitions: int) -> None:
        self._peer = peer
        self._group = group
        self._topic = topic
        self._partitions = partitions
        self._member_id = ""
        self._generation = -1
        subscription = ConsumerProtocolSubscription(topics=[topic])
        self._subscription = encode_versioned(subscription, 3)

    async def rebalance(self) -> None:
        """Join and sync until this member has an assignment."""
        while True:
            joined = await self._peer.call(self._join_request(), 5)
            self._member_id = joined.member_id
            if joined.error_code:
                continue
            self._generation = joined.generation_id
            synced = await self._peer.call(self._sync_request(joined), 3)
            if not synced.error_code:
                return

    async def heartbeat(self) -> int:
        request = HeartbeatRequest(self._group, self._generation, self._member_id)
        return int((await self._peer.call(request, 3)).error_code)

    def _join_request(self) -> JoinGroupRequest:
        protocol = JoinGroupRequestProtocol("range", self._subscription)
        return JoinGroupRequest(
            self._group,
            SESSION_MS,
            60_000,
            self._member_id,
            None,
            "consumer",
            [protocol],
        )

    def _sync_request(self, joined: Any) -> SyncGroupRequest:
        request = SyncGroupRequest(self._group, joined.generation_id, self._member_id)
        count = len(joined.members)
        request.assignments = [
            SyncGroupRequestAssignment(member.member_id, self._part(index, count))
            for index, member in enumerate(joined.members)
        ]
        return request

    def _part(self, index: int, count: int) -> bytes:
        numbers = list(range(index, self._partitions, count))
        assignment = ConsumerProtocolAssignment([TopicPartition(self._topic, numbers)])
        return encode_versioned(assignment, 3)


class ConsumerMember:
    """A member of a KIP-848 group."""

    def __init__(self, peer: Peer, group: str, name: str, topic: str) -> None:
        self._peer = peer
        self._group = group
        self._name = name
        self._topic = topic
        self._epoch = 0
        self.owned: list[TopicPartitions] = []

    @property
    def count(self) -> int:
        return sum(len(one.partitions) for one in self.owned)

    async def heartbeat(self) -> None:
        """Sends one heartbeat; adopts the assignment in the response."""
        request = ConsumerGroupHeartbeatRequest(self._group, self._name, self._epoch)
        if self._epoch == 0:
            request.rebalance_timeout_ms = 60_000
            request.subscribed_topic_names = [self._topic]
        request.topic_partitions = self.owned
        answer = await self._peer.call(request, 1)
        if answer.error_code:
            raise RuntimeError(str(answer))
        self._epoch = answer.member_epoch
        if answer.assignment is not None:
            self.owned = answer.assignment.topic_partitions
