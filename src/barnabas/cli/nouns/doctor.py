"""Find out why a cluster is unreachable or unhealthy; print the cause and the fix.

Checks host names, ports, an address of ZooKeeper instead of a broker, TLS and SASL settings, the
advertised address of every broker, API versions, clocks, leaders and replicas. The command only
reads; with --probe it also writes one record to a temporary topic and deletes the topic. The exit
code is 3 when a check failed.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

from barnabas.admin import MAX_TIMESTAMP, TopicDescription
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import CHECK_FAILED, DONE, show, show_document, table_text
from barnabas.cli.nouns.doctor_addresses import (
    AddressCheck,
    Finding,
    Status,
    failed,
    passed,
    warning,
)
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.net.connection_options import Address
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin


EXAMPLE = "barnabas doctor -b localhost:9092 --format json"
COLUMNS = ("status", "check", "target", "detail")
SKEW_MS = 5_000
NEEDED = ("PRODUCE", "FETCH", "LIST_OFFSETS", "METADATA", "API_VERSIONS", "FIND_COORDINATOR")
MAX_CHECKED_PARTITIONS = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--probe", action="store_true", help="also write and read a record")
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    findings = list(examine(Connection.of(arguments), probe=arguments.probe))
    well = all(finding.status is not Status.FAILED for finding in findings)
    rows = [finding.row() for finding in findings]
    if arguments.format == "tsv":
        show(arguments, rows, (*COLUMNS, "cause", "fix"))
    else:
        text = table_text(rows, COLUMNS) + "".join(_advice(f) for f in findings)
        show_document(arguments, {"ok": well, "findings": rows}, text)
    sys.stdout.flush()
    return DONE if well else CHECK_FAILED


def examine(connection: Connection, *, probe: bool) -> Iterator[Finding]:
    """Yields the findings of all checks; skips those that depend on a failed check."""
    try:
        options = ClientOptions.from_values(
            ADMIN_KEYS.parse(connection.supported_settings(ADMIN_KEYS))
        )
    except ConfigError as error:
        yield failed(
            "settings",
            connection.bootstrap,
            str(error),
            "a setting is wrong",
            "correct the setting",
        )
        return
    routes = [
        AddressCheck(address, options.connection, "bootstrap") for address in options.bootstrap
    ]
    for route in routes:
        yield from route.check()
    responding = next((route for route in routes if route.responded), None)
    if responding is None or responding.metadata is None:
        return
    reachable = True
    for broker in responding.metadata.brokers:
        address = Address(broker.host, broker.port)
        for finding in AddressCheck(address, options.connection, "advertised").check():
            reachable = reachable and finding.status is Status.OK
            yield _advertised(finding, broker.node_id)
    if not reachable:
        return
    try:
        yield from check_cluster(connection, probe=probe)
    except BarnabasError as error:
        yield failed("cluster", connection.bootstrap, str(error), "a request failed", "see above")


def _advertised(finding: Finding, broker_id: int) -> Finding:
    return Finding(
        f"advertised {finding.check}",
        finding.status,
        f"broker {broker_id} at {finding.target}",
        finding.detail,
        finding.cause,
        finding.fix,
    )


def _advice(finding: Finding) -> str:
    if finding.status is Status.OK:
        return ""
    return (
        f"\n{finding.check}: {finding.detail}\n  cause: {finding.cause}\n  fix:   {finding.fix}\n"
    )


def check_cluster(connection: Connection, *, probe: bool) -> Iterator[Finding]:
    """Yields the findings about controller, API versions, replicas and clocks."""
    with connection.admin() as admin:
        yield from _controller(admin)
        yield from _versions(admin)
        topics = _topics(admin)
        yield from _replicas(topics)
        yield _record_clock(admin, topics)
        if probe:
            yield from _probe(connection, admin)


def _controller(admin: "Admin") -> Iterator[Finding]:
    cluster = admin.describe_cluster()
    brokers = ", ".join(str(node.id) for node in cluster.brokers)
    if cluster.controller is None:
        yield failed(
            "controller",
            cluster.cluster_id or "-",
            "the cluster has no controller",
            "no broker won the election, or ZooKeeper is not reachable",
            "check the brokers' logs and the node /controller in ZooKeeper",
        )
    else:
        detail = f"broker {cluster.controller}; brokers {brokers}"
        yield passed("controller", cluster.cluster_id or "-", detail)


def _versions(admin: "Admin") -> Iterator[Finding]:
    for node in admin.describe_cluster().brokers:
        try:
            served = {item.name: item for item in admin.describe_api_versions(node.id)}
        except BarnabasError as error:
            yield failed(
                "versions",
                node.id,
                str(error),
                "the broker does not respond",
                "see the checks of its address above",
            )
            continue
        missing = [name for name in NEEDED if name not in served]
        if missing:
            yield failed(
                "versions",
                f"broker {node.id}",
                f"does not serve {', '.join(missing)}",
                "not a full Kafka broker, or a very old one",
                "use a broker of Kafka 2.1 or later",
            )
        else:
            fetch = served["FETCH"]
            detail = f"{len(served)} APIs, Fetch {fetch.min_version} to {fetch.max_version}"
            yield passed("versions", f"broker {node.id}", detail)


def _topics(admin: "Admin") -> list["TopicDescription"]:
    names = [topic.name for topic in admin.list_topics(internal=True)]
    return list(admin.describe_topics(names).ok.values()) if names else []


def _replicas(topics: list["TopicDescription"]) -> Iterator[Finding]:
    leaderless = [
        f"{topic.name}-{item.partition}"
        for topic in topics
        for item in topic.partitions
        if item.leader is None
    ]
    behind = [
        f"{topic.name}-{item.partition}"
        for topic in topics
        for item in topic.partitions
        if item.under_replicated and item.leader is not None
    ]
    count = sum(len(topic.partitions) for topic in topics)
    if leaderless:
        yield failed(
            "leaders",
            _shortened(leaderless),
            f"{len(leaderless)} of {count} partitions have no leader",
            "all their replicas are down",
            "start the brokers that hold them; the last one in the ISR first",
        )
    if behind:
        yield failed(
            "replicas",
            _shortened(behind),
            f"{len(behind)} of {count} partitions are under-replicated",
            "a broker is down, slow, or its disk is full",
            "start or repair the brokers missing from the ISR: barnabas topics describe",
        )
    if not leaderless and not behind:
        yield passed("replicas", "-", f"all {count} partitions have a leader and all replicas")


def _shortened(names: list[str], limit: int = 5) -> str:
    more = f", … ({len(names)})" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _record_clock(admin: "Admin", topics: list["TopicDescription"]) -> Finding:
    """Checks for records from the future, which show that a clock is wrong."""
    topic_partitions = [
        TopicPartition(topic.name, item.partition)
        for topic in topics
        if not topic.internal
        for item in topic.partitions
        if item.leader is not None
    ][:MAX_CHECKED_PARTITIONS]
    try:
        found = (
            admin.list_offsets(dict.fromkeys(topic_partitions, MAX_TIMESTAMP)).ok
            if topic_partitions
            else {}
        )
    except BarnabasError:
        found = {}
    now_ms = SystemClock().now_ms()
    newest = max((item.timestamp or 0 for item in found.values()), default=0)
    ahead_s = (newest - now_ms) / 1000
    if ahead_s * 1000 > SKEW_MS:
        return warning(
            "clock",
            "records",
            f"the newest record is {ahead_s:.0f} s in the future",
            "the clock of a producer, or of this machine, is wrong",
            "synchronise clocks (NTP); --probe compares with the broker's own clock",
        )
    return passed("clock", "records", "no record is from the future")


def _probe(connection: Connection, admin: "Admin") -> Iterator[Finding]:
    """Writes one record to a temporary topic and compares its broker timestamp with our clock."""
    topic = f"barnabas-doctor-{uuid4().hex[:12]}"
    admin.create_topic(topic, 1, configs={"message.timestamp.type": "LogAppendTime"})
    try:
        before = SystemClock().now_ms()
        with connection.producer(linger_ms=0) as producer:
            metadata = producer.send(topic, b"doctor").result(timeout=10)
        after = SystemClock().now_ms()
    finally:
        admin.delete_topic(topic)
    yield passed("produce", topic, f"a record was written and acknowledged in {after - before} ms")
    skew_ms = max(before - metadata.timestamp, metadata.timestamp - after, 0)
    if skew_ms > SKEW_MS:
        yield failed(
            "clock",
            "broker",
            f"the broker's clock differs by {skew_ms / 1000:.1f} s",
            "clocks are not synchronised",
            "run NTP or chrony on both machines",
        )
    else:
        yield passed("clock", "broker", f"differs by {skew_ms} ms at most")
