"""Classic groups that become KIP-848 ones and back, and classic members in between."""

import pytest
from support.groups.driver import GroupDriver, image, owned_of, subscription

from barnabas.groups.classic.group import decode_assignment, encode_assignment
from barnabas.groups.requests import LeavingMember, Protocol
from barnabas.groups.step import GroupConfig, TimerKind
from barnabas.model.error_codes import ErrorCode as E


def consumer_protocols(*topics, owned=()):
    return (Protocol("cooperative-sticky", subscription(*topics, owned=owned)),)


def classic_group(driver, members=2, instances=False):
    """A stable classic group that shares the four partitions of t; gives the member ids."""
    names = [f"i{n}" if instances else None for n in range(members)]
    joins = [
        driver.join(known=False, instance=name, protocols=consumer_protocols("t")) for name in names
    ]
    driver.advance(0)
    ids = [join.reply.member_id for join in joins]
    share = 4 // members
    assignments = [
        (m, encode_assignment({"t": frozenset(range(i * share, (i + 1) * share))}, 3))
        for i, m in enumerate(ids)
    ]
    for member_id, name in zip(ids[1:], names[1:], strict=True):
        driver.sync(member_id, 1, instance=name)
    driver.sync(ids[0], 1, assignments, instance=names[0])
    assert driver.state() == "Stable"
    return ids


def group_type(driver):
    return driver.shard.list_groups()[0].group_type


def rejoin(driver, member_id, owned, **kw):
    protocols = consumer_protocols("t", owned=[("t", owned)])
    return driver.join(member_id, protocols=protocols, **kw)


def assigned(answer):
    assert answer.code is E.NONE
    return sorted(decode_assignment(answer.reply.assignment).get("t", ()))


def test_first_new_member_upgrades_the_group():
    driver = GroupDriver()
    classic_group(driver)
    reply = driver.consumer_heartbeat("new").reply
    assert reply.error_code is E.NONE
    assert (reply.member_epoch, owned_of(reply)) == (2, {}), "all partitions are still taken"
    assert group_type(driver) == "consumer"
    described = driver.shard.describe_consumer_group("g")
    assert [member.member_type for member in described.members] == [0, 0, 1]


def test_full_online_migration_keeps_one_owner():
    driver = GroupDriver()
    a, b = classic_group(driver)
    driver.consumer_heartbeat("new")
    owned = {a: [0, 1], b: [2, 3]}
    for member_id in (a, b):
        assert driver.heartbeat(member_id, 1).code is E.REBALANCE_IN_PROGRESS
        answer = rejoin(driver, member_id, owned[member_id])
        assert answer.code is E.NONE
        keep = assigned(driver.sync(member_id, answer.reply.generation_id))
        if keep != owned[member_id]:
            answer = rejoin(driver, member_id, keep)
            keep = assigned(driver.sync(member_id, answer.reply.generation_id))
        owned[member_id] = keep
    got = owned_of(driver.consumer_heartbeat("new", 2).reply)["t"]
    assert sorted(got + owned[a] + owned[b]) == [0, 1, 2, 3]
    for member_id in (a, b):
        assert driver.heartbeat(member_id, 2).code is E.NONE
    assert driver.state() == "Stable"


def test_offsets_survive_upgrade_and_reload():
    driver = GroupDriver()
    ids = classic_group(driver)
    driver.commit(17, ids[0], 1)
    driver.consumer_heartbeat("new")
    before = driver.shard.describe_consumer_group("g")
    for compacted in (False, True):
        driver.reload(compacted=compacted)
        assert driver.shard.describe_consumer_group("g") == before
        assert driver.committed().offset == 17


def test_upgrade_completes_parked_joins():
    driver = GroupDriver()
    leader, _ = classic_group(driver)
    parked = driver.join(leader, protocols=consumer_protocols("t"))
    driver.consumer_heartbeat("new")
    assert parked.code is E.REBALANCE_IN_PROGRESS
    assert {key.kind for key in driver.timers} == {TimerKind.SESSION}


