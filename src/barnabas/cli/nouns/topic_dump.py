"""`topics dump`, `restore` and `copy`: the records of a topic in a file or in another topic.

A dump is NDJSON with the topic itself in the first line:

    {"barnabas_dump": 1, "topic": "orders", "partitions": 3, "configs": {…}}
    {"topic": "orders", "partition": 0, "offset": 0, …}

A dump is lossless: null differs from empty, binary data is base64, headers keep their order.
Restore writes the records to their partitions with their timestamps; offsets are assigned again.
`-` is the standard stream; files with a name ending in .gz are compressed.

A copy keeps partitions, timestamps, keys, headers and nulls. A missing target topic is created like
the source. By default the records that exist at the start are copied; `-o` selects others.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import IO, Any

from barnabas.admin import NewTopic
from barnabas.cli.framework.connection import (
    BOOTSTRAP,
    Connection,
    add_connection_options,
    own_settings,
)
from barnabas.cli.framework.options import (
    STDIO,
    add_common_options,
    add_dry_run_option,
    add_isolation_option,
    add_progress_options,
    open_input,
    open_output,
)
from barnabas.cli.framework.output import DONE, OK, ProgressBar, json_line, show
from barnabas.cli.nouns.topics import set_configs
from barnabas.cli.record_io.selection import (
    END,
    OffsetSpan,
    parse_range,
    parse_selection,
    resolve,
    select_partitions,
)
from barnabas.cli.record_io.transfer import (
    BulkWriter,
    Pace,
    RecordFilter,
    add_filter_options,
    read_spans,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.records.documents import (
    decode_bytes,
    headers_of,
    parse_document,
    record_document,
    timestamp_of,
)
from barnabas.records.record import Record
from barnabas.runtime.clock import SystemClock

VERSION = 1


def add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC[:PARTITIONS]")
    parser.add_argument("-o", "--offset", default=":end", metavar="RANGE", help="(default: :end)")
    parser.add_argument("--output", default=STDIO, metavar="FILE", help="(default: stdout)")
    add_isolation_option(parser, "read_committed")
    add_filter_options(parser)
    add_progress_options(parser)
    add_connection_options(parser)


def run_dump(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    header, spans = plan_dump(connection, arguments)
    wanted = RecordFilter.of(arguments)
    total = sum(span.size for span in spans.values())
    written = 0
    with (
        open_output(arguments.output) as out,
        ProgressBar("dumping", total, enabled=not arguments.quiet) as progress,
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


def plan_dump(
    connection: Connection, arguments: argparse.Namespace
) -> tuple[dict[str, Any], dict[TopicPartition, OffsetSpan]]:
    """Returns the first line of the dump and the spans to read, which always have a stop."""
    wanted = parse_range(arguments.offset, SystemClock().now_ms())
    if wanted.stop is None:
        wanted = type(wanted)(wanted.start, END)
    topic, partitions = parse_selection(arguments.topic)
    with connection.admin() as admin:
        chosen = select_partitions(admin, [(topic, partitions)])
        committed = arguments.isolation_level == "read_committed"
        spans = resolve(admin, chosen, wanted, committed_only=committed)
        count = len(admin.describe_topic(topic).partitions)
        configs = {entry.name: entry.value for entry in set_configs(admin, topic)}
    header = {
        "barnabas_dump": VERSION,
        "topic": topic,
        "partitions": count,
        "configs": configs,
    }
    return header, spans


def add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic", nargs="?", help="topic to write to (default: the topic in the dump)"
    )
    parser.add_argument("--input", default=STDIO, metavar="FILE", help="(default: stdin)")
    parser.add_argument(
        "--repartition",
        action="store_true",
        help="choose partitions by key instead of keeping them",
    )
    parser.add_argument("-r", "--replication-factor", type=int, default=-1)
    add_dry_run_option(parser)
    add_progress_options(parser)
    add_common_options(parser)


def run_restore(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    with open_input(arguments.input) as lines:
        documents = _documents(lines)
        header, first = _header(documents)
        topic = arguments.topic or (header or first or {}).get("topic")
        if not topic:
            raise LocalError("the dump does not contain the topic name: give the topic to write to")
        rest = documents if first is None else _chain(first, documents)
        if arguments.dry_run:
            _show(arguments, topic, sum(1 for _ in rest), "PLANNED")
            return DONE
        ensure_topic(connection, topic, header or {}, arguments.replication_factor)
        count = _restore(connection, topic, rest, arguments)
    _show(arguments, topic, count, OK)
    return DONE


def _show(arguments: argparse.Namespace, topic: str, records: int, status: str) -> None:
    row = {"topic": topic, "records": records, "status": status}
    show(arguments, [row], tuple(row))


def ensure_topic(
    connection: Connection, topic: str, header: dict[str, Any], replication_factor: int = -1
) -> None:
    """Creates the topic as described in the header, unless it exists."""
    with connection.admin() as admin:
        there = admin.describe_topics([topic])
        error = there.errors.get(topic)
        if error is None:
            return
        if not isinstance(error, BrokerError) or error.code not in (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ):
            raise error
        partitions = int(header.get("partitions", -1))
        wanted = NewTopic(topic, partitions, replication_factor, header.get("configs") or {})
        admin.create_topics([wanted]).check()


def _restore(
    connection: Connection,
    topic: str,
    documents: Iterator[dict[str, Any]],
    arguments: argparse.Namespace,
) -> int:
    with (
        ProgressBar("restoring", 0, enabled=not arguments.quiet) as progress,
        BulkWriter(connection, progress.advance) as writer,
    ):
        for document in documents:
            writer.send(
                topic,
                decode_bytes(document.get("value"), document.get("value_encoding")),
                key=decode_bytes(document.get("key"), document.get("key_encoding")),
                headers=headers_of(document),
                partition=None if arguments.repartition else document.get("partition"),
                timestamp=timestamp_of(document),
            )
    return writer.delivered


def _documents(lines: IO[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        yield parse_document(line, f"line {number}")


def _header(
    documents: Iterator[dict[str, object]],
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Returns the first line as header, or as first record when the file has no header."""
    first = next(documents, None)
    if first is not None and "barnabas_dump" in first:
        return first, None
    return None, first


