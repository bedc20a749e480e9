"""All metrics of one broker: its registry, its counters, and the values read from its state.

Counters exist from the start of the broker; `observe` adds the values that are computed from the
state of the running broker when the metrics are read. The broker's loop owns everything here.
"""

import asyncio
import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from barnabas.broker.access.client_quotas import ClientQuotas
from barnabas.broker.listeners import Listeners
from barnabas.broker.loop_watch import LoopWatch
from barnabas.broker.metrics import catalog, component_catalog
from barnabas.broker.metrics.component_metrics import add_component_metrics
from barnabas.broker.metrics.lag import (
    CommittedLag,
    GroupLag,
    LagMonitor,
    coordinated_offsets,
    lag_samples,
)
from barnabas.broker.metrics.request_metrics import RequestMetrics
from barnabas.broker.metrics.topic_metrics import TopicMetrics
from barnabas.broker.services import Services
from barnabas.model.control import PartitionState
from barnabas.model.ids import NO_BROKER
from barnabas.model.version import VERSION
from barnabas.replication.partition import Partition
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import Histogram, Metric, Registry, Sample
from barnabas.storage.log import Log
from barnabas.storage.log_manager import LogManager
from barnabas.transactions.requests import ListTransactions
from barnabas.zk.tree import MetadataTree, SessionState

_STARTING, _RUNNING, _DRAINING, _STOPPING = 1, 3, 6, 7
_PAGE = resource.getpagesize()
_SLICE = 200


class BrokerMetrics:
    """Metrics of one broker.

    Args:
        clock: Time of the broker.
        window_ms: Time that the quantiles of histograms describe.

    Attributes:
        registry: All metrics.
        requests: Requests by API.
        topics: Records and bytes by topic.
        lag: Lag of the groups coordinated here; None before `observe_lag`.
        replicas: Counts over all partitions; None before `observe`.
    """

    def __init__(self, clock: Clock, window_ms: int) -> None:
        self.registry = Registry(window_ms)
        self.requests = RequestMetrics(self.registry)
        self.topics = TopicMetrics(self.registry)
        self.loop_lag = self.registry.histograms(catalog.LOOP_LAG, 1e-9).labels()
        self.lag: LagMonitor | None = None
        self.replicas: ReplicaCounts | None = None
        self.state = _STARTING
        self.registry.gauge(catalog.BROKER_STATE, lambda: self.state)
        _add_process_metrics(self.registry, clock)

    def observe(
        self,
        services: Services,
        listeners: Listeners,
        tree: MetadataTree,
        watch: LoopWatch,
        flush_time: Histogram,
        quotas: ClientQuotas,
    ) -> None:
        """Adds the metrics that are computed from the state of the running broker."""
        registry = self.registry
        info = (VERSION, str(services.broker_id), services.cluster_id)
        registry.source(catalog.BROKER_INFO, lambda: ((info, 1),))
        registry.gauge(catalog.ZOOKEEPER_STATE, lambda: int(tree.state is SessionState.CONNECTED))
        registry.source(
            catalog.SLOW_REQUESTS,
            lambda: [((name,), count) for name, count in watch.slow_requests.items()],
        )
        registry.histograms(catalog.FLUSHES, 1e-6).add(flush_time)
        registry.source(catalog.PURGATORY_SIZE, lambda: _purgatories(services))
        _add_connection_metrics(registry, listeners)
        self.replicas = ReplicaCounts(services)
        _add_replica_metrics(registry, services, self.replicas)
        _add_partition_metrics(registry, services)
        _add_directory_metrics(registry, services)
        _add_controller_metrics(registry, services, self.replicas)
        _add_coordinator_metrics(registry, services)
        add_component_metrics(registry, services, tree, quotas)

    def observe_lag(self, lag: LagMonitor) -> None:
        """Adds the metrics of the lag of groups."""
        self.lag = lag
        _add_lag_metrics(self.registry, lag)

    async def refresh(self) -> None:
        """Computes the counts over all partitions; call it before the metrics are read."""
        if self.replicas is not None:
            await self.replicas.update()

    def running(self) -> None:
        self.state = _RUNNING

    def draining(self) -> None:
        """Called when the broker begins to move its leaderships to other brokers."""
        self.state = _DRAINING

    def stopping(self) -> None:
        """Called when the broker begins to close its connections."""
        self.state = _STOPPING

    @property
    def is_running(self) -> bool:
        return self.state == _RUNNING


