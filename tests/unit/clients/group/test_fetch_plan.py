"""Which partitions are fetched, from whom, and what the request says."""

from dataclasses import replace

from barnabas.clients.core.apis.fetch import FetchSelection, fetch_request
from barnabas.clients.group.fetch_plan import (
    SHORT_WAIT_MS,
    ConsumerFetchSession,
    FetchLimits,
    PartitionLeader,
    plan_fetches,
)
from barnabas.clients.group.fetcher import FetchResult, read_fetch_results
from barnabas.clients.group.subscription import AssignedPartition, Phase
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData

ID = Uuid(b"0123456789abcdef")
MIB = 1024 * 1024
LIMITS = FetchLimits(1, 5000, 500, 1000, IsolationLevel.READ_UNCOMMITTED, "rack")


def state(number, **more):
    made = AssignedPartition(TopicPartition("t", number))
    made.move_to(10 * number, more.pop("epoch", -1))
    for name, value in more.items():
        setattr(made, name, value)
    return made


def leaders(partition):
    return None if partition.partition == 9 else PartitionLeader(partition.partition % 2, 4, ID)


def plan(*states, now_ms=100):
    return plan_fetches(states, leaders, LIMITS, now_ms)


def test_partitions_go_to_their_leaders():
    found = plan(state(0), state(1), state(2))
    assert {node: [p.partition for p in part.targets] for node, part in found.nodes.items()} == {
        0: [0, 2],
        1: [1],
    }
    target = found.nodes[0].targets[TopicPartition("t", 2)]
    assert (target.offset, target.leader_epoch, target.topic_id) == (20, 4, ID)


def test_partitions_that_cannot_be_fetched_now_are_left_out():
    resting = state(3, retry_at_ms=150)
    found = plan(state(1, paused=True), state(3, phase=Phase.VALIDATING), state(9), resting)
    assert found.nodes == {}
    assert [one.partition.partition for one in found.leaderless] == [9]
    assert found.next_check_ms == 150


def test_a_full_buffer_hurries_the_others():
    found = plan(state(0, buffered_bytes=1000), state(2))
    assert list(found.nodes[0].targets) == [TopicPartition("t", 2)]
    assert found.nodes[0].short_wait
    full = [state(n, buffered_bytes=1000) for n in range(5)]
    assert plan(*full, state(6)).nodes == {}, "fetch.max.bytes is buffered"
    for one in full:
        one.paused = True
    assert list(plan(*full, state(6)).nodes) == [0], "what is paused does not count"


def test_a_preferred_replica_is_read_until_it_expires():
    near = state(0, preferred_replica=7, preferred_until_ms=200, leader_epoch=4)
    assert list(plan(near, now_ms=199).nodes) == [7]
    assert list(plan(near, now_ms=200).nodes) == [0]
    assert near.preferred_replica == -1


def test_a_new_leader_epoch_stops_the_fetch_until_the_position_is_checked():
    behind = state(0, leader_epoch=3, epoch=2)
    found = plan(behind)
    assert (found.nodes, found.unvalidated, behind.phase) == ({}, True, Phase.VALIDATING)


def test_the_request():
    found = plan(state(0), state(2))
    session = ConsumerFetchSession().select(found.nodes[0].targets)
    request = fetch_request(session, LIMITS.options(found.nodes[0]))
    assert (request.max_wait_ms, request.max_bytes, request.rack_id) == (500, 5000, "rack")
    assert [item.fetch_offset for item in request.topics[0].partitions] == [0, 20]
    hurried = replace(found.nodes[0], short_wait=True)
    assert fetch_request(session, LIMITS.options(hurried)).max_wait_ms == SHORT_WAIT_MS
    by_name = FetchSelection({}, by_id=False)
    assert (session.version(17), by_name.version(17), by_name.version(11)) == (17, 12, 11)


def judge(code, **more):
    data = PartitionData(partition_index=0, error_code=code, **more)
    response = FetchResponse(responses=[FetchableTopicResponse(topic_id=ID, partitions=[data])])
    (answer,) = read_fetch_results(response, {ID: "t"})
    return answer.result


