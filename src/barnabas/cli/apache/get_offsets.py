"""kafka-get-offsets, GetOffsetShell before: `topic:partition:offset` per partition.

--time -1 or latest, -2 or earliest, -3 or max-timestamp, or a timestamp in milliseconds.
"""

import argparse
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say, say_without_effect
from barnabas.cli.framework.exit_codes import DONE
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin, OffsetSpec


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
    say_without_effect(arguments, dict.fromkeys(("--offsets", "--max-wait-ms"), "Kafka gave it up"))
    spec = _spec(arguments.time)
    wanted = _filter(arguments)
    with connection_of(arguments).admin() as admin:
        places = _places(admin, arguments, wanted)
        results = admin.list_offsets(dict.fromkeys(places, spec))
    for place in places:
        error = results.errors.get(place)
        if error is not None:
            name = error.name if isinstance(error, BrokerError) else str(error)
            sys.stderr.write(f"Skip getting offsets for topic-partition {place}: {name}\n")
            continue
        offset = results[place].offset
        if offset is None:  # no record of that kind, as in an empty partition
            continue
        say(f"{place.topic}:{place.partition}:{offset}")
    return DONE


def _spec(text: str) -> "OffsetSpec":
    from barnabas.admin import OffsetSpec

    if text in _TIMES:
        return OffsetSpec(_TIMES[text])
    try:
        return OffsetSpec(int(text))
    except ValueError:
        raise ConfigError(
            f"Malformed time argument {text}. Please use -1 or latest / -2 or earliest / "
            "-3 or max-timestamp, or a specified long format timestamp"
        ) from None


def _places(
    admin: "Admin", arguments: argparse.Namespace, wanted: Callable[[TopicPartition], bool]
) -> list[TopicPartition]:
    names = [t.name for t in admin.list_topics(internal=not arguments.exclude_internal_topics)]
    topics = admin.describe_topics(names).ok.values()
    all_places = (
        TopicPartition(topic.name, item.partition) for topic in topics for item in topic.partitions
    )
    found = sorted(place for place in all_places if wanted(place))
    if not found:
        raise LocalError("Could not match any topic-partitions with the specified filters")
    return found


def _filter(arguments: argparse.Namespace) -> Callable[[TopicPartition], bool]:
    if arguments.topic_partitions is not None:
        if arguments.topic or arguments.partitions:
            raise ConfigError("--topic-partitions cannot be used with --topic or --partitions")
        rules = [_rule(part) for part in arguments.topic_partitions.split(",")]
        return lambda place: any(rule(place) for rule in rules)
    topic = re.compile("|".join((arguments.topic or ".*").split(",")))
    numbers = (
        None
        if not arguments.partitions
        else {int(number) for number in arguments.partitions.split(",")}
    )
    return lambda place: bool(
        topic.fullmatch(place.topic) and (numbers is None or place.partition in numbers)
    )


def _rule(text: str) -> Callable[[TopicPartition], bool]:
    """`topic:n`, `topic:a-b` (b excluded), `topic:a-`, `topic:-b`, `topic`, `:n`."""
    name, _, numbers = text.partition(":")
    topic = re.compile(name or ".*")
    between = _RANGE.fullmatch(numbers)
    if not numbers:
        return lambda place: bool(topic.fullmatch(place.topic))
    if between:
        low, high = int(between[1] or 0), int(between[2]) if between[2] else sys.maxsize
    elif numbers.isdigit():
        low, high = int(numbers), int(numbers) + 1
    else:
        raise ConfigError(f"Invalid rule: {text}")
    return lambda place: bool(topic.fullmatch(place.topic)) and low <= place.partition < high