def test_failed_upgrade_leaves_the_classic_group():
    driver = GroupDriver()
    leader, _ = classic_group(driver)
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert driver.consumer_heartbeat("new").code is E.COORDINATOR_NOT_AVAILABLE
    assert group_type(driver) == "classic"
    assert driver.heartbeat(leader, 1).code is E.NONE


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_policy_forbids_upgrade(policy):
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, migration_policy=policy))
    classic_group(driver)
    assert driver.consumer_heartbeat("new").code is E.GROUP_ID_NOT_FOUND
    assert group_type(driver) == "classic"


def test_groups_of_other_protocols_are_not_upgraded():
    driver = GroupDriver()
    driver.join(known=False, protocol_type="connect", protocols=(Protocol("x", b""),))
    driver.advance(0)
    assert driver.consumer_heartbeat("new").code is E.GROUP_ID_NOT_FOUND


def test_unreadable_subscriptions_are_not_upgraded():
    driver = GroupDriver()
    driver.join(known=False, protocols=(Protocol("x", b"\x00"),))
    driver.advance(0)
    assert driver.consumer_heartbeat("new").code is E.GROUP_ID_NOT_FOUND


def test_groups_that_are_too_large_are_not_upgraded():
    driver = GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, consumer_max_size=1))
    classic_group(driver)
    assert driver.consumer_heartbeat("new").code is E.GROUP_ID_NOT_FOUND


def test_empty_groups_change_their_kind_either_way():
    driver = GroupDriver()
    driver.commit(3)
    driver.consumer_heartbeat("a")
    assert group_type(driver) == "consumer"
    driver.consumer_heartbeat("a", -1)
    answer = driver.join(known=False)
    driver.advance(0)
    assert answer.code is E.NONE
    assert group_type(driver) == "classic"
    driver.reload(compacted=True)
    assert group_type(driver) == "classic"
    assert driver.committed().offset == 3


def test_failed_change_of_an_empty_group():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    driver.consumer_heartbeat("a", -1)
    driver.fail_next = E.NOT_LEADER_OR_FOLLOWER
    assert driver.join(known=False).code is E.NOT_COORDINATOR
    assert group_type(driver) == "consumer"


def test_last_new_member_leaves_and_the_group_is_classic_again():
    driver = GroupDriver()
    a, b = classic_group(driver)
    driver.consumer_heartbeat("new")
    reply = driver.consumer_heartbeat("new", -1).reply
    assert reply.error_code is E.NONE
    assert group_type(driver) == "classic"
    assert driver.state() == "PreparingRebalance"
    joins = [driver.join(m, protocols=consumer_protocols("t")) for m in (a, b)]
    assert {join.reply.generation_id for join in joins} == {3}
    driver.reload(compacted=True)
    assert {m.member_id for m in driver.shard.describe_group("g").members} == {a, b}


def test_last_new_member_falls_silent():
    driver = GroupDriver()
    a, _ = classic_group(driver)
    driver.consumer_heartbeat("new")
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    for _ in range(6):
        driver.advance(9_000)
        answer = rejoin(driver, a, [0, 1])
        driver.sync(a, answer.reply.generation_id)
    assert group_type(driver) == "classic"


def test_downgrade_can_be_forbidden():
    config = GroupConfig(initial_rebalance_delay_ms=0, migration_policy="upgrade")
    driver = GroupDriver(config)
    classic_group(driver)
    driver.consumer_heartbeat("new")
    driver.consumer_heartbeat("new", -1)
    assert group_type(driver) == "consumer"


def test_failed_downgrade_changes_nothing():
    driver = GroupDriver()
    classic_group(driver)
    driver.consumer_heartbeat("new")
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert driver.consumer_heartbeat("new", -1).code is E.COORDINATOR_NOT_AVAILABLE
    assert group_type(driver) == "consumer"
    assert driver.consumer_heartbeat("new", 2).code is E.NONE


