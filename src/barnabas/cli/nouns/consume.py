"""Read records from topics, by offset, time or as a group, and print them.

Where to read is one word (-o): start, end, :end, 42, 10:20, +5, -5, @2024-05-01T12:00, @-1h,
@-2h:-1h, committed. Ends by itself when the range has an end, after -n records, or after
--timeout seconds without one.
"""

import argparse
import sys
import time
from collections.abc import Iterator

from barnabas.cli.framework.connection import Connection, add_connection_options
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.options import add_isolation_option
from barnabas.cli.framework.topic_selection import expand, parse_partitions, parse_place
from barnabas.cli.record_io.filters import RecordFilter, add_filter_options
from barnabas.cli.record_io.offset_grammar import Bound, BoundKind, OffsetRange, parse_range
from barnabas.cli.record_io.readers import POLL_SECONDS, GroupReader, read_spans
from barnabas.cli.record_io.record_output import FORMATS, RecordPrinter
from barnabas.cli.record_io.spans import resolve
from barnabas.model.errors import ConfigError
from barnabas.records.record import Record
from barnabas.runtime.clock import SystemClock

EXAMPLE = r"""
barnabas consume orders -o :end -n 10
barnabas consume orders -o @-1h --filter-value error -f '%p/%o %k=%v\n'
barnabas consume orders --tail 5 --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="*", metavar="TOPIC[:PARTITIONS]")
    parser.add_argument("-t", "--topic", action="append", default=[], help="the same, as a flag")
    parser.add_argument("-p", "--partition", metavar="N[,N]", help="partitions of all topics")
    parser.add_argument("-o", "--offset", metavar="RANGE", help="where to read (default: start)")
    parser.add_argument("--tail", type=int, metavar="N", help="the last N of each partition")
    parser.add_argument("--follow", action="store_true", help="go on after --tail")
    parser.add_argument("-n", "--count", type=int, metavar="N", help="stop after N records")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="stop when idle so long")
    parser.add_argument("-g", "--group", help="read as a member of a group, and commit")
    add_isolation_option(parser, "read_uncommitted")
    parser.add_argument("-f", "--printf", metavar="FORMAT", help="such as '%%t/%%p/%%o %%k=%%v\\n'")
    parser.add_argument("--format", choices=FORMATS, default="table", help="(default: %(default)s)")
    add_filter_options(parser)
    add_connection_options(parser)


def run(arguments: argparse.Namespace) -> int:
    topics = [*arguments.topics, *arguments.topic]
    if not topics:
        raise ConfigError("which topic?")
    connection = Connection.of(arguments)
    output = Output(arguments)
    if arguments.group and not _by_range(arguments):
        _as_group(connection, arguments, topics, output)
    else:
        output.print_from(_by_offsets(connection, arguments, topics))
    return DONE


def _by_range(arguments: argparse.Namespace) -> bool:
    """A group with an offset other than a plain start or end only lends its committed offsets."""
    return arguments.offset not in (None, "start", "end") or arguments.tail is not None


class Output:
    """Prints the wanted records until the count or the time-out of the options."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._printer = RecordPrinter(arguments.format, arguments.printf, sys.stdout.buffer)
        self._wanted = RecordFilter.of(arguments)
        self._left = sys.maxsize if arguments.count is None else arguments.count
        self._printed = 0
        self._timeout: float | None = arguments.timeout
        self.unread: list[Record] = []
        """Records of the last batch that were neither printed nor left out by a filter."""

    def print_from(self, source: Iterator[list[Record]]) -> None:
        last = time.monotonic()
        for records in source:
            self._print(records)
            last = time.monotonic() if records else last
            timed_out = self._timeout is not None and time.monotonic() - last >= self._timeout
            if self._left <= 0:
                self._tell_end("-n is reached")
                return
            if timed_out:
                self._tell_end(f"none came for {self._timeout:g} s (--timeout)")
                return

    def _tell_end(self, reason: str) -> None:
        records = "record" if self._printed == 1 else "records"
        sys.stderr.write(f"read {self._printed} {records}: {reason}\n")

    def _print(self, records: list[Record]) -> None:
        self.unread = records
        kept, read = self._wanted.first(records, self._left)
        self._printer.write(kept)
        self._left -= len(kept)
        self._printed += len(kept)
        self.unread = records[read:]


def _by_offsets(
    connection: Connection, arguments: argparse.Namespace, topics: list[str]
) -> Iterator[list[Record]]:
    wanted = wanted_range(arguments)
    places = [parse_place(text) for text in topics]
    if arguments.partition is not None:
        numbers = parse_partitions(arguments.partition)
        places = [(topic, numbers) for topic, _ in places]
    with connection.admin() as admin:
        committed = arguments.isolation_level == "read_committed"
        places_now = expand(admin, places)
        spans = resolve(admin, places_now, wanted, arguments.group, committed_only=committed)
    return read_spans(connection, spans, isolation_level=arguments.isolation_level)


def wanted_range(arguments: argparse.Namespace) -> OffsetRange:
    """The range that -o or --tail mean."""
    if arguments.tail is not None:
        if arguments.offset is not None:
            raise ConfigError("--tail and -o exclude each other")
        stop = None if arguments.follow else Bound(BoundKind.END)
        return OffsetRange(Bound(BoundKind.BEFORE_END, arguments.tail), stop)
    word = "start" if arguments.offset is None else arguments.offset
    return parse_range(word, SystemClock().now_ms())


def _as_group(
    connection: Connection, arguments: argparse.Namespace, topics: list[str], output: Output
) -> None:
    """As a member: committed offsets decide, -o only says where a new group begins."""
    reset = "latest" if arguments.offset == "end" else "earliest"
    options = {"group_id": arguments.group, "auto_offset_reset": reset}
    with connection.consumer(isolation_level=arguments.isolation_level, **options) as consumer:
        consumer.subscribe(topics)
        reader = GroupReader(consumer)
        try:
            output.print_from(reader.batches(POLL_SECONDS))
        finally:
            reader.give_back(output.unread)
