"""Dumping a topic: NDJSON, the topic itself in the first line, then a record per line.

    {"barnabas_dump": 1, "topic": "orders", "partitions": 3, "configs": {…}}
    {"topic": "orders", "partition": 0, "offset": 0, …}

Lossless: null is not empty, binary goes as base64, headers keep their order. `-` is stdout; a name
that ends in .gz is compressed.
"""

import argparse
import sys
from typing import Any

from barnabas.cli.framework.connection import Connection, add_connection_options
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.files import STDIO, open_output
from barnabas.cli.framework.options import add_isolation_option, add_progress_options
from barnabas.cli.framework.places import expand, parse_place
from barnabas.cli.framework.progress import Progress
from barnabas.cli.framework.render import json_line
from barnabas.cli.reading.filters import RecordFilter, add_filter_options
from barnabas.cli.reading.offset_grammar import END, parse_range
from barnabas.cli.reading.record_json import record_document
from barnabas.cli.reading.span_reader import read_spans
from barnabas.cli.reading.spans import Span, resolve
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

VERSION = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC[:PARTITIONS]")
    parser.add_argument("-o", "--offset", default=":end", metavar="RANGE", help="(default: :end)")
    parser.add_argument("--output", default=STDIO, metavar="FILE", help="(default: stdout)")
    add_isolation_option(parser, "read_committed")
    add_filter_options(parser)
    add_progress_options(parser)
    add_connection_options(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    header, spans = plan(connection, arguments)
    wanted = RecordFilter.of(arguments)
    total = sum(span.size for span in spans.values())
    written = 0
    with (
        open_output(arguments.output) as out,
        Progress("dumping", total, enabled=not arguments.quiet) as progress,
    ):
        out.write(json_line(header) + "\n")
        options = {"isolation_level": arguments.isolation_level}
        for records in read_spans(connection, spans, **options):
            kept = wanted.apply(records)
            out.writelines(json_line(record_document(record)) + "\n" for record in kept)
            progress.advance(len(records))
            written += len(kept)
    sys.stderr.write(f"dumped {written} records of {header['topic']}\n")
    return DONE


def plan(
    connection: Connection, arguments: argparse.Namespace
) -> tuple[dict[str, Any], dict[TopicPartition, Span]]:
    """The first line, and what to read: always up to an end."""
    from barnabas.cli.nouns.topics import set_configs

    wanted = parse_range(arguments.offset, SystemClock().now_ms())
    if wanted.stop is None:
        wanted = type(wanted)(wanted.start, END)
    place = parse_place(arguments.topic)
    with connection.admin() as admin:
        partitions = expand(admin, [place])
        committed = arguments.isolation_level == "read_committed"
        spans = resolve(admin, partitions, wanted, committed_only=committed)
        count = len(admin.describe_topic(place[0]).partitions)
        configs = {entry.name: entry.value for entry in set_configs(admin, place[0])}
    header = {
        "barnabas_dump": VERSION,
        "topic": place[0],
        "partitions": count,
        "configs": configs,
    }
    return header, spans
