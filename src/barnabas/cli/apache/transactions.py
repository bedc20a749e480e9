"""kafka-transactions: list, describe, describe-producers, abort, find-hanging."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.admin import HangingTransaction
from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin

EXAMPLE = """
barnabas kafka-transactions --bootstrap-server localhost:9092 list
barnabas kafka-transactions --bootstrap-server localhost:9092 describe --transactional-id tx
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_bootstrap_options(parser)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    listing = verbs.add_parser("list")
    listing.add_argument("--duration-filter", type=int)
    listing.add_argument("--transactional-id-pattern")
    describe = verbs.add_parser("describe")
    describe.add_argument("--transactional-id", required=True)
    producers = verbs.add_parser("describe-producers")
    producers.add_argument("--broker-id", type=int)
    producers.add_argument("--topic", required=True)
    producers.add_argument("--partition", type=int, required=True)
    abort = verbs.add_parser("abort")
    abort.add_argument("--topic", required=True)
    abort.add_argument("--partition", type=int, required=True)
    abort.add_argument("--start-offset", type=int)
    abort.add_argument("--producer-id", type=int)
    abort.add_argument("--producer-epoch", type=int)
    abort.add_argument("--coordinator-epoch", type=int)
    hanging = verbs.add_parser("find-hanging")
    hanging.add_argument("--broker-id", type=int)
    hanging.add_argument("--topic")
    hanging.add_argument("--partition", type=int)
    hanging.add_argument("--max-transaction-timeout", type=int, default=15, help="minutes")


def run(arguments: argparse.Namespace) -> int:
    actions = {
        "list": _list,
        "describe": _describe,
        "describe-producers": _producers,
        "abort": _abort,
        "find-hanging": _find_hanging,
    }
    with connection_of(arguments).admin() as admin:
        actions[arguments.verb](admin, arguments)
    return DONE


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table as Kafka's tool does: columns padded to the widest cell, separated by tabs."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    for row in [list(heads), *texts]:
        say("".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)))


def _list(admin: "Admin", arguments: argparse.Namespace) -> None:
    duration = arguments.duration_filter
    listed = admin.list_transactions(
        running_longer_than=None if duration is None else duration / 1000,
        pattern=arguments.transactional_id_pattern,
    )
    rows = [(t.transactional_id, t.coordinator, t.producer_id, t.state) for t in listed]
    table(("TransactionalId", "Coordinator", "ProducerId", "TransactionState"), rows)


def _describe(admin: "Admin", arguments: argparse.Namespace) -> None:
    name = arguments.transactional_id
    found = admin.describe_transactions([name])[name]
    started = found.started_ms
    duration = "None" if started is None else str(SystemClock().now_ms() - started)
    heads = (
        "CoordinatorId",
        "TransactionalId",
        "ProducerId",
        "ProducerEpoch",
        "TransactionState",
        "TransactionTimeoutMs",
        "CurrentTransactionStartTimeMs",
        "TransactionDurationMs",
        "TopicPartitions",
    )
    row = (
        found.coordinator,
        name,
        found.producer_id,
        found.producer_epoch,
        found.state,
        found.timeout_ms,
        "None" if started is None else started,
        duration,
        ",".join(str(topic_partition) for topic_partition in found.partitions),
    )
    table(heads, [row])


def _producers(admin: "Admin", arguments: argparse.Namespace) -> None:
    topic_partition = TopicPartition(arguments.topic, arguments.partition)
    found = admin.describe_producers([topic_partition], broker=arguments.broker_id)[topic_partition]
    heads = (
        "ProducerId",
        "ProducerEpoch",
        "LatestCoordinatorEpoch",
        "LastSequence",
        "LastTimestamp",
        "CurrentTransactionStartOffset",
    )
    rows = [
        (
            item.producer_id,
            item.producer_epoch,
            -1 if item.coordinator_epoch is None else item.coordinator_epoch,
            item.last_sequence,
            item.last_timestamp,
            "None" if item.transaction_start_offset is None else item.transaction_start_offset,
        )
        for item in found
    ]
    table(heads, rows)


def _abort(admin: "Admin", arguments: argparse.Namespace) -> None:
    topic_partition = TopicPartition(arguments.topic, arguments.partition)
    if arguments.start_offset is None:
        if arguments.producer_id is None or arguments.producer_epoch is None:
            raise LocalError("abort needs --start-offset, or --producer-id and --producer-epoch")
        epoch = max(arguments.coordinator_epoch or 0, 0)
        ids = (arguments.producer_id, arguments.producer_epoch)
        admin.abort_transaction(HangingTransaction(topic_partition, *ids, epoch))
        return
    for item in admin.describe_producers([topic_partition])[topic_partition]:
        if item.transaction_start_offset == arguments.start_offset:
            epoch = max(item.coordinator_epoch or 0, 0)
            ids = (item.producer_id, item.producer_epoch)
            admin.abort_transaction(HangingTransaction(topic_partition, *ids, epoch))
            return
    raise LocalError(
        f"Could not find any open transactions starting at offset {arguments.start_offset} "
        f"on partition {topic_partition}"
    )


def _find_hanging(admin: "Admin", arguments: argparse.Namespace) -> None:
    """Prints open transactions that no coordinator has and that exceed the maximum timeout."""
    known = {item.producer_id for item in admin.list_transactions() if item.state == "Ongoing"}
    limit_ms, now_ms = arguments.max_transaction_timeout * 60_000, SystemClock().now_ms()
    described = admin.describe_producers(_partitions(admin, arguments)).ok
    rows = [
        (
            topic_partition.topic,
            topic_partition.partition,
            item.producer_id,
            item.producer_epoch,
            -1 if item.coordinator_epoch is None else item.coordinator_epoch,
            item.transaction_start_offset,
            item.last_timestamp,
            (now_ms - item.last_timestamp) // 60_000,
        )
        for topic_partition, producers in described.items()
        for item in producers
        if item.transaction_start_offset is not None
        and now_ms - item.last_timestamp > limit_ms
        and item.producer_id not in known
    ]
    table(_HANGING_HEADS, rows)


def _partitions(admin: "Admin", arguments: argparse.Namespace) -> list[TopicPartition]:
    """Returns the partitions that match --topic and --partition; without them all partitions."""
    names = [arguments.topic] if arguments.topic else [t.name for t in admin.list_topics()]
    return [
        TopicPartition(str(name), item.partition)
        for name, topic in admin.describe_topics(names).check().items()
        for item in topic.partitions
        if arguments.partition in (None, item.partition)
    ]


_HANGING_HEADS = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)
