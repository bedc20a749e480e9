"""Routes requests to the right broker: the leader of a partition, a coordinator, the controller.

`KafkaClient` finds the broker, connects and sends. `metadata_keeper` finds a first broker and
fetches metadata. Records, groups and transactions belong to the producer and consumer.

A client retries in the background, so that a wrong address or a missing topic looks like an empty
topic. `Outage` therefore reports why it makes no progress: each cause is logged when it begins and
then at most every 30 seconds; later the calls raise an error.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable
from contextlib import suppress
from time import monotonic
from typing import TypeVar

from barnabas.clients.core.backoff import Backoff, Retries, retry_until
from barnabas.clients.core.cluster_metadata import ClusterMetadata, Node
from barnabas.clients.core.metadata_keeper import AnyBroker, MetadataKeeper
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.core.pool import ConnectionPool
from barnabas.clients.metrics.client_metrics import ClientMetrics
from barnabas.clients.metrics.network import NetworkMeters, add_network_metrics
from barnabas.clients.metrics.telemetry import TelemetryPush
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    DeadlineError,
    LocalError,
    UnavailableError,
)
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.reporters import ReporterThread
from barnabas.wire.message import Request, ResponseT
from barnabas.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.wire.messages.metadata import MetadataRequest

logger = logging.getLogger(__name__)

REPEAT_SECONDS = 30.0
GROUP = 0
TRANSACTION = 1
COORDINATOR = "coordinator"
UNKNOWN_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
CREATION_SECONDS = 1.0
"""A topic that the broker may create on demand counts as missing after this time."""
ELECTION_SECONDS = 2.0
"""A partition without a leader is logged after this time."""
T = TypeVar("T")


class RepeatedWarning:
    """Logs a warning per cause, at most one in 30 seconds while the cause lasts."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._logged_at: dict[Hashable, float] = {}
        self._seen: dict[Hashable, tuple[float, float]] = {}
        """When each cause began and when it was seen last."""

    def warn(self, cause: Hashable, message: str, *, grace_s: float = 0.0) -> None:
        """Logs `message` once the cause has lasted for `grace_s`, then once in 30 seconds."""
        now = self._now()
        began, seen = self._seen.get(cause, (now, now))
        if now - seen >= REPEAT_SECONDS:
            began = now  # a new occurrence
        self._seen[cause] = (began, now)
        if now - began < grace_s:
            return
        last = self._logged_at.get(cause)
        if last is None or now - last >= REPEAT_SECONDS:
            self._logged_at[cause] = now
            logger.warning("%s", message)

    def ended(self, cause: Hashable) -> bool:
        """Records that the cause has ended; returns whether it was logged."""
        self._seen.pop(cause, None)
        return self._logged_at.pop(cause, None) is not None


class Outage:
    """Tracks whether brokers can be reached. Any thread may read `error`."""

    def __init__(self, timeout_ms: int, now: Callable[[], float] = monotonic) -> None:
        self._timeout_ms = timeout_ms
        self._now = now
        self._warnings = RepeatedWarning(now)
        self._reached = False
        self._began_s: float | None = None
        self.cause: BarnabasError | None = None
        """Why no broker can be reached now; None when one was reached last."""
        self.error: UnavailableError | None = None
        """Set when no broker was ever reached within bootstrap.timeout.ms; None again later."""

    def attempt(self) -> None:
        """Records the start of an attempt to reach a broker."""
        if self._began_s is None:
            self._began_s = self._now()

    def failed(self, cause: BarnabasError) -> bool:
        """Records that no broker could be reached; returns whether `error` was set."""
        self.cause = cause
        self._warnings.warn("unreachable", f"{cause}; the client keeps trying")
        waited_ms = (self._now() - (self._began_s or self._now())) * 1000
        if self._reached or not 0 < self._timeout_ms <= waited_ms:
            return False
        self.error = UnavailableError(
            f"no broker was reached within bootstrap.timeout.ms ({self._timeout_ms} ms): {cause}"
        )
        return True

    def ended(self) -> None:
        """Records a response of a broker."""
        self._reached = True
        self.cause = self.error = None
        if self._warnings.ended("unreachable"):
            logger.warning("a broker can be reached again")


