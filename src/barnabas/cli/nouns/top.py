"""Live view of a cluster: brokers, topics, groups and pipelines with their rates and lag.

Rates are computed from two samples of offsets, so this works with any Kafka cluster. Each screen
shows the busiest topics and the groups with the largest lag, and the pipelines of this machine
(`barnabas pipeline list`) with the figures of their last micro-batch; Ctrl-C ends.
"""

import argparse
import shutil
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from barnabas.admin.topic_types import LATEST
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, duration_text, json_line, table_text
from barnabas.cli.nouns.group_lag import eta_seconds
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin, TopicDescription

EXAMPLE = "barnabas top --interval 5 --sort lag"
BROKER_COLUMNS = ("broker", "address", "controller", "leaders", "replicas", "under_replicated")
TOPIC_COLUMNS = ("topic", "partitions", "records_per_second", "end_offset", "bytes", "problems")
GROUP_COLUMNS = ("group", "state", "members", "lag", "consumed_per_second", "eta")
PIPELINE_COLUMNS = ("pipeline", "state", "batch", "rows_per_second", "lag", "batch_ms")
_CLEAR = "\x1b[H\x1b[2J"
_SORTS = ("rate", "lag", "name", "size")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--interval", type=float, default=2.0, metavar="SECONDS", help="default: %(default)s"
    )
    parser.add_argument("--count", type=int, metavar="N", help="stop after N screens")
    parser.add_argument(
        "--rows", type=int, default=15, metavar="N", help="rows per table (default: %(default)s)"
    )
    parser.add_argument(
        "--sort",
        choices=_SORTS,
        default="rate",
        help="order of the rows, largest first (default: %(default)s)",
    )
    parser.add_argument(
        "--internal", action="store_true", help="show internal topics such as __consumer_offsets"
    )
    add_common_options(parser)


@dataclass(slots=True)
class ClusterSample:
    """State of a cluster at one time."""

    at_s: float
    brokers: list[dict[str, Any]]
    topics: dict[str, dict[str, Any]]
    ends: dict[TopicPartition, int]
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    committed: dict[str, dict[TopicPartition, int]] = field(default_factory=dict)
    pipelines: list[dict[str, object]] = field(default_factory=list)


def run(arguments: argparse.Namespace) -> int:
    if arguments.interval <= 0:
        raise ConfigError(f"--interval {arguments.interval:g}: must be greater than 0")
    with Connection.of(arguments).admin() as admin:
        before = take_sample(admin, internal=arguments.internal)
        taken = 0
        while arguments.count is None or taken < arguments.count:
            threading.Event().wait(arguments.interval)
            after = take_sample(admin, internal=arguments.internal)
            _print(arguments, screen(before, after, arguments.sort))
            before = after
            taken += 1
    return DONE


def take_sample(admin: "Admin", *, internal: bool) -> ClusterSample:
    """Reads brokers, topics, offsets and groups of a cluster."""
    cluster = admin.describe_cluster()
    names = [topic.name for topic in admin.list_topics() if internal or not topic.internal]
    described = {topic.name: topic for topic in admin.describe_topics(names).ok.values()}
    sizes = _sizes(admin)
    brokers = {
        node.id: {
            "broker": node.id,
            "address": f"{node.host}:{node.port}",
            "controller": node.id == cluster.controller,
            "leaders": 0,
            "replicas": 0,
            "under_replicated": 0,
        }
        for node in cluster.brokers
    }
    topics = {
        name: _topic_row(topic, brokers, sizes.get(name)) for name, topic in described.items()
    }
    ends = _ends(admin, described.values())
    sample = ClusterSample(time.monotonic(), list(brokers.values()), topics, ends)
    _add_groups(admin, sample)
    sample.pipelines = _pipelines()
    return sample


def _pipelines() -> list[dict[str, object]]:
    """Returns the pipelines of this machine, from the files that they write."""
    from barnabas.spark.pipeline_registry import PipelineRegistry  # start-up time

    return [
        {
            "pipeline": document.get("name"),
            "state": document.get("state"),
            "batch": document.get("batch"),
            "rows_per_second": document.get("rows_per_second"),
            "lag": document.get("lag"),
            "batch_ms": document.get("batch_ms"),
        }
        for document in PipelineRegistry().read_all()
    ]


def _topic_row(
    topic: "TopicDescription", brokers: dict[int, dict[str, Any]], size: int | None
) -> dict[str, object]:
    """Returns the row of a topic, and counts its partitions for the brokers."""
    offline = behind = 0
    for partition in topic.partitions:
        leader = brokers.get(partition.leader) if partition.leader is not None else None
        is_behind = len(partition.isr) < len(partition.replicas)
        offline += leader is None
        behind += is_behind
        if leader is not None:
            leader["leaders"] += 1
            leader["under_replicated"] += is_behind
        for replica in partition.replicas:
            if replica in brokers:
                brokers[replica]["replicas"] += 1
    problems = [f"{offline} offline"] if offline else []
    problems += [f"{behind} under-replicated"] if behind else []
    return {
        "topic": topic.name,
        "partitions": len(topic.partitions),
        "bytes": size,
        "problems": ", ".join(problems),
    }


def _sizes(admin: "Admin") -> dict[str, int]:
    """Returns the bytes of each topic on all brokers; empty if the client may not read them."""
    sizes: dict[str, int] = {}
    try:
        directories = admin.describe_log_dirs().ok
    except BarnabasError:
        return {}
    for found in directories.values():
        for directory in found:
            for topic_partition, replica in directory.replicas.items():
                size = sizes.get(topic_partition.topic, 0)
                sizes[topic_partition.topic] = size + replica.size_bytes
    return sizes


