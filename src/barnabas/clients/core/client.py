"""Routing: requests to the right broker, and failures named.

What it does not do: hold records, groups or transactions. The clients above ask for "the leader
of this partition" or "the coordinator of this group"; this finds out, connects and sends. How
metadata is fetched is in `metadata_keeper`, and how a first broker is found in `any_broker`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import Any, TypeVar

from barnabas.clients.core.any_broker import AnyBroker
from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.cluster_metadata import ClusterMetadata, Node
from barnabas.clients.core.metadata_keeper import MetadataKeeper
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.core.outage import Outage, RepeatedWarning
from barnabas.clients.core.pool import ConnectionPool
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    DeadlineError,
    UnavailableError,
)
from barnabas.model.ids import TopicPartition
from barnabas.net.client import ClientConnection
from barnabas.wire.message import Message
from barnabas.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.wire.messages.metadata import MetadataRequest

logger = logging.getLogger(__name__)

GROUP = 0
TRANSACTION = 1
COORDINATOR = "coordinator"
UNKNOWN_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
CREATION_SECONDS = 1.0
"""A topic that the broker may create on demand counts as missing after this time."""
ELECTION_SECONDS = 2.0
"""A partition without a leader is logged after this time."""
T = TypeVar("T")


class KafkaClient:
    """A client of one cluster, owned by one event loop.

    Lifecycle: construct, use from the loop, `await close()`. The first call bootstraps.
    `interests` are the topics whose metadata a refresh asks for; None means all of them.
    """

    def __init__(self, options: ClientOptions) -> None:
        self.options = options
        self.metadata = ClusterMetadata()
        self._pool = ConnectionPool(options)
        self.on_refused: Callable[[], None] = lambda: None
        """Called on the loop when `refusal` may have something to say."""
        self._pool.on_refused = lambda: self.on_refused()
        self._any_broker = AnyBroker(options, self._pool, self.metadata)
        self._keeper = MetadataKeeper(self._any_broker, self._pool, self.metadata)
        self._coordinators: dict[tuple[int, str], int] = {}
        self.outage = Outage(options.bootstrap_timeout_ms)
        self._missing = RepeatedWarning()

    def refusal(self, topics: Iterable[str] = ()) -> BarnabasError | None:
        """Why the cluster does not let this client in, or not to one of the topics.

        Also when no broker was ever reached, once bootstrap.timeout.ms has passed.
        """
        return self._pool.refused or self.metadata.refusal(topics) or self.outage.error

    async def close(self) -> None:
        await self._keeper.close()
        await self._pool.close()

    # -- sending -------------------------------------------------------------------------------

    async def connection(self, node_id: int, purpose: str = "") -> ClientConnection:
        """An open connection to a broker that metadata names."""
        node = self.metadata.brokers.get(node_id)
        if node is None:
            await self.refresh()
            node = self.metadata.brokers.get(node_id)
        if node is None:
            raise UnavailableError(f"broker {node_id} is not in the cluster's metadata")
        return await self._pool.get(node.address, purpose)

    def connected(self, node_id: int, purpose: str = "") -> ClientConnection | None:
        """The open connection to a broker, if there is one now."""
        node = self.metadata.brokers.get(node_id)
        return None if node is None else self._pool.connected(node.address, purpose)

    async def any_connection(self) -> ClientConnection:
        """An open connection to whichever broker answers, connected ones first."""
        return await self._any_broker.connection()

    async def send(
        self,
        node_id: int,
        request: Message,
        *,
        purpose: str = "",
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> Any:
        """One request to one broker, in a version up to `max_version`."""
        connection = await self.connection(node_id, purpose)
        version = connection.version_of(type(request))
        if max_version is not None:
            version = min(version, max_version)
        return await connection.send(request, version=version, timeout_s=timeout_s)

    async def send_to_any(self, request: Message, *, timeout_s: float | None = None) -> Any:
        """One request to whichever broker answers, connected ones first."""
        connection = await self.any_connection()
        return await self._any_broker.ask(connection, request, timeout_s)

    async def send_to_controller(self, request: Message, *, timeout_s: float | None = None) -> Any:
        """One request to the controller that metadata names."""
        if self.metadata.controller_id not in self.metadata.brokers:
            await self.refresh()
        return await self.send(self.metadata.controller_id, request, timeout_s=timeout_s)

    async def send_to_coordinator(
        self,
        kind: int,
        key: str,
        request: Message,
        *,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> Any:
        """One request to the coordinator of a group or a transactional id."""
        node_id = await self.coordinator(kind, key)
        return await self.send(
            node_id,
            request,
            purpose=COORDINATOR,
            timeout_s=timeout_s,
            max_version=max_version,
        )

    # -- finding -------------------------------------------------------------------------------

    async def coordinator(self, kind: int, key: str) -> int:
        """The broker that coordinates; remembered until `forget_coordinator`."""
        known = self._coordinators.get((kind, key))
        if known is None:
            known = self._coordinators[kind, key] = await self._find_coordinator(kind, key)
        return known

    def forget_coordinator(self, kind: int, key: str) -> None:
        """After NOT_COORDINATOR or a lost connection: ask again next time."""
        self._coordinators.pop((kind, key), None)

    async def _find_coordinator(self, kind: int, key: str) -> int:
        connection = await self.any_connection()
        request = FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key])
        response: FindCoordinatorResponse = await connection.send(request)
        found = response.coordinators[0] if response.coordinators else response
        if found.error_code:
            raise BrokerError(ErrorCode.of(found.error_code), found.error_message)
        if found.node_id not in self.metadata.brokers:
            await self.refresh()
        return found.node_id

    async def leader(self, topic_partition: TopicPartition, deadline_s: float) -> tuple[Node, int]:
        """The leader and its epoch; waits for an election or a creation until the deadline."""

        async def look() -> tuple[Node, int]:
            found = self.metadata.leader_of(topic_partition)
            if found is None:
                await self.refresh({topic_partition.topic})
                found = self.metadata.leader_of(topic_partition)
            if found is None:
                raise self.metadata.why_no_leader(topic_partition)
            return found

        return await self.retry(look, deadline_s, f"the leader of {topic_partition}")

    async def partitions(self, topic: str, deadline_s: float) -> list[int]:
        """The partition numbers of a topic, asked for until it is there."""

        async def look() -> list[int]:
            if self.metadata.partition_count(topic) is None:
                await self.refresh({topic})
            info = self.metadata.topics.get(topic)
            if info is None or not info.partitions:
                raise BrokerError(
                    info.error if info and info.error else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    f"topic {topic!r} does not exist or is not ready",
                )
            return sorted(info.partitions)

        return await self.retry(look, deadline_s, f"the partitions of topic {topic!r}")

    # -- metadata ------------------------------------------------------------------------------

    @property
    def interests(self) -> set[str] | None:
        return self._keeper.interests

    @interests.setter
    def interests(self, topics: set[str] | None) -> None:
        self._keeper.interests = topics

    @property
    def metadata_age_ms(self) -> float:
        """Milliseconds since the last Metadata response."""
        return (monotonic() - self._keeper.refreshed_at_s) * 1000

    @property
    def metadata_is_stale(self) -> bool:
        return self.metadata_age_ms >= self.options.metadata_max_age_ms

    def forget(self, topics: Iterable[str]) -> None:
        """Ask for these topics no more, and drop their metadata."""
        names = set(topics)
        if self._keeper.interests is not None:
            self._keeper.interests -= names
        self.metadata.forget(names)

    def take_lost(self) -> bool:
        """Whether a broker has closed a connection since the last call: its leaders may move."""
        return self._pool.take_lost()

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Fetch metadata of the given topics and of all interests."""
        self.outage.attempt()
        try:
            await self._keeper.refresh(topics)
        except UnavailableError as error:
            if self.outage.failed(error):
                self.on_refused()
            raise
        self.outage.ended()

    async def ping(self, timeout_s: float) -> None:
        """Ask any broker one question; raises at the first failure, with its reason."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.send_to_any(MetadataRequest(topics=[]))
        except TimeoutError:
            tried = ", ".join(str(address) for address in self.options.bootstrap)
            raise DeadlineError(f"no answer from {tried} within {timeout_s:g} s") from None

    def note_topic(self, topic: str) -> None:
        """After a refresh: log a warning while a topic that somebody reads does not exist."""
        info = self.metadata.topics.get(topic)
        if info is not None and info.partitions:
            self._missing.ended(topic)
            return
        code = info.error if info is not None and info.error else UNKNOWN_TOPIC
        created = self._keeper.auto_create and self.interests is not None
        self._missing.warn(
            topic,
            f"topic {topic!r} does not exist ({code.name}); the client waits for it",
            grace_s=CREATION_SECONDS if created else 0.0,
        )

    def note_no_leader(self, topic_partition: TopicPartition) -> None:
        """After a refresh: log a warning while a partition has no leader, and why."""
        info = self.metadata.topics.get(topic_partition.topic)
        if info is None or not info.partitions:
            self.note_topic(topic_partition.topic)
            return
        reason = str(self.metadata.why_no_leader(topic_partition))
        # An election passes; a partition number that the topic does not have stays wrong.
        grace_s = 0.0 if topic_partition.partition not in info.partitions else ELECTION_SECONDS
        self._missing.warn(topic_partition, f"{reason}; the client waits for it", grace_s=grace_s)

    def allow_auto_create(self, allowed: bool) -> None:
        """Whether asking for an unknown topic may create it."""
        self._keeper.auto_create = allowed

    # -- retrying ------------------------------------------------------------------------------

    async def retry(self, operation: Callable[[], Awaitable[T]], deadline_s: float, what: str) -> T:
        """Run until it succeeds, fails for good, or the deadline (loop time) has passed."""
        backoff = Backoff(self.options.retry_backoff_ms, self.options.retry_backoff_max_ms)
        loop = asyncio.get_running_loop()
        last: BarnabasError | None = None
        while True:
            try:
                async with asyncio.timeout_at(deadline_s):
                    return await operation()
            except TimeoutError:
                cause = "no answer in time" if last is None else last
                raise DeadlineError(f"{what}: {cause}") from last
            except BarnabasError as error:
                pause, last = backoff.next_s(), error
                if not error.retriable:
                    raise
                if loop.time() + pause >= deadline_s:
                    raise DeadlineError(f"{what}: {error}") from error
                logger.debug("%s: %s, again in %.2f s", what, error, pause)
                await asyncio.sleep(pause)
