"""Seeded simulation of the transaction coordinator.

Two transactional producers, with one id or two, write to three partitions through a network that
loses, delays and doubles messages, while the coordinator crashes and its appends fail. Afterwards
every transaction is there as a whole or not at all, every partition has one marker per
transaction, the last stable offset has caught up, and no fenced producer has committed.
"""

from collections import Counter
from dataclasses import replace

import pytest
from support.soak import SOAK
from support.transactions.simulation import Plan, Simulation

from barnabas.transactions.requests import TransactionGuards

SEEDS = 300 if SOAK else 75
LAST_EPOCHS = 32_763


def _run(plan: Plan) -> Simulation:
    simulation = Simulation(plan).run()
    assert simulation.problems() == [], plan
    return simulation


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("same_id", [False, True])
def test_random_crashes(version: int, same_id: bool) -> None:
    fates: Counter[str | None] = Counter()
    crashes = 0
    for seed in range(SEEDS):
        epoch = LAST_EPOCHS if seed % 5 == 0 else 0
        simulation = _run(Plan(seed, version, same_id, first_epoch=epoch))
        fates += simulation.fates
        crashes += simulation.node.crashes
    # The runs must have done what they are meant to test.
    assert fates["committed"] > SEEDS
    assert fates["aborted"] > SEEDS // 2
    assert crashes > SEEDS


@pytest.mark.parametrize("same_id", [False, True])
def test_old_and_new_clients_together(same_id: bool) -> None:
    for seed in range(SEEDS):
        epoch = LAST_EPOCHS if seed % 5 == 0 else 0
        _run(Plan(seed, 2, same_id, first_epoch=epoch, mixed=True))


@pytest.mark.parametrize("seed", range(3 if SOAK else 1))
@pytest.mark.parametrize("version", [1, 2])
def test_crash_at_every_event(seed: int, version: int) -> None:
    short = Plan(seed, version, crash_at=0, faults=0.02, active_ms=500)
    events = _run(short).eventful
    assert events > 100
    for event in range(1, events + 1):
        assert _run(replace(short, crash_at=event)).node.crashes == 1


def test_crash_points_across_seeds() -> None:
    """Every seed crashes at every thirtieth event, each seed at others."""
    for seed in range(SEEDS):
        short = Plan(seed, 2, same_id=seed % 2 == 1, crash_at=0, faults=0.05, active_ms=400)
        events = _run(short).eventful
        for event in range(1 + seed % 30, events + 1, 30):
            _run(replace(short, crash_at=event))


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(
            {"guards": TransactionGuards(end_txn_bound_to_epoch=False)}, id="end-txn-epoch"
        ),
        pytest.param(
            {"guards": TransactionGuards(change_only_after_append=False)}, id="failed-append"
        ),
        pytest.param({"verify": False}, id="verification"),
    ],
)
def test_the_simulation_notices_a_missing_guard(broken: dict[str, object]) -> None:
    plans = [Plan(seed, 2, same_id, **broken) for seed in range(40) for same_id in (False, True)]
    assert any(Simulation(plan).run().problems() for plan in plans)
