"""The broker: the only place where its parts are made and put together.

A single embedded broker is a cluster of one on the embedded metadata tree: the same controller,
the same commands, the same replicas as in a large cluster.

Start: bind the listeners (a taken port is said at once), lock the log directories, open the tree,
read configuration, load the logs, register, let the controller be elected, wait until its first
commands have made this broker a part of its own cluster, and only then accept connections. Stop
is the reverse, and leaves the logs marked clean.
"""

import asyncio
import logging
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path

from barnabas.broker.access.wiring import AccessSide
from barnabas.broker.api_versions import ApiVersionsAnswers
from barnabas.broker.boot import doubtful_replicas
from barnabas.broker.cluster.replication_quotas import ReplicationQuotas
from barnabas.broker.cluster.start_gate import start_gate
from barnabas.broker.cluster.wiring import ClusterSide
from barnabas.broker.commands import CommandReceiver
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.config_watch import ConfigWatch
from barnabas.broker.coordinators.wiring import CoordinatorParts, Coordinators
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.features import features_of
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.flusher import Flusher
from barnabas.broker.handler import Interceptor
from barnabas.broker.handlers import HANDLERS
from barnabas.broker.housekeeping import Housekeeping
from barnabas.broker.identity import Identity, establish, registered_endpoints
from barnabas.broker.listeners import Listeners, connection_limits
from barnabas.broker.log_store import LogStore, log_config
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.produce_rules import ProduceRules
from barnabas.broker.producer_ids import ProducerIds
from barnabas.broker.purgatory import Purgatory
from barnabas.broker.services import Services
from barnabas.broker.topics import Topics
from barnabas.broker.waiters import PartitionWaiters
from barnabas.controller.registration import BrokerRegistration
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.clock import Clock
from barnabas.model.control import Endpoint
from barnabas.model.errors import LocalError
from barnabas.model.ids import BrokerId
from barnabas.replication.replica_manager import ReplicaManager, StartCondition
from barnabas.replication.replica_settings import ReplicaSettings
from barnabas.runtime.clock import SystemClock
from barnabas.storage.filesystem import FileSystem, OsFileSystem
from barnabas.storage.log_manager import LogManager
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import MetadataTree
from barnabas.zk.znodes import BrokerNode

_logger = logging.getLogger("barnabas.broker")

METADATA_FILE = "metadata.sqlite"
_FIRST_COMMANDS_MS = 30_000