def _ends(admin: "Admin", topics: Iterable["TopicDescription"]) -> dict[TopicPartition, int]:
    """Returns the end offsets of the partitions that have a leader."""
    wanted = {
        TopicPartition(topic.name, partition.partition): LATEST
        for topic in topics
        for partition in topic.partitions
        if partition.leader is not None
    }
    found = admin.list_offsets(wanted).ok
    return {
        topic_partition: item.offset
        for topic_partition, item in found.items()
        if item.offset is not None
    }


def _add_groups(admin: "Admin", sample: ClusterSample) -> None:
    names = [listing.group_id for listing in admin.list_groups()]
    if not names:
        return
    for name, group in admin.describe_groups(names).ok.items():
        sample.groups[name] = {
            "group": name,
            "state": str(getattr(group.state, "value", group.state)),
            "members": len(group.members),
        }
    for name, offsets in admin.list_group_offsets(names).ok.items():
        sample.committed[name] = {
            topic_partition: found.offset
            for topic_partition, found in offsets.items()
            if topic_partition in sample.ends
        }


def screen(before: ClusterSample, after: ClusterSample, sort: str) -> dict[str, object]:
    """Returns the rows of one screen: the second sample with the rates between the two."""
    elapsed = max(after.at_s - before.at_s, 1e-9)
    produced = _produced(before, after)
    topics = [
        {
            **row,
            "end_offset": sum(
                end for topic_partition, end in after.ends.items() if topic_partition.topic == name
            ),
            "records_per_second": round(produced.get(name, 0) / elapsed, 1),
        }
        for name, row in after.topics.items()
    ]
    groups = [_group_row(name, row, before, after, elapsed) for name, row in after.groups.items()]
    return {
        "brokers": sorted(after.brokers, key=lambda row: row["broker"]),
        "topics": _sorted(topics, "topic", _topic_order(sort)),
        "groups": _sorted(groups, "group", _group_order(sort)),
        "pipelines": _sorted(list(after.pipelines), "pipeline", _pipeline_order(sort)),
    }


def _produced(before: ClusterSample, after: ClusterSample) -> dict[str, int]:
    produced: dict[str, int] = {}
    for topic_partition, end in after.ends.items():
        added = max(end - before.ends.get(topic_partition, end), 0)
        produced[topic_partition.topic] = produced.get(topic_partition.topic, 0) + added
    return produced


def _group_row(
    name: str,
    row: dict[str, object],
    before: ClusterSample,
    after: ClusterSample,
    elapsed: float,
) -> dict[str, object]:
    committed, old = after.committed.get(name, {}), before.committed.get(name, {})
    lag = sum(
        max(after.ends[topic_partition] - offset, 0)
        for topic_partition, offset in committed.items()
    )
    read = sum(
        max(offset - old.get(topic_partition, offset), 0)
        for topic_partition, offset in committed.items()
    )
    added = sum(
        after.ends[topic_partition] - before.ends.get(topic_partition, after.ends[topic_partition])
        for topic_partition in committed
    )
    consumed = round(read / elapsed, 1)
    return {
        **row,
        # A group that has never committed has no known lag; 0 would mean that it has read all.
        "lag": lag if committed else None,
        "consumed_per_second": consumed,
        "eta_seconds": eta_seconds(lag, consumed, added / elapsed) if committed else None,
    }


def _topic_order(sort: str) -> str | None:
    return {"rate": "records_per_second", "lag": "records_per_second", "size": "bytes"}.get(sort)


def _group_order(sort: str) -> str | None:
    return {"rate": "consumed_per_second", "lag": "lag", "size": "lag"}.get(sort)


def _pipeline_order(sort: str) -> str | None:
    return {"rate": "rows_per_second", "lag": "lag", "size": "lag"}.get(sort)


def _sorted(rows: list[dict[str, object]], name: str, order: str | None) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-(row[order] or 0) if order else 0, row[name]))


def _print(arguments: argparse.Namespace, rows: dict[str, object]) -> None:
    if arguments.format == "json":
        sys.stdout.write(json_line(rows) + "\n")
    else:
        if sys.stdout.isatty():
            size = shutil.get_terminal_size()
            sys.stdout.write(_CLEAR + fitted(rows, arguments.rows, size.columns, size.lines))
        else:
            sys.stdout.write(_text(rows, arguments.rows))
    sys.stdout.flush()


def fitted(rows: dict[str, object], limit: int, width: int, height: int) -> str:
    """Returns the text of a screen: fewer rows per table and cut lines, so that it never scrolls.

    The last line of the terminal stays empty for the cursor.
    """
    text = _text(rows, limit)
    while limit > 1 and text.count("\n") >= height:
        limit -= 1
        text = _text(rows, limit)
    lines = text.splitlines()[: max(height - 1, 1)]
    return "".join(line[:width] + "\n" for line in lines)


def _text(rows: dict[str, Any], limit: int) -> str:
    groups = [{**row, "eta": _eta(row["eta_seconds"])} for row in rows["groups"]]
    tables = [
        (rows["brokers"], BROKER_COLUMNS),
        (rows["topics"], TOPIC_COLUMNS),
        (groups, GROUP_COLUMNS),
    ]
    if rows["pipelines"]:  # most machines have none
        tables.append((rows["pipelines"], PIPELINE_COLUMNS))
    return "\n".join(_limited(found, columns, limit) for found, columns in tables)


def _limited(rows: list[dict[str, Any]], columns: tuple[str, ...], limit: int) -> str:
    text = table_text(rows[:limit], columns)
    hidden = len(rows) - limit
    return f"{text}({hidden} more)\n" if hidden > 0 else text


def _eta(seconds: float | None) -> str | None:
    return None if seconds is None else duration_text(seconds)
