"""Sets and clears the throttles of a reassignment (KIP-73).

The rate is a dynamic setting of every broker that takes part. The throttled replicas are settings
of their topics: the current replicas as leaders, the new ones as followers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.cli.apache.reassign_plan import Replicas
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin, ConfigResource, Reassignment


LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LOG_DIR_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
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
    from barnabas.admin import ConfigResource

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
    from barnabas.admin import ConfigResource

    changes: Changes = {
        ConfigResource.broker(number): {LOG_DIR_RATE: str(rate)} for number in sorted(brokers)
    }
    if changes:
        admin.alter_configs(changes).check()
    say(f"The replica-alter-dir throttle limit was set to {rate} B/s")


def clear_throttles(admin: "Admin", wanted: Replicas) -> None:
    """Removes the throttles of all brokers and of the moved topics."""
    from barnabas.admin import ConfigResource

    live = {node.id for node in admin.describe_cluster().brokers}
    brokers = sorted(live | {number for numbers in wanted.values() for number in numbers})
    topics = sorted({topic_partition.topic for topic_partition in wanted})
    say(f"Clearing broker-level throttles on broker{_s(brokers)} {_joined(brokers)}")
    changes: Changes = {
        ConfigResource.broker(number): dict.fromkeys((*RATES, LOG_DIR_RATE)) for number in brokers
    }
    admin.alter_configs(changes).check()
    say(f"Clearing topic-level throttles on topic{_s(topics)} {_joined(topics)}")
    names = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
    admin.alter_configs({ConfigResource.topic(t): dict.fromkeys(names) for t in topics}).check()


def _s(items: Sequence[object]) -> str:
    return "" if len(items) == 1 else "s"


def _joined(items: Sequence[object]) -> str:
    return ",".join(str(item) for item in items)
