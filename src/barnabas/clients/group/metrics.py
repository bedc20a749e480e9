"""Metrics of a consumer: what its parts record, and under which of Kafka's names it is read.

Each meter has one writer: the loop for requests, the polling thread for polled records. Records
are counted per block and response, so the iteration over records costs nothing.
"""

from collections.abc import Callable, Iterator
from time import monotonic_ns

from barnabas.clients.group.subscription import (
    AssignedPartition,
    ConsumedTopicMeters,
    PartitionMeters,
    SubscriptionState,
)
from barnabas.clients.metrics.client_metrics import ClientMetrics, MetricGroup, MetricsByTopic
from barnabas.runtime._meter_hot import Meter
from barnabas.runtime.clock import Clock
from barnabas.runtime.metric_types import Metric
from barnabas.runtime.metrics import Histogram

MS = 0.001
MICROSECONDS = 1_000_000
RATIO = 1_000_000
NOT_YET = -1.0
FETCH = "consumer-fetch-manager-metrics"
NAN = float("nan")


class FetchMeters:
    """Metrics that fetcher and fetch buffer record."""

    def __init__(self, clock: Clock, *, committed_only: bool = False, debug: bool = False) -> None:
        self._clock = clock
        self._committed_only = committed_only
        self.topics: dict[str, ConsumedTopicMeters] = {}
        self._partitions: list[AssignedPartition] = []
        self.latency = Meter()
        self.latencies = Histogram() if debug else None
        self.throttle_time = Meter()
        self.fetch_size = Meter()
        self.lag = Meter()
        self.lead = Meter()

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.latency, self.throttle_time, self.fetch_size, self.lag, self.lead)
        for topic in self.topics.values():
            yield from topic
        self._partitions = [state for state in self._partitions if state.assigned]
        for state in self._partitions:
            if state.meters is not None:
                yield from (state.meters.lag, state.meters.lead)

    # -- called by the loop --------------------------------------------------------------------

    def partition(self, state: AssignedPartition) -> PartitionMeters:
        """Returns the meters of a partition."""
        if state.meters is None:
            now_ms = self._clock.monotonic_ms()
            topic = self.topics.get(state.partition.topic)
            if topic is None:
                topic = ConsumedTopicMeters(now_ms)
                self.topics = {**self.topics, state.partition.topic: topic}
            state.meters = PartitionMeters(topic, now_ms)
            self._partitions.append(state)
        return state.meters

    def on_response(self, latency_s: float, throttle_ms: int) -> None:
        """Records the response to a fetch request."""
        latency = int(latency_s * MICROSECONDS)
        self.latency.record(latency)
        if self.latencies is not None:
            self.latencies.record(latency)
        self.throttle_time.record(throttle_ms)

    def fetched(self, sizes: dict[AssignedPartition, int]) -> None:
        """Records the bytes of records in one response, by partition."""
        by_topic: dict[ConsumedTopicMeters, int] = {}
        for state, size in sizes.items():
            topic = self.partition(state).topic
            by_topic[topic] = by_topic.get(topic, 0) + size
        for topic, size in by_topic.items():
            topic.fetch_size.record(size)
        if by_topic:
            self.fetch_size.record(sum(by_topic.values()))

    # -- called by the polling thread ----------------------------------------------------------

    def consumed(self, state: AssignedPartition, records: int, size: int) -> None:
        """Records what poll() took of a partition: records, and bytes of a piece at its end."""
        meters = state.meters
        if meters is None:
            return
        if records:
            meters.topic.records.record(records)
        if size:
            meters.topic.bytes.record(size)
        lag, lead = state.lag(self._committed_only), state.lead()
        if lag is not None:
            meters.lag.record(lag)
            self.lag.record(lag)
        if lead is not None:
            meters.lead.record(lead)
            self.lead.record(lead)