class Broker:
    """One broker; `start` and `stop` once each, on one running loop."""

    def __init__(
        self,
        config: BrokerConfig,
        *,
        clock: Clock | None = None,
        filesystem: FileSystem | None = None,
        interceptor: Interceptor | None = None,
        store: EmbeddedStore | None = None,
    ) -> None:
        """`store` is an embedded tree that several brokers on this loop share."""
        self.config = config
        self._store = store
        self._clock = clock or SystemClock()
        self._interceptor = interceptor
        self._layers = ConfigLayers(config)
        self._rules = ProduceRules(self._layers)
        self._metadata = MetadataCache()
        self._logs = LogManager(
            filesystem or OsFileSystem(),
            config.log_dirs,
            self._clock,
            config_for=lambda topic: log_config(self._layers, topic),
            producer_expiration_ms=config["producer.id.expiration.ms"],
            dedupe_buffer_bytes=config["log.cleaner.dedupe.buffer.size"],
        )
        # A cleaning pass and an unlinking may take long; neither must hold up a flush.
        self._executor = ThreadPoolExecutor(3, "barnabas-disk")
        self._flusher = Flusher(self._executor, self._clock)
        self._access = AccessSide(config, self._clock)
        self._listeners = Listeners(config, self._clock, self._access.listeners)
        self._running: AsyncExitStack | None = None
        self.failed = asyncio.Event()
        """Set when the broker can no longer serve: every log directory is offline."""
        self._services: Services | None = None
        self._cluster: ClusterSide | None = None

    @property
    def endpoint(self) -> Endpoint:
        """The first listener, with its real port."""
        return self._listeners.endpoints[0]

    @property
    def host(self) -> str:
        return self.endpoint.host

    @property
    def port(self) -> int:
        return self.endpoint.port

    @property
    def ports(self) -> dict[str, int]:
        """The real port of every listener, by its name."""
        return {endpoint.listener: endpoint.port for endpoint in self._listeners.endpoints}

    @property
    def services(self) -> Services:
        """The parts of the running broker."""
        if self._services is None:
            raise LocalError("the broker has not been started")
        return self._services

    async def start(self) -> None:
        """Serve; what had been started is stopped again when something fails."""
        async with AsyncExitStack() as stack:
            stack.callback(self._executor.shutdown)
            stack.push_async_callback(self._listeners.stop)
            self._listeners.bind()
            stack.callback(self._logs.dirs.release)
            self._logs.dirs.acquire()
            tree = await self._open_tree(stack)
            identity = await establish(self.config, tree, self._logs)
            await self._start_parts(stack, tree, identity)
            self._running = stack.pop_all()

    async def stop(self) -> None:
        """Answer what is in progress, close the logs cleanly, leave the cluster."""
        if self._running is not None:
            running, self._running = self._running, None
            await running.aclose()

    # --- starting --------------------------------------------------------------------------

    async def _open_tree(self, stack: AsyncExitStack) -> MetadataTree:
        hosts = self.config["zookeeper.connect"]
        if hosts is not None:
            return await self._connect_to_zookeeper(stack, hosts)
        if self._store is not None:
            session = self._store.session()
            stack.push_async_callback(session.close)
            return session
        store = EmbeddedStore(self._clock, self.config.log_dirs[0] / METADATA_FILE)
        stack.push_async_callback(store.close)
        return store.session()

    async def _connect_to_zookeeper(self, stack: AsyncExitStack, hosts: str) -> MetadataTree:
        from barnabas.zk.kazoo_tree import connect

        session_ms = self.config["zookeeper.session.timeout.ms"]
        connect_ms = self.config["zookeeper.connection.timeout.ms"]
        tree = await connect(
            hosts,
            session_timeout_s=session_ms / 1000,
            connect_timeout_s=(session_ms if connect_ms is None else connect_ms) / 1000,
        )
        stack.push_async_callback(tree.close)
        return tree

    async def _start_parts(
        self, stack: AsyncExitStack, tree: MetadataTree, identity: Identity
    ) -> None:
        broker_id = identity.broker_id
        configs = ConfigWatch(
            tree, self._layers, broker_id, self._config_changed, self._access.reload_entity
        )
        await configs.load()
        await self._access.load(tree)
        self._logs.dirs.on_offline(self._directory_failed)
        self._logs.start()
        stack.callback(self._logs.shutdown)
        stack.push_async_callback(self._flusher.drain)

        registration = BrokerRegistration(tree, broker_id, self._describe)
        quotas = ReplicationQuotas(self._layers, broker_id)
        cluster = self._cluster = ClusterSide(
            self.config, self._clock, tree, registration, self._metadata, quotas
        )
        self._flusher.on_flushed = cluster.fetchers.wake
        replicas = self._make_replicas(broker_id, registration, cluster)
        topics = Topics(
            TopicAdmin(tree), self._metadata, self._layers, random.Random(), configs.reload
        )
        services = self._services = self._make_services(identity, tree, replicas, topics, cluster)
        receiver = CommandReceiver(
            replicas,
            self._metadata,
            configs,
            topics,
            services.coordinators.metadata_changed,
            cluster.book,
        )
        services.cluster = cluster.start(stack, receiver, replicas)
        await registration.register()
        dispatcher = Dispatcher(self._access.handlers(HANDLERS), services, start_gate)
        self._listeners.start(dispatcher)
        await services.cluster.controller.start()
        await topics.wait_for_broker(broker_id, _FIRST_COMMANDS_MS)
        await self._start_serving(stack, dispatcher, configs)
        stack.push_async_callback(cluster.leave)

    async def _start_serving(
        self, stack: AsyncExitStack, dispatcher: Dispatcher, configs: ConfigWatch
    ) -> None:
        self._access.start(stack)
        configs.start()
        stack.push_async_callback(configs.stop)
        housekeeping = Housekeeping(
            self.config, self._clock, self._logs, self._flusher, self._executor
        )
        housekeeping.start(self.services.replicas, configs)
        stack.push_async_callback(housekeeping.stop)
        self.services.coordinators.start()
        stack.push_async_callback(dispatcher.drain)
        stack.push_async_callback(self._stop_serving)
        dispatcher.intercept(self._interceptor)

    def _describe(self) -> BrokerNode:
        endpoints = registered_endpoints(self.config, self._listeners.endpoints)
        return BrokerNode(endpoints, self.config["broker.rack"], self._clock.now_ms())

    def _make_replicas(
        self, broker_id: BrokerId, registration: BrokerRegistration, cluster: ClusterSide
    ) -> ReplicaManager:
        settings = ReplicaSettings(
            broker_id=broker_id,
            clock=self._clock,
            isr_channel=cluster.isr_channel,
            max_lag_ms=self.config["replica.lag.time.max.ms"],
            min_insync_of=lambda topic: self._layers.topic_value(topic, "min.insync.replicas"),
            request_flush=self._flusher.request if self._flush_before_ack else None,
            is_alive=self._metadata.is_alive,
            rack_of=self._metadata.rack_of,
            leader_throttle=cluster.quotas.leader,
        )
        return ReplicaManager(
            settings,
            LogStore(self._logs, self._layers),
            cluster.fetchers,
            start=StartCondition(doubtful_replicas(self._logs)),
            broker_epoch=lambda: registration.broker_epoch,
        )

    @property
    def _flush_before_ack(self) -> bool:
        return bool(
            self.config["fsync.before.ack"] or self.config["log.flush.interval.messages"] == 1
        )

    def _make_services(
        self,
        identity: Identity,
        tree: MetadataTree,
        replicas: ReplicaManager,
        topics: Topics,
        cluster: ClusterSide,
    ) -> Services:
        loop = asyncio.get_running_loop()
        parts = CoordinatorParts(
            config=self.config,
            clock=self._clock,
            broker_id=identity.broker_id,
            metadata=self._metadata,
            layers=self._layers,
            topics=topics,
            replicas=replicas,
            logs=self._logs,
            producer_ids=ProducerIds(tree, identity.broker_id),
            produce_purgatory=Purgatory(loop.call_later),
            marker_channel=cluster.markers,
        )
        services = self._assemble(identity, parts)
        cluster.route_questions(services.coordinators)
        replicas.add_listener(
            PartitionWaiters(
                services.produce_purgatory,
                services.fetch_purgatory,
                loop.call_soon,
                self._flusher.after_append,
                services.coordinators.leadership_changed,
            )
        )
        return services

    def _assemble(self, identity: Identity, parts: CoordinatorParts) -> Services:
        """What handlers use: the coordinators and what those are made of, and the rest."""
        return Services(
            config=self.config,
            clock=self._clock,
            broker_id=identity.broker_id,
            cluster_id=identity.cluster_id,
            metadata=self._metadata,
            layers=self._layers,
            produce_rules=self._rules,
            replicas=parts.replicas,
            logs=self._logs,
            topics=parts.topics,
            producer_ids=parts.producer_ids,
            produce_purgatory=parts.produce_purgatory,
            fetch_purgatory=Purgatory(asyncio.get_running_loop().call_later),
            fetch_sessions=self._make_fetch_sessions(),
            api_versions=ApiVersionsAnswers(HANDLERS, features_of(self.config.values)),
            answers_own_address=self.config.advertised_listeners is None,
            coordinators=Coordinators(parts),
            client_entities=self._access.entities,
            authorizer=self._access.authorizer,
            acl_store=self._access.acl_store,
        )

    def _make_fetch_sessions(self) -> FetchSessionCache:
        dice = random.Random()
        slots = self.config["max.incremental.fetch.session.cache.slots"]
        return FetchSessionCache(lambda: dice.randrange(1, 2**31), max_slots=slots)

    # --- running ---------------------------------------------------------------------------

    def _config_changed(self, topic: str | None) -> None:
        """Put a change of a topic's settings, or of the broker's, into force."""
        self._rules.forget(topic)
        if self._cluster is not None:
            self._cluster.quotas.forget(topic)
        topics = [topic] if topic is not None else list(self._metadata.topics())
        for name in topics:
            self._logs.update_config(name, log_config(self._layers, name))
            least = self._layers.topic_value(name, "min.insync.replicas")
            if self._services is not None:
                self._services.replicas.change_min_insync(name, least)
        if topic is None:
            self._listeners.limit(connection_limits(self.config, self._layers.broker_value))

    def _directory_failed(self, directory: Path) -> None:
        """A log directory is gone: its replicas are out of service, the others go on."""
        if self._services is not None:
            for log in self._logs.logs_in(directory):
                self._services.replicas.fail_partition(log.topic_partition)
        if self._cluster is not None:
            self._cluster.directory_failed()
        if not self._logs.dirs.online:
            _logger.critical("every log directory is offline, the broker cannot go on")
            self.failed.set()

    async def _stop_serving(self) -> None:
        self._listeners.drain()
        self.services.fetch_purgatory.expire_all()
        self.services.produce_purgatory.expire_all()
        await self.services.coordinators.stop()
        await self._listeners.stop()
