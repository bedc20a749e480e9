"""Which test moves which metric of the clients; docs/metrics.md shows it.

`{a,b}` stands for both endings. A test passes its title to `assert_moved`, which checks that each
of its metrics has a value that an idle client does not have.
"""

import math
import re

PRODUCER, CONSUMER, ADMIN = "producer-metrics", "consumer-metrics", "admin-client-metrics"
COORDINATOR, FETCH = "consumer-coordinator-metrics", "consumer-fetch-manager-metrics"
TRAFFIC = (
    "outgoing-byte-{rate,total} request-{rate,total} request-size-{avg,max} "
    "incoming-byte-{rate,total} response-{rate,total}"
)
CLIENT = f"connection-creation-{{rate,total}} connection-count network-io-{{rate,total}} {TRAFFIC}"
NODE = f"{TRAFFIC} request-latency-{{avg,max}}"
LOGINS = (
    "connection-close-{rate,total} {successful,failed}-authentication-{rate,total} "
    "{successful,failed}-reauthentication-{rate,total} reauthentication-latency-{avg,max}"
)
CONSUMED = "{bytes,records}-consumed-{rate,total} fetch-size-{avg,max} records-per-request-avg"

MOVES = {
    "test_client_metrics.py::test_a_producer_that_sends": {
        (PRODUCER, ()): f"{CLIENT} buffer-{{total,available}}-bytes metadata-wait-time-ns-total "
        "flush-time-ns-total batch-size-{avg,max} compression-rate-avg metadata-age "
        "record-send-{rate,total} record-queue-time-{avg,max} record-size-{avg,max} "
        "records-per-request-avg request-latency-{avg,max,p50,p95,p99}",
        ("producer-node-metrics", ("node-id",)): NODE,
        ("producer-topic-metrics", ("topic",)): "byte-{rate,total} compression-rate "
        "record-send-{rate,total}",
    },
    "test_client_metrics.py::test_a_producer_with_transactions": {
        (PRODUCER, ()): "txn-{init,begin,send-offsets,commit,abort}-time-ns-total"
    },
    "test_client_metrics.py::test_a_producer_whose_records_fail": {
        (PRODUCER, ()): "record-error-{rate,total} batch-split-{rate,total}",
        ("producer-topic-metrics", ("topic",)): "record-error-{rate,total}",
    },
    "test_client_metrics.py::test_a_consumer_of_a_group": {
        (CONSUMER, ()): f"{CLIENT} time-between-poll-{{avg,max}} last-poll-seconds-ago "
        "poll-idle-ratio-avg commit-sync-time-ns-total committed-time-ns-total",
        ("consumer-node-metrics", ("node-id",)): NODE,
        (COORDINATOR, ()): "commit-latency-{avg,max} commit-{rate,total} assigned-partitions "
        "heartbeat-response-time-max heartbeat-{rate,total} last-heartbeat-seconds-ago "
        "join-time-{avg,max} join-{rate,total} sync-time-{avg,max} sync-{rate,total} "
        "rebalance-latency-{avg,max,total} rebalance-total rebalance-rate-per-hour "
        "last-rebalance-seconds-ago partition-{assigned,revoked}-latency-{avg,max}",
        (FETCH, ()): f"{CONSUMED} fetch-latency-{{avg,max,p50,p95,p99}} fetch-{{rate,total}} "
        "records-lag-max records-lead-min buffered-bytes",
        (FETCH, ("topic",)): CONSUMED,
        (FETCH, ("topic", "partition")): "records-lag records-lag-{avg,max} records-lead "
        "records-lead-{avg,min}",
    },
    "test_client_metrics.py::test_an_admin_client": {
        (ADMIN, ()): CLIENT,
        ("admin-client-node-metrics", ("node-id",)): NODE,
    },
    "test_moved_meters.py::test_logins": {
        (PRODUCER, ()): LOGINS,
        (CONSUMER, ()): LOGINS,
        (ADMIN, ()): LOGINS,
    },
    "test_moved_meters.py::test_a_producer_that_waits": {
        (PRODUCER, ()): "waiting-threads requests-in-flight produce-throttle-time-{avg,max} "
        "record-retry-{rate,total} buffer-exhausted-{rate,total} bufferpool-wait-ratio "
        "bufferpool-wait-time-ns-total",
        ("producer-topic-metrics", ("topic",)): "record-retry-{rate,total}",
    },
    "test_moved_meters.py::test_a_consumer_that_is_throttled_and_loses_partitions": {
        (FETCH, ()): "fetch-throttle-time-{avg,max}",
        (FETCH, ("topic", "partition")): "preferred-read-replica",
        (COORDINATOR, ()): "failed-rebalance-total failed-rebalance-rate-per-hour "
        "partition-lost-latency-{avg,max}",
    },
}
NO_VALUE = re.compile(r"-(avg|max|min|p\d\d)$|^last-|^metadata-age$")
"""Metrics that are NaN or -1 before the first value, which may then be 0."""


def expand(names):
    """Returns the names in a text with braces.

    >>> expand("a-{x,y} b")
    ['a-x', 'a-y', 'b']
    """
    found = re.sub(r"\{[^}]*\}", lambda braces: braces.group().replace(" ", ""), names).split()
    while any("{" in name for name in found):
        found = [each for name in found for each in _first_braces(name)]
    return found


def _first_braces(name):
    match = re.search(r"\{([^}]*)\}", name)
    if match is None:
        return [name]
    return [name[: match.start()] + each + name[match.end() :] for each in match[1].split(",")]


def movers():
    """Returns the test that moves each metric, by group, name and names of tags."""
    return {
        (group, name, tags): test
        for test, groups in MOVES.items()
        for (group, tags), names in groups.items()
        for name in expand(names)
    }


def assert_moved(metrics, test, groups=None):
    """Asserts that the metrics of this test have moved; `groups` limits the check."""
    values = {}
    for metric in metrics:
        tags = tuple(tag for tag, _ in metric.name.tags if tag != "client-id")
        values.setdefault((metric.name.group, metric.name.name, tags), []).append(metric.value)
    idle = [
        (group, name, tags)
        for (group, tags), names in MOVES[test].items()
        for name in expand(names)
        if groups is None or group in groups
        if not any(_moved(name, value) for value in values.get((group, name, tags), []))
    ]
    assert idle == []


def _moved(name, value):
    if math.isnan(value) or value == -1:
        return False
    return value != 0 or NO_VALUE.search(name) is not None