def test_static_member_turns_into_a_new_one_and_back():
    driver = GroupDriver()
    classic_group(driver, members=2, instances=True)
    reply = driver.consumer_heartbeat("new", instance_id="i0").reply
    assert owned_of(reply) == {"t": [0, 1]}, "it takes its own place"
    back = driver.join(instance="i0", protocols=consumer_protocols("t"))
    assert back.code is E.NONE
    assert group_type(driver) == "classic", "nobody speaks the new protocol any more"
    sync = driver.sync(back.reply.member_id, back.reply.generation_id, instance="i0")
    assert assigned(sync) == [0, 1]
    driver.reload(compacted=True)
    assert len(driver.shard.describe_group("g").members) == 2


def test_failed_return_to_classic():
    driver = GroupDriver()
    classic_group(driver, members=2, instances=True)
    epoch = driver.consumer_heartbeat("new", instance_id="i0").reply.member_epoch
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    back = driver.join(instance="i0", protocols=consumer_protocols("t"))
    assert back.code is E.COORDINATOR_NOT_AVAILABLE
    assert driver.consumer_heartbeat("new", epoch, instance_id="i0").code is E.NONE


# Classic members of a KIP-848 group


def mixed(driver):
    driver.consumer_heartbeat("new")
    answer = driver.join("old", protocols=consumer_protocols("t"))
    assert answer.code is E.NONE
    return answer.reply


def test_classic_member_joins_a_new_group():
    driver = GroupDriver()
    driver.consumer_heartbeat("new")
    assert driver.join(protocols=consumer_protocols("t")).code is E.MEMBER_ID_REQUIRED
    reply = mixed(driver)
    assert (reply.protocol_type, reply.protocol_name) == ("consumer", "cooperative-sticky")
    assert (reply.leader_id, reply.members, reply.generation_id) == ("", (), 2)
    assert assigned(driver.sync("old", 2)) == []


def test_classic_member_is_called_back_when_partitions_are_free():
    driver = GroupDriver()
    mixed(driver)
    assert driver.sync("old", 2).code is E.NONE
    assert driver.heartbeat("old", 2).code is E.NONE
    keep = owned_of(driver.consumer_heartbeat("new", 1).reply)
    driver.consumer_heartbeat("new", 1, owned=keep)
    assert driver.heartbeat("old", 2).code is E.REBALANCE_IN_PROGRESS
    answer = rejoin(driver, "old", [])
    got = assigned(driver.sync("old", answer.reply.generation_id))
    assert sorted(got + keep["t"]) == [0, 1, 2, 3]


def test_classic_member_that_does_not_sync_is_removed():
    driver = GroupDriver()
    mixed(driver)
    for _ in range(6):
        driver.advance(10_000)
        driver.consumer_heartbeat("new", 1)
        driver.heartbeat("old", 2)
    assert driver.heartbeat("old", 2).code is E.UNKNOWN_MEMBER_ID


def test_classic_member_that_does_not_rejoin_is_removed():
    driver = GroupDriver()
    mixed(driver)
    driver.sync("old", 2)
    driver.consumer_heartbeat("third")
    for _ in range(7):
        code = driver.heartbeat("old", 2).code
        driver.advance(9_000)
        driver.consumer_heartbeat("new", 1, owned={"t": [0, 1, 2, 3]})
    assert code is E.REBALANCE_IN_PROGRESS
    assert driver.heartbeat("old", 2).code is E.UNKNOWN_MEMBER_ID


