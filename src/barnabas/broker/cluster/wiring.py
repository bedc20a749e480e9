"""Creates the parts of one broker that communicate with other brokers; `app` starts them.

A single broker uses the same parts: its controller calls it directly, and it has no fetchers.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from barnabas.broker.access.inter_broker import inter_broker_security
from barnabas.broker.cluster.command_channels import ClusterChannels, CommandReceiver
from barnabas.broker.cluster.controller_link import (
    BrokerShutdown,
    ControllerIsrChannel,
    ControllerLink,
)
from barnabas.broker.cluster.links import AddressBook, BrokerLinks
from barnabas.broker.cluster.remote_coordination import RemoteMarkers, RoutedAddPartitions
from barnabas.broker.cluster.replica_source import ReplicationQuotas, WireSource
from barnabas.broker.config import BrokerConfig
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.tasks import BackgroundTasks, PeriodicJobs, check_in_sync
from barnabas.controller.active.epoch_state import ControllerConfig
from barnabas.controller.controller import Controller
from barnabas.controller.registration import BrokerRegistration
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.net.connection_options import ConnectionOptions
from barnabas.replication.fetcher_pool import FetcherPool
from barnabas.replication.ports import ReplicaFetchLimits
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.clock import Clock
from barnabas.zk import paths
from barnabas.zk.tree import MetadataTree, SessionState
from barnabas.zk.znodes import LogDirEventNode

_IDLE_FETCHERS_MS = 10_000
_IN_SYNC_CHECK_MS = 1_000
_DECLINED_MS = 30_000


@dataclass(frozen=True, slots=True)
class ClusterPorts:
    """Ports of the handlers of inter-broker requests."""

    listener: str
    receiver: CommandReceiver
    controller: Controller
    fetchers: FetcherPool


class ClusterRuntime:
    """Made on the broker's running loop, which owns all of it."""

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        tree: MetadataTree,
        registration: BrokerRegistration,
        metadata: MetadataCache,
        quotas: ReplicationQuotas,
    ) -> None:
        self._config = config
        self._clock = clock
        self._tree = tree
        self._registration = registration
        self._metadata = metadata
        self._broker_id = registration.broker_id
        self.quotas = quotas
        self._replicas: ReplicaManager | None = None
        self._add_partitions: RoutedAddPartitions | None = None
        self._jobs = PeriodicJobs()
        self._background = BackgroundTasks()
        self._links: list[BrokerLinks] = []
        self.security = inter_broker_security(config)
        self.book = AddressBook(config.inter_broker_listener)
        self.isr_channel = ControllerIsrChannel(
            lambda: registration.broker_epoch, lambda: tree.state is SessionState.CONNECTED
        )
        self._sources = self.new_links()
        self.fetchers = FetcherPool(
            self._connect,
            clock,
            _limits(config),
            self._caught_up,
            quotas.follower,
            quotas.fetchers_per_source,
        )
        self.markers = RemoteMarkers(self.new_links())

    def new_links(self) -> BrokerLinks:
        """Returns connections for one purpose; `_stop` closes them."""
        options = ConnectionOptions(
            client_id=f"broker-{self._broker_id}",
            connect_timeout_s=min(10.0, self._request_timeout_s),
            request_timeout_s=self._request_timeout_s,
            tls=self.security.tls,
            login=self.security.login,
        )
        links = BrokerLinks(self.book, options)
        self._links.append(links)
        return links

    def route_add_partitions(self, coordinators: Coordinators) -> None:
        """Sends verifications of transactions to the broker that coordinates them."""
        self._add_partitions = coordinators.add_partitions.manager = RoutedAddPartitions(
            self._broker_id,
            self._metadata,
            coordinators.internal_topics,
            coordinators.local_add_partitions,
            self.new_links(),
        )

    def start(
        self, stack: AsyncExitStack, receiver: CommandReceiver, replicas: ReplicaManager
    ) -> ClusterPorts:
        """Creates the controller and the parts that communicate with it."""
        self._replicas = replicas
        stack.push_async_callback(self._stop)
        controller = Controller(
            self._tree,
            self._broker_id,
            ClusterChannels(self._broker_id, receiver, self.new_links()),
            self._clock,
            ControllerConfig.from_values(self._config.values),
            self._registration,
        )
        stack.push_async_callback(controller.stop)
        self._link = ControllerLink(self._broker_id, controller, self._metadata, self.new_links())
        self.isr_channel.start(self._link)
        self._tree.add_session_listener(self._session_changed)
        self._jobs.every(_IDLE_FETCHERS_MS, "idle-fetchers", self.fetchers.idle)
        self._jobs.every(_IN_SYNC_CHECK_MS, "in-sync-proposals", partial(check_in_sync, replicas))
        self._jobs.every(_DECLINED_MS, "declined-leaderships", self._announce_declined)
        return ClusterPorts(self.book.listener, receiver, controller, self.fetchers)

    def directory_failed(self) -> None:
        """Requests new leaders for the replicas of a failed directory."""
        self._background.start(self._announce_log_dir_event())

    async def _announce_log_dir_event(self) -> None:
        """Makes the controller query which replicas this broker can serve (KIP-112)."""
        event = LogDirEventNode(self._broker_id).encode()
        await self._tree.create(paths.LOG_DIR_EVENT_PREFIX, event, sequential=True)

    async def _announce_declined(self) -> None:
        if self._replicas is not None and self._replicas.declined:
            await self._announce_log_dir_event()

    async def leave(self) -> None:
        """Moves leadership to other brokers before the broker stops."""
        assert self._replicas is not None
        shutdown = BrokerShutdown(
            self._config,
            self._link,
            self._replicas,
            self._metadata,
            lambda: self._registration.broker_epoch,
        )
        await shutdown.leave()

    async def _stop(self) -> None:
        await self._jobs.stop()
        await self._background.stop()
        await self.isr_channel.stop()
        await self.markers.stop()
        if self._add_partitions is not None:
            await self._add_partitions.stop()
        await self.fetchers.close()
        for links in self._links:
            links.close()

    def _connect(self, source: BrokerId) -> WireSource:
        return WireSource(
            self._sources.another(source),
            self._broker_id,
            lambda: self._registration.broker_epoch,
            self._config["replica.socket.timeout.ms"] / 1000,
        )

    def _caught_up(self, topic_partition: TopicPartition) -> None:
        if self._replicas is not None:
            self._replicas.trust(topic_partition)

    def _session_changed(self, state: SessionState) -> None:
        """Resigns all leaderships when the session expired: other brokers may be leaders now.

        While the session is only disconnected, leaders continue: they cannot acknowledge acks=all
        without their followers, and they propose no ISR changes.
        """
        if state is SessionState.LOST and self._replicas is not None:
            for partition in list(self._replicas.leader_partitions()):
                partition.resign()

    @property
    def _request_timeout_s(self) -> float:
        return float(self._config["request.timeout.ms"]) / 1000


def _limits(config: BrokerConfig) -> ReplicaFetchLimits:
    return ReplicaFetchLimits(
        max_wait_ms=config["replica.fetch.wait.max.ms"],
        min_bytes=config["replica.fetch.min.bytes"],
        max_bytes=config["replica.fetch.response.max.bytes"],
        partition_max_bytes=config["replica.fetch.max.bytes"],
        backoff_ms=config["replica.fetch.backoff.ms"],
    )
