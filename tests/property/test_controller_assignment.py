"""Placement for any set of brokers: balance, no broker twice, spread over racks."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from barnabas.controller.machines.assignment import (
    BrokerRack,
    PlacementStart,
    place_added_partitions,
    place_replicas,
)

broker_ids = st.lists(st.integers(0, 50), min_size=1, max_size=12, unique=True)
starts = st.builds(PlacementStart, st.integers(0, 11), st.integers(0, 11))


@st.composite
def clusters(draw, racks: bool):
    ids = draw(broker_ids)
    names = st.sampled_from("abcd")
    return [BrokerRack(i, draw(names) if racks else None) for i in ids]


def spread(counts: Counter, brokers) -> int:
    per_broker = [counts[b.broker_id] for b in brokers]
    return max(per_broker) - min(per_broker)


@given(clusters(racks=False), st.integers(1, 40), st.data(), starts)
def test_without_racks(brokers, partitions, data, start):
    factor = data.draw(st.integers(1, len(brokers)))
    placed = place_replicas(brokers, partitions, factor, start)
    assert sorted(placed) == list(range(partitions))
    known = {b.broker_id for b in brokers}
    for replicas in placed.values():
        assert len(replicas) == factor == len(set(replicas))
        assert set(replicas) <= known
    leaders = Counter(replicas[0] for replicas in placed.values())
    assert spread(leaders, brokers) <= 1
    if partitions % len(brokers) == 0:
        replicas = Counter(r for replicas in placed.values() for r in replicas)
        assert spread(replicas, brokers) == 0


@given(clusters(racks=True), st.integers(1, 40), st.data(), starts)
def test_with_racks(brokers, partitions, data, start):
    factor = data.draw(st.integers(1, len(brokers)))
    placed = place_replicas(brokers, partitions, factor, start)
    racks = {b.broker_id: b.rack for b in brokers}
    possible = min(factor, len(set(racks.values())))
    for replicas in placed.values():
        assert len(replicas) == factor == len(set(replicas))
        assert len({racks[r] for r in replicas}) == possible
    leaders = Counter(replicas[0] for replicas in placed.values())
    assert spread(leaders, brokers) <= 1


@given(clusters(racks=False), st.integers(1, 20), st.integers(1, 20), st.data(), starts)
def test_growth_continues_the_round_of_leaders(brokers, before, added, data, start):
    factor = data.draw(st.integers(1, len(brokers)))
    existing = place_replicas(brokers, before, factor, start)
    grown = existing | place_added_partitions(brokers, existing, before + added)
    assert sorted(grown) == list(range(before + added))
    assert all(len(set(replicas)) == factor for replicas in grown.values())
    leaders = Counter(replicas[0] for replicas in grown.values())
    assert spread(leaders, brokers) <= 1
