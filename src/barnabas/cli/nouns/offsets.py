"""Show the start and end offsets of partitions, and the offset at a time."""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, parse_time, show
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.cli.record_io.selection import (
    log_offsets_of,
    named_partitions,
    offsets_at,
)
from barnabas.runtime.clock import SystemClock

COLUMNS = ("topic", "partition", "start_offset", "end_offset", "records")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _get_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="+", metavar="TOPIC[:PARTITIONS]")
    parser.add_argument("--at", metavar="TIME", help="also the first offset at or after a time")
    add_common_options(parser)


def _get(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        partitions = named_partitions(admin, arguments.topics)
        log_offsets = log_offsets_of(admin, partitions)
        at = None
        if arguments.at is not None:
            moment = parse_time(arguments.at.removeprefix("@"), SystemClock().now_ms())
            at = offsets_at(admin, log_offsets, moment)
    rows = [
        {
            "topic": topic_partition.topic,
            "partition": topic_partition.partition,
            "start_offset": log.start,
            "end_offset": log.end,
            "records": log.end - log.start,
            **({} if at is None else {"offset_at": at[topic_partition]}),
        }
        for topic_partition, log in sorted(log_offsets.items())
    ]
    show(arguments, rows, COLUMNS if at is None else (*COLUMNS, "offset_at"))
    return DONE


VERBS = (
    Verb(
        "get",
        "log start and end offset of partitions",
        "barnabas offsets get orders:0-2 --at @-1h",
        _get_arguments,
        _get,
    ),
)
