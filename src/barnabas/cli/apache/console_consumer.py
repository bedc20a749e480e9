"""kafka-console-consumer: read topics and print the records to standard output."""

import argparse
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from barnabas.cli.apache.flags import (
    add_bootstrap_options,
    add_client_properties,
    connection_of,
    parse_topic_pattern,
    say,
)
from barnabas.cli.apache.message_formatters import Formatter, close_formatter, formatter_of
from barnabas.cli.framework.output import DONE, FAILED
from barnabas.cli.record_io.transfer import GroupReader
from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.model.version import VERSION
from barnabas.records.record import Record

if TYPE_CHECKING:
    from barnabas.clients.group import Consumer


EXAMPLE = """
barnabas kafka-console-consumer --bootstrap-server localhost:9092 --topic orders \\
    --from-beginning --max-messages 10 --property print.key=true
"""
_POLL_SECONDS = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", help="the topic to consume")
    parser.add_argument(
        "--include", "--whitelist", dest="include", help="regular expression of topics"
    )
    parser.add_argument("--partition", type=int)
    parser.add_argument("--offset", help="a number, earliest or latest; needs --partition")
    parser.add_argument("--from-beginning", action="store_true")
    parser.add_argument("--max-messages", type=int)
    parser.add_argument("--timeout-ms", type=int, help="end after this time without a message")
    parser.add_argument("--group", help="the consumer group")
    parser.add_argument(
        "--formatter",
        help="name of one of Apache's formatters, or a Python class as package.module:Class",
    )
    parser.add_argument("--formatter-config", metavar="FILE")
    parser.add_argument(
        "--property",
        "--formatter-property",
        dest="formatter_properties",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="print.key, print.value, print.timestamp, print.headers, key.separator, …;"
        " key.deserializer.* and value.deserializer.* configure the deserializers",
    )
    parser.add_argument(
        "--key-deserializer", help="name of one of Kafka's classes, or package.module:Class"
    )
    parser.add_argument("--value-deserializer", help="the same for values")
    parser.add_argument(
        "--isolation-level",
        default="read_uncommitted",
        choices=("read_uncommitted", "read_committed"),
    )
    parser.add_argument("--skip-message-on-error", action="store_true")
    parser.add_argument(
        "--enable-systest-events", action="store_true", help="print shutdown_complete at the end"
    )
    parser.add_argument("--version", action="store_true")
    add_client_properties(parser, "consumer")
    add_bootstrap_options(parser, zookeeper=True)


def run(arguments: argparse.Namespace) -> int:
    if arguments.version:
        say(VERSION)
        return DONE
    _check(arguments)
    formatter = formatter_of(arguments)
    with contextlib.closing(ConsoleSource(arguments)) as source:
        ended = _print(source, formatter, arguments)
    close_formatter(formatter)
    sys.stdout.flush()
    reason = f": {ended.reason}" if ended.reason else ""
    sys.stderr.write(f"Processed a total of {ended.messages} messages{reason}\n")
    if arguments.enable_systest_events:
        say("shutdown_complete")
    return ended.code


def _check(arguments: argparse.Namespace) -> None:
    if (arguments.topic is None) == (arguments.include is None):
        raise ConfigError("Exactly one of --include/--topic is required.")
    if arguments.partition is not None and arguments.topic is None:
        raise ConfigError("The topic is required when partition is specified.")
    if arguments.offset is None:
        return
    if arguments.partition is None:
        raise ConfigError("The partition is required when offset is specified.")
    if arguments.from_beginning:
        raise ConfigError("Options from-beginning and offset cannot be specified together.")
    if arguments.offset not in ("earliest", "latest") and not arguments.offset.isdigit():
        raise ConfigError(
            f"The provided offset value '{arguments.offset}' is incorrect. Valid values are "
            "'earliest', 'latest', or a non-negative long."
        )


