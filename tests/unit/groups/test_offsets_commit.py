import pytest
from support.groups.driver import GroupDriver

from barnabas.groups.requests import OffsetFetchRequest, OffsetToCommit, TxnOffsetCommitRequest
from barnabas.groups.step import GroupConfig
from barnabas.model.error_codes import ErrorCode as E
from barnabas.model.ids import TopicPartition


def txn_commit(
    driver, offset, producer_id=9, generation=-1, member_id="", topic_partition=("t", 0)
):
    request = TxnOffsetCommitRequest(
        "g",
        "tx",
        producer_id,
        0,
        (OffsetToCommit(*topic_partition, offset),),
        generation,
        member_id,
    )
    return driver.run(driver.shard.commit_txn_offsets(request, driver.now_ms))


def code(answer):
    return answer.reply.partitions[0][1]


def test_simple_consumer_makes_a_group():
    driver = GroupDriver()
    assert code(driver.commit(42)) is E.NONE
    fetched = driver.committed()
    assert (fetched.offset, fetched.leader_epoch, fetched.metadata) == (42, 7, "m")
    assert driver.state() == "Empty"
    driver.reload(compacted=True)
    assert driver.committed() == fetched


def test_nothing_committed_is_no_error():
    fetched = GroupDriver().committed()
    assert (fetched.offset, fetched.leader_epoch, fetched.metadata) == (-1, -1, "")
    assert fetched.error_code is E.NONE


def test_null_metadata_is_stored_as_empty():
    driver = GroupDriver()
    driver.commit(1, offsets=(OffsetToCommit("t", 0, 1, metadata=None),))
    assert driver.committed().metadata == ""


def test_one_metadata_too_large_and_999_others_stored():
    """G6, KAFKA-16371: nothing is left pending and the rest is stored."""
    driver = GroupDriver(GroupConfig(offset_metadata_max_bytes=10))
    offsets = tuple(
        OffsetToCommit("t", n, n, metadata="x" * (11 if n == 500 else 10)) for n in range(1000)
    )
    reply = driver.commit(0, offsets=offsets).reply
    codes = {topic_partition.partition: one for topic_partition, one in reply.partitions}
    assert codes.pop(500) is E.OFFSET_METADATA_TOO_LARGE
    assert set(codes.values()) == {E.NONE}
    assert len(codes) == 999
    everything = driver.shard.fetch_offsets(OffsetFetchRequest("g", require_stable=True)).offsets
    assert len(everything) == 999
    assert all(one.error_code is E.NONE for one in everything)


def test_only_too_large_metadata_writes_nothing():
    driver = GroupDriver(GroupConfig(offset_metadata_max_bytes=0))
    assert code(driver.commit(1)) is E.OFFSET_METADATA_TOO_LARGE
    assert driver.log == []


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.INVALID_COMMIT_OFFSET_SIZE),
    ],
)
def test_failed_append_stores_nothing(failure, told):
    driver = GroupDriver()
    driver.fail_next = failure
    assert code(driver.commit(1)) is told
    assert driver.committed().offset == -1
    assert driver.shard.list_groups() == []


@pytest.mark.parametrize(("new_client", "told"), [(True, 69), (False, 22)])
def test_generation_of_a_group_that_is_not_there(new_client, told):
    driver = GroupDriver()
    assert code(driver.commit(1, "m", 3, member_epochs_supported=new_client)) == told


def test_pending_until_the_marker():
    driver = GroupDriver()
    driver.commit(1)
    assert code(txn_commit(driver, 5)) is E.NONE
    assert driver.committed().offset == 1
    assert driver.committed(require_stable=True).error_code is E.UNSTABLE_OFFSET_COMMIT
    driver.reload()
    assert driver.committed(require_stable=True).error_code is E.UNSTABLE_OFFSET_COMMIT
    driver.end_transaction(9, commit=True)
    assert driver.committed(require_stable=True).offset == 5
    driver.reload()
    assert driver.committed(require_stable=True).offset == 5