def test_a_classic_member_gets_rebalance_in_progress_at_sync_too():
    driver = GroupDriver()
    mixed(driver)
    driver.consumer_heartbeat("third")
    assert driver.sync("old", 2).code is E.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(
    ("send", "code"),
    [
        (lambda d: d.heartbeat("old", 1), E.ILLEGAL_GENERATION),
        (lambda d: d.heartbeat("nobody", 2), E.UNKNOWN_MEMBER_ID),
        (lambda d: d.heartbeat("new", 1), E.UNKNOWN_MEMBER_ID),
        (lambda d: d.heartbeat("old", 2, instance="x"), E.UNKNOWN_MEMBER_ID),
        (lambda d: d.sync("old", 1), E.ILLEGAL_GENERATION),
        (lambda d: d.sync("old", 2, protocol_type="connect"), E.INCONSISTENT_GROUP_PROTOCOL),
        (lambda d: d.sync("old", 2, protocol_name="range"), E.INCONSISTENT_GROUP_PROTOCOL),
        (lambda d: d.join("x", protocol_type="connect"), E.INCONSISTENT_GROUP_PROTOCOL),
        (lambda d: d.join("x", protocols=(Protocol("r", b""),)), E.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_an_outdated_member_of_a_mixed_group_is_rejected(send, code):
    driver = GroupDriver()
    mixed(driver)
    assert send(driver).code is code


def test_unreadable_subscription_of_a_first_classic_member():
    driver = GroupDriver()
    driver.consumer_heartbeat("new")
    answer = driver.join("x", protocols=(Protocol("r", b""),))
    assert answer.code is E.INCONSISTENT_GROUP_PROTOCOL


def test_full_group_rejects_classic_members():
    driver = GroupDriver(GroupConfig(consumer_max_size=1))
    driver.consumer_heartbeat("new")
    answer = driver.join("old", protocols=consumer_protocols("t"))
    assert answer.code is E.GROUP_MAX_SIZE_REACHED


def test_classic_members_leave():
    driver = GroupDriver()
    mixed(driver)
    reply = driver.leave("old", "nobody", "new").reply
    assert [m.error_code for m in reply.members] == [
        E.NONE,
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
    ]
    assert len(driver.shard.describe_consumer_group("g").members) == 1
    assert driver.leave("nobody").reply.members[0].error_code is E.UNKNOWN_MEMBER_ID


def test_static_classic_member_leaves_by_instance_id():
    driver = GroupDriver()
    driver.consumer_heartbeat("new")
    driver.join(instance="i", protocols=consumer_protocols("t"))
    reply = driver.leave(LeavingMember("other", "i"), LeavingMember("", "i")).reply
    assert [m.error_code for m in reply.members] == [E.FENCED_INSTANCE_ID, E.NONE]


def test_failed_leave_and_join_change_nothing():
    driver = GroupDriver()
    mixed(driver)
    before = driver.shard.describe_consumer_group("g")
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert driver.leave("old").code is E.COORDINATOR_NOT_AVAILABLE
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert driver.join("x", protocols=consumer_protocols("t")).code is E.COORDINATOR_NOT_AVAILABLE
    assert driver.shard.describe_consumer_group("g") == before


def test_commits_of_both_kinds_of_members():
    driver = GroupDriver()
    mixed(driver)
    codes = {
        name: driver.commit(1, member_id, generation, **kw).reply.partitions[0][1]
        for name, member_id, generation, kw in [
            ("new", "new", 1, {}),
            ("new, stale", "new", 0, {}),
            ("new, old api", "new", 1, {"member_epochs_supported": False}),
            ("old", "old", 2, {}),
            ("old, stale", "old", 1, {}),
            ("nobody", "x", 1, {}),
            ("tool", "", -1, {}),
        ]
    }
    assert codes == {
        "new": E.NONE,
        "new, stale": E.STALE_MEMBER_EPOCH,
        "new, old api": E.UNSUPPORTED_VERSION,
        "old": E.NONE,
        "old, stale": E.ILLEGAL_GENERATION,
        "nobody": E.UNKNOWN_MEMBER_ID,
        "tool": E.UNKNOWN_MEMBER_ID,
    }


def test_members_of_different_topics():
    driver = GroupDriver(topics=image(t=2, u=2))
    driver.consumer_heartbeat("new", topics=("u",))
    answer = driver.join("old", protocols=consumer_protocols("t"))
    assert assigned(driver.sync("old", answer.reply.generation_id)) == [0, 1]
