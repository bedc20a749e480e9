"""The JSON files of kafka-reassign-partitions, in both directions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition

ANY_DIR = "any"
Replicas = Mapping[TopicPartition, Sequence[int]]
LogDirs = dict[tuple[TopicPartition, int], str]
"""The directory of a replica on a broker, where one is wanted."""


def parse_plan(text: str) -> tuple[dict[TopicPartition, list[int]], LogDirs]:
    """Replicas and log directories; ConfigError for what contradicts itself."""
    replicas: dict[TopicPartition, list[int]] = {}
    dirs: LogDirs = {}
    try:
        for item in json.loads(text)["partitions"]:
            place = TopicPartition(str(item["topic"]), int(item["partition"]))
            if place in replicas:
                raise ConfigError(
                    f"Partition reassignment contains duplicate topic partitions: {place}"
                )
            replicas[place] = [int(number) for number in item["replicas"]]
            dirs.update(_dirs(place, replicas[place], item.get("log_dirs")))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a reassignment: {error}") from error
    _check(replicas)
    return replicas, dirs


def _dirs(place: TopicPartition, replicas: Sequence[int], names: Any) -> LogDirs:
    if names is None:
        return {}
    if len(names) != len(replicas):
        raise ConfigError(
            f"Size of replicas list {list(replicas)} is different from size of log dirs list "
            f"{list(names)} for partition {place}"
        )
    pairs = zip(replicas, names, strict=True)
    return {(place, broker): str(name) for broker, name in pairs if name != ANY_DIR}


def _check(replicas: Replicas) -> None:
    if not replicas:
        raise ConfigError("Partition reassignment list cannot be empty")
    if not all(replicas.values()):
        raise ConfigError("Partition replica list cannot be empty")
    for place, numbers in replicas.items():
        if len(set(numbers)) != len(numbers):
            raise ConfigError(
                f"Partition replica lists may not contain duplicate entries: {place} has {numbers}"
            )


def parse_topics(text: str) -> list[str]:
    try:
        return [str(item["topic"]) for item in json.loads(text)["topics"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a list of topics: {error}") from error


def plan_json(replicas: Replicas) -> str:
    """An assignment as the tool reads it."""
    partitions = [
        {
            "topic": place.topic,
            "partition": place.partition,
            "replicas": list(numbers),
            "log_dirs": [ANY_DIR] * len(numbers),
        }
        for place, numbers in sorted(replicas.items())
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))