class ConsoleSource:
    """The consumer of the options; `close` leaves the group."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        connection = connection_of(arguments)
        given = connection.settings
        group = arguments.group or given.get("group.id")
        options: dict[str, Any] = {"isolation_level": arguments.isolation_level}
        options["auto_offset_reset"] = "earliest" if arguments.from_beginning else "latest"
        if arguments.partition is None:
            options["group_id"] = group or f"console-consumer-{uuid4().hex[:8]}"
            # A generated group id is never used again, so its offsets need no commit.
            options["enable_auto_commit"] = "true" if group else "false"
        if arguments.from_beginning and given.get("auto.offset.reset") == "latest":
            raise ConfigError(
                "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest'"
            )
        self._temporary = None if group or arguments.partition is not None else options["group_id"]
        self._connection = connection
        self._consumer: Consumer = connection.consumer(**options)
        self._reader = GroupReader(self._consumer)

    def records(self) -> Iterator[list[Record]]:
        """Yields the result of each poll, also empty ones, without end."""
        arguments, consumer = self._arguments, self._consumer
        if arguments.partition is not None:
            topic_partition = TopicPartition(arguments.topic, arguments.partition)
            consumer.assign([topic_partition])
            self._seek(topic_partition)
        elif arguments.include is not None:
            consumer.subscribe(parse_topic_pattern(arguments.include))
        else:
            consumer.subscribe([arguments.topic])
        return self._reader.batches(_POLL_SECONDS)

    def rewind(self, unread: list[Record]) -> None:
        """Moves back to records that were not printed, so that the commit in `close` skips none."""
        self._reader.rewind(unread)

    def close(self) -> None:
        self._consumer.close()
        if self._temporary is not None:
            with self._connection.admin() as admin:
                admin.delete_groups([self._temporary])

    def _seek(self, topic_partition: TopicPartition) -> None:
        offset = self._arguments.offset
        if self._arguments.from_beginning or offset == "earliest":
            self._consumer.seek_to_beginning(topic_partition)
        elif offset in (None, "latest"):
            self._consumer.seek_to_end(topic_partition)
        else:
            self._consumer.seek(topic_partition, int(offset))


class ConsumeResult(NamedTuple):
    """Number of printed messages, exit code, and the option that ended the run."""

    messages: int
    code: int
    reason: str = ""


def _print(
    source: ConsoleSource, formatter: Formatter, arguments: argparse.Namespace
) -> ConsumeResult:
    """Prints records until the count, the timeout or a signal."""
    left = sys.maxsize if arguments.max_messages is None else arguments.max_messages
    count, last = 0, time.monotonic()
    stopped: list[int] = []
    reason = ""
    with contextlib.suppress(KeyboardInterrupt), _sigterm_into(stopped):
        for records in source.records():
            wanted = records[: left - count]
            with _rewind_unprinted(source, records) as printed:
                for record in wanted:
                    if not _write(formatter, record, skip=arguments.skip_message_on_error):
                        break
                    printed.append(record)
            count += len(printed)
            if len(printed) < len(wanted):
                return ConsumeResult(count, FAILED)
            last = time.monotonic() if records else last
            idle_ms = (time.monotonic() - last) * 1000
            timed_out = arguments.timeout_ms is not None and idle_ms >= arguments.timeout_ms
            if count >= left:
                reason = "--max-messages was reached"
            elif timed_out:
                reason = f"no message for {arguments.timeout_ms} ms (--timeout-ms)"
            if reason or stopped:
                break
    return ConsumeResult(count, DONE, reason)


@contextlib.contextmanager
def _rewind_unprinted(source: ConsoleSource, records: list[Record]) -> Iterator[list[Record]]:
    """Rewinds to the records that the block did not append to the yielded list.

    When writing to standard output fails, all records of the batch count as not printed.
    """
    printed: list[Record] = []
    unread = records
    try:
        try:
            yield printed
        finally:
            sys.stdout.buffer.flush()
            unread = records[len(printed) :]
    finally:
        source.rewind(unread)


def _write(formatter: Formatter, record: Record, *, skip: bool) -> bool:
    try:
        sys.stdout.buffer.write(formatter.render(record))
    except ValueError as error:
        sys.stderr.write(f"Error processing message: {error}\n")
        return skip
    return True


@contextlib.contextmanager
def _sigterm_into(received: list[int]) -> Iterator[None]:
    """Records SIGTERM in a list, so that the loop ends and the consumer leaves the group."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
