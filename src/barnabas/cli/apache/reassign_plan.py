"""The JSON files of kafka-reassign-partitions, in both directions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.controller.machines.assignment import BrokerRack, Start, place_replicas
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import BrokerId, TopicPartition

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


def brokers_for(wanted: Sequence[int], racks: Mapping[int, str | None]) -> list[BrokerRack]:
    """The brokers with their racks; none has one when racks do not count."""
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
    """Topic by topic, each with the number of replicas that its first partition has."""
    found: dict[TopicPartition, list[int]] = {}
    for topic in sorted({place.topic for place in current}):
        places = sorted(place for place in current if place.topic == topic)
        factor = len(current[places[0]])
        if factor > len(brokers):
            raise LocalError(f"{topic} has {factor} replicas, there are {len(brokers)} brokers")
        placed = place_replicas(brokers, len(places), factor, Start())
        found.update((place, list(placed[number])) for number, place in enumerate(places))
    return found
