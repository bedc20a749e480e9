"""kafka-topics: create, list, describe, alter and delete topics."""

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from barnabas.admin import (
    AlterOperation,
    ConfigChange,
    ConfigResource,
    NewPartitions,
    NewTopic,
    PartitionDescription,
    TopicDescription,
)
from barnabas.cli.apache.flags import (
    add_bootstrap_options,
    connection_of,
    parse_topic_pattern,
    say,
    warn_without_effect,
)
from barnabas.cli.framework.connection import key_values
from barnabas.cli.framework.output import DONE
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.java_hash import java_string_hash

if TYPE_CHECKING:
    from barnabas.admin import Admin

_FIRST_CAPACITY = 16
ERROR_PREFIX = "Error while executing topic command : "
EXAMPLE = """
barnabas kafka-topics --bootstrap-server localhost:9092 --create --topic orders --partitions 3
barnabas kafka-topics --zookeeper localhost:2181 --list
"""


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """Returns the keys in the iteration order of a Java HashMap, as Kafka's tool prints them.

    >>> hash_map_order(["cleanup.policy", "segment.bytes", "compression.type"])
    ['compression.type', 'cleanup.policy', 'segment.bytes']
    """
    keys = list(keys)
    capacity = _FIRST_CAPACITY
    while len(keys) > capacity * 3 // 4:
        capacity *= 2

    def bucket(key: str) -> int:
        value = java_string_hash(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (capacity - 1)

    return sorted(keys, key=bucket)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    action = parser.add_mutually_exclusive_group(required=True)
    for name in ("list", "create", "describe", "alter", "delete"):
        action.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--topic", help="except for --create also a regular expression")
    parser.add_argument("--topic-id")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--replication-factor", type=int)
    parser.add_argument("--replica-assignment", metavar="0:1,1:2,…")
    parser.add_argument("--config", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("--delete-config", metavar="KEY", action="append", default=[])
    for flag in (
        "--if-not-exists",
        "--if-exists",
        "--exclude-internal",
        "--topics-with-overrides",
        "--under-replicated-partitions",
        "--unavailable-partitions",
        "--under-min-isr-partitions",
        "--at-min-isr-partitions",
        "--force",
    ):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--partition-size-limit-per-response", type=int, help=argparse.SUPPRESS)
    add_bootstrap_options(parser, zookeeper=True)


def run(arguments: argparse.Namespace) -> int:
    actions: dict[str, Callable[[Admin, argparse.Namespace], None]] = {
        "list": _list,
        "create": _create,
        "describe": _describe,
        "alter": _alter,
        "delete": _delete,
    }
    chosen = next(name for name in actions if getattr(arguments, name))
    paging = "--partition-size-limit-per-response"
    warn_without_effect(arguments, {paging: "topics are not described in pages"})
    with connection_of(arguments).admin() as admin:
        actions[chosen](admin, arguments)
    return DONE


def _matching(admin: "Admin", arguments: argparse.Namespace, *, required: bool) -> list[str]:
    """Returns the topics that match --topic, a comma-separated list of regular expressions."""
    listed = admin.list_topics(internal=not arguments.exclude_internal)
    names = [item.name for item in listed]
    if arguments.topic_id is not None:
        names = [item.name for item in listed if str(item.topic_id) == arguments.topic_id]
    elif arguments.topic is not None:
        listed_patterns = arguments.topic.strip("'\"").replace(" ", "").split(",")
        pattern = parse_topic_pattern("|".join(listed_patterns))
        names = [name for name in names if pattern.fullmatch(name)]
    wanted = arguments.topic or arguments.topic_id
    if required and wanted and not names and not arguments.if_exists:
        raise LocalError(f"Topic '{wanted}' does not exist as expected")
    return names


def _list(admin: "Admin", arguments: argparse.Namespace) -> None:
    for name in _matching(admin, arguments, required=False):
        say(name)


def _create(admin: "Admin", arguments: argparse.Namespace) -> None:
    if arguments.topic is None:
        raise ConfigError('Missing required argument "[topic]"')
    configs: dict[str, str | None] = dict(key_values(arguments.config, "--config"))
    topic = NewTopic(
        arguments.topic,
        -1 if arguments.partitions is None else arguments.partitions,
        -1 if arguments.replication_factor is None else arguments.replication_factor,
        configs,
        _assignments(arguments.replica_assignment),
    )
    _warn_of_collisions(arguments.topic)
    error = admin.create_topics([topic]).errors.get(arguments.topic)
    if error is not None:
        exists = isinstance(error, BrokerError) and error.code is ErrorCode.TOPIC_ALREADY_EXISTS
        if exists and arguments.if_not_exists:
            return
        raise error
    say(f"Created topic {arguments.topic}.")


def _warn_of_collisions(name: str) -> None:
    if "." in name or "_" in name:
        say(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore"
            " ('_') could collide. To avoid issues it is best to use either, but not both."
        )


def _assignments(text: str | None) -> list[list[int]]:
    if text is None:
        return []
    try:
        return [[int(number) for number in part.split(":")] for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"--replica-assignment {text!r}: must look like 0:1,1:2") from None


def _describe(admin: "Admin", arguments: argparse.Namespace) -> None:
    names = _matching(admin, arguments, required=True)
    topics = admin.describe_topics(names).check()
    for name in names:
        _describe_topic(admin, topics[name], arguments)


def _describe_topic(
    admin: "Admin", topic: "TopicDescription", arguments: argparse.Namespace
) -> None:
    configs = _configs(admin, topic.name)
    partly = _partition_filter(admin, topic, arguments)
    if arguments.topics_with_overrides and not configs:
        return
    if partly is None:
        say(
            f"Topic: {topic.name}\tTopicId: {topic.topic_id}"
            f"\tPartitionCount: {len(topic.partitions)}"
            f"\tReplicationFactor: {topic.replication_factor}\tConfigs: {configs}"
        )
    if arguments.topics_with_overrides:
        return
    for item in topic.partitions:
        if partly is None or partly(item):
            say(_partition_line(topic.name, item))


def _configs(admin: "Admin", topic: str) -> str:
    """Returns the settings of the topic or the broker that differ from Kafka's defaults."""
    resource = ConfigResource.topic(topic)
    entries = admin.describe_configs([resource])[resource]
    ordered = (entries[name] for name in hash_map_order(entries))
    return ",".join(f"{e.name}={e.value}" for e in ordered if not e.is_default)


def _partition_filter(
    admin: "Admin", topic: "TopicDescription", arguments: argparse.Namespace
) -> "Callable[[PartitionDescription], bool] | None":
    if arguments.under_replicated_partitions:
        return lambda item: item.under_replicated
    if arguments.unavailable_partitions:
        return lambda item: item.leader is None
    if not (arguments.under_min_isr_partitions or arguments.at_min_isr_partitions):
        return None
    resource = ConfigResource.topic(topic.name)
    least = int(admin.describe_configs([resource])[resource]["min.insync.replicas"].value or 1)
    if arguments.under_min_isr_partitions:
        return lambda item: len(item.isr) < least
    return lambda item: len(item.isr) == least


def _partition_line(topic: str, item: "PartitionDescription") -> str:
    leader = "none" if item.leader is None else item.leader
    line = (
        f"\tTopic: {topic}\tPartition: {item.partition}\tLeader: {leader}"
        f"\tReplicas: {_numbers(item.replicas)}\tIsr: {_numbers(item.isr)}"
    )
    if item.eligible_leader_replicas is not None:
        line += f"\tElr: {_numbers(item.eligible_leader_replicas)}"
    if item.last_known_eligible is not None:
        line += f"\tLastKnownElr: {_numbers(item.last_known_eligible)}"
    return line


def _numbers(replicas: tuple[int, ...]) -> str:
    return ",".join(str(number) for number in replicas)


def _alter(admin: "Admin", arguments: argparse.Namespace) -> None:
    names = _matching(admin, arguments, required=True)
    changes = [ConfigChange(k, v) for k, v in key_values(arguments.config, "--config").items()]
    changes += [ConfigChange(k, None, AlterOperation.DELETE) for k in arguments.delete_config]
    if changes:
        admin.alter_configs({ConfigResource.topic(name): changes for name in names}).check()
    if arguments.partitions is not None:
        assignments = _assignments(arguments.replica_assignment)
        wanted = NewPartitions(arguments.partitions, assignments or None)
        admin.create_partitions(dict.fromkeys(names, wanted)).check()
    elif not changes:
        raise ConfigError('Missing required argument "[partitions]"')


def _delete(admin: "Admin", arguments: argparse.Namespace) -> None:
    if arguments.topic is None and arguments.topic_id is None:
        raise ConfigError('Missing required argument "[topic]"')
    names = _matching(admin, arguments, required=True)
    admin.delete_topics(names).check()
