"""How far a group is behind: in records, and in seconds.

Seconds are true ones: the age of the record at the committed offset, the next to be read. A group
that has read everything is 0 behind, whatever the age of the last record.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from barnabas.cli.framework.connection import Connection
from barnabas.cli.record_io.spans import edges_of
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin, GroupDescription, MemberDescription


COLUMNS = (
    "group",
    "topic",
    "partition",
    "current_offset",
    "log_end_offset",
    "lag",
    "consumer_id",
    "host",
    "client_id",
)
ONE_BATCH = 1


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """One partition of one group; None where nothing is committed or nobody has it."""

    group: str
    place: TopicPartition
    current_offset: int | None
    log_end_offset: int | None
    member: "MemberDescription | None"
    lag_seconds: float | None = None
    leader_epoch: int | None = None

    @property
    def lag(self) -> int | None:
        if self.current_offset is None or self.log_end_offset is None:
            return None
        return max(self.log_end_offset - self.current_offset, 0)

    def row(self) -> dict[str, Any]:
        """The frozen JSON keys."""
        member = self.member
        return {
            "group": self.group,
            "topic": self.place.topic,
            "partition": self.place.partition,
            "current_offset": self.current_offset,
            "log_end_offset": self.log_end_offset,
            "lag": self.lag,
            "consumer_id": member.member_id if member else None,
            "host": member.host if member else None,
            "client_id": member.client_id if member else None,
            "lag_seconds": self.lag_seconds,
        }


def lags_of(admin: "Admin", group: "GroupDescription") -> list[PartitionLag]:
    """Every partition that the group has committed for, or that a member has."""
    committed = admin.list_group_offsets([group.group_id])[group.group_id]
    owners = {place: member for member in group.members for place in member.assignment}
    places = sorted(set(committed) | set(owners))
    ends = _ends(admin, places)
    found = []
    for place in places:
        at = committed.get(place)
        offset = None if at is None else at.offset
        epoch = None if at is None or at.leader_epoch < 0 else at.leader_epoch
        owner = owners.get(place)
        found.append(
            PartitionLag(group.group_id, place, offset, ends.get(place), owner, leader_epoch=epoch)
        )
    return found


def _ends(admin: "Admin", places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """End offsets; topics that are gone have none."""
    places = list(places)
    there = admin.describe_topics({place.topic for place in places}).ok
    known = [place for place in places if place.topic in there]
    return {place: edge.end for place, edge in edges_of(admin, known).items()}


def with_seconds(
    connection: Connection, lags: Iterable[PartitionLag], now_ms: int
) -> list[PartitionLag]:
    """The same with the age of what is to be read next."""
    from barnabas.clients.simple import SimpleConsumer
    from barnabas.model.config_keys.simple import SIMPLE_KEYS

    settings = connection.checked(SIMPLE_KEYS, {"fetch.max.wait.ms": "0"})
    with SimpleConsumer(settings) as consumer:
        return [_aged(lag, _next_timestamp(consumer, lag), now_ms) for lag in lags]


def _aged(lag: PartitionLag, timestamp_ms: int | None, now_ms: int) -> PartitionLag:
    seconds = None if timestamp_ms is None else max(now_ms - timestamp_ms, 0) / 1000
    if lag.lag == 0:
        seconds = 0.0
    return replace(lag, lag_seconds=seconds)


def _next_timestamp(consumer: Any, lag: PartitionLag) -> int | None:
    """The timestamp of the record at the committed offset; None when it cannot be known."""
    if not lag.lag or lag.current_offset is None:
        return None
    topic, partition = lag.place
    try:
        offset = max(lag.current_offset, consumer.earliest_offset(topic, partition))
        fetched = consumer.fetch(topic, partition, offset, ONE_BATCH)
        first = next(iter(fetched.records()), None)
    except BarnabasError:
        return None
    return first.timestamp if first is not None and first.timestamp >= 0 else None


def member_names(members: Iterable[Any]) -> str:
    """Members for an error message: client and host of each."""
    return ", ".join(f"{member.client_id}@{member.host.lstrip('/')}" for member in members)