class KafkaClient:
    """A client of one cluster, owned by one event loop.

    Lifecycle: construct, use from the loop, `await close()`. The first call bootstraps.
    `interests` are the topics whose metadata a refresh fetches; None means all of them.
    """

    def __init__(self, options: ClientOptions, metrics: ClientMetrics | None = None) -> None:
        self.options = options
        self.metadata = ClusterMetadata()
        meters = NetworkMeters(SystemClock() if metrics is None else metrics.clock)
        self._pool = ConnectionPool(options, meters)
        self._pool.on_opened = self._connected
        self._metrics = metrics
        self._reporters: ReporterThread | None = None
        if metrics is not None:
            add_network_metrics(metrics, meters, self._pool.open_count, self._node_of)
            self._reporters = metrics.start_reporters()
        self._telemetry: TelemetryPush | None = None
        if metrics is not None and metrics.settings.push:
            self._telemetry = TelemetryPush(self, metrics)
        self.on_permanent_error: Callable[[], None] = lambda: None
        """Called on the loop when `permanent_error` may return an error."""
        self._pool.on_permanent_error = lambda: self.on_permanent_error()
        self._any_broker = AnyBroker(options, self._pool, self.metadata)
        self._keeper = MetadataKeeper(self._any_broker, self._pool, self.metadata)
        self._coordinators: dict[tuple[int, str], int] = {}
        self.outage = Outage(options.bootstrap_timeout_ms)
        self._recovery: asyncio.Task[None] | None = None
        """The refresh after a new connection during an outage."""
        self._missing = RepeatedWarning()

    def permanent_error(self, topics: Iterable[str] = ()) -> BarnabasError | None:
        """Returns the permanent error of this client or of one of the topics, or None.

        Such errors are a rejected login, a denied topic, and that no broker was reached within
        bootstrap.timeout.ms.
        """
        return self._pool.login_error or self.metadata.permanent_error(topics) or self.outage.error

    async def close(self) -> None:
        if self._reporters is not None:
            self._reporters.close()
        if self._telemetry is not None:
            await self._telemetry.close()
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
        await self._keeper.close()
        await self._pool.close()
        if self._metrics is not None:
            self._metrics.close()
        if self._reporters is not None:
            await self._reporters.wait()

    def in_flight(self) -> int:
        """Returns the number of requests without a response. Any thread may call it."""
        return self._pool.in_flight()

    def _connected(self, connection: ClientConnection) -> None:
        if self._metrics is not None:
            self._metrics.start()
        if self._telemetry is not None:
            self._telemetry.connected(connection)
        # Requests that use the connection continue without metadata. Only a refresh ends the
        # outage, which would otherwise be reported until metadata.max.age.ms has passed.
        idle = self._recovery is None or self._recovery.done()
        if self.outage.cause is not None and idle and not self._keeper.is_refreshing:
            self._recovery = asyncio.get_running_loop().create_task(self._recover())

    async def _recover(self) -> None:
        with suppress(BarnabasError):  # logged by `refresh`
            await self.refresh()

    async def client_instance_id(self, timeout_s: float) -> Uuid:
        """Returns the id under which this client pushes its metrics (KIP-714)."""
        if self._telemetry is None:
            raise LocalError("client_instance_id() needs enable.metrics.push=true")
        return await self._telemetry.instance_id(timeout_s)

    def _node_of(self, address: Address) -> int:
        """Returns the id of a broker; a negative number for an address that has none yet."""
        for node in list(self.metadata.brokers.values()):
            if node.address == address:
                return node.id
        known = self.options.bootstrap
        return -1 - known.index(address) if address in known else -1 - len(known)

    # -- sending -------------------------------------------------------------------------------

    async def connection(self, node_id: int, purpose: str = "") -> ClientConnection:
        """Returns an open connection to a broker in the metadata."""
        node = self.metadata.brokers.get(node_id)
        if node is None:
            await self.refresh()
            node = self.metadata.brokers.get(node_id)
        if node is None:
            raise UnavailableError(f"broker {node_id} is not in the cluster's metadata")
        return await self._pool.get(node.address, purpose)

    def connected(self, node_id: int, purpose: str = "") -> ClientConnection | None:
        """Returns the open connection to a broker, or None."""
        node = self.metadata.brokers.get(node_id)
        return None if node is None else self._pool.connected(node.address, purpose)

    def open_connection(self) -> ClientConnection | None:
        """Returns an open connection for short requests, or None."""
        return self._any_broker.open_connection()

    async def any_connection(self) -> ClientConnection:
        """Returns an open connection to any broker."""
        return await self._any_broker.connection()

    async def send(
        self,
        node_id: int,
        request: Request[ResponseT],
        *,
        purpose: str = "",
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> ResponseT:
        """Sends a request to a broker, in a version up to `max_version`; returns the response."""
        connection = await self.connection(node_id, purpose)
        version = connection.version_of(type(request))
        if max_version is not None:
            version = min(version, max_version)
        return await connection.send(request, version=version, timeout_s=timeout_s)

    async def send_to_any(
        self, request: Request[ResponseT], *, timeout_s: float | None = None
    ) -> ResponseT:
        """Sends a request to any broker."""
        connection = await self.any_connection()
        return await self._any_broker.send(connection, request, timeout_s)

    async def send_to_controller(
        self, request: Request[ResponseT], *, timeout_s: float | None = None
    ) -> ResponseT:
        """Sends a request to the controller."""
        if self.metadata.controller_id not in self.metadata.brokers:
            await self.refresh()
        return await self.send(self.metadata.controller_id, request, timeout_s=timeout_s)

    async def send_to_coordinator(
        self,
        kind: int,
        key: str,
        request: Request[ResponseT],
        *,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> ResponseT:
        """Sends a request to the coordinator of a group or a transactional id."""
        node_id = await self.coordinator(kind, key)
        return await self.send(
            node_id,
            request,
            purpose=COORDINATOR,
            timeout_s=timeout_s,
            max_version=max_version,
        )

    # -- coordinators and leaders --------------------------------------------------------------

    async def coordinator(self, kind: int, key: str) -> int:
        """Returns the coordinator's broker id; cached until `forget_coordinator`."""
        known = self._coordinators.get((kind, key))
        if known is None:
            known = self._coordinators[kind, key] = await self._find_coordinator(kind, key)
        return known

    def forget_coordinator(self, kind: int, key: str) -> None:
        """Drops a cached coordinator, after NOT_COORDINATOR or a lost connection."""
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
        """Returns the leader and its epoch; waits for an election until the deadline."""

        async def attempt() -> tuple[Node, int]:
            found = self.metadata.leader_of(topic_partition)
            if found is None:
                await self.refresh({topic_partition.topic})
                found = self.metadata.leader_of(topic_partition)
            if found is None:
                raise self.metadata.no_leader_error(topic_partition)
            return found

        return await self.retry(attempt, deadline_s, f"the leader of {topic_partition}")

    async def partitions(self, topic: str, deadline_s: float) -> list[int]:
        """Returns the partition numbers of a topic; waits for its creation until the deadline."""

        async def attempt() -> list[int]:
            if self.metadata.partition_count(topic) is None:
                await self.refresh({topic})
            info = self.metadata.topics.get(topic)
            if info is None or not info.partitions:
                raise BrokerError(
                    info.error if info and info.error else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    f"topic {topic!r} does not exist or is not ready",
                )
            return sorted(info.partitions)

        return await self.retry(attempt, deadline_s, f"the partitions of topic {topic!r}")

    # -- metadata ------------------------------------------------------------------------------

    @property
    def interests(self) -> set[str] | None:
        return self._keeper.interests

    @interests.setter
    def interests(self, topics: set[str] | None) -> None:
        self._keeper.interests = topics

    @property
    def metadata_age_ms(self) -> float:
        """Milliseconds since the last Metadata response with all `interests`."""
        return (monotonic() - self._keeper.refreshed_at_s) * 1000

    @property
    def metadata_is_stale(self) -> bool:
        return self.metadata_age_ms >= self.options.metadata_max_age_ms

    def forget(self, topics: Iterable[str]) -> None:
        """Drops the metadata of these topics and does not refresh it any more."""
        names = set(topics)
        if self._keeper.interests is not None:
            self._keeper.interests -= names
        self.metadata.forget(names)

    def take_lost(self) -> bool:
        """Returns whether a connection was lost since the last call: leaders may have moved."""
        return self._pool.take_lost()

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Fetches the metadata of `interests`, to which it adds the given topics.

        If none of the given topics has metadata yet, it fetches only topics without metadata.
        """
        self.outage.attempt()
        try:
            await self._keeper.refresh(topics)
        except UnavailableError as error:
            if self.outage.failed(error):
                self.on_permanent_error()
            raise
        self.outage.ended()

    async def ping(self, timeout_s: float) -> None:
        """Sends one request to any broker; raises the error of the first attempt."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.send_to_any(MetadataRequest(topics=[]))
        except TimeoutError:
            tried = ", ".join(str(address) for address in self.options.bootstrap)
            raise DeadlineError(f"no response from {tried} within {timeout_s:g} s") from None

    def note_topic(self, topic: str) -> None:
        """Logs a warning if the topic does not exist after a refresh."""
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
        """Logs a warning with the cause if the partition has no leader after a refresh."""
        info = self.metadata.topics.get(topic_partition.topic)
        if info is None or not info.partitions:
            self.note_topic(topic_partition.topic)
            return
        reason = str(self.metadata.no_leader_error(topic_partition))
        # An election ends soon; a partition that the topic does not have stays missing.
        grace_s = 0.0 if topic_partition.partition not in info.partitions else ELECTION_SECONDS
        self._missing.warn(topic_partition, f"{reason}; the client waits for it", grace_s=grace_s)

    def allow_auto_create(self, allowed: bool) -> None:
        """Sets whether a metadata request for an unknown topic may create the topic."""
        self._keeper.auto_create = allowed

    # -- retrying ------------------------------------------------------------------------------

    async def retry(self, operation: Callable[[], Awaitable[T]], deadline_s: float, what: str) -> T:
        """Calls `operation` until it succeeds.

        Raises:
            BarnabasError: `operation` raised it, and it is not transient.
            DeadlineError: The deadline, in loop time, has passed; its cause is the last error.
        """
        backoff = Backoff(self.options.retry_backoff_ms, self.options.retry_backoff_max_ms)
        return await retry_until(operation, Retries(what, deadline_s, backoff))
