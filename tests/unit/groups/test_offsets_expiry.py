"""Expiry to the exact millisecond (KIP-211), deletion of offsets and of groups."""

import pytest
from support.groups.driver import GroupDriver, subscription

from barnabas.groups.requests import (
    OffsetDeleteRequest,
    OffsetToCommit,
    Protocol,
    TxnOffsetCommitRequest,
)
from barnabas.groups.step import GroupConfig
from barnabas.model.error_codes import ErrorCode as E
from barnabas.model.ids import TopicPartition

RETENTION = 60_000


def driver_with_retention():
    return GroupDriver(GroupConfig(initial_rebalance_delay_ms=0, offsets_retention_ms=RETENTION))


def expire(driver):
    driver.run(driver.shard.expire(driver.now_ms))
    return driver


def keep_alive(driver, ids, duration_ms, generation=1):
    for _ in range(duration_ms // 5_000):
        driver.advance(5_000)
        for member_id in ids:
            driver.heartbeat(member_id, generation)


def test_simple_group_since_the_commit():
    driver = driver_with_retention()
    driver.commit(1)
    driver.advance(RETENTION - 1)
    assert expire(driver).committed().offset == 1
    driver.advance(1)
    assert expire(driver).committed().offset == -1
    # kafka_server_group_coordinator_metrics_offset_expiration_count_total
    assert driver.shard._around.stats.expired_offsets == 1
    assert driver.shard.list_groups() == [], "the group goes with its last offset"
    driver.reload(compacted=True)
    assert driver.shard.list_groups() == []


def test_a_retention_time_beyond_every_clock_is_kept_for_ever():
    driver = driver_with_retention()
    driver.commit(1, retention_time_ms=2**63 - 1)
    driver.reload()
    driver.advance(100 * RETENTION)
    assert expire(driver).committed().offset == 1


def test_empty_group_since_it_became_empty():
    driver = driver_with_retention()
    (only,) = driver.stable_group(1)
    driver.commit(1, only, 1)
    keep_alive(driver, [only], RETENTION)
    driver.leave(only)
    driver.advance(RETENTION - 1)
    assert expire(driver).committed().offset == 1
    driver.reload()
    assert expire(driver).committed().offset == 1
    driver.advance(1)
    assert expire(driver).committed().offset == -1


def test_a_live_group_loses_only_offsets_of_unsubscribed_topics():
    driver = driver_with_retention()
    (only,) = driver.stable_group(1)
    driver.commit(1, only, 1, topic_partition=("t", 0))
    driver.commit(1, only, 1, topic_partition=("gone", 0))
    keep_alive(driver, [only], RETENTION)
    expire(driver)
    assert driver.committed(topic_partition=("t", 0)).offset == 1
    assert driver.committed(topic_partition=("gone", 0)).offset == -1


def test_rebalancing_group_loses_nothing():
    driver = driver_with_retention()
    leader, follower = driver.stable_group(2)
    driver.commit(1, leader, 1, topic_partition=("gone", 0))
    driver.advance(9_000)
    driver.heartbeat(leader, 1)
    driver.heartbeat(follower, 1)
    keep_alive(driver, [leader, follower], RETENTION - 15_000)
    driver.join(leader)
    keep_alive(driver, [follower], 30_000)
    assert driver.state() == "PreparingRebalance"
    assert expire(driver).committed(topic_partition=("gone", 0)).offset == 1


@pytest.mark.parametrize("protocols", [(Protocol("range", b"\x00"),)])
def test_group_with_unreadable_subscriptions_loses_nothing(protocols):
    driver = driver_with_retention()
    (only,) = driver.stable_group(1, protocols=protocols)
    driver.commit(1, only, 1)
    keep_alive(driver, [only], 2 * RETENTION)
    assert expire(driver).committed().offset == 1


def test_group_of_another_protocol_type_loses_nothing_while_it_lives():
    driver = driver_with_retention()
    (only,) = driver.stable_group(1, protocol_type="connect")
    driver.commit(1, only, 1)
    keep_alive(driver, [only], 2 * RETENTION)
    assert expire(driver).committed().offset == 1


def test_offsets_of_unsubscribed_topics_expire():
    driver = driver_with_retention()
    driver.consumer_heartbeat("a")
    for topic in ("t", "gone"):
        driver.commit(1, "a", 1, topic_partition=(topic, 0))
    for _ in range(2):
        driver.advance(30_000)
        driver.consumer_heartbeat("a", 1)
    expire(driver)
    assert driver.committed(topic_partition=("t", 0)).offset == 1
    assert driver.committed(topic_partition=("gone", 0)).offset == -1
    driver.consumer_heartbeat("a", -1)
    expire(driver)
    assert driver.shard.list_groups() == []
    driver.reload()
    assert driver.shard.list_groups() == []


def test_an_expiry_requested_by_an_old_client():
    driver = driver_with_retention()
    driver.commit(1, retention_time_ms=5)
    driver.reload()
    driver.advance(4)
    assert expire(driver).committed().offset == 1
    driver.advance(1)
    assert expire(driver).committed().offset == -1


def test_pending_transaction_holds_offset_and_group():
    driver = driver_with_retention()
    driver.commit(1)
    request = TxnOffsetCommitRequest("g", "tx", 9, 0, (OffsetToCommit("t", 0, 5),))
    driver.run(driver.shard.commit_txn_offsets(request, driver.now_ms))
    driver.advance(RETENTION)
    assert expire(driver).committed().offset == 1
    driver.end_transaction(9, commit=False)
    assert expire(driver).committed().offset == -1


def test_group_with_a_handed_out_id_stays():
    driver = driver_with_retention()
    driver.join()
    assert len(expire(driver).shard.list_groups()) == 1
    driver.advance(10_000)
    assert expire(driver).shard.list_groups() == []


def test_failed_append_keeps_everything():
    driver = driver_with_retention()
    driver.commit(1)
    driver.advance(RETENTION)
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert expire(driver).committed().offset == 1


def test_offsets_of_a_deleted_topic_are_removed():
    driver = driver_with_retention()
    driver.commit(1, topic_partition=("t", 0))
    driver.commit(1, topic_partition=("u", 0))
    driver.run(driver.shard.topics_deleted(["t"], driver.now_ms))
    assert driver.committed(topic_partition=("t", 0)).offset == -1
    assert driver.committed(topic_partition=("u", 0)).offset == 1
    driver.reload()
    assert driver.committed(topic_partition=("t", 0)).offset == -1


def delete(driver, *partitions, group="g"):
    wanted = tuple(TopicPartition(*one) for one in partitions)
    request = OffsetDeleteRequest(group, wanted)
    return driver.run(driver.shard.delete_offsets(request, driver.now_ms))


def test_offsets_of_a_subscribed_topic_are_not_deleted():
    driver = GroupDriver()
    (only,) = driver.stable_group(1)
    driver.commit(1, only, 1, topic_partition=("t", 0))
    driver.commit(1, only, 1, topic_partition=("gone", 0))
    reply = delete(driver, ("t", 0), ("gone", 0), ("gone", 1)).reply
    assert [code for _, code in reply.partitions] == [E.GROUP_SUBSCRIBED_TO_TOPIC, E.NONE, E.NONE]
    assert driver.committed(topic_partition=("gone", 0)).offset == -1
    assert driver.committed(topic_partition=("t", 0)).offset == 1


def test_offset_delete_rejections():
    driver = GroupDriver()
    assert delete(driver, ("t", 0)).code is E.GROUP_ID_NOT_FOUND
    driver.join(known=False, protocol_type="connect")
    driver.advance(0)
    assert delete(driver, ("t", 0)).code is E.NON_EMPTY_GROUP


def test_offset_delete_failed_append():
    driver = GroupDriver()
    driver.commit(1)
    driver.fail_next = E.NOT_LEADER_OR_FOLLOWER
    assert delete(driver, ("t", 0)).code is E.NOT_COORDINATOR
    assert driver.committed().offset == 1


def test_subscribed_topics_follow_the_members():
    driver = driver_with_retention()
    (only,) = driver.stable_group(1, protocols=(Protocol("range", subscription("u")),))
    driver.commit(1, only, 1)
    driver.reload()
    keep_alive(driver, [only], RETENTION)
    assert expire(driver).committed().offset == -1


def test_many_offsets_go_in_bounded_steps():
    driver = driver_with_retention()
    offsets = tuple(OffsetToCommit("t", n, 1) for n in range(2_500))
    driver.commit(0, offsets=offsets)
    driver.commit(0, group="h", offsets=offsets)
    driver.run(driver.shard.topics_deleted(["t"], driver.now_ms))
    driver.advance(RETENTION)
    sizes = []
    while (outcome := driver.shard.expire(driver.now_ms)).records:
        sizes.append(len(outcome.records))
        driver.run(outcome)
    assert sum(sizes) == 4_500 + 2
    assert max(sizes) <= 501
    assert driver.shard.list_groups() == []
