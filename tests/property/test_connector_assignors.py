"""Any group, any topics: every partition is read by one stream, and the shares are even."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from barnabas.clients.connector.assignors import range_assignor, round_robin_assignor
from barnabas.clients.connector.registry import GroupView, Member
from barnabas.model.ids import TopicPartition

names = st.text("abc123-_.", min_size=1, max_size=6)
topics = st.dictionaries(names, st.integers(0, 40), min_size=1, max_size=4)


@st.composite
def views(draw, equal):
    partitions = draw(topics)
    consumers = draw(st.sets(names, min_size=1, max_size=5))
    members = {}
    for consumer in consumers:
        read = partitions if equal else draw(st.sets(st.sampled_from(sorted(partitions))))
        streams = draw(st.integers(1, 12))
        counts = {t: streams if equal else draw(st.integers(1, 12)) for t in sorted(read)}
        members[consumer] = Member(counts, "static")
    return GroupView(
        members, frozenset(), {topic: tuple(range(n)) for topic, n in partitions.items()}
    )


def union_of(view, assignor):
    """The union of the assignments that each member computes; no partition occurs twice."""
    found = {}
    for consumer in view.members:
        mine = assignor(view.context(consumer))[consumer]
        assert not found.keys() & mine.keys()
        found.update(mine)
    return found


@given(views(equal=False))
def test_range_covers_what_is_subscribed_evenly_per_topic(view):
    found = union_of(view, range_assignor)
    read = {topic for member in view.members.values() for topic in member.subscription}
    assert set(found) == {
        TopicPartition(topic, p) for topic in read for p in view.partitions[topic]
    }
    for topic in read:
        shares = Counter(
            thread for topic_partition, thread in found.items() if topic_partition.topic == topic
        )
        streams = sum(m.subscription.get(topic, 0) for m in view.members.values())
        assert all(
            len(view.partitions[topic]) // streams
            <= share
            <= len(view.partitions[topic]) // streams + 1
            for share in shares.values()
        )


@given(views(equal=True))
def test_round_robin_covers_everything_evenly(view):
    found = union_of(view, round_robin_assignor)
    everything = [TopicPartition(t, p) for t, ps in view.partitions.items() for p in ps]
    assert sorted(found) == sorted(everything)
    shares = Counter(found.values())
    if len(everything) >= sum(next(iter(m.subscription.values())) for m in view.members.values()):
        assert max(shares.values(), default=0) - min(shares.values(), default=0) <= 1
