"""The checks of cluster runs find each kind of planted fault."""

from types import SimpleNamespace

import pytest
from support.cluster.workload import Acknowledged, judge

GOOD = [(0, b"w-0"), (0, b"w-1"), (0, b"w-2")]


def run(stored, acknowledged, epochs=(), *, resends=False):
    """Figures for a topic that holds `stored`, where `acknowledged` maps numbers to offsets.

    `epochs` are the producer epochs of the stored records, 0 if there are none.
    """
    offsets = {}
    records = []
    for partition, value in stored:
        offset = offsets.setdefault(partition, 0)
        offsets[partition] += 1
        records.append(SimpleNamespace(partition=partition, value=value, offset=offset))
    cluster = SimpleNamespace(records=lambda *_args, **_kwargs: records)
    promised = Acknowledged({(0, number): at for number, at in acknowledged.items()})
    writer = SimpleNamespace(letter="w", acknowledged=promised, resends_in_new_epoch=resends)

    def batch_at(_partition, offset):
        epoch = epochs[offset] if epochs else 0
        return SimpleNamespace(producer_id=7, producer_epoch=epoch)

    return judge(cluster, "t", [writer], batch_at)


ALL_WELL = {
    "acknowledged": 3,
    "lost": 0,
    "duplicates": 0,
    "resent": 0,
    "misplaced": 0,
    "reordered": 0,
}


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


def test_a_record_that_librdkafka_resends_in_a_new_epoch_is_no_duplicate_of_the_broker():
    stored = [*GOOD[:2], GOOD[1], GOOD[2]]
    figures = run(stored, {0: 0, 1: 2, 2: 3}, epochs=(0, 0, 1, 1), resends=True)
    assert figures == {**ALL_WELL, "resent": 1}


@pytest.mark.parametrize(("epochs", "resends"), [((0, 0, 0, 0), True), ((0, 0, 1, 1), False)])
def test_the_same_epoch_or_another_client_makes_it_a_duplicate(epochs, resends):
    figures = run([*GOOD[:2], GOOD[1], GOOD[2]], {0: 0, 1: 2, 2: 3}, epochs, resends=resends)
    assert (figures["duplicates"], figures["resent"]) == (1, 0)
