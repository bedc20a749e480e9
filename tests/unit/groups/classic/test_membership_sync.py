import pytest
from support.groups.driver import GroupDriver

from barnabas.groups.step import TimerKind
from barnabas.model.error_codes import ErrorCode as E


def completing(driver, members=3):
    joins = [driver.join(known=False) for _ in range(members)]
    driver.advance(0)
    return [join.reply.member_id for join in joins]


def test_all_get_their_assignment_once_the_leader_has_spoken():
    driver = GroupDriver()
    leader, b, c = completing(driver)
    waiting = driver.sync(b, 1)
    assert not waiting.done
    assert driver.appends == 0
    first = driver.sync(leader, 1, [(leader, b"L"), (b, b"B")])
    assert driver.appends == 1
    assert (first.reply.assignment, waiting.reply.assignment) == (b"L", b"B")
    assert first.reply.protocol_name == "range"
    assert driver.sync(c, 1).reply.assignment == b"", "the leader forgot it"


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.REQUEST_TIMED_OUT, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
    ],
)
def test_failed_append_tells_everybody_and_starts_over(failure, told):
    driver = GroupDriver()
    leader, b, c = completing(driver)
    waiting = driver.sync(b, 1)
    driver.fail_next = failure
    answer = driver.sync(leader, 1, [(leader, b"L")])
    assert answer.code is waiting.code is told
    assert driver.state() == "PreparingRebalance"
    joins = [driver.join(member_id) for member_id in (leader, b, c)]
    assert {join.reply.generation_id for join in joins} == {2}


def test_members_that_never_sync_are_removed():
    """KAFKA-12890."""
    driver = GroupDriver()
    leader, b, c = completing(driver)
    waiting = driver.sync(b, 1)
    for _ in range(10):
        for member_id in (leader, c):
            driver.heartbeat(member_id, 1)
        driver.advance(6_000)
    assert waiting.code is E.REBALANCE_IN_PROGRESS
    assert driver.heartbeat(leader, 1).code is E.UNKNOWN_MEMBER_ID
    assert driver.heartbeat(b, 1).code is E.REBALANCE_IN_PROGRESS


def test_follower_that_does_not_sync_after_the_leader_is_removed():
    driver = GroupDriver()
    leader, b, c = completing(driver)
    driver.sync(leader, 1)
    driver.sync(b, 1)
    for _ in range(10):
        for member_id in (leader, b, c):
            driver.heartbeat(member_id, 1)
        driver.advance(6_000)
    assert driver.heartbeat(c, 1).code is E.UNKNOWN_MEMBER_ID
    assert driver.state() == "PreparingRebalance"


def test_sync_timer_goes_once_all_have_synced():
    driver = GroupDriver()
    driver.stable_group(3)
    assert TimerKind.SYNC not in {key.kind for key in driver.timers}


@pytest.mark.parametrize("given", [{"protocol_type": "connect"}, {"protocol_name": "sticky"}])
def test_protocol_must_be_the_groups(given):
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    assert driver.sync(leader, 1, **given).code is E.INCONSISTENT_GROUP_PROTOCOL


def test_a_repeated_sync_completes_the_earlier_one():
    driver = GroupDriver()
    _, b, _ = completing(driver)
    first, second = driver.sync(b, 1), driver.sync(b, 1)
    assert first.code is E.REBALANCE_IN_PROGRESS
    assert not second.done


def test_sync_of_an_unknown_group_is_rejected():
    assert GroupDriver().sync("x", 1).code is E.UNKNOWN_MEMBER_ID
    assert GroupDriver().sync("x", 1, group="").code is E.INVALID_GROUP_ID


def test_a_member_that_leaves_with_a_parked_sync_gets_a_reply():
    driver = GroupDriver()
    _, b, _ = completing(driver)
    waiting = driver.sync(b, 1)
    driver.leave(b)
    assert waiting.code is E.UNKNOWN_MEMBER_ID
