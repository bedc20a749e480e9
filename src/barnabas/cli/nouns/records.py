"""Delete the records before an offset, which becomes the log start offset."""

import argparse
import json
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import (
    add_common_options,
    add_confirmation_options,
    confirmed,
    read_input,
)
from barnabas.cli.framework.output import FAILED, exit_code, show, status_of
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.cli.record_io.selection import (
    parse_range,
    parse_selection,
    resolve,
    select_partitions,
)
from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin

COLUMNS = ("topic", "partition", "before_offset", "low_watermark", "status", "message")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", metavar="TOPIC[:PARTITIONS]")
    parser.add_argument(
        "-o", "--offset", default="end", help="delete records before: end, 42, -10, @-7d"
    )
    parser.add_argument(
        "--from-file", metavar="FILE", help="a JSON file in the format of kafka-delete-records"
    )
    add_confirmation_options(parser)
    add_common_options(parser)


def _delete(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        wanted = _wanted(admin, arguments)
        if arguments.dry_run:
            return _show(arguments, wanted, {}, {})
        what = ", ".join(
            f"{topic_partition} before {offset}" for topic_partition, offset in wanted.items()
        )
        if not confirmed(arguments, f"delete the records of {what}"):
            return FAILED
        results = admin.delete_records(wanted)
    return _show(arguments, wanted, results.ok, dict(results.errors))


def _wanted(admin: "Admin", arguments: argparse.Namespace) -> dict[TopicPartition, int]:
    if arguments.from_file is not None:
        return parse_offset_json(read_input(arguments.from_file))
    if arguments.topic is None:
        raise ConfigError("the topic or --from-file is missing")
    partitions = select_partitions(admin, [parse_selection(arguments.topic)])
    chosen = parse_range(arguments.offset, SystemClock().now_ms())
    return {p: span.start for p, span in resolve(admin, partitions, chosen).items()}


def parse_offset_json(text: str) -> dict[TopicPartition, int]:
    """Parses `{"partitions": [{"topic": …, "partition": …, "offset": …}], "version": 1}`."""
    try:
        found = {
            TopicPartition(str(item["topic"]), int(item["partition"])): int(item["offset"])
            for item in json.loads(text)["partitions"]
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not an offset file: {error}") from error
    return found


def _show(
    arguments: argparse.Namespace,
    wanted: dict[TopicPartition, int],
    done: dict[TopicPartition, int],
    errors: dict[TopicPartition, Exception],
) -> int:
    rows = [
        {
            "topic": topic_partition.topic,
            "partition": topic_partition.partition,
            "before_offset": offset,
            "low_watermark": done.get(topic_partition),
            **status_of(errors.get(topic_partition)),
        }
        for topic_partition, offset in sorted(wanted.items())
    ]
    show(arguments, rows, COLUMNS)
    return exit_code(errors)


VERBS = (
    Verb(
        "delete",
        "delete the records before an offset",
        "barnabas records delete orders:0 -o @-7d --yes",
        _delete_arguments,
        _delete,
    ),
)
