"""The control values: the few behaviours they have."""

import dataclasses

import pytest

from barnabas.model.control import Endpoint, LeaderRecoveryState, LiveBroker, PartitionState
from barnabas.model.ids import BrokerId, TopicPartition


def test_endpoint_by_listener_name():
    plain = Endpoint("PLAINTEXT", "h", 1)
    broker = LiveBroker(BrokerId(1), (plain, Endpoint("SSL", "h", 2, "SSL")))
    assert broker.endpoint("PLAINTEXT") is plain
    assert broker.endpoint("INTERNAL") is None


def test_recovering_follows_the_recovery_state():
    one = BrokerId(1)
    state = PartitionState(TopicPartition("t", 0), one, 0, (one,), (one,))
    assert not state.recovering
    assert dataclasses.replace(state, recovery=LeaderRecoveryState.RECOVERING).recovering


def test_states_are_values():
    state = PartitionState(TopicPartition("t", 0), BrokerId(1), 0, (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.leader_epoch = 2
