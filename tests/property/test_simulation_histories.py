"""Histories that lost data in Kafka. Each loses data here with Kafka's former rule, and loses none
with the current rule. The steps are those of the KIP or JIRA that describes the problem.
"""

import pytest
from support.simulation import historic_rules
from support.simulation.laboratory import Laboratory
from support.simulation.replica_host import Stop

from barnabas.model.control import LeaderRecoveryState
from barnabas.model.error_codes import ErrorCode
from barnabas.replication.safety_rules import DEFAULT_RULES, UncleanStartPolicy


def old_and_new(old):
    """Run a history under both rules, telling the test which one it is."""
    return pytest.mark.parametrize(
        ("rules", "safe"), [(old, False), (DEFAULT_RULES, True)], ids=["then", "now"]
    )


@old_and_new(historic_rules.BEFORE_KIP_101)
def test_kip_101_restarted_follower_leads_before_it_could_fetch(rules, safe):
    lab = Laboratory(2, rules=rules)
    lab.elect(1, isr=(1, 2))
    lab.produce(1, "m1")
    lab.fetch(2, rounds=2)
    lab.hosts[2].disk.write_checkpoint()  # knows that m1 is committed
    lab.produce(1, "m2")
    lab.fetch(2)  # holds m2 ...
    lab.fetch(2)  # ... and its next fetch commits it; 1 answers the producer
    assert lab.acknowledged == ["m1", "m2"]
    lab.stop(2, Stop.KILL)
    lab.start(2)
    lab.tell(2)  # follows again: then, it cut its log at the old watermark
    lab.stop(1, Stop.KILL)
    lab.elect(2, isr=(2,))
    assert lab.lost(leader=2) == ([] if safe else ["m2"])


@old_and_new(historic_rules.BEFORE_KIP_101)
def test_kip_101_logs_diverge_after_both_lost_power(rules, safe):
    lab = Laboratory(2, rules=rules, policy=UncleanStartPolicy.LEAD)
    lab.elect(1, isr=(1, 2))
    lab.produce(1, "m1")
    lab.fetch(2, rounds=2)
    for broker in (1, 2):
        lab.hosts[broker].disk.flush()
    lab.produce(1, "m2")
    lab.fetch(2, rounds=2)
    lab.hosts[1].disk.flush()  # m2 is on the disk of 1 only
    lab.hosts[1].disk.write_checkpoint()
    for broker in (1, 2):
        lab.stop(broker, Stop.POWER)
    lab.start(2)
    lab.elect(2, isr=(2,))
    lab.produce(2, "m3")
    lab.start(1)
    lab.tell(1)
    lab.fetch(1, rounds=4)
    lab.produce(2, "m4")
    lab.fetch(1, rounds=4)
    assert (lab.values(1) == lab.values(2)) is safe
    assert lab.values(2) == ["m1", "m3", "m4"]


@old_and_new(historic_rules.BEFORE_KIP_279)
def test_kip_279_two_fast_elections_leave_an_epoch_one_side_never_saw(rules, safe):
    lab = Laboratory(2, rules=rules)
    lab.elect(1, isr=(1, 2))
    lab.produce(1, "m0")
    lab.fetch(2, rounds=2)
    lab.produce(1, "only on 1", acks=1)
    lab.stop(1)
    lab.elect(2, isr=(2,))
    lab.produce(2, "a", "b", acks=1)  # epoch 1, which 1 never sees
    lab.stop(2)
    lab.start(1)
    lab.elect(1, isr=(1,), recovery=LeaderRecoveryState.RECOVERING)
    lab.produce(1, "c", acks=1)
    lab.start(2)
    lab.tell(2)
    lab.fetch(2, rounds=6)
    assert (lab.values(1) == lab.values(2)) is safe
    assert lab.values(1) == ["m0", "only on 1", "c"]


@old_and_new(historic_rules.BEFORE_KIP_320)
def test_kip_320_a_leader_of_an_old_epoch_is_fed_by_a_follower_of_a_new_one(rules, safe):
    lab = Laboratory(3, rules=rules)
    lab.elect(1, isr=(1, 2))
    lab.produce(1, "m0")
    lab.fetch(2, rounds=2)
    lab.elect(2, isr=(1, 2), tell=(2, 3))  # the command does not reach 1
    lab.fetch(3, rounds=2)
    assert set(lab.state.isr) == {1, 2, 3}  # 3 has joined under 2
    lab.elect(3, isr=lab.state.isr, tell=(2, 3))
    lab.fetch(2, rounds=2)
    lab.elect(1, isr=lab.state.isr, tell=(2, 3))  # nor does this one: 1 still lives in epoch 0
    lab.produce(1, "m1")
    lab.fetch(2, rounds=2)  # in epoch 3; 1 takes it for its follower of epoch 0
    assert ("m1" in lab.acknowledged) is not safe
    lab.stop(1)
    lab.stop(2)
    lab.elect(3, isr=(3,))
    assert lab.lost(leader=3) == ([] if safe else ["m1"])


@old_and_new(historic_rules.BEFORE_KIP_966)
def test_kip_966_the_last_replica_standing_comes_back_without_its_tail(rules, safe):
    lab = Laboratory(3, rules=rules, min_insync=2, policy=UncleanStartPolicy.DECLINE_ALONE)
    lab.elect(1, isr=(1, 2))
    lab.produce(1, "m0")
    lab.fetch(2, rounds=2)
    assert lab.acknowledged == ["m0"]
    lab.stop(2)
    lab.elect(1, isr=(1,))
    lab.stop(1, Stop.POWER)
    lab.elect(-1, isr=(1,), tell=())
    lab.start(1)
    answer = lab.elect(1, isr=(1,))
    assert answer is (ErrorCode.KAFKA_STORAGE_ERROR if safe else ErrorCode.NONE)
    assert lab.hosts[1].partition(("orders", 0)).is_leader is not safe
    assert lab.values(1) == []
    if safe:  # nothing is gone: an operator picks the one that still has it
        lab.start(2)
        recovery = LeaderRecoveryState.RECOVERING
        assert lab.elect(2, isr=(2,), recovery=recovery) is ErrorCode.NONE
        assert lab.lost(leader=2) == []


@old_and_new(historic_rules.BEFORE_KAFKA_7128)
def test_kafka_7128_a_follower_joins_before_the_start_of_the_epoch(rules, safe):
    lab = Laboratory(3, rules=rules, min_insync=2)
    lab.elect(1, isr=(1, 2))
    lab.produce(1, "m0")
    lab.fetch(2, rounds=2)
    lab.fetch(3)  # holds m0, is no member yet
    lab.produce(1, "m1")
    lab.fetch(2)
    lab.fetch(2, lose_answer=True)  # commits m1, but 2 does not hear of it
    assert lab.acknowledged == ["m0", "m1"]
    assert (lab.state.isr, lab.watermark(2)) == ((1, 2), 1)
    lab.stop(1)
    lab.elect(2, isr=(2,))  # with fewer members than min.insync its watermark stays where it is
    lab.fetch(3, lose_answer=True)  # at the watermark, but not at the start of 2's epoch
    assert (3 in lab.state.isr) is not safe
    if not safe:
        lab.stop(2)
        lab.elect(3, isr=(3,))
        assert lab.lost(leader=3) == ["m1"]
    else:
        lab.fetch(3, rounds=2)
        assert 3 in lab.state.isr
        lab.stop(2)
        lab.elect(3, isr=(3,))
        assert lab.lost(leader=3) == []
