"""The judge of cluster runs finds each kind of fault that is planted."""

from types import SimpleNamespace

import pytest
from support.cluster.workload import Acknowledged, judge

GOOD = [(0, b"w-0"), (0, b"w-1"), (0, b"w-2")]


def run(stored, acknowledged):
    """Figures for a topic that holds `stored`, where `acknowledged` maps numbers to offsets."""
    offsets = {}
    records = []
    for partition, value in stored:
        offset = offsets.setdefault(partition, 0)
        offsets[partition] += 1
        records.append(SimpleNamespace(partition=partition, value=value, offset=offset))
    cluster = SimpleNamespace(records=lambda *_args, **_kwargs: records)
    promised = Acknowledged({(0, number): at for number, at in acknowledged.items()})
    writer = SimpleNamespace(letter="w", acknowledged=promised)
    return judge(cluster, "t", [writer])


ALL_WELL = {"acknowledged": 3, "lost": 0, "duplicates": 0, "misplaced": 0, "reordered": 0}


def test_all_is_well():
    assert run(GOOD, {0: 0, 1: 1, 2: 2}) == ALL_WELL


@pytest.mark.parametrize(
    ("fault", "stored"),
    [
        ("lost", GOOD[:2]),
        ("duplicates", [*GOOD, GOOD[0]]),
        ("reordered", [GOOD[1], GOOD[0], GOOD[2]]),
        ("misplaced", [GOOD[1], GOOD[0], GOOD[2]]),
    ],
)
def test_a_planted_fault_is_found(fault, stored):
    assert run(stored, {0: 0, 1: 1, 2: 2})[fault] > 0


def test_records_without_acknowledgement_may_be_stored_or_lost():
    assert run(GOOD, {0: 0})["lost"] == 0
    assert run(GOOD[:1], {0: 0})["lost"] == 0
