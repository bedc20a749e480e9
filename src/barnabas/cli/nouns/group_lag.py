"""Consumer groups as several commands show them: filters of a list, and the lag of a group.

The lag is computed in records and in seconds. The lag in seconds is the age of the record at the
committed offset, which is read next. It is 0 for a group that has read all records.

`groups watch` prints the lag repeatedly, with rates computed from two samples:

consumed/s  rate of the committed offsets      produced/s  rate of the log end offsets
ETA         time until the lag is 0 at these rates, `-` when the lag does not shrink
"""

import argparse
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import barnabas
from barnabas.admin.group_types import GroupState, GroupType
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, duration_text, json_line, table_text
from barnabas.cli.record_io.selection import log_offsets_of
from barnabas.model.config_keys.client import SIMPLE_KEYS
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

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
WATCH_COLUMNS = (
    *COLUMNS[1:6],
    "lag_seconds",
    "consumed_per_second",
    "produced_per_second",
    "eta",
)
ONE_BATCH = 1
_CLEAR = "\x1b[H\x1b[2J"


def check_group_filters(states: Iterable[str], types: Iterable[str]) -> None:
    """Raises ConfigError for an unknown state or type, which would select no group."""
    _check_filter("state list", "states", states, GroupState.known())
    _check_filter("types list", "types", types, GroupType.known())


def _check_filter(option: str, plural: str, words: Iterable[str], known: list[str]) -> None:
    accepted = {name.lower() for name in known}
    unknown = [word for word in words if word.lower() not in accepted]
    if unknown:
        raise ConfigError(
            f"Invalid {option} '{','.join(unknown)}'. Valid {plural} are: {', '.join(known)}"
        )


@dataclass(frozen=True, slots=True)
class GroupPartitionLag:
    """The lag of one partition; None for a missing value, such as no committed offset."""

    group: str
    topic_partition: TopicPartition
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

    def row(self) -> dict[str, object]:
        """Returns the row of the partition; its keys are a stable interface."""
        member = self.member
        return {
            "group": self.group,
            "topic": self.topic_partition.topic,
            "partition": self.topic_partition.partition,
            "current_offset": self.current_offset,
            "log_end_offset": self.log_end_offset,
            "lag": self.lag,
            "consumer_id": member.member_id if member else None,
            "host": member.host if member else None,
            "client_id": member.client_id if member else None,
            "lag_seconds": self.lag_seconds,
        }


def lags_of(admin: "Admin", group: "GroupDescription") -> list[GroupPartitionLag]:
    """Returns the lag of every partition with a committed offset or an assigned member."""
    committed = admin.list_group_offsets([group.group_id])[group.group_id]
    owners = {
        topic_partition: member for member in group.members for topic_partition in member.assignment
    }
    topic_partitions = sorted(set(committed) | set(owners))
    ends = _ends(admin, topic_partitions)
    found = []
    for topic_partition in topic_partitions:
        at = committed.get(topic_partition)
        offset = None if at is None else at.offset
        epoch = None if at is None or at.leader_epoch < 0 else at.leader_epoch
        owner = owners.get(topic_partition)
        found.append(
            GroupPartitionLag(
                group.group_id,
                topic_partition,
                offset,
                ends.get(topic_partition),
                owner,
                leader_epoch=epoch,
            )
        )
    return found