# --- process ---------------------------------------------------------------------------------


def _add_process_metrics(registry: Registry, clock: Clock) -> None:
    started = clock.now_ms() / 1000
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    registry.gauge(catalog.PROCESS_START, lambda: started)
    registry.gauge(catalog.PROCESS_CPU, time.process_time)
    registry.gauge(catalog.PROCESS_MAX_FILES, lambda: limit)
    registry.gauge(catalog.PROCESS_MEMORY, _resident_bytes)


def _resident_bytes() -> int:
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE
    except OSError:  # not Linux: only the maximum is known
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _open_files() -> int:
    for directory in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(os.listdir(directory))  # noqa: PTH208 - one call in C, not 10,000 objects
        except OSError:
            continue
    return 0


# --- connections and requests ----------------------------------------------------------------


def _purgatories(services: Services) -> Iterator[Sample]:
    yield ("Produce",), len(services.produce_purgatory)
    yield ("Fetch",), len(services.fetch_purgatory)


def _add_connection_metrics(registry: Registry, listeners: Listeners) -> None:
    def counts() -> Iterator[Sample]:
        for endpoint in listeners.endpoints:
            yield (endpoint.listener,), len(listeners.connections(endpoint.listener))

    def clients() -> Iterator[Sample]:
        found: Counter[tuple[str, ...]] = Counter()
        for endpoint in listeners.endpoints:
            for connection in listeners.connections(endpoint.listener):
                found[endpoint.listener, *connection.client_software] += 1
        yield from found.items()

    def refused() -> Iterator[Sample]:
        found: Counter[str] = Counter()
        for reason, count in listeners.closed_connections():
            found[reason.value] += count
        yield from (((reason,), count) for reason, count in found.items())

    registry.source(catalog.CONNECTIONS, counts)
    registry.source(catalog.CLIENTS, clients)
    registry.source(catalog.REFUSED_CONNECTIONS, refused)


# --- replicas and logs -----------------------------------------------------------------------


