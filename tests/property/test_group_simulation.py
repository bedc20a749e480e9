"""Seeded simulation of classic groups; support/groups/simulation.py lists the checks."""

import pytest
from support.groups.simulation import simulate
from support.soak import SOAK

from barnabas.groups.classic import join, membership, rebalance
from barnabas.groups.coordinator import GroupCoordinatorShard
from barnabas.model.error_codes import ErrorCode

SEEDS = 300 if SOAK else 120
PER_TEST = 30


@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_one_owner_no_lost_commit_stable_after_heal(first):
    acknowledged = 0
    for seed in range(first, first + PER_TEST):
        try:
            acknowledged += simulate(seed).acknowledged
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert acknowledged > 100, "the simulation must do some work"


def _store_nothing(step, replacement, request):
    """KAFKA-10284: the new id of a static member is sent but not stored."""
    reply = join._replacement_reply(replacement, request)
    rebalance.reply_to_join(step, replacement.group, replacement.member, reply)


_SETTLE = GroupCoordinatorShard.settle


def _believe_appends(self, append, error_code, now_ms):
    """State is changed though the append failed (KAFKA-9666 and its kind)."""
    return _SETTLE(self, append, ErrorCode.NONE, now_ms)


def _accept_any_generation(group, member_id, group_instance_id, generation_id, *, transactional):
    """Commits of members that were expelled long ago are stored."""


def _never_expire(step, group, member_id):
    """Silent members stay for good."""


def _forget_parked(step, group, error_code):
    """Members that wait for the leader's assignment are left waiting."""


FAULTS = {
    "static id not stored": (join, "_store_replacement", _store_nothing),
    "failed append taken for done": (GroupCoordinatorShard, "settle", _believe_appends),
    "old generations may commit": (membership, "validate_commit", _accept_any_generation),
    "sessions never end": (rebalance, "on_session_timer", _never_expire),
    "parked syncs forgotten": (rebalance, "fail_parked_syncs", _forget_parked),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(fault, monkeypatch):
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        [simulate(seed) for seed in range(60)]
