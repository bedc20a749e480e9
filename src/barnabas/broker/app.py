"""The broker: starts and stops the parts that `composition` creates.

A single embedded broker is a cluster of one on the embedded metadata tree: the same controller,
the same commands, the same replicas as in a large cluster.

Start: bind the listeners (reports a port in use first), lock the log directories, open the tree,
read the configuration, load the logs, register, start the controller election, wait until the
controller has sent this broker its first commands, then accept connections. Stop is the reverse; it
marks the logs as cleanly closed.
"""

import asyncio
import logging
import random
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path

from barnabas.broker.access.audit import AuditTopic
from barnabas.broker.access.inter_broker import BrokerPeers
from barnabas.broker.cluster.command_channels import CommandReceiver
from barnabas.broker.cluster.leader_queries import RequestedLeaders
from barnabas.broker.cluster.replica_source import ReplicationQuotas
from barnabas.broker.cluster.wiring import ClusterRuntime
from barnabas.broker.composition import make_components, make_replicas, make_services
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_watch import ConfigWatch
from barnabas.broker.coordinators.transaction_coordinator import ProducerIds
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.handler import Interceptor
from barnabas.broker.http_server import HttpEndpoints, HttpServer, parse_http_listener
from barnabas.broker.listeners import ConnectionCaps, Listeners
from barnabas.broker.metrics.broker_metrics import BrokerMetrics
from barnabas.broker.metrics.lag import GroupOffsets, LagMonitor
from barnabas.broker.metrics.reporting import BrokerReporters
from barnabas.broker.services import Services
from barnabas.broker.startup import Identity, StartGate, establish, open_tree, registered_endpoints
from barnabas.broker.topics import Topics
from barnabas.controller.registration import BrokerRegistration
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.control import Endpoint
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.runtime.clock import Clock, SystemClock
from barnabas.storage.filesystem import FileSystem
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import MetadataTree, SessionState
from barnabas.zk.znodes import BrokerNode

_logger = logging.getLogger("barnabas.broker")

