"""Groups of the ZooKeeper high-level consumer, for `kafka-consumer-groups --zookeeper`.

Lists, describes and deletes groups like Kafka's tool before 2.0, with the columns of 0.10, which
include the owner. A group without members is shown with its offsets; Kafka's tool printed nothing.
"""

import argparse
import sys

from barnabas.cli.apache.flags import given_settings, say
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.output import DONE, FAILED
from barnabas.cli.nouns.zookeeper_groups import open_reports
from barnabas.clients.connector import ActiveMembersError, GroupReport, GroupReports
from barnabas.model.errors import ConfigError

NOTE = (
    "Note: This will only show information about consumers that use ZooKeeper (not those using "
    "the Java consumer API).\n"
)
LINE = "{:<30} {:<30} {:<10} {:<15} {:<15} {:<15} {}"
HEADS = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")
UNKNOWN, NO_OWNER = "unknown", "none"


def run_on_zookeeper(arguments: argparse.Namespace) -> int:
    """Runs the actions that Kafka's tool had for these groups."""
    actions = {"list": _list, "describe": _describe, "delete": _delete}
    chosen = next((name for name in actions if getattr(arguments, name)), None)
    if chosen is None:
        raise ConfigError(
            "--zookeeper supports --list, --describe and --delete; for the other actions copy the "
            "offsets to Kafka: barnabas groups migrate"
        )
    if chosen != "list" and not arguments.group and not arguments.all_groups:
        raise ConfigError(f"--{chosen} needs --group or --all-groups")
    sys.stderr.write(NOTE)
    connection = Connection(given_settings(arguments))
    with open_reports(connection, arguments.zookeeper) as reports:
        return actions[chosen](reports, arguments)


def _list(reports: GroupReports, _: argparse.Namespace) -> int:
    for group in reports.groups():
        say(group)
    return DONE


def _describe(reports: GroupReports, arguments: argparse.Namespace) -> int:
    there = reports.groups()
    wanted = there if arguments.all_groups else arguments.group
    missing = [group for group in wanted if group not in there]
    for group in missing:
        sys.stderr.write(f"Error: The consumer group '{group}' does not exist.\n")
    for group in wanted:
        if group not in missing:
            _print(reports.describe(group))
    return FAILED if missing else DONE


def _print(report: GroupReport) -> None:
    if not report.members:
        sys.stdout.flush()
        sys.stderr.write(f"Consumer group '{report.group}' has no active members.\n")
        sys.stderr.flush()
    say(LINE.format(*HEADS))
    for item in report.partitions:
        figures = (item.offset, item.log_end_offset, item.lag)
        shown = [UNKNOWN if figure is None else figure for figure in figures]
        owner = item.owner or NO_OWNER
        say(
            LINE.format(
                report.group,
                item.topic_partition.topic,
                item.topic_partition.partition,
                *shown,
                owner,
            )
        )


def _delete(reports: GroupReports, arguments: argparse.Namespace) -> int:
    """Deletes groups, or with --topic their data of a topic; groups with members are rejected."""
    groups = reports.groups() if arguments.all_groups else arguments.group
    topics: list[str | None] = arguments.topic or [None]
    failures = [_delete_one(reports, group, topic) for group in groups for topic in topics]
    return FAILED if any(failures) else DONE


def _delete_one(reports: GroupReports, group: str, topic: str | None) -> str | None:
    """Deletes a group and prints the result; returns the reason of a failure."""
    of_topic = "" if topic is None else f" topic '{topic}'"
    reason = None
    try:
        if not reports.delete(group, topic):
            reason = "group does not exist"
    except ActiveMembersError:
        reason = "its consumers are still active"
    if reason is None:
        everything = "all " if topic is None else ""
        where = f"for group '{group}'{of_topic} in zookeeper."
        say(f"Deleted {everything}consumer group information {where}")
    else:
        say(f"Error: Delete for group '{group}'{of_topic} failed because {reason}.")
    return reason
