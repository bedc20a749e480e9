"""Registers the metrics of a broker's components: each component owns its numbers.

A component counts where it works, in plain integers and histograms; this module only connects them
with the declarations in `component_catalog`. Everything runs on the broker's loop.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from barnabas.broker.access.client_quotas import ClientQuotas, QuotaMeter
from barnabas.broker.coordinators.shard_host import ShardState
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.metrics import component_catalog as catalog
from barnabas.broker.services import Services
from barnabas.controller.controller import Controller
from barnabas.runtime.metrics import Histogram, Labels, Metric, Registry, Sample
from barnabas.storage.maintenance import Maintenance
from barnabas.zk.tree import MetadataTree, SessionState

_NS_TO_MS = 1e-6
_NS_PER_S = 1_000_000_000
_IO = Path("/proc/self/io")

_CONTROLLER_STATES = {
    "controller": 1,
    "brokers": 2,
    "topics": 3,
    "topic deletion": 4,
    "deleted": 4,
    "reassignment": 5,
    "reassignment request": 5,
    "leader balance": 6,
    "leader election": 7,
    "preferred election": 7,
    "controlled shutdown": 8,
    "isr change": 9,
    "isr notifications": 9,
    "log dir events": 11,
    "log dirs": 11,
    "reassignment list": 15,
}
"""Kafka's numbers of the events that its controller processes."""


def add_component_metrics(
    registry: Registry, services: Services, tree: MetadataTree, quotas: ClientQuotas
) -> None:
    """Adds the metrics of all components of a running broker."""
    _add_controller(registry, services.cluster.controller)
    _add_coordinators(registry, services)
    _add_cleaner(registry, services.logs.maintenance, services)
    _add_quotas(registry, quotas)
    _add_fetching(registry, services.fetch_sessions, services)
    _add_tree(registry, tree)
    _add_disk(registry)


_Key = TypeVar("_Key")


def _one(read: Callable[[_Key], float], key: _Key) -> tuple[Sample]:
    """Returns the only sample of a metric without labels."""
    return (((), read(key)),)


def _count(registry: Registry, metric: Metric, source: object, field: str) -> None:
    """Adds a counter that is a field of a component."""
    registry.source(metric, lambda: (((), getattr(source, field)),))


# --- controller --------------------------------------------------------------------------------


def _add_controller(registry: Registry, controller: Controller) -> None:
    stats = controller.stats
    registry.gauge(catalog.CONTROLLER_STATE, lambda: _CONTROLLER_STATES.get(stats.running or "", 0))
    registry.gauge(catalog.TOPICS_TO_DELETE, lambda: controller.deletions[0])
    registry.gauge(catalog.BLOCKED_DELETIONS, lambda: controller.deletions[1])
    registry.histograms(catalog.ELECTIONS, _NS_TO_MS).add(stats.elections)
    _count(registry, catalog.UNCLEAN_ELECTIONS, stats, "unclean_elections")
    registry.gauge(catalog.EVENT_QUEUE_SIZE, lambda: controller.queued_events)
    registry.histograms(catalog.EVENT_QUEUE_TIME, _NS_TO_MS).add(stats.queue_time)
    registry.histogram_source(
        catalog.EVENT_TIME,
        lambda: [((kind,), times) for kind, times in stats.event_times.items()],
        1 / _NS_PER_S,
    )
    registry.gauge(catalog.COMMAND_QUEUE, lambda: controller.queued_commands)


# --- coordinators ------------------------------------------------------------------------------


def _add_coordinators(registry: Registry, services: Services) -> None:
    groups, transactions = services.groups.stats, services.transactions.stats

    def consumer_rebalances() -> int:
        return sum(n for (protocol, _), n in groups.rebalances.items() if protocol == "consumer")

    def group_partitions() -> list[Sample]:
        counts = services.groups.partitions_by_state()
        return [((state.value,), counts.get(state, 0)) for state in ShardState]

    registry.source(catalog.REBALANCES, lambda: list(groups.rebalances.items()))
    _count(registry, catalog.COMPLETED_REBALANCES, groups, "completed")
    registry.source(catalog.CONSUMER_REBALANCES, lambda: (((), consumer_rebalances()),))
    _count(registry, catalog.OFFSET_COMMITS, groups, "commits")
    _count(registry, catalog.OFFSET_EXPIRATIONS, groups, "expired_offsets")
    _count(registry, catalog.OFFSET_DELETIONS, groups, "deleted_offsets")
    registry.source(catalog.GROUP_PARTITIONS, group_partitions)
    registry.histograms(catalog.GROUP_LOAD_TIME, _NS_TO_MS).add(services.groups.load_time)
    registry.histograms(catalog.TRANSACTION_LOAD_TIME, _NS_TO_MS).add(
        services.transactions.load_time
    )
    _count(registry, catalog.COMMITTED_TRANSACTIONS, transactions, "commits")
    registry.source(
        catalog.ABORTED_TRANSACTIONS,
        lambda: [((cause,), count) for cause, count in transactions.aborts.items()],
    )