def _chain(first: dict[str, object], rest: Iterator[dict[str, object]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from rest


def add_copy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="SOURCE[:PARTITIONS]")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("-o", "--offset", default=":end", metavar="RANGE", help="(default: :end)")
    parser.add_argument(
        "--to-bootstrap-server", metavar="HOST:PORT", help="target cluster (default: the same)"
    )
    parser.add_argument(
        "--to-property",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a client setting for the target cluster",
    )
    parser.add_argument("-r", "--replication-factor", type=int, default=-1)
    parser.add_argument(
        "--repartition",
        action="store_true",
        help="choose partitions by key instead of keeping them",
    )
    parser.add_argument("--rate-limit", type=float, metavar="RECORDS", help="records per second")
    add_isolation_option(parser, "read_committed")
    add_dry_run_option(parser)
    add_filter_options(parser)
    add_progress_options(parser)
    add_common_options(parser)


def run_copy(arguments: argparse.Namespace) -> int:
    source = Connection.of(arguments)
    target = target_of(source, arguments)
    header, spans = plan_dump(source, arguments)
    if target.bootstrap == source.bootstrap and header["topic"] == arguments.target:
        raise ConfigError("source and target are the same topic")
    total = sum(span.size for span in spans.values())
    if arguments.dry_run:
        _show_copied(arguments, header["topic"], total, "PLANNED")
        return DONE
    ensure_topic(target, arguments.target, header, arguments.replication_factor)
    wanted = RecordFilter.of(arguments)
    pace = Pace(arguments.rate_limit)
    with (
        ProgressBar("copying", total, enabled=not arguments.quiet) as progress,
        BulkWriter(target) as writer,
    ):
        options = {"isolation_level": arguments.isolation_level}
        for records in read_spans(source, spans, **options):
            kept = wanted.apply(records)
            for record in kept:
                _send(writer, arguments, record)
            progress.advance(len(records))
            pace.after(len(kept))
    _show_copied(arguments, header["topic"], writer.delivered, OK)
    return DONE


def _show_copied(arguments: argparse.Namespace, source: str, records: int, status: str) -> None:
    """Prints the result; for a plan `records` is the maximum number of records."""
    row = {"source": source, "target": arguments.target, "records": records, "status": status}
    show(arguments, [row], tuple(row))


def target_of(source: Connection, arguments: argparse.Namespace) -> Connection:
    """Returns the target cluster: the settings of the source with the --to-* overrides."""
    settings = dict(source.settings)
    if arguments.to_bootstrap_server:
        settings[BOOTSTRAP] = arguments.to_bootstrap_server
    settings.update(own_settings(arguments.to_property, "--to-property"))
    return Connection(settings)


def _send(writer: BulkWriter, arguments: argparse.Namespace, record: Record) -> None:
    writer.send(
        arguments.target,
        record.value,
        key=record.key,
        headers=record.headers,
        partition=None if arguments.repartition else record.partition,
        timestamp=record.timestamp if record.timestamp >= 0 else None,
    )
