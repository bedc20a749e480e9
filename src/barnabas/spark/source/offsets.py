"""Offsets of several partitions as JSON, and the kinds of starting and ending offsets.

The JSON is that of Spark's own Kafka source, `{"topic":{"0":23,"1":-2}}`, so that options and
checkpoints are the same. Spark compares offsets as text, so the JSON is always sorted by topic and
partition.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP

# Spark's own Kafka source writes the numbers of ListOffsets into its JSON.
EARLIEST = EARLIEST_TIMESTAMP
LATEST = LATEST_TIMESTAMP
GROUP_PREFIX = "group:"

Offsets = dict[TopicPartition, int]
OffsetJson = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class EarliestOffsets:
    """The first available record."""


@dataclass(frozen=True, slots=True)
class LatestOffsets:
    """The end of the log at the time of the request."""


@dataclass(frozen=True, slots=True)
class SpecificOffsets:
    """A number for each partition; EARLIEST and LATEST are allowed for some."""

    offsets: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class TimestampOffsets:
    """The first record at or after a time in milliseconds, one for all or one for each."""

    timestamps: int | Mapping[TopicPartition, int]

    def of(self, topic_partition: TopicPartition) -> int:
        """Returns the time of one partition."""
        return (
            self.timestamps
            if isinstance(self.timestamps, int)
            else self.timestamps[topic_partition]
        )


@dataclass(frozen=True, slots=True)
class CommittedOffsets:
    """The committed offsets of a group; partitions without one begin at the earliest offset."""

    group: str


OffsetLimit = (
    EarliestOffsets | LatestOffsets | SpecificOffsets | TimestampOffsets | CommittedOffsets
)


def render(offsets: Mapping[TopicPartition, int]) -> OffsetJson:
    """Returns the sorted JSON value of offsets.

    >>> render({TopicPartition("b", 10): 1, TopicPartition("b", 9): 2, TopicPartition("a", 0): 3})
    {'a': {'0': 3}, 'b': {'9': 2, '10': 1}}
    """
    value: OffsetJson = {}
    for topic_partition in sorted(offsets):
        value.setdefault(topic_partition.topic, {})[str(topic_partition.partition)] = offsets[
            topic_partition
        ]
    return value


def read(value: object) -> Offsets:
    """Returns the offsets of a JSON value; ValueError names the invalid part."""
    if not isinstance(value, dict):
        raise ValueError(f"an object of topics is expected, not {json.dumps(value)}")
    found: Offsets = {}
    for topic, partitions in value.items():
        if not isinstance(partitions, dict):
            raise ValueError(f"topic {topic!r}: an object of partitions is expected")
        for number, offset in partitions.items():
            if isinstance(offset, bool) or not isinstance(offset, int):
                raise ValueError(f"topic {topic!r}, partition {number}: {offset!r} is not a number")
            found[TopicPartition(topic, _partition(topic, number))] = offset
    return found


def parse_offsets(option: str, text: str) -> Offsets:
    """Returns the value of an option with an offset (or a time) for each partition."""
    try:
        found = read(json.loads(text))
    except ValueError as error:
        raise ConfigError(
            f'{option}={text!r}: must be JSON such as {{"topic":{{"0":23}}}}: {error}'
        ) from error
    if not found:
        raise ConfigError(f"{option}={text!r}: names no partition")
    return found


def parse_assignment(option: str, text: str) -> tuple[TopicPartition, ...]:
    """Returns the value of `assign`: `{"topic":[0,1]}`."""
    try:
        value = json.loads(text)
        if not isinstance(value, dict):
            raise ValueError("an object of topics is expected")
        found = [
            TopicPartition(topic, _partition(topic, number))
            for topic, numbers in value.items()
            for number in _numbers(topic, numbers)
        ]
    except ValueError as error:
        raise ConfigError(
            f'{option}={text!r}: must be JSON such as {{"topic":[0,1]}}: {error}'
        ) from error
    if not found:
        raise ConfigError(f"{option}={text!r}: names no partition")
    return tuple(sorted(set(found)))


def check_covers(
    option: str, given: Iterable[TopicPartition], actual: Iterable[TopicPartition]
) -> None:
    """Raises ConfigError unless the offsets name exactly the partitions that are read."""
    missing, surplus = set(actual) - set(given), set(given) - set(actual)
    if missing:
        raise ConfigError(f"{option} must name every partition; missing: {_names(missing)}")
    if surplus:
        raise ConfigError(f"{option} names partitions that are not read: {_names(surplus)}")


def _names(topic_partitions: Iterable[TopicPartition]) -> str:
    return ", ".join(str(topic_partition) for topic_partition in sorted(topic_partitions))


def _numbers(topic: str, numbers: object) -> list[object]:
    if not isinstance(numbers, list):
        raise ValueError(f"topic {topic!r}: a list of partitions is expected")
    return numbers


def _partition(topic: str, number: object) -> int:
    text = str(number)
    if isinstance(number, bool) or not (text.isascii() and text.isdigit()):
        raise ValueError(f"topic {topic!r}: {number!r} is not a partition number")
    return int(text)