# --- logs --------------------------------------------------------------------------------------


def _add_cleaner(registry: Registry, maintenance: Maintenance, services: Services) -> None:
    cleaner = maintenance.cleaning
    stats = cleaner.stats

    def since_last_check() -> int:
        if stats.last_check_ms is None:
            return 0
        return max(services.clock.now_ms() - stats.last_check_ms, 0)

    _count(registry, catalog.EXPIRED_SEGMENTS, maintenance, "expired_segments")
    registry.histograms(catalog.CLEAN_TIME, 1 / _NS_PER_S).add(stats.passes)
    _count(registry, catalog.CLEANER_READ, stats, "bytes_read")
    _count(registry, catalog.CLEANER_WRITTEN, stats, "bytes_written")
    registry.gauge(
        catalog.CLEANER_RECOPY, lambda: 100 * stats.bytes_written / max(stats.bytes_read, 1)
    )
    registry.gauge(catalog.MAX_CLEAN_TIME, lambda: stats.longest_ns / _NS_PER_S)
    registry.gauge(catalog.UNCLEANABLE, lambda: len(cleaner.uncleanable))
    registry.gauge(catalog.MAX_DIRTY, lambda: 100 * stats.max_dirty_ratio)
    registry.gauge(catalog.SINCE_LAST_CLEAN, since_last_check)


# --- quotas and fetches ------------------------------------------------------------------------


def _add_quotas(registry: Registry, quotas: ClientQuotas) -> None:
    def throttled(metric: Metric, meter: QuotaMeter) -> None:
        def items() -> list[tuple[Labels, Histogram]]:
            return list(meter.throttle_times.items())

        registry.histogram_source(metric, items)

    throttled(catalog.PRODUCE_THROTTLE, quotas.produce)
    throttled(catalog.FETCH_THROTTLE, quotas.fetch)
    throttled(catalog.REQUEST_THROTTLE, quotas.requests)
    throttled(catalog.MUTATION_THROTTLE, quotas.mutations)


def _add_fetching(registry: Registry, sessions: FetchSessionCache, services: Services) -> None:
    registry.gauge(catalog.FETCH_SESSIONS, lambda: len(sessions))
    registry.gauge(catalog.FETCH_SESSION_PARTITIONS, lambda: sessions.partitions)
    _count(registry, catalog.FETCH_SESSION_EVICTIONS, sessions, "evictions")
    registry.gauge(catalog.FOLLOWER_LAG, lambda: services.cluster.fetchers.max_lag)


# --- metadata tree and disks -------------------------------------------------------------------


def _add_tree(registry: Registry, tree: MetadataTree) -> None:
    changes: Counter[SessionState] = Counter()
    tree.add_session_listener(lambda state: changes.update([state]))

    def states() -> Iterator[Sample]:
        for state in SessionState:
            yield (state.value,), int(tree.state is state)

    registry.source(catalog.SESSION_STATE, states)
    registry.histograms(catalog.TREE_REQUEST_TIME, _NS_TO_MS).add(tree.request_time)
    for metric, state in (
        (catalog.TREE_DISCONNECTS, SessionState.SUSPENDED),
        (catalog.TREE_EXPIRES, SessionState.LOST),
        (catalog.TREE_CONNECTS, SessionState.CONNECTED),
    ):
        registry.source(metric, partial(_one, changes.__getitem__, state))


def _add_disk(registry: Registry) -> None:
    for metric, field in ((catalog.DISK_READ, "read_bytes"), (catalog.DISK_WRITTEN, "write_bytes")):
        registry.source(metric, partial(_one, _disk_bytes, field))


def _disk_bytes(field: str) -> int:
    """Returns a count of the kernel for this process; 0 if there is none."""
    try:
        lines = _IO.read_text().splitlines()
    except OSError:  # not Linux, or not readable in a container
        return 0
    found = {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}
    return found.get(field, 0)
