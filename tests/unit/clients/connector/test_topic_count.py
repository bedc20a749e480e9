"""Subscriptions: the topics they match and the nodes they write."""

import pytest

from barnabas.clients.connector.registry import GroupView, Member
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.stream import StreamMaker
from barnabas.clients.connector.topic_count import (
    Blacklist,
    StaticTopicCount,
    Whitelist,
    WildcardTopicCount,
    compiled,
    topic_count_of,
)
from barnabas.model.errors import ConfigError
from barnabas.zk.znodes import ConsumerNode

TOPICS = ["__consumer_offsets", "orders", "orders-eu", "payments"]


def test_the_node_of_topics_by_name():
    node = StaticTopicCount({"topic1": 2, "topic2": 3}).node(1453380999577)
    assert node.encode() == (
        b'{"version":1,"subscription":{"topic1":2,"topic2":3},'
        b'"pattern":"static","timestamp":"1453380999577"}'
    )


def test_the_node_of_a_filter():
    node = WildcardTopicCount(Whitelist("orders.*"), 4).node(7)
    assert node.encode() == (
        b'{"version":1,"subscription":{"orders.*":4},"pattern":"white_list","timestamp":"7"}'
    )


def test_a_whitelist_matches_whole_names():
    assert WildcardTopicCount(Whitelist("orders"), 1).topic_counts(TOPICS) == {"orders": 1}
    chosen = WildcardTopicCount(Whitelist("orders.*,payments"), 2).topic_counts(TOPICS)
    assert chosen == {"orders": 2, "orders-eu": 2, "payments": 2}


def test_internal_topics_only_on_demand():
    assert "__consumer_offsets" not in WildcardTopicCount(Blacklist("x"), 1).topic_counts(TOPICS)
    everything = WildcardTopicCount(Blacklist("x"), 1, exclude_internal=False)
    assert list(everything.topic_counts(TOPICS)) == TOPICS


@pytest.mark.parametrize(
    "count",
    [
        StaticTopicCount({"a": 1}),
        WildcardTopicCount(Whitelist("a.*"), 2),
        WildcardTopicCount(Blacklist("a|b"), 3),
    ],
)
def test_a_node_keeps_the_subscription(count):
    assert topic_count_of(ConsumerNode.decode(count.node(1).encode()), True) == count


def test_a_filter_that_is_no_expression_is_named():
    with pytest.raises(ConfigError, match="not a valid topic filter"):
        compiled("(")


def test_a_view_gathers_the_threads_of_all_members():
    view = GroupView(
        {"C2": Member({"orders": 1}, "static"), "C1": Member({"or.*": 2}, "white_list")},
        frozenset(TOPICS),
        {"orders": (0, 1), "orders-eu": (0,)},
    )
    context = view.context("C1")
    assert context.my_topics == ("orders", "orders-eu")
    assert [str(t) for t in context.threads_for_topic["orders"]] == ["C1-0", "C1-1", "C2-0"]
    assert context.consumers == ("C1", "C2")
    assert view.context("nobody").my_topics == ()


def test_two_topics_with_two_and_three_streams_make_five_queues():
    settings = ConnectorSettings.parse({"zookeeper.connect": "z:1", "group.id": "g"})
    streams = StreamMaker(settings.streams, lambda: None).for_topics({"topic1": 2, "topic2": 3})
    assert len({id(stream.queue) for stream in streams.all}) == 5
    assert streams.stream_of("topic2", 2) is streams.by_topic["topic2"][2]


def test_streams_of_a_filter_read_every_topic():
    settings = ConnectorSettings.parse({"zookeeper.connect": "z:1", "group.id": "g"})
    streams = StreamMaker(settings.streams, lambda: None).for_filter(2)
    assert streams.stream_of("a", 1) is streams.stream_of("b", 1)
