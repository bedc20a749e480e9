import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.groups.consumer.target_assignment import ASSIGNORS, GroupSpec, MemberSpec
from barnabas.model.ids import Uuid

T, U, V = (Uuid(letter * 16) for letter in (b"t", b"u", b"v"))


def spec(topics, **subscriptions):
    members = {
        name: MemberSpec(frozenset(wanted), None, {}) for name, wanted in subscriptions.items()
    }
    return GroupSpec(members, topics)


def again(before, result, **changes):
    """The spec after `result` was assigned, with members added or (None) removed."""
    members = {
        name: MemberSpec(member.topics, member.instance_id, result.get(name, {}))
        for name, member in before.members.items()
    }
    for name, wanted in changes.items():
        members.pop(name, None)
        if wanted is not None:
            members[name] = MemberSpec(frozenset(wanted), None, {})
    return GroupSpec(members, before.topics)


def flat(assignment):
    return {(topic, number) for topic, numbers in assignment.items() for number in numbers}


def test_range_gives_runs_and_copartitions():
    result = ASSIGNORS["range"](spec({T: 5, U: 5}, a={T, U}, b={T, U}))
    assert result["a"] == {T: frozenset({0, 1, 2}), U: frozenset({0, 1, 2})}
    assert result["b"] == {T: frozenset({3, 4}), U: frozenset({3, 4})}


def test_range_orders_static_members_first():
    members = {
        "zz": MemberSpec(frozenset({T}), "instance-1", {}),
        "aa": MemberSpec(frozenset({T}), None, {}),
    }
    result = ASSIGNORS["range"](GroupSpec(members, {T: 2}))
    assert result["zz"] == {T: frozenset({0})}


def test_more_members_than_partitions():
    for assign in ASSIGNORS.values():
        result = assign(spec({T: 1}, a={T}, b={T}, c={T}))
        assert sorted(len(flat(mine)) for mine in result.values()) == [0, 0, 1]


def test_uniform_moves_one_share_for_a_new_member():
    assign = ASSIGNORS["uniform"]
    before = spec({T: 12}, a={T}, b={T}, c={T})
    first = assign(before)
    after = again(before, first, d={T})
    second = assign(after)
    moved = sum(len(flat(first[name]) - flat(second[name])) for name in first)
    assert [len(flat(mine)) for mine in second.values()] == [3, 3, 3, 3]
    assert moved == 3


def test_uniform_with_different_subscriptions():
    result = ASSIGNORS["uniform"](spec({T: 3, U: 3}, a={T}, b={T, U}))
    assert result == {"a": {T: frozenset({0, 1, 2})}, "b": {U: frozenset({0, 1, 2})}}


def test_no_members_no_topics():
    for assign in ASSIGNORS.values():
        assert assign(GroupSpec({}, {T: 3})) == {}
        assert assign(spec({}, a={T})) == {"a": {}}


TOPICS = st.dictionaries(st.sampled_from([T, U, V]), st.integers(1, 12), min_size=1)
WANTED = st.sets(st.sampled_from([T, U, V]))
MEMBERS = st.dictionaries(st.sampled_from("abcdefgh"), WANTED, min_size=1)


@pytest.mark.parametrize("name", list(ASSIGNORS))
@given(topics=TOPICS, members=MEMBERS)
def test_every_partition_has_one_subscribed_owner(name, topics, members):
    group = spec(topics, **members)
    result = ASSIGNORS[name](group)
    assert set(result) == set(members)
    owners = [(p, who) for who, mine in result.items() for p in flat(mine)]
    assert len({p for p, _ in owners}) == len(owners)
    assert all(p[0] in members[who] for p, who in owners)
    reachable = {p for p in group.partitions() if group.subscribers(p[0])}
    assert {p for p, _ in owners} == reachable


@given(topics=TOPICS, members=MEMBERS, changes=st.lists(MEMBERS, max_size=4))
def test_uniform_stays_balanced_and_sticky(topics, members, changes):
    assign = ASSIGNORS["uniform"]
    group = spec(topics, **members)
    result = assign(group)
    for change in changes:
        group = again(group, result, **change)
        result = assign(group)
        _check_balanced(group, result)
        assert assign(again(group, result)) == result, "with nothing changed nothing moves"


def _check_balanced(group, result):
    """No move of one partition between two subscribers would make them more equal."""
    load = {name: len(flat(mine)) for name, mine in result.items()}
    for giver, mine in result.items():
        for topic in mine:
            for receiver in group.subscribers(topic):
                assert load[giver] - load[receiver] <= 1


@given(
    count=st.integers(0, 60),
    before=st.integers(1, 8),
    after=st.integers(1, 8),
)
def test_uniform_moves_no_more_than_it_must(count, before, after):
    """With one subscription: a remaining member loses only partitions above its share."""
    assign = ASSIGNORS["uniform"]
    first = assign(spec({T: count}, **{f"m{i}": {T} for i in range(before)}))
    members = {
        f"m{i}": MemberSpec(frozenset({T}), None, first.get(f"m{i}", {})) for i in range(after)
    }
    second = assign(GroupSpec(members, {T: count}))
    share = -(-count // after)
    for name, mine in second.items():
        had = flat(first.get(name, {}))
        kept = had & flat(mine)
        assert len(kept) >= min(len(had), count // after)
        assert len(flat(mine)) <= share