class PollMeters:
    """Times of poll(), recorded by the polling thread, and of calls that wait for commits."""

    def __init__(self) -> None:
        self.between = Meter()
        self.idle = Meter()
        self.commit_sync = Meter()
        self.committed = Meter()
        self._began_ms = 0
        self._ended_ms = 0

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.between, self.idle, self.commit_sync, self.committed)

    def began(self, now_ms: int) -> None:
        if self._began_ms:
            self.between.record(now_ms - self._began_ms)
        self._began_ms = now_ms

    def ended(self, now_ms: int) -> None:
        """Records the share of the time since the last poll that was spent in this one."""
        since_ms = now_ms - self._ended_ms
        if self._ended_ms and since_ms > 0:
            self.idle.record(min(max(now_ms - self._began_ms, 0) * RATIO // since_ms, RATIO))
        self._ended_ms = now_ms

    def seconds_ago(self, now_ms: int) -> float:
        return (now_ms - self._began_ms) // 1000 if self._began_ms else NOT_YET


class CoordinatorMeters:
    """Metrics that the membership driver, commits and the rebalance listener record."""

    def __init__(self) -> None:
        self.commits = Meter()
        self.requests = {name: Meter() for name in ("heartbeat", "join", "sync")}
        self.rebalances = Meter()
        self.failed_rebalances = Meter()
        self.listeners = {name: Meter() for name in ("revoked", "assigned", "lost")}
        self._heartbeat_ms = 0
        self._rebalanced_ms = 0
        self._rebalancing_since_ms: int | None = None

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.commits, self.rebalances, self.failed_rebalances)
        yield from self.requests.values()
        yield from self.listeners.values()

    def on_response(self, name: str, latency_ms: int, now_ms: int) -> None:
        """Records a response to a request of the group protocol."""
        self.requests[name].record(latency_ms)
        if name == "heartbeat":
            self._heartbeat_ms = now_ms

    def rebalance(self, *, in_progress: bool, now_ms: int) -> None:
        """Records whether a rebalance is in progress; the end of one counts it."""
        since_ms = self._rebalancing_since_ms
        if in_progress and since_ms is None:
            self._rebalancing_since_ms = now_ms
        elif not in_progress and since_ms is not None:
            self._rebalancing_since_ms = None
            self._rebalanced_ms = now_ms
            self.rebalances.record(now_ms - since_ms)

    def called(self, listener: str, started_ns: int) -> None:
        """Records the time of a call of the rebalance listener."""
        self.listeners[listener].record((monotonic_ns() - started_ns) // 1000)

    def heartbeat_ago(self, now_ms: int) -> float:
        return (now_ms - self._heartbeat_ms) // 1000 if self._heartbeat_ms else NOT_YET

    def rebalance_ago(self, now_ms: int) -> float:
        return (now_ms - self._rebalanced_ms) // 1000 if self._rebalanced_ms else NOT_YET


# --- reading --------------------------------------------------------------------------------------


def add_poll_metrics(metrics: ClientMetrics, meters: PollMeters) -> None:
    metrics.windows.watch(meters)
    group = metrics.group("consumer-metrics")
    group.average_and_maximum("time-between-poll", meters.between)
    group.timed("last-poll-seconds-ago", meters.seconds_ago)
    group.average("poll-idle-ratio-avg", meters.idle, 1 / RATIO)
    group.summed_total("commit-sync-time-ns-total", meters.commit_sync)
    group.summed_total("committed-time-ns-total", meters.committed)
    metrics.add(group)


def add_coordinator_metrics(
    metrics: ClientMetrics, meters: CoordinatorMeters, assigned: Callable[[], int]
) -> None:
    metrics.windows.watch(meters)
    group = metrics.group("consumer-coordinator-metrics")
    group.gauge("assigned-partitions", assigned)
    group.average_and_maximum("commit-latency", meters.commits, MS)
    group.counted("commit", meters.commits)
    group.maximum("heartbeat-response-time-max", meters.requests["heartbeat"])
    group.counted("heartbeat", meters.requests["heartbeat"])
    group.timed("last-heartbeat-seconds-ago", meters.heartbeat_ago)
    for name in ("join", "sync"):
        group.average_and_maximum(f"{name}-time", meters.requests[name])
        group.counted(name, meters.requests[name])
    group.average_and_maximum("rebalance-latency", meters.rebalances)
    group.summed_total("rebalance-latency-total", meters.rebalances)
    group.gauge("rebalance-total", lambda: meters.rebalances.count)
    group.hourly("rebalance-rate-per-hour", meters.rebalances)
    group.gauge("failed-rebalance-total", lambda: meters.failed_rebalances.count)
    group.hourly("failed-rebalance-rate-per-hour", meters.failed_rebalances)
    group.timed("last-rebalance-seconds-ago", meters.rebalance_ago)
    for event, meter in meters.listeners.items():
        group.average_and_maximum(f"partition-{event}-latency", meter, MS)
    metrics.add(group)


def add_fetch_metrics(
    metrics: ClientMetrics, meters: FetchMeters, buffered_bytes: Callable[[], int]
) -> None:
    metrics.windows.watch(meters)
    group = metrics.group(FETCH)

    def every(name: str) -> Callable[[], list[Meter]]:
        return lambda: [getattr(topic, name) for topic in meters.topics.values()]

    group.summed("bytes-consumed", every("bytes"))
    group.summed("records-consumed", every("records"))
    group.average_and_maximum("fetch-size", meters.fetch_size)
    group.ratio("records-per-request-avg", every("records"), meters.fetch_size)
    group.average_and_maximum("fetch-latency", meters.latency, MS)
    if meters.latencies is not None:
        group.percentiles("fetch-latency", meters.latencies, MS)
    group.counted("fetch", meters.latency)
    group.average_and_maximum("fetch-throttle-time", meters.throttle_time)
    group.maximum("records-lag-max", meters.lag)
    group.minimum("records-lead-min", meters.lead)
    group.gauge("buffered-bytes", buffered_bytes)
    metrics.add(group)


def add_topic_metrics(metrics: ClientMetrics, meters: FetchMeters) -> None:
    """Adds the metrics of each topic that was fetched."""

    def make_group(name: str, topic: ConsumedTopicMeters) -> MetricGroup:
        group = metrics.group(FETCH, topic=name)
        group.summed("bytes-consumed", topic.bytes)
        group.summed("records-consumed", topic.records)
        group.average_and_maximum("fetch-size", topic.fetch_size)
        group.ratio("records-per-request-avg", topic.records, topic.fetch_size)
        return group

    metrics.add(MetricsByTopic(lambda: meters.topics, make_group))


class PartitionMetrics:
    """Lag and lead of each assigned partition."""

    def __init__(
        self, metrics: ClientMetrics, subscription: SubscriptionState, *, committed_only: bool
    ) -> None:
        self._metrics = metrics
        self._subscription = subscription
        self._committed_only = committed_only

    def __call__(self, now_ms: int) -> Iterator[Metric]:
        for state in self._subscription.states():
            yield from self._group(state)(now_ms)

    def _group(self, state: AssignedPartition) -> MetricGroup:
        topic, partition = state.partition
        group = self._metrics.group(FETCH, topic=topic, partition=str(partition))
        lag, lead = state.lag(self._committed_only), state.lead()
        group.gauge("records-lag", lambda: NAN if lag is None else lag)
        group.gauge("records-lead", lambda: NAN if lead is None else lead)
        group.gauge("preferred-read-replica", lambda: state.preferred_replica)
        if state.meters is not None:
            group.average_and_maximum("records-lag", state.meters.lag)
            group.average("records-lead-avg", state.meters.lead)
            group.minimum("records-lead-min", state.meters.lead)
        return group
