"""Show the log directories of the brokers: sizes, lag and moves of replicas."""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, show

EXAMPLE = "barnabas log-dirs --topic orders --format json"
COLUMNS = ("broker", "log_dir", "topic", "partition", "size_bytes", "offset_lag", "future")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-t", "--topic", action="append", default=[], help="only this topic, repeatable"
    )
    parser.add_argument("--broker", type=int, action="append", default=[], metavar="ID")
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        results = admin.describe_log_dirs(arguments.broker or None)
        for topic in arguments.topic:
            admin.describe_topic(topic)  # raises for a wrong name: an empty table would hide it
    rows = [
        {
            "broker": broker,
            "log_dir": directory.path,
            "topic": topic_partition.topic,
            "partition": topic_partition.partition,
            "size_bytes": info.size_bytes,
            "offset_lag": info.offset_lag,
            "future": info.future,
            "total_bytes": directory.total_bytes,
            "usable_bytes": directory.usable_bytes,
        }
        for broker, directories in results.check().items()
        for directory in directories
        for topic_partition, info in sorted(directory.replicas.items())
        if not arguments.topic or topic_partition.topic in arguments.topic
    ]
    show(arguments, rows, COLUMNS)
    return DONE
