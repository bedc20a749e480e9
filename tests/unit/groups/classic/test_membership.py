import pytest
from support.groups.driver import GroupDriver

from barnabas.groups.requests import LeavingMember
from barnabas.model.error_codes import ErrorCode as E


def test_silent_member_is_removed_after_its_session():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    driver.advance(9_999)
    driver.heartbeat(leader, 1)
    assert driver.state() == "Stable"
    driver.advance(1)
    assert driver.state() == "PreparingRebalance"
    assert driver.heartbeat(follower, 1).code is E.UNKNOWN_MEMBER_ID


def test_heartbeat_while_preparing_keeps_the_session():
    """KAFKA-10134: members that finish their work before they rejoin must not be expelled."""
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    driver.join(leader)
    for _ in range(5):
        driver.advance(9_000)
        assert driver.heartbeat(follower, 1).code is E.REBALANCE_IN_PROGRESS
    assert driver.join(follower).code is E.NONE


def test_commit_counts_as_heartbeat():
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    for _ in range(3):
        driver.advance(5_000)
        driver.commit(1, leader, 1)
    assert driver.heartbeat(leader, 1).code is E.REBALANCE_IN_PROGRESS


def test_waiting_members_do_not_expire():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    rejoin = driver.join(leader)
    for _ in range(5):
        driver.advance(9_000)
        driver.heartbeat(follower, 1)
    assert not rejoin.done
    driver.join(follower)
    assert rejoin.code is E.NONE


def test_several_members_leave_in_one_request():
    driver = GroupDriver()
    ids = driver.stable_group(3)
    reply = driver.leave(ids[1], "stranger", ids[2]).reply
    assert [m.error_code for m in reply.members] == [E.NONE, E.UNKNOWN_MEMBER_ID, E.NONE]
    assert driver.state() == "PreparingRebalance"
    rejoin = driver.join(ids[0])
    assert rejoin.reply.generation_id == 2


def test_last_member_leaves_an_empty_generation_in_the_log():
    driver = GroupDriver()
    ids = driver.stable_group(2)
    appends = driver.appends
    driver.leave(*ids)
    assert driver.appends == appends + 1
    driver.reload()
    assert driver.state() == "Empty"
    again = driver.join(known=False)
    driver.advance(0)
    assert again.reply.generation_id == 3, "generations never repeat"


def test_leave_succeeds_though_the_empty_generation_cannot_be_stored():
    driver = GroupDriver()
    (only,) = driver.stable_group(1)
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert driver.leave(only).reply.members[0].error_code is E.NONE
    assert driver.state() == "Empty"


def test_pending_member_leaves():
    driver = GroupDriver()
    member_id = driver.join().reply.member_id
    assert driver.leave(member_id).reply.members[0].error_code is E.NONE
    assert driver.join(member_id).code is E.UNKNOWN_MEMBER_ID
    assert not driver.timers


def test_the_parked_join_of_a_leaving_member_gets_a_reply():
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    rejoin = driver.join(leader)
    driver.leave(leader)
    assert rejoin.code is E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("group", ["nowhere", ""])
def test_heartbeat_and_leave_of_an_unknown_group_are_rejected(group):
    driver = GroupDriver()
    code = E.UNKNOWN_MEMBER_ID if group else E.INVALID_GROUP_ID
    assert driver.heartbeat("x", 1, group=group).code is code
    left = driver.leave("x", group=group).reply
    if group:
        assert [member.error_code for member in left.members] == [code]
    else:
        assert left.error_code is code


def test_fenced_member_does_not_leave():
    driver = GroupDriver()
    driver.join(instance="a")
    driver.advance(0)
    reply = driver.leave(LeavingMember("other", "a")).reply
    assert reply.members[0].error_code is E.FENCED_INSTANCE_ID


def test_describe_shows_assignments_of_a_stable_group_only():
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    described = driver.shard.describe_group("g")
    assert (described.state, described.protocol_name) == ("Stable", "range")
    assert described.members[0].assignment == leader.encode()
    driver.join(leader)
    described = driver.shard.describe_group("g")
    assert (described.state, described.protocol_name) == ("PreparingRebalance", "")
    assert described.members[0].assignment == described.members[0].metadata == b""


def test_unload_completes_every_parked_request():
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    rejoin = driver.join(leader)
    driver.reload()
    assert rejoin.code is E.NOT_COORDINATOR
    assert driver.state() == "Stable"
