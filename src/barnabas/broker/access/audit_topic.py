"""Writes the audit log to a topic (`audit.log.topic`).

Lines are collected and sent to the leader of a partition by a background task, also to this broker
itself: the connection between brokers authenticates, and the leader replicates with acks=all. The
broker creates the topic when it writes the first line. A request is never delayed by its audit
line; while the topic cannot be written, lines are kept up to a limit, and then dropped with a line
in the broker's log. The logger and the file of the audit log are complete in any case.
"""

import asyncio
import logging
from collections import deque

from barnabas.broker.cluster.links import BrokerLinks
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.topics import Topics, TopicSpec
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition
from barnabas.records.builder import BatchBuilder
from barnabas.runtime.clock import Clock
from barnabas.runtime.rate_limited_log import RateLimitedLog
from barnabas.wire.messages import produce

_logger = logging.getLogger("barnabas.broker")
_MAX_LINES = 10_000
_BATCH_LINES = 500
_ALL_REPLICAS = -1
_BY_NAME = 12
"""Last version of Produce that names topics."""
_TIMEOUT_MS = 10_000
_PAUSE_S = 0.05
_RETRY_S = 1.0
_STOP_S = 3.0


class AuditTopic:
    """Owned by the broker's loop; `start` it when the broker serves requests."""

    def __init__(
        self,
        topic: str,
        topics: Topics,
        metadata: MetadataCache,
        links: BrokerLinks,
        clock: Clock,
    ) -> None:
        self._topic = topic
        self._topics = topics
        self._metadata = metadata
        self._links = links
        self._clock = clock
        self._log = RateLimitedLog(_logger, clock)
        self._lines: deque[tuple[int, bytes]] = deque()
        self._arrived = asyncio.Event()
        self._dropped = 0
        self._task: asyncio.Task[None] | None = None

    def put(self, line: str) -> None:
        """Adds a line; drops the oldest one if too many wait."""
        if len(self._lines) >= _MAX_LINES:
            self._lines.popleft()
            self._dropped += 1
        self._lines.append((self._clock.now_ms(), line.encode()))
        self._arrived.set()

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="audit-topic")

    async def stop(self) -> None:
        """Sends the lines that wait, for at most three seconds."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        try:
            async with asyncio.timeout(_STOP_S):
                while self._lines:
                    await self._send()
        except (BarnabasError, OSError, TimeoutError) as error:
            _logger.warning("%d lines are missing in %s: %s", len(self._lines), self._topic, error)

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(_PAUSE_S)  # lines of the same moment share a batch
            self._arrived.clear()
            try:
                while self._lines:
                    await self._send()
            except (BarnabasError, OSError) as error:
                line = "audit.log.topic=%s cannot be written, %d lines wait, %d are lost: %s"
                self._log.warning(
                    "write", line, self._topic, len(self._lines), self._dropped, error
                )
                self._arrived.set()
                await asyncio.sleep(_RETRY_S)

    async def _send(self) -> None:
        """Sends one batch; its lines stay in the queue until it is acknowledged."""
        chunk = [self._lines[n] for n in range(min(len(self._lines), _BATCH_LINES))]
        topic_partition, leader = await self._leader()
        builder = BatchBuilder()
        for now_ms, line in chunk:
            builder.append(None, line, timestamp_ms=now_ms)
        data = produce.PartitionProduceData(topic_partition.partition, builder.build())
        request = produce.ProduceRequest(
            acks=_ALL_REPLICAS,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[produce.TopicProduceData(name=self._topic, partition_data=[data])],
        )
        dropped = self._dropped
        response: produce.ProduceResponse = await self._links.to(leader).request(
            request, version=_BY_NAME, timeout_s=2 * _TIMEOUT_MS / 1000
        )
        answer = response.responses[0].partition_responses[0]
        if answer.error_code:
            raise BrokerError(ErrorCode.of(answer.error_code), answer.error_message)
        for _ in range(len(chunk) - (self._dropped - dropped)):
            self._lines.popleft()

    async def _leader(self) -> tuple[TopicPartition, BrokerId]:
        """Returns a partition that has a leader; creates the topic if it does not exist."""
        if not self._metadata.has_topic(self._topic):
            try:
                await self._topics.create(TopicSpec(self._topic))
            except BrokerError as error:
                if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
            await self._topics.wait_for_leaders(self._topic, 1, _TIMEOUT_MS)
        for number, state in (self._metadata.partitions(self._topic) or {}).items():
            if state.leader != NO_BROKER:
                return TopicPartition(self._topic, number), state.leader
        raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE)