class ReplicaCounts:
    """Counts over all partitions; `update` computes them in slices before the metrics are read."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.counts: Counter[str] = Counter()
        self.open_files = 0

    def of(self, name: str) -> int:
        """Returns a count of the last update."""
        return self.counts[name]

    async def update(self) -> None:
        """Counts replicas, in-sync replicas and producer ids; other callbacks run in between."""
        services = self._services
        found: Counter[str] = Counter()
        for number, partition in enumerate(list(services.replicas.partitions())):
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
            found["replicas"] += 1
            if partition.is_leader:
                _count_led(found, partition)
        for number, log in enumerate(list(services.logs)):
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
            found["producer_ids"] += len(log.producer_states())
        await self._count_metadata(found)
        # On a thread: the list of 10,000 open files takes the kernel 10 ms.
        self.open_files = await asyncio.get_running_loop().run_in_executor(None, _open_files)
        self.counts = found

    async def _count_metadata(self, found: "Counter[str]") -> None:
        """Counts the partitions of all topics: a topic may have one, or thousands."""
        services = self._services
        counted = 0
        for topic in list(services.metadata.topics()):
            found["topics"] += 1
            for state in list((services.metadata.partitions(topic) or {}).values()):
                _count_partition(found, services.broker_id, state)
                counted += 1
                if counted % _SLICE == 0:
                    await asyncio.sleep(0)


def _count_led(found: "Counter[str]", partition: Partition) -> None:
    in_sync = len(partition.isr)
    found["led"] += 1
    found["under_replicated"] += in_sync < len(partition.replicas)
    found["under_min_isr"] += partition.is_under_min_insync
    found["at_min_isr"] += in_sync == partition.min_insync


def _count_partition(found: "Counter[str]", broker_id: int, state: PartitionState) -> None:
    moving = bool(state.adding or state.removing)
    found["partitions"] += 1
    found["reassigning"] += moving and state.leader == broker_id
    found["offline"] += state.leader == NO_BROKER
    found["not_preferred"] += bool(state.replicas) and state.leader != state.replicas[0]
    found["out_of_sync_here"] += broker_id in state.replicas and broker_id not in state.isr


def _add_replica_metrics(registry: Registry, services: Services, counts: ReplicaCounts) -> None:
    replicas = services.replicas
    isr = replicas.settings.isr_changes
    for metric, name in (
        (catalog.LEADER_COUNT, "led"),
        (catalog.PARTITION_COUNT, "replicas"),
        (catalog.UNDER_REPLICATED, "under_replicated"),
        (catalog.UNDER_MIN_ISR, "under_min_isr"),
        (catalog.AT_MIN_ISR, "at_min_isr"),
        (catalog.PRODUCER_IDS, "producer_ids"),
        (component_catalog.REASSIGNING, "reassigning"),
    ):
        registry.gauge(metric, partial(counts.of, name))
    registry.gauge(catalog.PROCESS_FILES, lambda: counts.open_files)
    registry.gauge(catalog.OFFLINE_REPLICAS, lambda: replicas.offline_count)
    registry.source(catalog.ISR_SHRINKS, lambda: (((), isr.shrinks),))
    registry.source(catalog.ISR_EXPANDS, lambda: (((), isr.expands),))
    registry.source(catalog.FAILED_ISR_UPDATES, lambda: (((), isr.failed),))


def _is_under_replicated(partition: Partition) -> bool:
    return len(partition.isr) < len(partition.replicas)


def _labels_of(partition: Partition) -> tuple[str, str]:
    topic, number = partition.topic_partition
    return topic, str(number)


def _add_partition_metrics(registry: Registry, services: Services) -> None:
    replicas = services.replicas

    def each(
        metric: Metric,
        partitions: Callable[[], Iterable[Partition]],
        value: Callable[[Partition], float],
    ) -> None:
        def samples() -> Iterator[Sample]:
            # A copy: partitions may come and go between the slices of a reading.
            for partition in list(partitions()):
                yield _labels_of(partition), value(partition)

        registry.source(metric, samples)

    led = replicas.leader_partitions
    each(catalog.PARTITION_UNDER_REPLICATED, led, lambda p: int(_is_under_replicated(p)))
    each(catalog.PARTITION_IN_SYNC, led, lambda p: len(p.isr))
    _add_log_metrics(registry, services.logs)


def _add_log_metrics(registry: Registry, logs: LogManager) -> None:
    def each(metric: Metric, value: Callable[[Log], float]) -> None:
        def samples() -> Iterator[Sample]:
            for log in list(logs):
                topic, number = log.topic_partition
                yield (topic, str(number)), value(log)

        registry.source(metric, samples)

    each(catalog.LOG_SIZE, lambda log: log.size_bytes)
    each(catalog.LOG_SEGMENTS, lambda log: len(log.local.segments))
    each(catalog.LOG_START, lambda log: log.log_start_offset)
    each(catalog.LOG_END, lambda log: log.log_end_offset)


def _add_directory_metrics(registry: Registry, services: Services) -> None:
    dirs = services.logs.dirs
    registry.gauge(catalog.OFFLINE_DIRECTORIES, lambda: sum(1 for d in dirs if d.health.failed))
    registry.source(
        catalog.DIRECTORY_OFFLINE,
        lambda: [((str(d.path),), int(d.health.failed)) for d in dirs],
    )
    registry.source(
        catalog.DIRECTORY_FULL, lambda: [((str(d.path),), d.health.disk_full) for d in dirs]
    )
    registry.source(catalog.DIRECTORY_FREE, lambda: [((str(d.path),), _free(d.path)) for d in dirs])


def _free(path: Path) -> int:
    try:
        found = os.statvfs(path)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


# --- controller ------------------------------------------------------------------------------


def _add_controller_metrics(registry: Registry, services: Services, counts: ReplicaCounts) -> None:
    metadata = services.metadata

    def active() -> bool:
        return services.cluster.controller.is_active

    def controlled(name: str) -> Callable[[], float]:
        return lambda: counts.of(name) if active() else 0

    registry.gauge(catalog.ACTIVE_CONTROLLER, lambda: int(active()))
    registry.gauge(catalog.OFFLINE_PARTITIONS, controlled("offline"))
    registry.gauge(catalog.PREFERRED_IMBALANCE, controlled("not_preferred"))
    registry.gauge(catalog.GLOBAL_TOPICS, controlled("topics"))
    registry.gauge(catalog.GLOBAL_PARTITIONS, controlled("partitions"))
    registry.gauge(
        catalog.ACTIVE_BROKERS,
        lambda: sum(1 for _ in metadata.brokers()) if active() else 0,
    )


# --- coordinators ----------------------------------------------------------------------------


def _add_coordinator_metrics(registry: Registry, services: Services) -> None:
    def groups() -> Iterator[Sample]:
        found: Counter[tuple[str, ...]] = Counter()
        for driver in services.groups.active_shards():
            for group in driver.shard.list_groups():
                found[group.group_type, group.state] += 1
        yield from found.items()

    def transactions() -> Iterator[Sample]:
        found: Counter[str] = Counter()
        everything = ListTransactions()
        for driver in services.transactions.active_shards():
            now_ms = services.transactions.now_ms()
            for listed in driver.shard.list_transactions(everything, now_ms).transactions:
                found[listed.state.label] += 1
        yield from (((state,), count) for state, count in found.items())

    def in_state(state: str | None) -> float:
        return sum(n for labels, n in groups() if state is None or labels[1] == state)

    registry.source(catalog.GROUPS, groups)
    for metric, state in (
        (catalog.GROUP_TOTAL, None),
        (catalog.PREPARING_GROUPS, "PreparingRebalance"),
        (catalog.COMPLETING_GROUPS, "CompletingRebalance"),
        (catalog.STABLE_GROUPS, "Stable"),
        (catalog.EMPTY_GROUPS, "Empty"),
        (catalog.DEAD_GROUPS, "Dead"),
    ):
        registry.gauge(metric, partial(in_state, state))
    registry.gauge(catalog.OFFSETS, lambda: sum(1 for _ in coordinated_offsets(services)))
    registry.source(catalog.TRANSACTIONS, transactions)


def _add_lag_metrics(registry: Registry, lag: LagMonitor) -> None:
    def each(metric: Metric, value: Callable[[CommittedLag], float | None]) -> None:
        def samples() -> Iterator[Sample]:
            for labels, item in lag_samples(lag.partitions):
                found = value(item)
                if found is not None:
                    yield labels, found

        registry.source(metric, samples)

    def by_group(metric: Metric, value: Callable[[GroupLag], float]) -> None:
        registry.source(metric, lambda: (((n,), value(g)) for n, g in lag.groups.items()))

    each(catalog.LAG, lambda item: item.records)
    each(catalog.COMMITTED, lambda item: item.committed)
    each(catalog.LAG_SECONDS, lambda item: item.seconds)
    by_group(catalog.LAG_TREND, lambda group: group.change_per_second)
    by_group(
        catalog.CATCH_UP,
        lambda group: -1 if group.catch_up_seconds is None else group.catch_up_seconds,
    )
