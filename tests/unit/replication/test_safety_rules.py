"""Eligible leaders after a start that may have lost the end of the log."""

import pytest
from support.cluster.replicas import state

from barnabas.model.control import LeaderRecoveryState
from barnabas.replication.safety_rules import UncleanStartPolicy, may_lead

ALONE = state(isr=(1,))
RECOVERING = state(isr=(1,), recovery=LeaderRecoveryState.RECOVERING)
DECLINE, DECLINE_ALONE = UncleanStartPolicy.DECLINE, UncleanStartPolicy.DECLINE_ALONE


def test_a_whole_log_leads():
    assert may_lead(ALONE, 1, False, DECLINE)


def test_the_last_replica_standing_declines():
    assert not may_lead(ALONE, 1, True, DECLINE_ALONE)


def test_in_company_only_the_strict_policy_declines():
    assert may_lead(state(isr=(1, 2)), 1, True, DECLINE_ALONE)
    assert not may_lead(state(isr=(1, 2)), 1, True, DECLINE)


@pytest.mark.parametrize(
    "offered", [RECOVERING, state(isr=(1,), replicas=(1,)), state(isr=(1,), is_new=True)]
)
def test_told_to_or_nothing_to_lose(offered):
    assert may_lead(offered, 1, True, DECLINE)


def test_the_policy_can_be_switched_off():
    assert may_lead(ALONE, 1, True, UncleanStartPolicy.LEAD)