def test_answers_are_judged():
    assert judge(0) is FetchResult.DATA
    assert judge(0, preferred_read_replica=3) is FetchResult.PREFERRED_REPLICA
    assert judge(ErrorCode.OFFSET_OUT_OF_RANGE) is FetchResult.OUT_OF_RANGE
    assert judge(ErrorCode.NOT_LEADER_OR_FOLLOWER) is FetchResult.LEADER_CHANGED
    assert judge(ErrorCode.UNKNOWN_TOPIC_ID) is FetchResult.LEADER_CHANGED
    assert judge(ErrorCode.UNKNOWN_LEADER_EPOCH) is FetchResult.RETRY
    assert judge(ErrorCode.TOPIC_AUTHORIZATION_FAILED) is FetchResult.FAILED
    assert judge(ErrorCode.CORRUPT_MESSAGE) is FetchResult.FAILED
    assert judge(ErrorCode.UNKNOWN_SERVER_ERROR) is FetchResult.FAILED


def test_a_topic_nobody_knows_is_passed_over():
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic_id=ID, partitions=[PartitionData()])]
    )
    assert list(read_fetch_results(response, {})) == []


def wanted(limits, *states):
    """Returns the bytes that the requests ask for, by partition."""
    found = plan_fetches(states, leaders, limits, 100)
    return {
        p.partition: t.max_bytes for node in found.nodes.values() for p, t in node.targets.items()
    }


def test_more_is_fetched_of_a_partition_with_a_backlog():
    limits = replace(LIMITS, backlog_max_bytes=4000, max_bytes=10_000)
    assert wanted(limits, state(0), state(1, has_backlog=True)) == {0: 1000, 1: 4000}
    assert wanted(limits, state(1, has_backlog=True, buffered_bytes=7999)) == {1: 4000}
    assert wanted(limits, state(1, has_backlog=True, buffered_bytes=8000)) == {}
    assert wanted(LIMITS, state(1, has_backlog=True, buffered_bytes=1000)) == {}
    assert wanted(LIMITS, state(1, has_backlog=True)) == {1: 1000}, "the limit is configured"


def test_partitions_with_a_backlog_share_their_bytes():
    limits = replace(LIMITS, partition_max_bytes=MIB, max_bytes=64 * MIB, backlog_max_bytes=4 * MIB)
    for count, each in ((1, 4), (2, 4), (4, 2), (8, 1)):
        states = [state(2 * n, has_backlog=True) for n in range(count)]
        assert set(wanted(limits, *states).values()) == {each * MIB}


def test_an_adaptive_limit_grows_with_the_partitions():
    adaptive = replace(LIMITS, max_bytes=50 * MIB, adaptive=True)
    for partitions, mib in ((1, 8), (128, 8), (256, 16), (1000, 50)):
        assert adaptive.total_bytes(partitions) == mib * MIB
    assert replace(adaptive, adaptive=False).total_bytes(1) == 50 * MIB, "the limit is configured"
    found = plan_fetches([state(0, buffered_bytes=4 * MIB), state(2)], leaders, adaptive, 100)
    assert adaptive.options(found.nodes[0]).max_bytes == 8 * MIB


def test_an_adaptive_limit_holds_for_all_buffered_records():
    adaptive = replace(LIMITS, max_bytes=50 * MIB, adaptive=True)
    full = state(0, buffered_bytes=8 * MIB)
    assert wanted(adaptive, full, state(1)) == {}
    full.paused = True
    assert wanted(adaptive, full, state(1)) == {1: 1000}, "paused partitions do not count"


def test_a_backlog_is_a_large_response_that_does_not_reach_the_end():
    assert LIMITS.has_backlog(500, 10, 11)
    assert not LIMITS.has_backlog(499, 10, 11)
    assert not LIMITS.has_backlog(500, 11, 11)


def test_the_plan_says_how_much_room_is_missing():
    assert plan(state(0), state(1, paused=True)).missing_room == 0
    found = plan(state(0), state(1, buffered_bytes=1000))
    assert (found.missing_room, found.without_room) == (1, [1]), "any of its records"
    assert plan(state(0), state(2, buffered_bytes=1000)).without_room == [], "0 has a request"
    full = [state(n, buffered_bytes=1200) for n in range(5)]
    assert plan(*full, state(6)).missing_room == 1001, "fetch.max.bytes is exceeded by 1000"
    paused = [state(n, buffered_bytes=1200, paused=True) for n in range(5)]
    assert plan(*paused, state(6)).missing_room == 0
