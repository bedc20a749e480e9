"""`topics copy`: copies the records of a topic to another topic, in this or another cluster.

Partitions, timestamps, keys, headers and nulls are kept. A missing target topic is created like the
source. By default the records that exist at the start are copied; `-o` selects others.
"""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE, OK
from barnabas.cli.framework.options import (
    add_common_options,
    add_dry_run_option,
    add_isolation_option,
    add_progress_options,
)
from barnabas.cli.framework.progress import ProgressBar
from barnabas.cli.framework.render import show
from barnabas.cli.framework.settings import BOOTSTRAP, key_values
from barnabas.cli.nouns.topic_dump import ensure_topic, plan_dump
from barnabas.cli.record_io.bulk_writer import BulkWriter, Pace
from barnabas.cli.record_io.filters import RecordFilter, add_filter_options
from barnabas.cli.record_io.readers import read_spans
from barnabas.model.errors import ConfigError
from barnabas.records.record import Record


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace) -> int:
    source = Connection.of(arguments)
    target = target_of(source, arguments)
    header, spans = plan_dump(source, arguments)
    if target.bootstrap == source.bootstrap and header["topic"] == arguments.target:
        raise ConfigError("source and target are the same topic")
    total = sum(span.size for span in spans.values())
    if arguments.dry_run:
        _show(arguments, header["topic"], total, "PLANNED")
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
    _show(arguments, header["topic"], writer.delivered, OK)
    return DONE


def _show(arguments: argparse.Namespace, source: str, records: int, status: str) -> None:
    """Prints the result; for a plan `records` is the maximum number of records."""
    row = {"source": source, "target": arguments.target, "records": records, "status": status}
    show(arguments, [row], tuple(row))


def target_of(source: Connection, arguments: argparse.Namespace) -> Connection:
    """Returns the target cluster: the settings of the source with the --to-* overrides."""
    settings = dict(source.settings)
    if arguments.to_bootstrap_server:
        settings[BOOTSTRAP] = arguments.to_bootstrap_server
    settings.update(key_values(arguments.to_property, "--to-property"))
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
