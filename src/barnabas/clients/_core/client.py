"""Routing: requests to the right broker, with metadata kept fresh and failures named.

What it does not do: hold records, groups or transactions. The clients above ask for "the leader
of this partition" or "the coordinator of this group"; this finds out, connects and sends.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import Any, TypeVar

from barnabas.clients._core.backoff import Backoff
from barnabas.clients._core.cluster_metadata import ClusterMetadata, Node
from barnabas.clients._core.options import ClientOptions
from barnabas.clients._core.pool import ConnectionPool
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    DeadlineError,
    UnavailableError,
)
from barnabas.model.ids import TopicPartition
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.security.errors import AuthenticationError
from barnabas.wire.message import Message
from barnabas.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

logger = logging.getLogger(__name__)

GROUP = 0
TRANSACTION = 1
COORDINATOR = "coordinator"
T = TypeVar("T")


class KafkaClient:
    """A client of one cluster, owned by one event loop.

    Lifecycle: construct, use from the loop, `await close()`. The first call bootstraps.
    `interests` are the topics whose metadata a refresh asks for; None means all of them.
    """

    def __init__(self, options: ClientOptions) -> None:
        self.options = options
        self.metadata = ClusterMetadata()
        self.interests: set[str] | None = set()
        self._pool = ConnectionPool(options)
        self.on_refused: Callable[[], None] = lambda: None
        """Called on the loop when `refusal` may have something to say."""
        self._pool.on_refused = lambda: self.on_refused()
        self._coordinators: dict[tuple[int, str], int] = {}
        self._refreshed_at_s = float("-inf")
        self._refreshing: asyncio.Task[None] | None = None
        self._auto_create = True

    def refusal(self, topics: Iterable[str] = ()) -> BarnabasError | None:
        """Why the cluster does not let this client in, or not to one of the topics."""
        if self._pool.refused is not None:
            return self._pool.refused
        for name in topics:
            topic = self.metadata.topics.get(name)
            if topic is not None and topic.error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                return BrokerError(topic.error, f"topic {name!r}: {topic.error.explanation}")
        return None

    @property
    def metadata_is_stale(self) -> bool:
        age = monotonic() - self._refreshed_at_s
        return age * 1000 >= self.options.metadata_max_age_ms

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)
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
        return await self._first_answer(connection, request, timeout_s)

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

    async def leader(self, partition: TopicPartition, deadline_s: float) -> tuple[Node, int]:
        """The leader and its epoch; waits for an election or a creation until the deadline."""

        async def look() -> tuple[Node, int]:
            found = self.metadata.leader_of(partition)
            if found is None:
                await self.refresh({partition.topic})
                found = self.metadata.leader_of(partition)
            if found is None:
                raise self._missing(partition)
            return found

        return await self.retry(look, deadline_s, f"the leader of {partition}")

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

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Fetch metadata of the given topics and of all interests; callers share one request."""
        if topics is not None and self.interests is not None:
            self.interests.update(topics)
        while self._refreshing is not None:
            await asyncio.wait([self._refreshing])
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh())
        task = self._refreshing
        try:
            await asyncio.shield(task)
        finally:
            if task.done():
                self._refreshing = None
            else:
                task.add_done_callback(self._refresh_ended)

    def allow_auto_create(self, allowed: bool) -> None:
        """Whether asking for an unknown topic may create it."""
        self._auto_create = allowed

    async def close_idle(self) -> None:
        self._pool.close_idle(asyncio.get_running_loop().time())

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

    # -- inside --------------------------------------------------------------------------------

    async def _refresh(self) -> None:
        connection = await self.any_connection()
        names = self.interests
        request = MetadataRequest(
            topics=None
            if names is None
            else [MetadataRequestTopic(name=name) for name in sorted(names)],
            allow_auto_topic_creation=self._auto_create and names is not None,
        )
        response: MetadataResponse = await self._first_answer(connection, request, None)
        if not response.brokers:
            raise UnavailableError(f"{connection.address} knows no brokers yet")
        self.metadata.apply(response)
        self._pool.refused = None
        if self.refusal(self.interests or ()) is not None:
            self.on_refused()
        self._refreshed_at_s = monotonic()

    async def _first_answer(
        self, connection: ClientConnection, request: Message, timeout_s: float | None
    ) -> Any:
        """Until brokers are known, a lost connection may mean that a login is wanted."""
        try:
            return await connection.send(request, timeout_s=timeout_s)
        except UnavailableError:
            if self.metadata.brokers or self.options.connection.login is not None:
                raise
            from barnabas.clients._core.sasl_probe import login_wanted

            wanted = await login_wanted(connection.address, self.options.connection)
            if wanted is None:
                raise
            self._pool.refuse(wanted)
            raise wanted from None

    def _refresh_ended(self, task: "asyncio.Task[None]") -> None:
        if self._refreshing is task:
            self._refreshing = None
        if not task.cancelled():
            task.exception()

    async def any_connection(self) -> ClientConnection:
        """An open connection to whichever broker answers, connected ones first."""
        causes: dict[Address, BarnabasError] = {}
        for address in self._candidates():
            connection = self._pool.connected(address)
            if connection is not None:
                return connection
        for address in self._candidates():
            try:
                return await self._pool.get(address)
            except AuthenticationError:
                raise  # the same at every broker: trying others would only hide it
            except BarnabasError as error:
                causes[address] = error
        raise _no_broker(causes)

    def _candidates(self) -> list[Address]:
        known = [node.address for node in self.metadata.brokers.values()]
        if not known or self.options.rebootstrap:
            known.extend(self.options.bootstrap)
        return list(dict.fromkeys(known))

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

    def _missing(self, partition: TopicPartition) -> BrokerError:
        topic = self.metadata.topics.get(partition.topic)
        if topic is None or not topic.partitions:
            code = topic.error if topic and topic.error else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return BrokerError(code, f"topic {partition.topic!r}: {code.explanation}")
        if partition.partition not in topic.partitions:
            return BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {partition.topic!r} has {len(topic.partitions)} partitions, "
                f"no partition {partition.partition}",
            )
        return BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")


def _no_broker(causes: dict[Address, BarnabasError]) -> BarnabasError:
    reasons = "; ".join(str(error) for error in causes.values()) or "no broker is known"
    return UnavailableError(f"no broker can be reached: {reasons}")
