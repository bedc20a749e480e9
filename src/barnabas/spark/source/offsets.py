"""Positions of many partitions as Spark writes them, and the ways to say where to begin or end.

The text is that of Spark's own Kafka source, `{"topic":{"0":23,"1":-2}}`, so that options and
checkpoints look the same. Spark compares offsets as text: what is rendered here is always sorted
by topic, then by partition number.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition

EARLIEST = -2
LATEST = -1
GROUP_PREFIX = "group:"

Offsets = dict[TopicPartition, int]
OffsetJson = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class EarliestOffsets:
    """The first record that is there."""


@dataclass(frozen=True, slots=True)
class LatestOffsets:
    """The end as it is when the question is asked."""


@dataclass(frozen=True, slots=True)
class SpecificOffsets:
    """A number for each partition; EARLIEST and LATEST are allowed for some."""

    offsets: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class TimestampOffsets:
    """The first record at or after a time in milliseconds, one for all or one for each."""

    timestamps: int | Mapping[TopicPartition, int]

    def of(self, topic_partition: TopicPartition) -> int:
        """The time asked for of one partition."""
        return (
            self.timestamps
            if isinstance(self.timestamps, int)
            else self.timestamps[topic_partition]
        )


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """Where a consumer group stands; partitions it never committed begin at the earliest."""

    group: str


OffsetLimit = EarliestOffsets | LatestOffsets | SpecificOffsets | TimestampOffsets | GroupOffsets


def render(offsets: Mapping[TopicPartition, int]) -> OffsetJson:
    """The sorted JSON value of offsets.

    >>> render({TopicPartition("b", 10): 1, TopicPartition("b", 9): 2, TopicPartition("a", 0): 3})
    {'a': {'0': 3}, 'b': {'9': 2, '10': 1}}
    """
    value: OffsetJson = {}
    for place in sorted(offsets):
        value.setdefault(place.topic, {})[str(place.partition)] = offsets[place]
    return value


def read(value: object) -> Offsets:
    """Offsets from a JSON value; ValueError says what does not fit."""
    if not isinstance(value, dict):
        raise ValueError(f"an object of topics is expected, not {json.dumps(value)}")
    found: Offsets = {}
    for topic, partitions in value.items():
        if not isinstance(partitions, dict):
            raise ValueError(f"topic {topic!r}: an object of partitions is expected")
        for number, offset in partitions.items():
            if isinstance(offset, bool) or not isinstance(offset, int):
                raise ValueError(f"topic {topic!r}, partition {number}: {offset!r} is no number")
            found[TopicPartition(topic, _partition(topic, number))] = offset
    return found


def parse_offsets(option: str, text: str) -> Offsets:
    """The value of an option that holds offsets (or times) per partition."""
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
    """The value of `assign`: `{"topic":[0,1]}`."""
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
    """Offsets given one by one must name every partition that is read, and no other."""
    missing, surplus = set(actual) - set(given), set(given) - set(actual)
    if missing:
        raise ConfigError(f"{option} must name every partition; missing: {_names(missing)}")
    if surplus:
        raise ConfigError(f"{option} names partitions that are not read: {_names(surplus)}")


def _names(places: Iterable[TopicPartition]) -> str:
    return ", ".join(str(place) for place in sorted(places))


def _numbers(topic: str, numbers: object) -> list[object]:
    if not isinstance(numbers, list):
        raise ValueError(f"topic {topic!r}: a list of partitions is expected")
    return numbers


def _partition(topic: str, number: object) -> int:
    text = str(number)
    if isinstance(number, bool) or not (text.isascii() and text.isdigit()):
        raise ValueError(f"topic {topic!r}: {number!r} is no partition number")
    return int(text)
