import pytest
from support.groups.driver import GroupDriver, subscription

from barnabas.groups.requests import Protocol
from barnabas.groups.step import GroupConfig, TimerKind
from barnabas.model.error_codes import ErrorCode as E


def protocols(*names):
    return tuple(Protocol(name, subscription("t")) for name in names)


def test_a_member_may_repeat_a_protocol():
    driver = GroupDriver()
    joined = driver.join(known=False, protocols=protocols("range", "range"))
    driver.advance(driver.config.initial_rebalance_delay_ms)
    assert joined.reply.protocol_name == "range"
    other = driver.join(known=False, protocols=protocols("range", "roundrobin", "range"))
    driver.join(joined.reply.member_id, protocols=protocols("range", "range"))
    assert other.reply.protocol_name == "range"


def test_member_id_is_client_id_and_uuid_and_must_be_brought_back():
    driver = GroupDriver()
    first = driver.join()
    assert first.code is E.MEMBER_ID_REQUIRED
    assert first.reply.member_id == "client-id-1"
    second = driver.join(first.reply.member_id)
    driver.advance(0)
    assert second.code is E.NONE
    assert second.reply.leader_id == first.reply.member_id
    assert [m.member_id for m in second.reply.members] == [first.reply.member_id]


def test_old_clients_join_at_once():
    driver = GroupDriver()
    answer = driver.join(known=False)
    driver.advance(0)
    assert answer.code is E.NONE


def test_an_id_that_is_never_used_expires_and_lets_the_others_go_on():
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    driver.join()  # its id is lost on the way
    joins = [driver.join(leader), driver.join(known=False)]
    driver.leave("client-id-2")
    assert not joins[0].done
    driver.advance(10_000)
    assert all(join.code is E.NONE for join in joins)


def test_unknown_group_with_member_id():
    answer = GroupDriver().join("ghost")
    assert answer.code is E.UNKNOWN_MEMBER_ID


def test_rejected_first_member_leaves_no_group_behind():
    driver = GroupDriver()
    assert driver.join(protocol_type="").code is E.INCONSISTENT_GROUP_PROTOCOL
    assert driver.shard.list_groups() == []


def test_empty_group_id():
    assert GroupDriver().join(group="").code is E.INVALID_GROUP_ID


@pytest.mark.parametrize(("timeout", "code"), [(5_999, 26), (6_000, 79), (1_800_001, 26)])
def test_session_timeout_bounds(timeout, code):
    assert GroupDriver().join(session_timeout_ms=timeout).code == code


def test_first_rebalance_waits_for_more_members():
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=3_000))
    first = driver.join(known=False)
    driver.advance(2_999)
    second = driver.join(known=False)
    driver.advance(1)
    assert not first.done, "a member came, so the delay is extended"
    driver.advance(3_000)
    assert first.reply.generation_id == second.reply.generation_id == 1
    assert len(first.reply.members) == 2


def test_initial_delay_ends_with_the_rebalance_timeout():
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=3_000))
    first = driver.join(known=False, rebalance_timeout_ms=10_000)
    for _ in range(20):
        driver.advance(1_000)
        driver.join(known=False, rebalance_timeout_ms=10_000)
        if first.done:
            break
    assert first.done
    assert driver.now_ms - 1_000_000 <= 12_000


def test_protocol_with_most_votes_among_common_ones():
    driver = GroupDriver()
    joins = [
        driver.join(known=False, protocols=protocols("a", "b", "c")),
        driver.join(known=False, protocols=protocols("b", "a")),
        driver.join(known=False, protocols=protocols("x", "b", "a")),
    ]
    driver.advance(0)
    assert {join.reply.protocol_name for join in joins} == {"b"}


def test_member_without_a_common_protocol_is_rejected():
    driver = GroupDriver()
    driver.stable_group(1)
    answer = driver.join(known=False, protocols=protocols("other"))
    assert answer.code is E.INCONSISTENT_GROUP_PROTOCOL


def test_only_the_leader_sees_the_members():
    driver = GroupDriver()
    joins = [driver.join(known=False) for _ in range(3)]
    driver.advance(0)
    assert [len(join.reply.members) for join in joins] == [3, 0, 0]
    assert {join.reply.leader_id for join in joins} == {joins[0].reply.member_id}


def test_leader_that_does_not_rejoin_is_replaced():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    changed = driver.join(follower, protocols=(Protocol("range", subscription("u")),))
    driver.heartbeat(leader, 1)
    driver.advance(60_000)
    assert changed.reply.leader_id == follower
    assert driver.heartbeat(leader, 2).code is E.UNKNOWN_MEMBER_ID


