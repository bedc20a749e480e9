"""Files, plans and replication throttles of kafka-reassign-partitions."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barnabas.admin import ConfigResource, Reassignment
from barnabas.cli.apache.flags import say
from barnabas.controller.machines.assignment import BrokerRack, PlacementStart, place_replicas
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import BrokerId, TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin


ANY_DIR = "any"
Replicas = Mapping[TopicPartition, Sequence[int]]
LogDirs = dict[tuple[TopicPartition, int], str]
"""The log directory of a replica on a broker, where the plan names one."""
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LOG_DIR_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


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
        placed = place_replicas(brokers, len(topic_partitions), factor, PlacementStart())
        found.update(
            (topic_partition, list(placed[number]))
            for number, topic_partition in enumerate(topic_partitions)
        )
    return found


Changes = dict["ConfigResource", dict[str, str | None]]


@dataclass(frozen=True, slots=True)
class Move:
    """The brokers that have a partition now, and those that will get it."""

    sources: frozenset[int]
    targets: frozenset[int]


def moves_of(
    wanted: Replicas, current: Replicas, active: Mapping[TopicPartition, "Reassignment"]
) -> dict[TopicPartition, Move]:
    """Returns the active and the wanted moves; a wanted move keeps the sources of an active one."""
    found = {}
    for topic_partition, move in active.items():
        adding = frozenset(move.adding)
        found[topic_partition] = Move(frozenset(move.replicas) - adding, adding)
    for topic_partition, replicas in wanted.items():
        now = found.get(topic_partition)
        sources = frozenset(current.get(topic_partition, ())) if now is None else now.sources
        found[topic_partition] = Move(sources, frozenset(replicas) - sources)
    return found


def topic_throttles(moves: Mapping[TopicPartition, Move]) -> dict[str, dict[str, str]]:
    """Returns the throttle settings of each topic.

    >>> move = Move(frozenset({1, 2}), frozenset({3}))
    >>> topic_throttles({TopicPartition("orders", 0): move})["orders"][LEADER_REPLICAS]
    '0:1,0:2'
    """
    found: dict[str, dict[str, str]] = {}
    for topic in sorted({topic_partition.topic for topic_partition in moves}):
        mine = {
            topic_partition.partition: move
            for topic_partition, move in moves.items()
            if topic_partition.topic == topic
        }
        found[topic] = {
            LEADER_REPLICAS: _pairs({n: move.sources for n, move in mine.items()}),
            FOLLOWER_REPLICAS: _pairs({n: move.targets for n, move in mine.items()}),
        }
    return found


def _pairs(brokers: Mapping[int, Iterable[int]]) -> str:
    pairs = sorted((partition, broker) for partition in brokers for broker in brokers[partition])
    return ",".join(f"{partition}:{broker}" for partition, broker in pairs)


def throttle_replication(admin: "Admin", moves: Mapping[TopicPartition, Move], rate: int) -> None:
    """Sets the rate on all brokers that take part, for the replicas that move."""
    brokers = {number for move in moves.values() for number in move.sources | move.targets}
    changes: Changes = {
        ConfigResource.topic(topic): dict(values)
        for topic, values in topic_throttles(moves).items()
    }
    for number in sorted(brokers):
        changes[ConfigResource.broker(number)] = dict.fromkeys(RATES, str(rate))
    admin.alter_configs(changes).check()
    say(f"The inter-broker throttle limit was set to {rate} B/s")


def throttle_log_dirs(admin: "Admin", brokers: Iterable[int], rate: int) -> None:
    """Sets the rate of moves between log directories on the given brokers."""
    changes: Changes = {
        ConfigResource.broker(number): {LOG_DIR_RATE: str(rate)} for number in sorted(brokers)
    }
    if changes:
        admin.alter_configs(changes).check()
    say(f"The replica-alter-dir throttle limit was set to {rate} B/s")


def clear_throttles(admin: "Admin", wanted: Replicas) -> None:
    """Removes the throttles of all brokers and of the moved topics."""
    live = {node.id for node in admin.describe_cluster().brokers}
    brokers = sorted(live | {number for numbers in wanted.values() for number in numbers})
    topics = sorted({topic_partition.topic for topic_partition in wanted})
    say(f"Clearing broker-level throttles on broker{plural_ending(brokers)} {joined(brokers)}")
    changes: Changes = {
        ConfigResource.broker(number): dict.fromkeys((*RATES, LOG_DIR_RATE)) for number in brokers
    }
    admin.alter_configs(changes).check()
    say(f"Clearing topic-level throttles on topic{plural_ending(topics)} {joined(topics)}")
    names = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
    admin.alter_configs({ConfigResource.topic(t): dict.fromkeys(names) for t in topics}).check()


def plural_ending(items: Collection[object]) -> str:
    return "" if len(items) == 1 else "s"


def joined(items: Sequence[object]) -> str:
    return ",".join(str(item) for item in items)
