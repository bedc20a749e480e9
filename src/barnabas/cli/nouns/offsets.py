"""Offsets of partitions: the first, the end, by time, the newest timestamp's."""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.render import show
from barnabas.cli.framework.times import parse_time
from barnabas.cli.framework.topic_selection import expand, parse_place
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.cli.record_io.spans import edges_of, offsets_at
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
        partitions = expand(admin, [parse_place(text) for text in arguments.topics])
        edges = edges_of(admin, partitions)
        at = None
        if arguments.at is not None:
            moment = parse_time(arguments.at.removeprefix("@"), SystemClock().now_ms())
            at = offsets_at(admin, edges, moment)
    rows = [
        {
            "topic": place.topic,
            "partition": place.partition,
            "start_offset": edge.first,
            "end_offset": edge.end,
            "records": edge.end - edge.first,
            **({} if at is None else {"offset_at": at[place]}),
        }
        for place, edge in sorted(edges.items())
    ]
    show(arguments, rows, COLUMNS if at is None else (*COLUMNS, "offset_at"))
    return DONE


VERBS = (
    Verb(
        "get",
        "first and end offset of partitions",
        "barnabas offsets get orders:0-2 --at @-1h",
        _get_arguments,
        _get,
    ),
)