def test_aborted_offsets_vanish():
    driver = GroupDriver()
    driver.commit(1)
    txn_commit(driver, 5)
    driver.end_transaction(9, commit=False)
    assert driver.committed(require_stable=True).offset == 1


def test_marker_without_offsets_is_fine():
    """Passes when the marker raises no error."""
    GroupDriver().end_transaction(4711, commit=True)


def test_later_record_wins_not_the_later_marker():
    driver = GroupDriver()
    txn_commit(driver, 5)
    driver.commit(8)
    driver.end_transaction(9, commit=True)
    assert driver.committed().offset == 8
    driver.reload()
    assert driver.committed().offset == 8


def test_offsets_are_stable_after_both_producers_have_ended():
    driver = GroupDriver()
    txn_commit(driver, 5, producer_id=1)
    txn_commit(driver, 6, producer_id=2)
    driver.end_transaction(1, commit=True)
    assert driver.committed(require_stable=True).error_code is E.UNSTABLE_OFFSET_COMMIT
    driver.end_transaction(2, commit=False)
    assert driver.committed(require_stable=True).offset == 5


def test_transactional_records_go_under_the_producers_name():
    driver = GroupDriver()
    request = TxnOffsetCommitRequest("g", "tx", 9, 3, (OffsetToCommit("t", 0, 5),))
    outcome = driver.shard.commit_txn_offsets(request, 0)
    assert outcome.append.producer == (9, 3)
    assert len(outcome.records) == 1


def test_failed_transactional_append_leaves_nothing_pending():
    driver = GroupDriver()
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert code(txn_commit(driver, 5)) is E.COORDINATOR_NOT_AVAILABLE
    assert driver.committed(require_stable=True).error_code is E.NONE


def test_transactional_member_checks():
    driver = GroupDriver()
    assert code(txn_commit(driver, 1, generation=1, member_id="m")) is E.ILLEGAL_GENERATION
    leader, _ = driver.stable_group(2)
    assert code(txn_commit(driver, 1, generation=1, member_id=leader)) is E.NONE
    assert code(txn_commit(driver, 1, generation=0, member_id=leader)) is E.ILLEGAL_GENERATION
    assert code(txn_commit(driver, 1, generation=1, member_id="x")) is E.UNKNOWN_MEMBER_ID
    assert code(txn_commit(driver, 1)) is E.NONE, "old clients name no member"
    driver.join(leader)
    driver.join("client-id-2")
    assert driver.state() == "CompletingRebalance"
    assert code(txn_commit(driver, 1, generation=2, member_id=leader)) is E.NONE


def test_transactional_commit_in_a_new_group():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    assert code(txn_commit(driver, 1, generation=1, member_id="a")) is E.NONE
    assert code(txn_commit(driver, 1, generation=5, member_id="a")) is E.ILLEGAL_GENERATION
    assert code(txn_commit(driver, 1, generation=1, member_id="x")) is E.UNKNOWN_MEMBER_ID
    assert code(txn_commit(driver, 1)) is E.NONE


def test_fetch_all_and_some():
    driver = GroupDriver()
    for n in (2, 0, 1):
        driver.commit(n, topic_partition=("t", n))
    everything = driver.shard.fetch_offsets(OffsetFetchRequest("g")).offsets
    assert [one.topic_partition.partition for one in everything] == [0, 1, 2]
    some = (TopicPartition("t", 1), TopicPartition("u", 0))
    reply = driver.shard.fetch_offsets(OffsetFetchRequest("g", some))
    assert [one.offset for one in reply.offsets] == [1, -1]
    assert driver.shard.fetch_offsets(OffsetFetchRequest("?")).offsets == ()


@pytest.mark.parametrize(
    ("member_id", "epoch", "code_"),
    [("a", 1, E.NONE), (None, -1, E.NONE), ("a", 0, E.STALE_MEMBER_EPOCH),
     ("x", 1, E.UNKNOWN_MEMBER_ID)],
)  # fmt: skip
def test_fetch_checks_members_of_new_groups(member_id, epoch, code_):
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    request = OffsetFetchRequest("g", (), member_id=member_id, member_epoch=epoch)
    assert driver.shard.fetch_offsets(request).error_code is code_
