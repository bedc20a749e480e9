"""What a consumer subscribes to: topics with numbers of streams, or a filter with one number.

A filter is a list of regular expressions, separated by commas, that names whole topics. It stands
in the consumer's node as it was written, so that every member can find out what it matches.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import ConfigError
from barnabas.model.topic_names import INTERNAL_TOPICS
from barnabas.zk.consumer_znodes import ConsumerNode

STATIC = "static"
WHITE_LIST = "white_list"
BLACK_LIST = "black_list"


def normal_pattern(text: str) -> str:
    """A filter as Kafka reads it: commas for "or", no blanks, no quotes around it.

    >>> normal_pattern(" 'orders.*, payments' ")
    'orders.*|payments'
    """
    return text.strip().replace(",", "|").replace(" ", "").strip("\"'")


@dataclass(frozen=True, slots=True)
class Whitelist:
    """Topics whose whole name matches."""

    pattern: str
    kind: str = WHITE_LIST

    def allows(self, topic: str, exclude_internal: bool) -> bool:
        hidden = exclude_internal and topic in INTERNAL_TOPICS
        return not hidden and compiled(self.pattern).fullmatch(topic) is not None


@dataclass(frozen=True, slots=True)
class Blacklist:
    """Topics whose name does not match."""

    pattern: str
    kind: str = BLACK_LIST

    def allows(self, topic: str, exclude_internal: bool) -> bool:
        hidden = exclude_internal and topic in INTERNAL_TOPICS
        return not hidden and compiled(self.pattern).fullmatch(topic) is None


TopicFilter = Whitelist | Blacklist


def compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(normal_pattern(pattern))
    except re.error as error:
        raise ConfigError(f"{pattern!r} is not a valid topic filter: {error}") from error


class TopicCount(Protocol):
    """A subscription."""

    def node(self, now_ms: int) -> ConsumerNode:
        """What the consumer's registration says."""
        ...

    def topic_counts(self, topics: Collection[str]) -> dict[str, int]:
        """The numbers of streams per topic, given the cluster's topics."""
        ...


@dataclass(frozen=True, slots=True)
class StaticTopicCount:
    """Topics by name, whether they exist or not."""

    counts: Mapping[str, int]

    def node(self, now_ms: int) -> ConsumerNode:
        return ConsumerNode(self.counts, STATIC, now_ms)

    def topic_counts(self, topics: Collection[str]) -> dict[str, int]:
        return dict(self.counts)


@dataclass(frozen=True, slots=True)
class WildcardTopicCount:
    """A filter; each topic it allows gets all the streams."""

    filter: TopicFilter
    streams: int
    exclude_internal: bool = True

    def node(self, now_ms: int) -> ConsumerNode:
        return ConsumerNode({self.filter.pattern: self.streams}, self.filter.kind, now_ms)

    def topic_counts(self, topics: Collection[str]) -> dict[str, int]:
        allowed = (t for t in sorted(topics) if self.filter.allows(t, self.exclude_internal))
        return dict.fromkeys(allowed, self.streams)


def topic_count_of(node: ConsumerNode, exclude_internal: bool) -> TopicCount:
    """The subscription that a member's node tells."""
    if node.pattern == STATIC:
        return StaticTopicCount(node.subscription)
    pattern, streams = next(iter(node.subscription.items()))
    filter_type = Whitelist if node.pattern == WHITE_LIST else Blacklist
    return WildcardTopicCount(filter_type(pattern), streams, exclude_internal)