def _ends(admin: "Admin", topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Returns the log end offsets; partitions of deleted topics are left out."""
    topic_partitions = list(topic_partitions)
    there = admin.describe_topics(
        {topic_partition.topic for topic_partition in topic_partitions}
    ).ok
    known = [
        topic_partition for topic_partition in topic_partitions if topic_partition.topic in there
    ]
    return {
        topic_partition: log.end for topic_partition, log in log_offsets_of(admin, known).items()
    }


def with_lag_seconds(
    connection: Connection, lags: Iterable[GroupPartitionLag], now_ms: int
) -> list[GroupPartitionLag]:
    """Returns the lags with `lag_seconds` set."""
    settings = connection.checked(SIMPLE_KEYS, {"fetch.max.wait.ms": "0"})
    with barnabas.SimpleConsumer(settings) as consumer:
        return [_with_age(lag, _next_timestamp(consumer, lag), now_ms) for lag in lags]


def _with_age(lag: GroupPartitionLag, timestamp_ms: int | None, now_ms: int) -> GroupPartitionLag:
    seconds = None if timestamp_ms is None else max(now_ms - timestamp_ms, 0) / 1000
    if lag.lag == 0:
        seconds = 0.0
    return replace(lag, lag_seconds=seconds)


def _next_timestamp(consumer: "barnabas.SimpleConsumer", lag: GroupPartitionLag) -> int | None:
    """Returns the timestamp of the record at the committed offset; None when it cannot be read."""
    if not lag.lag or lag.current_offset is None:
        return None
    topic, partition = lag.topic_partition
    try:
        offset = max(lag.current_offset, consumer.earliest_offset(topic, partition))
        fetched = consumer.fetch(topic, partition, offset, ONE_BATCH)
        first = next(iter(fetched.records()), None)
    except BarnabasError:
        return None
    return first.timestamp if first is not None and first.timestamp >= 0 else None


def member_names(members: Iterable["MemberDescription"]) -> str:
    """Returns client id and host of the members, for an error message."""
    return ", ".join(f"{member.client_id}@{member.host.lstrip('/')}" for member in members)


# -- watch -------------------------------------------------------------------------------------


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--interval", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--count", type=int, metavar="N", help="stop after N samples")
    add_common_options(parser)


class LagSample(NamedTuple):
    """The lag of a group at one time."""

    at_s: float
    lags: dict[TopicPartition, GroupPartitionLag]


def run_watch(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    with connection.admin() as admin:
        before = sample(admin, connection, arguments.group)
        taken = 0
        while arguments.count is None or taken < arguments.count:
            threading.Event().wait(arguments.interval)
            after = sample(admin, connection, arguments.group)
            _print_rates(arguments, rates(before, after))
            before = after
            taken += 1
    return DONE


def sample(admin: "Admin", connection: Connection, group: str) -> LagSample:
    lags = lags_of(admin, admin.describe_group(group))
    aged = with_lag_seconds(connection, lags, SystemClock().now_ms())
    return LagSample(time.monotonic(), {lag.topic_partition: lag for lag in aged})


def rates(before: LagSample, after: LagSample) -> list[dict[str, object]]:
    """Returns the rows of the second sample with the rates between the two samples."""
    elapsed = max(after.at_s - before.at_s, 1e-9)
    return [
        _rates_row(before.lags.get(topic_partition), lag, elapsed)
        for topic_partition, lag in sorted(after.lags.items())
    ]


def _rates_row(
    old: GroupPartitionLag | None, new: GroupPartitionLag, elapsed: float
) -> dict[str, Any]:
    consumed = _rate(old.current_offset if old else None, new.current_offset, elapsed)
    produced = _rate(old.log_end_offset if old else None, new.log_end_offset, elapsed)
    return {
        **new.row(),
        "consumed_per_second": consumed,
        "produced_per_second": produced,
        "eta_seconds": eta_seconds(new.lag, consumed, produced),
    }


def _rate(old: int | None, new: int | None, elapsed: float) -> float | None:
    return None if old is None or new is None else round((new - old) / elapsed, 1)


def eta_seconds(lag: int | None, consumed: float | None, produced: float | None) -> float | None:
    """Returns the time until the lag is 0; None when the lag does not shrink.

    >>> eta_seconds(100, 30.0, 10.0), eta_seconds(100, 5.0, 10.0), eta_seconds(0, 0.0, 0.0)
    (5.0, None, 0.0)
    """
    if lag is None or consumed is None or produced is None:
        return None
    if lag == 0:
        return 0.0
    return round(lag / (consumed - produced), 1) if consumed > produced else None


def _print_rates(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    if arguments.format == "json":
        sys.stdout.writelines(json_line(row) + "\n" for row in rows)
    else:
        if sys.stdout.isatty():
            sys.stdout.write(_CLEAR)
        shown = [{**row, "eta": _eta(row["eta_seconds"])} for row in rows]
        sys.stdout.write(table_text(shown, WATCH_COLUMNS))
    sys.stdout.flush()


def _eta(seconds: float | None) -> str | None:
    return None if seconds is None else duration_text(seconds)
