"""kafka-get-offsets (formerly GetOffsetShell): prints `topic:partition:offset` per partition.

--time -1 or latest, -2 or earliest, -3 or max-timestamp, or a timestamp in milliseconds.
"""

import argparse
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.admin import OffsetSpec
from barnabas.cli.apache.flags import (
    add_bootstrap_options,
    connection_of,
    parse_topic_pattern,
    say,
    warn_without_effect,
)
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin


ERROR_PREFIX = "Error occurred: "
EXAMPLE = "barnabas kafka-get-offsets --bootstrap-server localhost:9092 --topic orders --time -2"
_TIMES = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
}
_RANGE = re.compile(r"(\d*)-(\d*)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", help="a regular expression")
    parser.add_argument("--partitions", help="such as 0,2")
    parser.add_argument("--topic-partitions", help="such as orders:0-3,other:1")
    parser.add_argument("--time", default="latest")
    parser.add_argument("--offsets", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--max-wait-ms", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--exclude-internal-topics", action="store_true")
    add_bootstrap_options(parser, broker_list=True)


def run(arguments: argparse.Namespace) -> int:
    warn_without_effect(
        arguments, dict.fromkeys(("--offsets", "--max-wait-ms"), "Kafka removed it")
    )
    spec = _spec(arguments.time)
    wanted = _filter(arguments)
    with connection_of(arguments).admin() as admin:
        topic_partitions = _topic_partitions(admin, arguments, wanted)
        results = admin.list_offsets(dict.fromkeys(topic_partitions, spec))
    for topic_partition in topic_partitions:
        error = results.errors.get(topic_partition)
        if error is not None:
            name = error.name if isinstance(error, BrokerError) else str(error)
            sys.stderr.write(
                f"Skip getting offsets for topic-partition {topic_partition}: {name}\n"
            )
            continue
        offset = results[topic_partition].offset
        if offset is None:  # such as an empty partition
            continue
        say(f"{topic_partition.topic}:{topic_partition.partition}:{offset}")
    return DONE


def _spec(text: str) -> "OffsetSpec":
    if text in _TIMES:
        return OffsetSpec(_TIMES[text])
    try:
        return OffsetSpec(int(text))
    except ValueError:
        raise ConfigError(
            f"Malformed time argument {text}. Please use -1 or latest / -2 or earliest / "
            "-3 or max-timestamp, or a specified long format timestamp"
        ) from None


def _topic_partitions(
    admin: "Admin", arguments: argparse.Namespace, wanted: Callable[[TopicPartition], bool]
) -> list[TopicPartition]:
    names = [t.name for t in admin.list_topics(internal=not arguments.exclude_internal_topics)]
    topics = admin.describe_topics(names).ok.values()
    all_topic_partitions = (
        TopicPartition(topic.name, item.partition) for topic in topics for item in topic.partitions
    )
    found = sorted(
        topic_partition for topic_partition in all_topic_partitions if wanted(topic_partition)
    )
    if not found:
        raise LocalError("Could not match any topic-partitions with the specified filters")
    return found


def _filter(arguments: argparse.Namespace) -> Callable[[TopicPartition], bool]:
    if arguments.topic_partitions is not None:
        if arguments.topic or arguments.partitions:
            raise ConfigError("--topic-partitions cannot be used with --topic or --partitions")
        rules = [_rule(part) for part in arguments.topic_partitions.split(",")]
        return lambda topic_partition: any(rule(topic_partition) for rule in rules)
    topic = parse_topic_pattern("|".join((arguments.topic or ".*").split(",")))
    numbers = _numbers(arguments.partitions) if arguments.partitions else None
    return lambda topic_partition: bool(
        topic.fullmatch(topic_partition.topic)
        and (numbers is None or topic_partition.partition in numbers)
    )


def _numbers(text: str) -> set[int]:
    try:
        return {int(number) for number in text.split(",")}
    except ValueError:
        raise ConfigError(
            "--partitions expects a comma separated list of numeric partition ids, "
            f"but received: {text}"
        ) from None


def _rule(text: str) -> Callable[[TopicPartition], bool]:
    """Parses `topic:n`, `topic:a-b` (b excluded), `topic:a-`, `topic:-b`, `topic`, `:n`."""
    name, _, numbers = text.partition(":")
    topic = parse_topic_pattern(name or ".*")
    between = _RANGE.fullmatch(numbers)
    if not numbers:
        return lambda topic_partition: bool(topic.fullmatch(topic_partition.topic))
    if between:
        low, high = int(between[1] or 0), int(between[2]) if between[2] else sys.maxsize
    elif numbers.isdigit():
        low, high = int(numbers), int(numbers) + 1
    else:
        raise ConfigError(f"Invalid rule: {text}")
    return lambda topic_partition: (
        bool(topic.fullmatch(topic_partition.topic)) and low <= topic_partition.partition < high
    )