_FIRST_COMMANDS_MS = 30_000
_RESTART_S = 1.0


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
        """Creates a broker; `store` is an embedded tree shared by several brokers on this loop."""
        self.config = config
        self._store = store
        self._interceptor = interceptor
        self._filesystem = filesystem
        self._clock = clock or SystemClock()
        self._running: AsyncExitStack | None = None
        self.failed = asyncio.Event()
        """Set when the broker can no longer serve: every log directory is offline."""
        self._make_components()

    def _make_components(self) -> None:
        """Creates the parts for one attempt to start; they cannot be reused after a failure."""
        config = self.config
        alone = self._store is None and config["zookeeper.connect"] is None
        self._components = parts = make_components(
            config, self._clock, self._filesystem, alone=alone
        )
        self._layers = parts.layers
        self._metadata = parts.metadata
        self._storage = parts.storage
        self._access = parts.access
        self._caps = ConnectionCaps(config, parts.layers, self._access.connection_rates)
        self._listeners = Listeners(
            config,
            self._clock,
            self._access.listeners,
            self._access.connection_rates,
            self._caps.admission,
        )
        metrics = self._components.metrics
        self._endpoints = HttpEndpoints(metrics, self._clock, self._listeners, self.failed)
        self._http: HttpServer | None = None
        self._reporters = BrokerReporters(self._layers, metrics, self._clock)
        self._services: Services | None = None
        self._cluster: ClusterRuntime | None = None

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
    def http_url(self) -> str | None:
        """Address of the HTTP endpoints; None if `http.listener` is not set."""
        return None if self._http is None else self._http.url

    @property
    def metrics(self) -> BrokerMetrics:
        """The metrics of the broker."""
        return self._components.metrics

    @property
    def services(self) -> Services:
        """The parts of the running broker."""
        if self._services is None:
            raise LocalError("the broker has not been started")
        return self._services

    async def start(self) -> None:
        """Starts the broker; after a failure, stops the parts that were started.

        Starts again if the ZooKeeper session expires during the start.
        """
        while not await self._try_to_start():
            await asyncio.sleep(_RESTART_S)
            self._make_components()

    async def _try_to_start(self) -> bool:
        """Starts the broker; returns False if the session on the metadata tree ended meanwhile."""
        async with AsyncExitStack() as stack:
            stack.callback(self._storage.executor.shutdown)
            stack.push_async_callback(self._listeners.stop)
            stack.push_async_callback(self._caps.stop)
            self._caps.check()
            self._reporters.load()
            self._listeners.bind()
            self._start_http(stack)
            self._storage.acquire(stack)
            tree = await open_tree(stack, self.config, self._clock, self._store)
            session_id = tree.session_id
            try:
                identity = await establish(self.config, tree, self._storage.logs)
                await self._start_components(stack, tree, identity)
            except BarnabasError as error:
                if tree.session_id == session_id and tree.state is SessionState.CONNECTED:
                    raise
                line = "lost the connection to ZooKeeper during the start, starting again: %s"
                _logger.warning(line, error)
                return False
            self._running = stack.pop_all()
            return True

    def _start_http(self, stack: AsyncExitStack) -> None:
        """Starts the HTTP endpoints; they report that the broker is not ready yet."""
        listener = self.config["http.listener"]
        if not listener:
            return
        host, port = parse_http_listener(listener)
        self._http = HttpServer(host, port, self._endpoints.table())
        self._http.start()
        stack.push_async_callback(self._http.stop)
        _cancel_at_exit(stack, self._endpoints.sample_loop_lag())

    async def stop(self) -> None:
        """Completes requests in progress, closes the logs cleanly and leaves the cluster."""
        if self._running is not None:
            running, self._running = self._running, None
            # Before the leaderships move to other brokers, which may take seconds: clients should
            # no longer be sent here.
            self._components.metrics.draining()
            await running.aclose()

    # --- starting --------------------------------------------------------------------------

    async def _start_components(
        self, stack: AsyncExitStack, tree: MetadataTree, identity: Identity
    ) -> None:
        broker_id = identity.broker_id
        configs = ConfigWatch(
            tree,
            self._layers,
            broker_id,
            self._config_changed,
            self._access.reload_entity,
            self._forget_settings,
        )
        await configs.load()
        self._broker_settings_changed()
        await self._access.load(tree)
        self._storage.logs.dirs.on_offline(self._directory_failed)
        self._storage.load(stack)

        registration = BrokerRegistration(tree, broker_id, self._describe)
        quotas = ReplicationQuotas(self._layers, broker_id)
        cluster = self._cluster = ClusterRuntime(
            self.config, self._clock, tree, registration, self._metadata, quotas
        )
        self._access.follow_certificates(cluster.security.tls)
        self._storage.flusher.on_flushed = cluster.fetchers.wake
        replicas = make_replicas(self._components, registration, cluster)
        topics = Topics(
            TopicAdmin(tree), self._metadata, self._layers, random.Random(), configs.reload
        )
        services = self._services = make_services(
            self._components, identity, replicas, topics, ProducerIds(tree, broker_id), cluster
        )
        receiver = CommandReceiver(
            replicas,
            self._metadata,
            configs,
            topics,
            services.coordinators.metadata_changed,
            cluster.book,
        )
        stack.callback(services.validation_thread.close)
        services.cluster = cluster.start(stack, receiver, replicas)
        await registration.register()
        peers = BrokerPeers(self.config, tree, self._clock)
        handlers = peers.restrict(self._access.handlers(self._components.handlers))
        gate = StartGate()
        stack.callback(gate.close)
        metrics = self._components.metrics
        dispatcher = Dispatcher(
            handlers, services, gate, clock=self._clock, metrics=metrics.requests
        )
        self._observe(services, tree, dispatcher, cluster)
        self._listeners.start(self._access.timed(dispatcher), dispatcher.short_paths.serve)
        await services.cluster.controller.start()
        await topics.wait_for_broker(broker_id, _FIRST_COMMANDS_MS)
        await self._start_serving(stack, dispatcher, configs, gate)
        stack.push_async_callback(cluster.leave)
        self._start_audit_topic(stack, topics, cluster)
        self._reporters.start(broker_id)
        stack.push_async_callback(self._reporters.stop)

    def _observe(
        self,
        services: Services,
        tree: MetadataTree,
        dispatcher: Dispatcher,
        cluster: ClusterRuntime,
    ) -> None:
        """Adds the metrics of the parts, and passes them to the HTTP endpoints."""
        metrics = self._components.metrics
        metrics.observe(
            services,
            self._listeners,
            tree,
            dispatcher.loop_watch,
            self._storage.flusher.duration,
            self._access.quotas,
        )
        leaders = RequestedLeaders(self._metadata, cluster.new_links())
        offsets = GroupOffsets(services, tree)
        metrics.observe_lag(LagMonitor(offsets.read, services.logs, leaders, self._clock))
        self._endpoints.observe(services, tree)

    def _start_audit_topic(
        self, stack: AsyncExitStack, topics: Topics, cluster: ClusterRuntime
    ) -> None:
        """Writes the audit log to its topic; stopped first, while the broker still serves."""
        audit = self._access.audit
        if not audit.enabled or audit.topic is None:
            return
        writer = AuditTopic(audit.topic, topics, self._metadata, cluster.new_links(), self._clock)
        writer.start()
        audit.write_to(writer.put)
        stack.push_async_callback(writer.stop)

    async def _start_serving(
        self, stack: AsyncExitStack, dispatcher: Dispatcher, configs: ConfigWatch, gate: StartGate
    ) -> None:
        self._access.start(stack)
        configs.start()
        stack.push_async_callback(configs.stop)
        self._storage.work(stack, self.services.replicas, configs)
        self.services.coordinators.start()
        stack.push_async_callback(dispatcher.drain)
        stack.push_async_callback(self._stop_serving)
        dispatcher.intercept(self._interceptor)
        gate.open()
        self._components.metrics.running()
        lag = self._components.metrics.lag
        if lag is not None:
            period_s = self.config["group.lag.interval.ms"] / 1000
            _cancel_at_exit(stack, lag.run(period_s, self._lag_is_read))

    def _lag_is_read(self) -> bool:
        """Whether the lag of groups is served or reported; computing it costs reads of the logs."""
        return self._http is not None or self._reporters.in_use

    def _describe(self) -> BrokerNode:
        endpoints = registered_endpoints(self.config, self._listeners.endpoints)
        return BrokerNode(endpoints, self.config["broker.rack"], self._clock.now_ms())

    # --- running ---------------------------------------------------------------------------

    def _config_changed(self, topic: str | None) -> None:
        """Applies a change of a topic's settings, or of the broker's if `topic` is None."""
        self._forget_settings(topic)
        topics = [topic] if topic is not None else list(self._metadata.topics())
        self._storage.topic_settings_changed(topics)
        for name in topics:
            least = self._layers.topic_value(name, "min.insync.replicas")
            if self._services is not None:
                self._services.replicas.change_min_insync(name, least)
        if topic is None:
            self._broker_settings_changed()

    def _forget_settings(self, topic: str | None) -> None:
        """Drops what was derived from the settings of a topic, or of all if `topic` is None.

        Sufficient for a deleted topic: its logs, which may be thousands, are about to be removed.
        """
        self._components.produce_rules.forget(topic)
        if self._cluster is not None:
            self._cluster.quotas.forget(topic)

    def _broker_settings_changed(self) -> None:
        self._caps.apply()
        self._access.reload_certificates()
        self._storage.broker_settings_changed()
        self._reporters.apply()

    def _directory_failed(self, directory: Path) -> None:
        """Takes the replicas of a failed log directory offline; the others continue."""
        if self._services is not None:
            for log in self._storage.logs.logs_in(directory):
                self._services.replicas.fail_partition(log.topic_partition)
        if self._cluster is not None:
            self._cluster.directory_failed()
        if not self._storage.logs.dirs.online:
            _logger.critical("every log directory is offline, the broker cannot continue")
            self.failed.set()

    async def _stop_serving(self) -> None:
        self._components.metrics.stopping()
        self._listeners.drain()
        self.services.fetch_purgatory.expire_all()
        self.services.produce_purgatory.expire_all()
        await self.services.coordinators.stop()
        await self._listeners.stop()


def _cancel_at_exit(stack: AsyncExitStack, work: Coroutine[object, object, None]) -> None:
    """Runs a coroutine in the background until the stack is closed."""
    task = asyncio.get_running_loop().create_task(work)

    async def cancel() -> None:
        task.cancel()
        await asyncio.wait([task])

    stack.push_async_callback(cancel)
