from dataclasses import replace

import pytest
from support.transactions.harness import P0

from barnabas.transactions.metadata import MAX_EPOCH, TransactionMetadata, Transition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.requests import TransactionConfig
from barnabas.transactions.transaction_table import ScanSchedule, expired, timed_out

OPEN = Transition(S.ONGOING, 1, 4, 100, 1000, frozenset({P0}), 1000, transaction_version=2)


def holding(current: Transition) -> TransactionMetadata:
    return TransactionMetadata("tx", current, persisted=True)


@pytest.mark.parametrize(("now_ms", "count"), [(1100, 0), (1101, 1)])
def test_a_transaction_times_out_after_its_own_timeout(now_ms: int, count: int) -> None:
    assert len(timed_out([holding(OPEN)], now_ms)) == count


@pytest.mark.parametrize("state", [s for s in S if s is not S.ONGOING])
def test_only_open_ones_do(state: S) -> None:
    assert timed_out([holding(replace(OPEN, state=state))], 10_000) == []


@pytest.mark.parametrize(("epoch", "version"), [(4, 2), (MAX_EPOCH - 1, 0)])
def test_the_abort_bumps_the_epoch(epoch: int, version: int) -> None:
    ((_, abort),) = timed_out([holding(replace(OPEN, producer_epoch=epoch))], 10_000)
    assert (abort.state, abort.producer_epoch) == (S.PREPARE_ABORT, epoch + 1)
    assert abort.transaction_version == version


@pytest.mark.parametrize("state", list(S))
def test_only_idle_ids_expire(state: S) -> None:
    planned = expired([holding(replace(OPEN, state=state))], 500, 1500)
    assert [target.state for _, target in planned] == ([S.DEAD] if state.is_idle else [])


def test_not_before_their_time() -> None:
    assert expired([holding(replace(OPEN, state=S.EMPTY))], 500, 1499) == []


def test_scans_are_due_at_their_intervals() -> None:
    config = TransactionConfig(abort_scan_interval_ms=10, expiry_scan_interval_ms=25)
    schedule = ScanSchedule(config, 100)
    assert schedule.wake_at_ms == 110
    assert not schedule.take_abort(109)
    assert schedule.take_abort(112)
    assert schedule.wake_at_ms == 122
    assert not schedule.take_expiry(124)
    assert schedule.take_expiry(125)
    assert schedule.next_expiry_ms == 150
