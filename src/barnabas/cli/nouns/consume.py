"""Read records from topics, by offset, time or as a group, and print them.

-o selects the offsets to read: start, end, :end, 42, 10:20, +5, -5, @2024-05-01T12:00, @-1h,
@-2h:-1h, committed. The command ends at the end of the range (:end, 10:20, @-2h:-1h, --tail). Other
ranges, also the default, continue with new records until Ctrl-C, -n records, or --timeout seconds
without a record.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing

from barnabas.cli.framework.connection import Connection, add_connection_options
from barnabas.cli.framework.options import add_isolation_option, count_of_records
from barnabas.cli.framework.output import DONE, reader_is_gone
from barnabas.cli.record_io.record_formats import FORMATS, RecordPrinter
from barnabas.cli.record_io.selection import (
    Bound,
    BoundKind,
    ReadRange,
    parse_partitions,
    parse_range,
    parse_selection,
    resolve,
    select_partitions,
)
from barnabas.cli.record_io.transfer import (
    POLL_SECONDS,
    GroupReader,
    RecordFilter,
    add_filter_options,
    read_spans,
)
from barnabas.model.errors import ConfigError
from barnabas.records.record import Record
from barnabas.runtime.clock import SystemClock

EXAMPLE = r"""
barnabas consume orders -o :end -n 10
barnabas consume orders -o @-1h --filter-value error -f '%p/%o %k=%v\n'
barnabas consume orders --tail 5 --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="*", default=[], metavar="TOPIC[:PARTITIONS]")
    parser.add_argument("-t", "--topic", action="append", default=[], help="a topic, as an option")
    parser.add_argument("-p", "--partition", metavar="N[,N]", help="partitions of all topics")
    parser.add_argument("-o", "--offset", metavar="RANGE", help="offsets to read (default: start)")
    # The option of kafka-console-consumer, which users of Kafka type first.
    parser.add_argument(
        "--from-beginning",
        action="store_const",
        dest="offset",
        const="start",
        help="the same as -o start",
    )
    parser.add_argument(
        "--tail",
        type=count_of_records,
        metavar="N",
        help="read the last N records of each partition",
    )
    parser.add_argument(
        "--follow", action="store_true", help="continue with new records after --tail"
    )
    parser.add_argument(
        "-n", "--count", type=count_of_records, metavar="N", help="stop after N records"
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="stop after this time without a record"
    )
    parser.add_argument(
        "-g",
        "--group",
        help="read as a member of this group and commit offsets; with a range other than start "
        "and end, do not join it (-o committed starts at its offsets)",
    )
    add_isolation_option(parser, "read_uncommitted")
    parser.add_argument("-f", "--printf", metavar="FORMAT", help="such as '%%t/%%p/%%o %%k=%%v\\n'")
    parser.add_argument("--format", choices=FORMATS, default="table", help="(default: %(default)s)")
    add_filter_options(parser)
    add_connection_options(parser)


def run(arguments: argparse.Namespace) -> int:
    topics = [*arguments.topics, *arguments.topic]
    if not topics:
        raise ConfigError("the topic is missing")
    connection = Connection.of(arguments)
    output = Output(arguments)
    if arguments.group and not _by_range(arguments):
        _as_group(connection, arguments, topics, output)
    else:
        output.print_from(_by_offsets(connection, arguments, topics))
    return DONE


def _by_range(arguments: argparse.Namespace) -> bool:
    """Returns whether offsets are read without joining the group.

    With a range other than start or end, a group only provides its committed offsets.
    """
    return arguments.offset not in (None, "start", "end") or arguments.tail is not None


class Output:
    """Prints matching records until the count or the timeout of the options."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._printer = RecordPrinter(arguments.format, arguments.printf, sys.stdout.buffer)
        self._wanted = RecordFilter.of(arguments)
        self._left = sys.maxsize if arguments.count is None else arguments.count
        self._printed = 0
        self._timeout: float | None = arguments.timeout
        self.unread: list[Record] = []
        """Records of the last batch that were neither printed nor rejected by a filter."""

    def print_from(self, source: Iterator[list[Record]]) -> None:
        last = time.monotonic()
        for records in source:
            self._print(records)
            if not records and reader_is_gone(sys.stdout):
                raise BrokenPipeError  # as the next write would: `| head` ends the command
            last = time.monotonic() if records else last
            timed_out = self._timeout is not None and time.monotonic() - last >= self._timeout
            if self._left <= 0:
                self._report_end("-n was reached")
                return
            if timed_out:
                self._report_end(f"no record for {self._timeout:g} s (--timeout)")
                return

    def _report_end(self, reason: str) -> None:
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
    wanted = read_range(arguments)
    selections = [parse_selection(text) for text in topics]
    if arguments.partition is not None:
        numbers = parse_partitions(arguments.partition)
        selections = [(topic, numbers) for topic, _ in selections]
    with connection.admin() as admin:
        committed = arguments.isolation_level == "read_committed"
        topic_partitions = select_partitions(admin, selections)
        spans = resolve(admin, topic_partitions, wanted, arguments.group, committed_only=committed)
    return read_spans(connection, spans, isolation_level=arguments.isolation_level)


def read_range(arguments: argparse.Namespace) -> ReadRange:
    """Returns the range of -o or --tail."""
    if arguments.tail is not None:
        if arguments.offset is not None:
            raise ConfigError("--tail and -o cannot be used together")
        stop = None if arguments.follow else Bound(BoundKind.END)
        return ReadRange(Bound(BoundKind.BEFORE_END, arguments.tail), stop)
    word = "start" if arguments.offset is None else arguments.offset
    wanted = parse_range(word, SystemClock().now_ms())
    if arguments.follow and wanted.stop is not None:
        raise ConfigError(f"--follow and -o {word}, which has an end, cannot be used together")
    return wanted


def _as_group(
    connection: Connection, arguments: argparse.Namespace, topics: list[str], output: Output
) -> None:
    """Reads as a member of the group; -o is only the start of a group without committed offsets."""
    reset = "latest" if arguments.offset == "end" else "earliest"
    options = {"group_id": arguments.group, "auto_offset_reset": reset}
    consumer = connection.consumer(isolation_level=arguments.isolation_level, **options)
    with closing(consumer):  # commits the position after an error, too: rewind() corrected it
        consumer.subscribe(topics)
        reader = GroupReader(consumer)
        try:
            output.print_from(reader.batches(POLL_SECONDS))
        finally:
            reader.rewind(output.unread)
