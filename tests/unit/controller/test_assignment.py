"""Placement against Kafka's own results for the same brokers and start values."""

import pytest

from barnabas.controller.machines.assignment import (
    BrokerRack,
    PlacementStart,
    alternate_racks,
    place_added_partitions,
    place_replicas,
)
from barnabas.model.errors import BrokerError


def plain(*ids):
    return [BrokerRack(broker_id) for broker_id in ids]


def racked(**racks):
    return [BrokerRack(int(name[1:]), rack) for name, rack in racks.items()]


def test_rack_unaware_placement_of_ten_partitions_on_five_brokers():
    # The example that Kafka's own documentation of the algorithm draws as a table.
    assert place_replicas(plain(0, 1, 2, 3, 4), 10, 3, PlacementStart()) == {
        0: (0, 1, 2),
        1: (1, 2, 3),
        2: (2, 3, 4),
        3: (3, 4, 0),
        4: (4, 0, 1),
        5: (0, 2, 3),
        6: (1, 3, 4),
        7: (2, 4, 0),
        8: (3, 0, 1),
        9: (4, 1, 2),
    }


def test_start_values_turn_the_table():
    assert place_replicas(plain(1, 2, 3), 3, 2, PlacementStart(index=1, shift=1)) == {
        0: (2, 1),
        1: (3, 2),
        2: (1, 3),
    }


def test_brokers_alternate_between_racks():
    racks = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
    assert alternate_racks(racks) == [0, 3, 1, 5, 4, 2]


def test_rack_aware_placement():
    brokers = racked(b0="rack1", b1="rack2", b2="rack2", b3="rack3", b4="rack3", b5="rack1")
    placed = place_replicas(brokers, 7, 3, PlacementStart())
    racks = {b.broker_id: b.rack for b in brokers}
    assert placed == {
        0: (0, 1, 3),
        1: (1, 3, 5),
        2: (3, 5, 2),
        3: (5, 2, 4),
        4: (2, 4, 0),
        5: (4, 0, 1),
        6: (0, 2, 4),
    }
    assert all(len({racks[r] for r in replicas}) == 3 for replicas in placed.values())


def test_racks_count_only_when_every_broker_has_one():
    mixed = [BrokerRack(0, "a"), BrokerRack(1), BrokerRack(2, "a")]
    assert place_replicas(mixed, 1, 2, PlacementStart()) == {0: (0, 1)}


def test_added_partitions_go_on_from_the_first_one():
    brokers = plain(0, 1, 2, 3, 4)
    whole = place_replicas(brokers, 8, 2, PlacementStart(index=2, shift=2))
    existing = {p: whole[p] for p in range(4)}
    added = place_added_partitions(brokers, existing, 8)
    assert sorted(added) == [4, 5, 6, 7]
    assert {p: replicas[0] for p, replicas in added.items()} == {
        p: whole[p][0] for p in range(4, 8)
    }


def test_added_partitions_when_the_first_broker_is_gone():
    added = place_added_partitions(plain(5, 6), {0: (9, 5)}, 2)
    assert set(added[1]) == {5, 6}


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, "INVALID_PARTITIONS"),
        (1, 0, "INVALID_REPLICATION_FACTOR"),
        (1, 3, "INVALID_REPLICATION_FACTOR"),
    ],
)
def test_an_impossible_placement_is_rejected(partitions, factor, code):
    with pytest.raises(BrokerError) as caught:
        place_replicas(plain(1, 2), partitions, factor, PlacementStart())
    assert caught.value.code.name == code
