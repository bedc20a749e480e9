"""Declarations of the clients' metrics: names, groups, units and descriptions.

Names and meaning are Kafka's (the tables of its operations guide). A metric that is read but not
declared here raises KeyError when the client is created; `docs/metrics.md` is made from this
module. Kafka's metrics that these clients do not have are in `NOT_SERVED`, with the reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from barnabas.runtime.metrics import MetricKind

COUNTER, GAUGE = MetricKind.COUNTER, MetricKind.GAUGE
NODE, TOPIC, PARTITION = ("node-id",), ("topic",), ("topic", "partition")


@dataclass(frozen=True, slots=True)
class DeclaredMetric:
    """One metric of a group; every metric also has the tag `client-id`."""

    group: str
    name: str
    unit: str
    description: str
    kind: MetricKind = GAUGE
    tags: tuple[str, ...] = ()
    debug: bool = False
    """Recorded only with metrics.recording.level=DEBUG or TRACE."""


class _Group:
    """Declares the metrics of one group and tag set."""

    def __init__(self, group: str, tags: tuple[str, ...] = ()) -> None:
        self._group = group
        self._tags = tags

    def gauge(self, name: str, unit: str, description: str, debug: bool = False) -> DeclaredMetric:
        return DeclaredMetric(self._group, name, unit, description, GAUGE, self._tags, debug)

    def total(self, name: str, unit: str, description: str) -> DeclaredMetric:
        return DeclaredMetric(self._group, name, unit, description, COUNTER, self._tags)

    def rate_and_total(self, stem: str, unit: str, what: str) -> Iterator[DeclaredMetric]:
        yield self.gauge(f"{stem}-rate", f"{unit}/s", f"{what} per second.")
        yield self.total(f"{stem}-total", unit, f"{what}.")

    def average_and_maximum(self, stem: str, unit: str, what: str) -> Iterator[DeclaredMetric]:
        yield self.gauge(f"{stem}-avg", unit, f"Average {what}.")
        yield self.gauge(f"{stem}-max", unit, f"Largest {what}.")

    def percentiles(self, stem: str, unit: str, what: str) -> Iterator[DeclaredMetric]:
        for percent in PERCENTILES:
            text = f"{percent}th percentile of the {what} in the last minute."
            yield self.gauge(f"{stem}-p{percent}", unit, text, debug=True)


PERCENTILES = (50, 95, 99)


def _traffic(group: _Group) -> Iterator[DeclaredMetric]:
    """Declares what the client and each broker have in common."""
    yield from group.rate_and_total("outgoing-byte", "bytes", "Bytes sent to brokers")
    yield from group.rate_and_total("request", "requests", "Requests sent")
    yield from group.average_and_maximum("request-size", "bytes", "size of a request")
    yield from group.rate_and_total("incoming-byte", "bytes", "Bytes received from brokers")
    yield from group.rate_and_total("response", "responses", "Responses received")


def _client(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.rate_and_total("connection-creation", "connections", "Connections opened")
    yield from group.rate_and_total("connection-close", "connections", "Connections closed")
    yield group.gauge("connection-count", "connections", "Open connections.")
    yield from group.rate_and_total("network-io", "operations", "Requests and responses")
    yield from _traffic(group)
    done = "Connections that were authenticated with SASL or TLS"
    yield from group.rate_and_total("successful-authentication", "connections", done)
    failed = "Connections whose authentication failed"
    yield from group.rate_and_total("failed-authentication", "connections", failed)
    again = "Authentications again on an open connection"
    yield from group.rate_and_total("successful-reauthentication", "authentications", again)
    failed = "Failed authentications again on an open connection"
    yield from group.rate_and_total("failed-reauthentication", "authentications", failed)
    time = "time of an authentication again"
    yield from group.average_and_maximum("reauthentication-latency", "ms", time)


def _node(group: _Group) -> Iterator[DeclaredMetric]:
    yield from _traffic(group)
    yield from group.average_and_maximum("request-latency", "ms", "time until a response")


def _common(kind: str) -> Iterator[DeclaredMetric]:
    yield from _client(_Group(f"{kind}-metrics"))
    yield from _node(_Group(f"{kind}-node-metrics", NODE))


# --- producer -----------------------------------------------------------------------------------


def _buffer(group: _Group) -> Iterator[DeclaredMetric]:
    yield group.gauge("waiting-threads", "callers", "Calls of send() that wait for buffer memory.")
    yield group.gauge("buffer-total-bytes", "bytes", "buffer.memory.")
    yield group.gauge("buffer-available-bytes", "bytes", "Buffer memory that is not in use.")
    what = "Records that failed because there was no buffer memory within max.block.ms"
    yield from group.rate_and_total("buffer-exhausted", "records", what)
    text = "Share of the time in which calls of send() waited for buffer memory."
    yield group.gauge("bufferpool-wait-ratio", "ratio", text)
    for name, what in {
        "bufferpool-wait": "calls of send() waited for buffer memory",
        "metadata-wait": "calls of send() waited for the metadata of a topic",
        "flush": "flush() waited",
        "txn-init": "init_transactions() waited",
        "txn-begin": "begin_transaction() waited",
        "txn-send-offsets": "send_offsets_to_transaction() waited",
        "txn-commit": "commit_transaction() waited",
        "txn-abort": "abort_transaction() waited",
    }.items():
        yield group.total(f"{name}-time-ns-total", "ns", f"Time in which {what}.")


def _sender(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.average_and_maximum("batch-size", "bytes", "size of a batch")
    yield from group.rate_and_total("batch-split", "batches", "Batches split as too large")
    text = "Average size of a compressed batch, divided by its size before compression."
    yield group.gauge("compression-rate-avg", "ratio", text)
    yield group.gauge("metadata-age", "s", "Age of the cluster metadata.")
    time = "time for which a broker throttled a produce request"
    yield from group.average_and_maximum("produce-throttle-time", "ms", time)
    yield from _records(group)
    time = "time between the creation of a batch and its sending"
    yield from group.average_and_maximum("record-queue-time", "ms", time)
    size = "size of the largest record of a batch, before compression"
    yield from group.average_and_maximum("record-size", "bytes", size)
    yield group.gauge("records-per-request-avg", "records", "Average records of a produce request.")
    time = "time until the response to a produce request"
    yield from group.average_and_maximum("request-latency", "ms", time)
    yield from group.percentiles("request-latency", "ms", time)
    yield group.gauge("requests-in-flight", "requests", "Requests without a response.")


def _records(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.rate_and_total("record-send", "records", "Records sent")
    yield from group.rate_and_total("record-retry", "records", "Records sent again")
    yield from group.rate_and_total("record-error", "records", "Records that failed")


def _producer_topic(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.rate_and_total("byte", "bytes", "Bytes sent to the topic")
    text = "Average size of a compressed batch, divided by its size before compression."
    yield group.gauge("compression-rate", "ratio", text)
    yield from _records(group)


# --- consumer -----------------------------------------------------------------------------------


def _polling(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.average_and_maximum("time-between-poll", "ms", "time between two polls")
    yield group.gauge("last-poll-seconds-ago", "s", "Time since the last poll; -1 before it.")
    text = "Average share of the time that the application spends in poll()."
    yield group.gauge("poll-idle-ratio-avg", "ratio", text)
    text = "Time in which commit() waited."
    yield group.total("commit-sync-time-ns-total", "ns", text)
    text = "Time in which committed() waited."
    yield group.total("committed-time-ns-total", "ns", text)


def _coordinator(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.average_and_maximum("commit-latency", "ms", "time of an offset commit")
    yield from group.rate_and_total("commit", "commits", "Offset commits")
    yield group.gauge("assigned-partitions", "partitions", "Partitions assigned to this consumer.")
    yield group.gauge("heartbeat-response-time-max", "ms", "Longest time of a heartbeat.")
    yield from group.rate_and_total("heartbeat", "heartbeats", "Heartbeats")
    text = "Time since the last response to a heartbeat; -1 before it."
    yield group.gauge("last-heartbeat-seconds-ago", "s", text)
    for name, what in (("join", "JoinGroup"), ("sync", "SyncGroup")):
        yield from group.average_and_maximum(f"{name}-time", "ms", f"time of a {what} request")
        yield from group.rate_and_total(name, "requests", f"{what} requests")
    yield from group.average_and_maximum("rebalance-latency", "ms", "time of a rebalance")
    yield group.total("rebalance-latency-total", "ms", "Time of all rebalances.")
    yield group.total("rebalance-total", "rebalances", "Rebalances of this member.")
    yield group.gauge("rebalance-rate-per-hour", "rebalances/h", "Rebalances per hour.")
    failed = "Rebalances that failed: the coordinator rejected this member's request"
    yield group.total("failed-rebalance-total", "rebalances", f"{failed}.")
    yield group.gauge("failed-rebalance-rate-per-hour", "rebalances/h", f"{failed}, per hour.")
    text = "Time since the last rebalance ended; -1 before it."
    yield group.gauge("last-rebalance-seconds-ago", "s", text)
    for event in ("revoked", "assigned", "lost"):
        what = f"time of the listener's on_partitions_{event}()"
        yield from group.average_and_maximum(f"partition-{event}-latency", "ms", what)


def _consumed(group: _Group) -> Iterator[DeclaredMetric]:
    yield from group.rate_and_total("bytes-consumed", "bytes", "Bytes consumed")
    yield from group.rate_and_total("records-consumed", "records", "Records consumed")
    yield from group.average_and_maximum("fetch-size", "bytes", "size of a fetch response")
    text = "Average records of a fetch response with records."
    yield group.gauge("records-per-request-avg", "records", text)


def _fetch(group: _Group) -> Iterator[DeclaredMetric]:
    yield from _consumed(group)
    yield from group.average_and_maximum("fetch-latency", "ms", "time of a fetch request")
    yield from group.percentiles("fetch-latency", "ms", "time of a fetch request")
    yield from group.rate_and_total("fetch", "requests", "Fetch requests")
    time = "time for which a broker throttled a fetch request"
    yield from group.average_and_maximum("fetch-throttle-time", "ms", time)
    text = "Largest lag of a partition: records between the position and the log's end."
    yield group.gauge("records-lag-max", "records", text)
    text = "Smallest lead of a partition: records between the log's start and the position."
    yield group.gauge("records-lead-min", "records", text)
    text = "Fetched bytes that wait for poll(); not in Kafka."
    yield group.gauge("buffered-bytes", "bytes", text)


def _partition(group: _Group) -> Iterator[DeclaredMetric]:
    lag, lead = "records from the position to the log's end", "records from the log's start"
    yield group.gauge("records-lag", "records", f"Lag: {lag}.")
    yield from group.average_and_maximum("records-lag", "records", f"lag: {lag}")
    yield group.gauge("records-lead", "records", f"Lead: {lead}.")
    yield group.gauge("records-lead-avg", "records", f"Average lead: {lead}.")
    yield group.gauge("records-lead-min", "records", f"Smallest lead: {lead}.")
    text = "Broker that the consumer reads from instead of the leader; -1 for the leader."
    yield group.gauge("preferred-read-replica", "node id", text)


def _all() -> Iterator[DeclaredMetric]:
    yield from _buffer(_Group("producer-metrics"))
    yield from _sender(_Group("producer-metrics"))
    yield from _common("producer")
    yield from _producer_topic(_Group("producer-topic-metrics", TOPIC))
    yield from _polling(_Group("consumer-metrics"))
    yield from _common("consumer")
    yield from _coordinator(_Group("consumer-coordinator-metrics"))
    yield from _fetch(_Group("consumer-fetch-manager-metrics"))
    yield from _consumed(_Group("consumer-fetch-manager-metrics", TOPIC))
    yield from _partition(_Group("consumer-fetch-manager-metrics", PARTITION))
    yield from _common("admin-client")


Key = tuple[str, str, tuple[str, ...]]


def _by_key(metrics: Iterable[DeclaredMetric]) -> dict[Key, DeclaredMetric]:
    return {(metric.group, metric.name, metric.tags): metric for metric in metrics}


CATALOG = _by_key(_all())
"""All metrics by group, name and the names of the tags other than `client-id`."""

NOT_SERVED = {
    "select-rate, select-total, io-time-ns-avg, io-time-ns-total, io-ratio, io-wait-time-ns-avg, "
    "io-wait-time-ns-total, io-wait-ratio": "They describe the selector thread of the Java client; "
    "here asyncio's loop waits for sockets.",
    "successful-authentication-no-reauth-total": "Counts brokers older than Kafka 2.2 that do not "
    "support re-authentication.",
    "io-waittime-total, iotime-total, bufferpool-wait-time-total": "Deprecated in Kafka; the same "
    "numbers have the suffix -ns-total.",
    "time-between-network-thread-poll, application-event-queue, background-event-queue, "
    "unsent-requests-queue": "They describe the queues between the two threads of Java's consumer.",
    "bufferpool-wait-time, partitions-revoked-latency-avg, partitions-revoked-latency-max, "
    "partitions-assigned-latency-avg, partitions-assigned-latency-max, "
    "partitions-lost-latency-avg, partitions-lost-latency-max": "The spelling of Kafka's "
    "operations guide; Kafka's clients and these name them bufferpool-wait-ratio and "
    "partition-revoked-latency-avg …",
    "app-info (version, commit-id), count (kafka-metrics-count)": "Describe the Java client "
    "and its registry.",
}
"""Metrics of Kafka's clients that these clients do not have, and the reasons."""
