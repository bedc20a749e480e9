"""Subscription of a consumer: topics with their numbers of streams, or a filter.

A filter is a list of regular expressions, separated by commas, that match whole names. The
consumer's node contains its text, so that every member can compute which topics it matches.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import ConfigError
from barnabas.model.ids import INTERNAL_TOPICS
from barnabas.zk.znodes import ConsumerNode

STATIC = "static"
WHITE_LIST = "white_list"
BLACK_LIST = "black_list"


def normal_pattern(text: str) -> str:
    """Returns a filter as Kafka reads it: commas mean "or"; blanks and outer quotes are removed.

    >>> normal_pattern(" 'orders.*, payments' ")
    'orders.*|payments'
    """
    return text.strip().replace(",", "|").replace(" ", "").strip("\"'")


@dataclass(frozen=True, slots=True)
class Whitelist:
    """Allows topics whose whole name matches."""

    pattern: str
    kind: str = WHITE_LIST

    def allows(self, topic: str, exclude_internal: bool) -> bool:
        hidden = exclude_internal and topic in INTERNAL_TOPICS
        return not hidden and compiled(self.pattern).fullmatch(topic) is not None


@dataclass(frozen=True, slots=True)
class Blacklist:
    """Allows topics whose name does not match."""

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
    """The subscription of a member, as its node stores it."""

    def node(self, now_ms: int) -> ConsumerNode:
        """Returns the registration node of the consumer."""
        ...

    def topic_counts(self, topics: Collection[str]) -> dict[str, int]:
        """Returns the number of streams of each topic."""
        ...


@dataclass(frozen=True, slots=True)
class StaticTopicCount:
    """A subscription to topics by name, also to topics that do not exist."""

    counts: Mapping[str, int]

    def node(self, now_ms: int) -> ConsumerNode:
        return ConsumerNode(self.counts, STATIC, now_ms)

    def topic_counts(self, topics: Collection[str]) -> dict[str, int]:
        return dict(self.counts)


@dataclass(frozen=True, slots=True)
class WildcardTopicCount:
    """A subscription by filter; all streams read each topic that it allows."""

    filter: TopicFilter
    streams: int
    exclude_internal: bool = True

    def node(self, now_ms: int) -> ConsumerNode:
        return ConsumerNode({self.filter.pattern: self.streams}, self.filter.kind, now_ms)

    def topic_counts(self, topics: Collection[str]) -> dict[str, int]:
        allowed = (t for t in sorted(topics) if self.filter.allows(t, self.exclude_internal))
        return dict.fromkeys(allowed, self.streams)


def topic_count_of(node: ConsumerNode, exclude_internal: bool) -> TopicCount:
    """Returns the subscription in the node of a member."""
    if node.pattern == STATIC:
        return StaticTopicCount(node.subscription)
    pattern, streams = next(iter(node.subscription.items()))
    filter_type = Whitelist if node.pattern == WHITE_LIST else Blacklist
    return WildcardTopicCount(filter_type(pattern), streams, exclude_internal)