def test_follower_with_changed_subscription_rebalances():
    driver = GroupDriver()
    _, follower = driver.stable_group(2)
    answer = driver.join(follower, protocols=(Protocol("range", subscription("u")),))
    assert not answer.done
    assert driver.state() == "PreparingRebalance"


def test_a_repeated_join_completes_the_earlier_one():
    """A retry on another connection must not leave the first one hanging."""
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    first, second = driver.join(leader), driver.join(leader)
    assert first.code is E.REBALANCE_IN_PROGRESS
    assert not second.done


def test_new_member_that_never_comes_back_is_dropped_after_five_minutes():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    answer = driver.join(known=False, rebalance_timeout_ms=30 * 60_000)
    for _ in range(60):
        driver.advance(5_000)
        driver.heartbeat(leader, 1)
        driver.heartbeat(follower, 1)
    assert answer.code is E.UNKNOWN_MEMBER_ID


def test_group_max_size():
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, max_size=2))
    driver.stable_group(2)
    assert driver.join(known=False).code is E.GROUP_MAX_SIZE_REACHED


def test_the_default_size_is_limited():
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0))
    limit = driver.config.max_size
    answers = [driver.join(known=False) for _ in range(limit + 1)]
    assert answers[-1].code is E.GROUP_MAX_SIZE_REACHED
    assert answers[-2].reply is None


def test_the_bytes_of_a_group_are_limited():
    """The memory of the members' protocols is limited, and freed when members leave."""
    large = (Protocol("range", bytes(50_000)),)
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, max_bytes=120_000))
    first = driver.join(known=False, protocols=large)
    driver.join(known=False, protocols=large)
    assert driver.join(known=False, protocols=large).code is E.GROUP_MAX_SIZE_REACHED
    driver.advance(0)
    driver.leave(first.reply.member_id)
    assert driver.join(known=False, protocols=large).reply is None


def test_pending_members_count_by_their_ids():
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, max_bytes=10_000))
    codes = [driver.join().code for _ in range(100)]
    assert codes[0] is E.MEMBER_ID_REQUIRED
    assert codes[-1] is E.GROUP_MAX_SIZE_REACHED


def test_a_group_above_a_lowered_size_loses_the_members_that_rejoin_last():
    driver = GroupDriver()
    ids = driver.stable_group(3)
    driver.config = GroupConfig(initial_rebalance_delay_ms=0, max_size=2)
    driver.reload()
    assert driver.state() == "PreparingRebalance"
    answers = [driver.join(member_id) for member_id in ids]
    assert [answer.code for answer in answers] == [E.NONE, E.NONE, E.GROUP_MAX_SIZE_REACHED]


def test_join_timer_is_set_while_preparing():
    driver = GroupDriver()
    leader, _ = driver.stable_group(2)
    driver.join(leader)
    assert TimerKind.JOIN in {key.kind for key in driver.timers}


def test_other_protocol_types_are_opaque():
    driver = GroupDriver()
    answer = driver.join(
        known=False, protocol_type="connect", protocols=(Protocol("sessioned", b"\xff\x00"),)
    )
    driver.advance(0)
    assert answer.reply.protocol_type == "connect"
    assert answer.reply.members[0].metadata == b"\xff\x00"


def test_storm_of_joins_whose_ids_are_lost():
    """G3: stable within the rebalance timeout, size bounded, nothing left behind."""
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, max_size=3))
    leader, follower = driver.stable_group(2)
    lost = []
    for _ in range(100):
        lost.append(driver.join().reply.member_id)
        driver.advance(10)
    rejoins = [driver.join(leader), driver.join(follower)]
    driver.advance(10_000)
    assert [rejoin.code for rejoin in rejoins] == [E.NONE, E.NONE]
    assert driver.now_ms - 1_000_000 <= 61_000
    assert driver.join(lost[0]).code is E.UNKNOWN_MEMBER_ID
    assert not any(key.kind is TimerKind.PENDING_MEMBER for key in driver.timers)


def test_reason_of_the_client_is_logged_on_one_line(caplog):
    driver = GroupDriver()
    with caplog.at_level("INFO", logger="barnabas.groups"):
        driver.join(known=False, reason="pod moved\nforged line")
    assert "client's reason: 'pod moved\\nforged line'" in caplog.text
