"""Replica placement of new partitions, and the steps of a reassignment. Pure functions.

Placement is Kafka's; the caller passes the random start.

Goals, in order: no broker holds a partition twice; leaders and replicas spread evenly over the
brokers; where brokers have racks, each partition spreads over as many racks as it has replicas.

First replicas are placed on the brokers in turn from a start index. Further replicas are placed at
a distance from the first one. The distance grows by one after each round over the brokers, so that
the followers of one broker's leaders are spread as well. With racks, brokers are put in an order
that alternates racks, and a broker is skipped while its rack (or itself) has a replica and another
rack has none.

A reassignment (KIP-455) from O (origin) to T (target) goes through the union T + (O - T): the
added replicas fetch until all of T is in sync, then leadership moves into T and the other replicas
are removed. A new reassignment may replace one in progress; replicas that only the replaced one
added are removed at once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, ReplicaAssignment, Replicas


@dataclass(frozen=True, slots=True)
class BrokerRack:
    """A broker that can hold replicas, and its rack if it has one."""

    broker_id: BrokerId
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class PlacementStart:
    """Start of the placement: index of the first broker, first distance, first partition."""

    index: int = 0
    shift: int = 0
    partition: int = 0


def place_replicas(
    brokers: Sequence[BrokerRack], partitions: int, replication_factor: int, start: PlacementStart
) -> dict[int, Replicas]:
    """Returns the replicas of `partitions` new partitions, numbered from `start.partition`.

    Racks are used only if every broker has one.
    """
    _check(len(brokers), partitions, replication_factor)
    racks = {b.broker_id: b.rack for b in brokers if b.rack is not None}
    ordered = sorted(b.broker_id for b in brokers)
    if len(racks) < len(ordered):
        racks = {}
    ring = alternate_racks(racks) if racks else ordered
    placed = {}
    for step in range(partitions):
        number = start.partition + step
        shift = start.shift + _rounds(start.partition, number, len(ring))
        first = (number + start.index) % len(ring)
        if racks:
            placed[number] = _across_racks(ring, racks, first, shift, replication_factor)
        else:
            placed[number] = _around(ring, first, shift, replication_factor)
    return placed


def place_added_partitions(
    brokers: Sequence[BrokerRack],
    existing: Mapping[int, Replicas],
    total: int,
) -> dict[int, Replicas]:
    """Returns the replicas of the partitions that extend a topic to `total` partitions.

    Placement continues from the first broker of partition 0, with its replication factor.
    """
    first = existing[0]
    ordered = sorted(b.broker_id for b in brokers)
    index = next((i for i, broker_id in enumerate(ordered) if broker_id >= first[0]), 0)
    start = PlacementStart(index, index, len(existing))
    return place_replicas(brokers, total - len(existing), len(first), start)


def alternate_racks(racks: Mapping[BrokerId, str]) -> list[BrokerId]:
    """Returns the brokers in an order in which neighbours are on different racks if possible.

    >>> alternate_racks({BrokerId(0): "a", BrokerId(1): "a", BrokerId(2): "b"})
    [0, 2, 1]
    """
    by_rack: dict[str, list[BrokerId]] = defaultdict(list)
    for broker_id in sorted(racks):
        by_rack[racks[broker_id]].append(broker_id)
    columns = zip_longest(*(by_rack[rack] for rack in sorted(by_rack)))
    return [broker_id for column in columns for broker_id in column if broker_id is not None]


def _rounds(first: int, number: int, brokers: int) -> int:
    """Returns how many times the first replicas went round the brokers between two partitions."""
    before = max(first - 1, 0) // brokers
    return number // brokers - before


def _around(ring: Sequence[BrokerId], first: int, shift: int, count: int) -> Replicas:
    followers = (ring[_follower(first, shift, step, len(ring))] for step in range(count - 1))
    return (ring[first], *followers)


def _across_racks(
    ring: Sequence[BrokerId], racks: Mapping[BrokerId, str], first: int, shift: int, count: int
) -> Replicas:
    replicas = [ring[first]]
    rack_count = len(set(racks.values()))
    # Every rack gets one replica before any rack gets a second one.
    step = 0
    while len(replicas) < count:
        used = {racks[r] for r in replicas}
        broker_id = ring[_follower(first, shift * rack_count, step, len(ring))]
        rack_is_free = racks[broker_id] not in used or len(used) == rack_count
        if rack_is_free and broker_id not in replicas:
            replicas.append(broker_id)
        step += 1
    return tuple(replicas)


def _follower(first: int, shift: int, step: int, brokers: int) -> int:
    """Returns the index of a follower; distance 1 to brokers-1 avoids the first replica."""
    return (first + 1 + (shift + step) % (brokers - 1)) % brokers


def _check(brokers: int, partitions: int, replication_factor: int) -> None:
    if partitions <= 0:
        raise BrokerError(ErrorCode.INVALID_PARTITIONS, "a topic has at least one partition")
    if replication_factor <= 0:
        raise BrokerError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "the replication factor is at least 1"
        )
    if replication_factor > brokers:
        raise BrokerError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"replication factor {replication_factor} with {brokers} available brokers",
        )


def reassign(current: ReplicaAssignment, target: Replicas) -> ReplicaAssignment:
    """Returns the assignment that starts a move from the origin of `current` to `target`."""
    # From the origin, not from the current replicas: a second reassignment replaces the first one,
    # and its added replicas are dropped (KIP-455).
    origin = current.origin
    union = target + tuple(r for r in origin if r not in target)
    return ReplicaAssignment(
        union,
        adding=tuple(r for r in union if r not in origin),
        removing=tuple(r for r in union if r not in target),
    )


def abandoned(current: ReplicaAssignment, following: ReplicaAssignment) -> Replicas:
    """Returns replicas that a replaced reassignment added and `following` does not contain."""
    return tuple(r for r in current.replicas if r not in following.replicas)


def is_complete(assignment: ReplicaAssignment, isr: Replicas) -> bool:
    """Returns whether every target replica is in the ISR."""
    return set(assignment.target) <= set(isr)


def target_problem(
    current: ReplicaAssignment, target: Replicas, live: Set[BrokerId]
) -> tuple[ErrorCode, str] | None:
    """Returns why a target is invalid, or None. Added brokers must be alive."""
    if not target:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, "the list of replicas is empty"
    brokers = len(live | set(current.replicas))
    if len(target) > brokers:
        text = f"{len(target)} replicas are more than the {brokers} brokers"
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, text
    if len(set(target)) != len(target):
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"replicas named twice in {list(target)}"
    if min(target) < 0:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"negative broker id in {list(target)}"
    dead = [r for r in target if r not in current.replicas and r not in live]
    if dead:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"brokers {dead} are not alive"
    return None
