"""The guarantees of every assignor: each partition once, balanced, and few moves."""

import string

from hypothesis import given
from hypothesis import strategies as st

from barnabas.clients.assignors import (
    CooperativeStickyAssignor,
    MemberSubscription,
    RangeAssignor,
    RoundRobinAssignor,
    StickyAssignor,
    encode_sticky_data,
)
from barnabas.model.ids import TopicPartition

TOPICS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 12), min_size=1)
NAMES = st.lists(st.sampled_from(string.ascii_lowercase), min_size=1, max_size=8, unique=True)
ASSIGNORS = st.sampled_from(
    [RangeAssignor(), RoundRobinAssignor(), StickyAssignor(), CooperativeStickyAssignor()]
)


@st.composite
def groups(draw, same_topics=False):
    counts = draw(TOPICS)
    names = draw(NAMES)
    shared = draw(st.frozensets(st.sampled_from(sorted(counts)), min_size=1))
    members = []
    for name in names:
        wanted = shared if same_topics else draw(st.frozensets(st.sampled_from("abcd"), min_size=1))
        members.append(MemberSubscription(name, wanted))
    return counts, members


def everything(counts, members):
    wanted = {topic for member in members for topic in member.topics}
    return {
        TopicPartition(topic, number)
        for topic, count in counts.items()
        if topic in wanted
        for number in range(count)
    }


def with_history(assignor, members, assignment, generation):
    """The same members, with their assignment as owned partitions."""
    return [
        MemberSubscription(
            member.member_id,
            member.topics,
            owned=tuple(assignment.get(member.member_id, ())) if assignor.cooperative else (),
            generation=generation if member.member_id in assignment else -1,
            user_data=encode_sticky_data(assignment.get(member.member_id, []), generation),
        )
        for member in members
    ]


@given(ASSIGNORS, groups())
def test_every_partition_is_assigned_once_to_a_subscriber(assignor, group):
    counts, members = group
    assignment = assignor.assign(counts, members)
    given_out = [
        topic_partition
        for topic_partitions in assignment.values()
        for topic_partition in topic_partitions
    ]
    assert sorted(given_out) == sorted(everything(counts, members))
    topics = {member.member_id: member.topics for member in members}
    assert all(
        topic_partition.topic in topics[name]
        for name, found in assignment.items()
        for topic_partition in found
    )
    assert assignment.keys() == topics.keys()


@given(ASSIGNORS, groups(), st.randoms())
def test_the_order_of_members_does_not_matter(assignor, group, random):
    counts, members = group
    shuffled = random.sample(members, len(members))
    assert assignor.assign(counts, members) == assignor.assign(counts, shuffled)


@given(groups(same_topics=True))
def test_equal_members_get_shares_that_differ_by_one(group):
    counts, members = group
    for assignor in (RoundRobinAssignor(), StickyAssignor(), CooperativeStickyAssignor()):
        sizes = [
            len(topic_partitions) for topic_partitions in assignor.assign(counts, members).values()
        ]
        assert max(sizes) - min(sizes) <= 1


@given(groups())
def test_sticky_leaves_no_move_that_would_even_things_out(group):
    counts, members = group
    assignment = StickyAssignor().assign(counts, members)
    wants = {member.member_id: member.topics for member in members}
    for giver, topic_partitions in assignment.items():
        for taker, held in assignment.items():
            if len(topic_partitions) > len(held) + 1:
                assert not any(
                    topic_partition.topic in wants[taker] for topic_partition in topic_partitions
                ), (giver, taker)


@given(groups(same_topics=True))
def test_the_same_group_again_moves_nothing(group):
    counts, members = group
    for assignor in (StickyAssignor(), CooperativeStickyAssignor()):
        first = assignor.assign(counts, members)
        again = assignor.assign(counts, with_history(assignor, members, first, 1))
        assert {name: set(found) for name, found in again.items()} == {
            name: set(found) for name, found in first.items()
        }


@given(groups(same_topics=True), st.data())
def test_when_a_member_leaves_the_others_keep_theirs(group, data):
    counts, members = group
    assignor = StickyAssignor()
    first = assignor.assign(counts, members)
    if len(members) == 1:
        return
    leaver = data.draw(st.sampled_from(members))
    stayers = [member for member in members if member is not leaver]
    again = assignor.assign(counts, with_history(assignor, stayers, first, 1))
    for member in stayers:
        assert set(first[member.member_id]) <= set(again[member.member_id])


@given(groups(), NAMES)
def test_cooperative_rebalances_come_to_an_end_without_double_owners(group, joining):
    counts, members = group
    assignor = CooperativeStickyAssignor()
    owned = assignor.assign(counts, members)
    wanted = frozenset(topic for member in members for topic in member.topics)
    present = {member.member_id for member in members}
    members = members + [
        MemberSubscription(name, wanted) for name in joining if name not in present
    ]
    for generation in range(1, 4):
        assigned = assignor.assign(counts, with_history(assignor, members, owned, generation))
        held = [
            topic_partition
            for topic_partitions in assigned.values()
            for topic_partition in topic_partitions
        ]
        assert len(held) == len(set(held))
        for name, topic_partitions in assigned.items():
            others = {p for other, found in owned.items() if other != name for p in found}
            assert not others & set(topic_partitions), "nobody is given what another still has"
        settled = assigned == owned or all(
            set(assigned[name]) == set(owned.get(name, ())) for name in assigned
        )
        owned = assigned
        if settled:
            break
    assert sorted(
        topic_partition
        for topic_partitions in owned.values()
        for topic_partition in topic_partitions
    ) == sorted(everything(counts, members))
