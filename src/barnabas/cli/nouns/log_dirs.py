"""The logs on the brokers' disks: directories, sizes, replicas that lag or move."""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.render import show

EXAMPLE = "barnabas log-dirs --topic orders --format json"
COLUMNS = ("broker", "log_dir", "topic", "partition", "size_bytes", "offset_lag", "future")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--topic", action="append", default=[], help="only these, repeatable")
    parser.add_argument("--broker", type=int, action="append", default=[], metavar="ID")
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        results = admin.describe_log_dirs(arguments.broker or None)
    rows = [
        {
            "broker": broker,
            "log_dir": directory.path,
            "topic": place.topic,
            "partition": place.partition,
            "size_bytes": info.size_bytes,
            "offset_lag": info.offset_lag,
            "future": info.future,
            "total_bytes": directory.total_bytes,
            "usable_bytes": directory.usable_bytes,
        }
        for broker, directories in results.check().items()
        for directory in directories
        for place, info in sorted(directory.replicas.items())
        if not arguments.topic or place.topic in arguments.topic
    ]
    show(arguments, rows, COLUMNS)
    return DONE
