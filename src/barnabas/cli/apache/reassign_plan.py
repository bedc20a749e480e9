"""Reassignment plans: their JSON files, and the proposal of --generate."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.controller.machines.assignment import BrokerRack, Start, place_replicas
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import BrokerId, TopicPartition

ANY_DIR = "any"
Replicas = Mapping[TopicPartition, Sequence[int]]
LogDirs = dict[tuple[TopicPartition, int], str]
"""The log directory of a replica on a broker, where the plan names one."""


def parse_plan(text: str) -> tuple[dict[TopicPartition, list[int]], LogDirs]:
    """Returns the replicas and log directories of a plan.

    Raises:
        ConfigError: The plan is invalid.
    """
    replicas: dict[TopicPartition, list[int]] = {}
    dirs: LogDirs = {}
    try:
        for item in json.loads(text)["partitions"]:
            topic_partition = TopicPartition(str(item["topic"]), int(item["partition"]))
            if topic_partition in replicas:
                raise ConfigError(
                    f"Partition reassignment contains duplicate topic partitions: {topic_partition}"
                )
            replicas[topic_partition] = [int(number) for number in item["replicas"]]
            dirs.update(_dirs(topic_partition, replicas[topic_partition], item.get("log_dirs")))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a reassignment: {error}") from error
    _check(replicas)
    return replicas, dirs


def _dirs(topic_partition: TopicPartition, replicas: Sequence[int], names: Any) -> LogDirs:
    if names is None:
        return {}
    if len(names) != len(replicas):
        raise ConfigError(
            f"Size of replicas list {list(replicas)} is different from size of log dirs list "
            f"{list(names)} for partition {topic_partition}"
        )
    pairs = zip(replicas, names, strict=True)
    return {(topic_partition, broker): str(name) for broker, name in pairs if name != ANY_DIR}


def _check(replicas: Replicas) -> None:
    if not replicas:
        raise ConfigError("Partition reassignment list cannot be empty")
    if not all(replicas.values()):
        raise ConfigError("Partition replica list cannot be empty")
    for topic_partition, numbers in replicas.items():
        if len(set(numbers)) != len(numbers):
            raise ConfigError(
                "Partition replica lists may not contain duplicate entries: "
                f"{topic_partition} has {numbers}"
            )


def parse_topics(text: str) -> list[str]:
    try:
        return [str(item["topic"]) for item in json.loads(text)["topics"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a list of topics: {error}") from error


def plan_json(replicas: Replicas) -> str:
    """Returns an assignment as a plan in JSON."""
    partitions = [
        {
            "topic": topic_partition.topic,
            "partition": topic_partition.partition,
            "replicas": list(numbers),
            "log_dirs": [ANY_DIR] * len(numbers),
        }
        for topic_partition, numbers in sorted(replicas.items())
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


def brokers_for(wanted: Sequence[int], racks: Mapping[int, str | None]) -> list[BrokerRack]:
    """Returns the brokers with their racks.

    Raises:
        LocalError: Only some of the brokers have a rack.
    """
    if len(set(wanted)) != len(wanted):
        raise ConfigError(f"Broker list contains duplicate entries: {list(wanted)}")
    brokers = [BrokerRack(BrokerId(number), racks.get(number)) for number in wanted]
    some, every = any(b.rack for b in brokers), all(b.rack for b in brokers)
    if some and not every:
        raise LocalError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to "
            "make replica assignment without rack information."
        )
    return brokers


def propose(current: Replicas, brokers: Sequence[BrokerRack]) -> dict[TopicPartition, list[int]]:
    """Returns a new assignment; each topic keeps the replication factor of its first partition.

    Replicas are assigned as for new topics. Kafka's tool starts at a random broker; this one starts
    at the first, so that the result is reproducible.
    """
    found: dict[TopicPartition, list[int]] = {}
    for topic in sorted({topic_partition.topic for topic_partition in current}):
        topic_partitions = sorted(
            topic_partition for topic_partition in current if topic_partition.topic == topic
        )
        factor = len(current[topic_partitions[0]])
        if factor > len(brokers):
            raise LocalError(
                f"{topic} has {factor} replicas, but only {len(brokers)} brokers are given"
            )
        placed = place_replicas(brokers, len(topic_partitions), factor, Start())
        found.update(
            (topic_partition, list(placed[number]))
            for number, topic_partition in enumerate(topic_partitions)
        )
    return found
