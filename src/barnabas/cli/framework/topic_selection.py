"""Topics and partitions on a command line: `orders`, `orders:0,2`, `orders:0-3`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin


TopicSelection = tuple[str, tuple[int, ...] | None]


def parse_selection(text: str) -> TopicSelection:
    """Returns a topic and its partitions; None stands for all partitions.

    >>> parse_selection("orders:0,2-4"), parse_selection("orders")
    (('orders', (0, 2, 3, 4)), ('orders', None))
    """
    topic, colon, numbers = text.partition(":")
    return topic, parse_partitions(numbers) if colon else None


def parse_partitions(text: str) -> tuple[int, ...]:
    """Returns the partitions of a list of numbers and ranges, such as `0,2-4`."""
    found: list[int] = []
    for piece in text.split(","):
        low, dash, high = piece.strip().partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise ConfigError(f"{text!r} is not a list of partitions: write 0,2 or 0-3")
        found.extend(range(int(low), int(high or low) + 1))
    return tuple(found)


def select_partitions(admin: "Admin", selections: Iterable[TopicSelection]) -> list[TopicPartition]:
    """Returns the selected partitions after checking that they exist."""
    wanted = list(selections)
    known = admin.describe_topics(dict.fromkeys(topic for topic, _ in wanted)).check()
    found: list[TopicPartition] = []
    for topic, numbers in wanted:
        there = [item.partition for item in known[topic].partitions]
        found.extend(TopicPartition(topic, n) for n in _checked(topic, numbers, there))
    return list(dict.fromkeys(found))


def _checked(topic: str, wanted: Sequence[int] | None, there: Sequence[int]) -> Sequence[int]:
    if wanted is None:
        return there
    for number in wanted:
        if number not in there:
            raise BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {topic!r} has {len(there)} partitions; partition {number} does not exist",
            )
    return wanted
