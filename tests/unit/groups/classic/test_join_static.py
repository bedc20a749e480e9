"""Static membership (KIP-345)."""

import pytest
from support.groups.driver import GroupDriver, subscription

from barnabas.groups.requests import LeavingMember, Protocol
from barnabas.model.error_codes import ErrorCode as E


def static_group(driver):
    """A stable group of static members a (leader) and b; gives their member ids."""
    joins = {name: driver.join(instance=name) for name in ("a", "b")}
    driver.advance(0)
    a, b = (joins[name].reply.member_id for name in ("a", "b"))
    driver.sync(b, 1, instance="b")
    driver.sync(a, 1, [(a, b"A"), (b, b"B")], instance="a")
    return a, b


def test_ids_are_given_at_once_and_begin_with_the_instance_id():
    driver = GroupDriver()
    a, b = static_group(driver)
    assert (a, b) == ("a-id-1", "b-id-2")


def test_return_within_the_session_does_not_rebalance():
    driver = GroupDriver()
    _, b = static_group(driver)
    back = driver.join(instance="b")
    assert back.code is E.NONE
    assert back.reply.generation_id == 1
    assert driver.state() == "Stable"
    new_b = back.reply.member_id
    assert new_b != b
    assert driver.sync(new_b, 1, instance="b").reply.assignment == b"B"


def test_replaced_member_is_fenced_everywhere():
    driver = GroupDriver()
    a, b = static_group(driver)
    driver.join(instance="b")
    assert driver.heartbeat(b, 1, instance="b").code is E.FENCED_INSTANCE_ID
    assert driver.sync(b, 1, instance="b").code is E.FENCED_INSTANCE_ID
    assert driver.join(b, instance="b").code is E.FENCED_INSTANCE_ID
    commit = driver.commit(1, b, 1, group_instance_id="b")
    assert commit.reply.partitions[0][1] is E.FENCED_INSTANCE_ID
    left = driver.leave(LeavingMember(b, "b"))
    assert left.reply.members[0].error_code is E.FENCED_INSTANCE_ID
    assert driver.heartbeat(a, 1, instance="a").code is E.NONE


def test_new_id_survives_the_coordinator():
    """KAFKA-10284: stored before it was sent."""
    driver = GroupDriver()
    _, b = static_group(driver)
    new_b = driver.join(instance="b").reply.member_id
    driver.reload()
    assert driver.heartbeat(new_b, 1, instance="b").code is E.NONE
    assert driver.heartbeat(b, 1, instance="b").code is E.FENCED_INSTANCE_ID


def test_failed_append_keeps_the_old_member():
    driver = GroupDriver()
    _, b = static_group(driver)
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    answer = driver.join(
        instance="b", protocols=(Protocol("range", subscription("u")), Protocol("x", b""))
    )
    assert answer.code is E.COORDINATOR_NOT_AVAILABLE
    assert driver.state() == "Stable"
    assert driver.heartbeat(b, 1, instance="b").code is E.NONE
    assert not driver.parked
    before = driver.shard.describe_group("g")
    driver.reload()
    assert driver.shard.describe_group("g") == before


@pytest.mark.parametrize(("can_skip", "leader", "members"), [(True, "new", 2), (False, "old", 0)])
def test_returning_leader_does_not_assign_again(can_skip, leader, members):
    """KIP-814; older clients get the old leader's id, so they stay followers."""
    driver = GroupDriver()
    a, _ = static_group(driver)
    back = driver.join(instance="a", can_skip_assignment=can_skip).reply
    assert back.skip_assignment is can_skip
    assert back.leader_id == {"new": back.member_id, "old": a}[leader]
    assert len(back.members) == members


def test_return_during_the_sync_phase_starts_over():
    driver = GroupDriver()
    a, b = static_group(driver)
    driver.join(a, instance="a")
    driver.join(b, instance="b")
    parked = driver.sync(b, 2, instance="b")
    back = driver.join(instance="b")
    assert parked.code is E.FENCED_INSTANCE_ID
    assert driver.state() == "PreparingRebalance"
    driver.join(a, instance="a")
    assert back.reply.generation_id == 3


def test_return_while_preparing_fences_the_parked_join():
    driver = GroupDriver()
    a, b = static_group(driver)
    driver.join(a, instance="a")
    driver.commit(1, b, 1)
    back = driver.join(instance="a")
    again = driver.join(instance="a")
    assert back.code is E.FENCED_INSTANCE_ID
    driver.join(b, instance="b")
    assert again.code is E.NONE


def test_change_of_the_winning_protocol_rebalances():
    driver = GroupDriver()
    two = (Protocol("range", subscription("t")), Protocol("sticky", subscription("t")))
    joins = [driver.join(instance=name, protocols=two) for name in ("a", "b")]
    driver.advance(0)
    a, b = (join.reply.member_id for join in joins)
    driver.sync(b, 1, instance="b")
    driver.sync(a, 1, [(a, b"A"), (b, b"B")], instance="a")
    back = driver.join(instance="b", protocols=(Protocol("sticky", subscription("t")),))
    assert not back.done
    assert driver.state() == "PreparingRebalance"


def test_static_member_is_kept_through_a_rebalance_it_misses():
    driver = GroupDriver()
    a, b = static_group(driver)
    rejoin = driver.join(a, instance="a", session_timeout_ms=90_000)
    for _ in range(6):
        driver.advance(9_900)
        driver.heartbeat(b, 1, instance="b")
    driver.advance(1_000)
    assert rejoin.code is E.NONE
    assert {m.group_instance_id for m in rejoin.reply.members} == {"a", "b"}


def test_tools_remove_static_members_by_instance_id():
    driver = GroupDriver()
    static_group(driver)
    left = driver.leave(LeavingMember("", "b"), LeavingMember("", "nobody"))
    codes = [member.error_code for member in left.reply.members]
    assert codes == [E.NONE, E.UNKNOWN_MEMBER_ID]
    assert driver.state() == "PreparingRebalance"


def test_unknown_instance_id_with_a_member_id():
    driver = GroupDriver()
    a, _ = static_group(driver)
    assert driver.heartbeat(a, 1, instance="zzz").code is E.UNKNOWN_MEMBER_ID
