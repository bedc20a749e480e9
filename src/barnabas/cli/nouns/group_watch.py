"""`groups watch`: prints the lag of a group repeatedly, with rates computed from two samples.

consumed/s  rate of the committed offsets      produced/s  rate of the log end offsets
ETA         time until the lag is 0 at these rates, `-` when the lag does not shrink
"""

import argparse
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, duration_text, json_line, table_text
from barnabas.cli.nouns.group_lag import GroupPartitionLag, lags_of, with_lag_seconds
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin


COLUMNS = (
    "topic",
    "partition",
    "current_offset",
    "log_end_offset",
    "lag",
    "lag_seconds",
    "consumed_per_second",
    "produced_per_second",
    "eta",
)
_CLEAR = "\x1b[H\x1b[2J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--interval", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--count", type=int, metavar="N", help="stop after N samples")
    add_common_options(parser)


class Sample(NamedTuple):
    """The lag of a group at one time."""

    at_s: float
    lags: dict[TopicPartition, GroupPartitionLag]


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    with connection.admin() as admin:
        before = sample(admin, connection, arguments.group)
        taken = 0
        while arguments.count is None or taken < arguments.count:
            threading.Event().wait(arguments.interval)
            after = sample(admin, connection, arguments.group)
            _print(arguments, rates(before, after))
            before = after
            taken += 1
    return DONE


def sample(admin: "Admin", connection: Connection, group: str) -> Sample:
    lags = lags_of(admin, admin.describe_group(group))
    aged = with_lag_seconds(connection, lags, SystemClock().now_ms())
    return Sample(time.monotonic(), {lag.topic_partition: lag for lag in aged})


def rates(before: Sample, after: Sample) -> list[dict[str, object]]:
    """Returns the rows of the second sample with the rates between the two samples."""
    elapsed = max(after.at_s - before.at_s, 1e-9)
    return [
        _row(before.lags.get(topic_partition), lag, elapsed)
        for topic_partition, lag in sorted(after.lags.items())
    ]


def _row(old: GroupPartitionLag | None, new: GroupPartitionLag, elapsed: float) -> dict[str, Any]:
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


def _print(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    if arguments.format == "json":
        sys.stdout.writelines(json_line(row) + "\n" for row in rows)
    else:
        if sys.stdout.isatty():
            sys.stdout.write(_CLEAR)
        shown = [{**row, "eta": _eta(row["eta_seconds"])} for row in rows]
        sys.stdout.write(table_text(shown, COLUMNS))
    sys.stdout.flush()


def _eta(seconds: float | None) -> str | None:
    return None if seconds is None else duration_text(seconds)
