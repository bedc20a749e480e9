"""Creates the topics that topologies and SQL statements write to, and waits for committed
records."""

import logging
import re
import threading
from collections.abc import Iterable, Mapping, Set

from barnabas.admin import LATEST, Admin, NewTopic
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.streams.nodes import Aggregate, RecordSink, RecordSource, RowSink, Topic, TopologyNode
from barnabas.streams.stages import Plan
from barnabas.streams.topology import Topology

BROKER_DEFAULT = -1
WAIT_SECONDS = 30.0
POLL_SECONDS = 0.02


def topic_for(
    name: str,
    *,
    table: bool,
    partitions: int,
    replicas: int | None = None,
    retention_ms: int | None = None,
) -> NewTopic:
    """Returns a topic for the records of a stream, or a compacted topic for the changes of a
    table."""
    configs = {"cleanup.policy": "compact"} if table else {}
    if retention_ms is not None and not table:
        configs["retention.ms"] = str(retention_ms)
    replication = BROKER_DEFAULT if replicas is None else replicas
    return NewTopic(name, partitions, replication, configs)


def create_missing(admin: Admin, topics: Iterable[NewTopic]) -> dict[str, BarnabasError]:
    """Creates topics; returns the errors by topic. A topic that exists already is not an error."""
    errors = admin.create_topics(topics).errors
    return {
        str(name): error
        for name, error in errors.items()
        if not (isinstance(error, BrokerError) and error.code is ErrorCode.TOPIC_ALREADY_EXISTS)
    }


def create_written_topics(
    topology: Topology, made: Plan, topics: Mapping[TopologyNode, Topic], admin: Admin
) -> None:
    """Creates the missing topics that a topology writes, with as many partitions as the largest
    topic that it reads. ConfigError names a topic that cannot be created.
    """
    wanted = _written(topology, made)
    if not wanted:
        return
    existing = {listing.name for listing in admin.list_topics()}
    missing = [name for name in wanted if name not in existing]
    if not missing:
        return
    read = _read_topics(topology, topics, existing)
    described = admin.describe_topics(read).ok.values() if read else ()
    most = max((len(found.partitions) for found in described), default=1)
    new = [
        topic_for(name, table=table, partitions=topic.partitions or most)
        for name, (topic, table) in wanted.items()
        if name in missing
    ]
    for name, error in create_missing(admin, new).items():
        raise ConfigError(f"topic {name} cannot be created: {error}") from error


def _read_topics(
    topology: Topology, topics: Mapping[TopologyNode, Topic], existing: Set[str]
) -> list[str]:
    """Returns the names of the existing topics that a topology reads."""
    names = {topic.name for topic in topics.values()}
    for node in topology.nodes():
        if isinstance(node, RecordSource):
            names.update(node.topics)
            if node.pattern is not None:
                names.update(name for name in existing if re.search(node.pattern, name))
    return sorted(names & existing)


def _written(topology: Topology, made: Plan) -> dict[str, tuple[Topic, bool]]:
    """Returns the topics by name, each with whether it has the changes of a table."""
    wanted: dict[str, tuple[Topic, bool]] = {}
    for node in topology.nodes():
        if isinstance(node, RowSink):
            wanted[node.topic.name] = (node.topic, node.parent.is_table)
        if isinstance(node, RecordSink):
            wanted[node.topic] = (Topic(node.topic), False)
        if isinstance(node, RecordSource) and (letters := dict(node.options).get("dlq.topic")):
            wanted.setdefault(letters, (Topic(letters), False))
        if isinstance(node, Aggregate) and node.late_topic:
            wanted.setdefault(node.late_topic, (Topic(node.late_topic), False))
    for name in topology.dead_letter_topics():
        wanted.setdefault(name, (Topic(name), False))
    for node, topic in made.cuts.items():
        wanted[topic.name] = (topic, node.is_table)
    return wanted


_log = logging.getLogger("barnabas.streams")


def wait_until_visible(
    settings: Mapping[str, object], topics: Iterable[str], timeout: float = WAIT_SECONDS
) -> None:
    """Waits until readers of committed records see all records that the topics have now.

    The broker acknowledges a commit when it is decided; the markers that make it visible follow. A
    query that reads the topic to its end immediately, as the next query of a run does, would miss
    the last transaction. Another producer may have a transaction open for longer: after the timeout
    this function logs a warning and returns.
    """
    names = sorted(set(topics))
    if not names:
        return
    with Admin(settings) as admin:
        topic_partitions = [
            TopicPartition(found.name, partition)
            for found in admin.describe_topics(names).check().values()
            for partition in range(len(found.partitions))
        ]
        ends = _ends(admin, topic_partitions, IsolationLevel.READ_UNCOMMITTED)
        pause = threading.Event()
        for _ in range(int(timeout / POLL_SECONDS)):
            seen = _ends(admin, topic_partitions, IsolationLevel.READ_COMMITTED)
            hidden = [
                topic_partition
                for topic_partition in topic_partitions
                if seen[topic_partition] < ends[topic_partition]
            ]
            if not hidden:
                return
            pause.wait(POLL_SECONDS)
    _log.warning("partition %s has an open transaction, which is not waited for", hidden[0])


def _ends(
    admin: Admin, topic_partitions: list[TopicPartition], isolation: IsolationLevel
) -> dict[TopicPartition, int]:
    listed = admin.list_offsets(
        dict.fromkeys(topic_partitions, LATEST), isolation=isolation
    ).check()
    return {topic_partition: found.offset or 0 for topic_partition, found in listed.items()}
