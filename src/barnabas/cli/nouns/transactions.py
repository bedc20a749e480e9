"""List and describe transactions, find hanging ones and abort them."""

import argparse

from barnabas.admin import HangingTransaction
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options, add_confirmation_options, confirmed
from barnabas.cli.framework.output import DONE, FAILED, exit_code, show, status_of
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.cli.record_io.selection import named_partitions, parse_selection
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import iso_time

LIST_COLUMNS = ("transactional_id", "coordinator", "producer_id", "state")
DESCRIBE_COLUMNS = (
    "transactional_id",
    "coordinator",
    "state",
    "producer_id",
    "producer_epoch",
    "timeout_ms",
    "started",
    "partitions",
)
PRODUCER_COLUMNS = (
    "topic",
    "partition",
    "producer_id",
    "producer_epoch",
    "coordinator_epoch",
    "last_sequence",
    "last_timestamp",
    "transaction_start_offset",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", action="append", default=[], help="only these, repeatable")
    add_common_options(parser)


def _list(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        listed = admin.list_transactions(states=arguments.state)
    rows = [
        {
            "transactional_id": item.transactional_id,
            "coordinator": item.coordinator,
            "producer_id": item.producer_id,
            "state": item.state,
        }
        for item in listed
    ]
    show(arguments, rows, LIST_COLUMNS)
    return DONE


def _describe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="TRANSACTIONAL-ID")
    add_common_options(parser)


def _describe(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        found = admin.describe_transactions(arguments.ids).check()
    rows = [
        {
            "transactional_id": item.transactional_id,
            "coordinator": item.coordinator,
            "state": item.state,
            "producer_id": item.producer_id,
            "producer_epoch": item.producer_epoch,
            "timeout_ms": item.timeout_ms,
            "started_ms": item.started_ms,
            "started": iso_time(item.started_ms),
            "partitions": [str(topic_partition) for topic_partition in item.partitions],
        }
        for item in found.values()
    ]
    show(arguments, rows, DESCRIBE_COLUMNS)
    return DONE


def _producers_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="+", metavar="TOPIC[:PARTITIONS]")
    add_common_options(parser)


def _producers(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        topic_partitions = named_partitions(admin, arguments.topics)
        found = admin.describe_producers(topic_partitions).check()
    rows = [
        {
            "topic": topic_partition.topic,
            "partition": topic_partition.partition,
            "producer_id": item.producer_id,
            "producer_epoch": item.producer_epoch,
            "coordinator_epoch": item.coordinator_epoch,
            "last_sequence": item.last_sequence,
            "last_timestamp": item.last_timestamp,
            "transaction_start_offset": item.transaction_start_offset,
        }
        for topic_partition, producers in sorted(found.items())
        for item in producers
    ]
    show(arguments, rows, PRODUCER_COLUMNS)
    return DONE


def _abort_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC:PARTITION", help="where the transaction hangs")
    parser.add_argument("--start-offset", type=int, help="its first offset there")
    parser.add_argument("--producer-id", type=int, help="or its producer")
    add_confirmation_options(parser)
    add_common_options(parser)


def _abort(arguments: argparse.Namespace) -> int:
    topic, numbers = parse_selection(arguments.topic)
    if numbers is None or len(numbers) != 1:
        raise ConfigError("name one partition, such as orders:0")
    if arguments.start_offset is None and arguments.producer_id is None:
        raise ConfigError("the transaction is missing: give --start-offset or --producer-id")
    topic_partition = TopicPartition(topic, numbers[0])
    error: BarnabasError | None = None
    with Connection.of(arguments).admin() as admin:
        open_ones = [
            item
            for item in admin.describe_producers([topic_partition]).check()[topic_partition]
            if item.transaction_start_offset is not None
            and arguments.start_offset in (None, item.transaction_start_offset)
            and arguments.producer_id in (None, item.producer_id)
        ]
        if not open_ones:
            raise ConfigError(f"{topic_partition} has no such open transaction")
        item = open_ones[0]
        question = f"abort the transaction of producer {item.producer_id} in {topic_partition}"
        if not arguments.dry_run:
            if not confirmed(arguments, question):
                return FAILED
            epoch = item.coordinator_epoch or 0
            hanging = HangingTransaction(
                topic_partition, item.producer_id, item.producer_epoch, epoch
            )
            try:
                admin.abort_transaction(hanging)
            except BarnabasError as caught:
                error = caught
    row = {"topic": topic, "partition": numbers[0], "producer_id": item.producer_id}
    show(
        arguments,
        [{**row, **status_of(error)}],
        ("topic", "partition", "producer_id", "status", "message"),
    )
    return exit_code([] if error is None else [error])


VERBS = (
    Verb(
        "list",
        "transactional ids and their states",
        "barnabas transactions list --state Ongoing",
        _list_arguments,
        _list,
        ("ls",),
    ),
    Verb(
        "describe",
        "state, producer and partitions of a transactional id",
        "barnabas transactions describe billing-tx",
        _describe_arguments,
        _describe,
    ),
    Verb(
        "producers",
        "the producers that partitions remember",
        "barnabas transactions producers orders:0",
        _producers_arguments,
        _producers,
    ),
    Verb(
        "abort",
        "end a transaction that its coordinator has forgotten",
        "barnabas transactions abort orders:0 --start-offset 42 --yes",
        _abort_arguments,
        _abort,
    ),
)
