"""Fetch sessions (KIP-227): epochs, what a response may leave out, eviction."""

import itertools

import pytest

from barnabas.broker.fetch_sessions import (
    FetchSessionCache,
    FetchSessionRequest,
    PartitionChanges,
    SessionPartition,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID, Uuid


def target(topic="t", partition=0, offset=0):
    made = SessionPartition(topic, ZERO_UUID, partition)
    made.fetch_offset = offset
    return made


def ask(session_id=0, epoch=0, targets=(), forgotten=(), by_id=False):
    return FetchSessionRequest(session_id, epoch, by_id, list(targets), list(forgotten))


def news(error=0, size=0, high_watermark=10, log_start_offset=0, redirected=False):
    return PartitionChanges(error, size, high_watermark, log_start_offset, redirected)


@pytest.fixture
def cache():
    return FetchSessionCache(itertools.count(1).__next__, max_slots=2)


def open_session(cache, targets, now_ms=0, privileged=False):
    plan = cache.plan(ask(targets=targets), now_ms)
    return cache.try_create(plan, privileged=privileged, now_ms=now_ms)


def test_without_a_session_everything_is_fetched_and_nothing_remembered(cache):
    plan = cache.plan(ask(epoch=-1, targets=[target()]), 0)
    assert len(plan.targets) == 1
    assert cache.try_create(plan, privileged=False, now_ms=0) is None
    assert len(cache) == 0


def test_an_incremental_request_fetches_what_the_session_knows(cache):
    session = open_session(cache, [target(partition=0), target(partition=1)])
    changed = target(partition=1, offset=7)
    changed.current_leader_epoch = 3
    plan = cache.plan(ask(session.session_id, 1, [changed], [("t", 0)]), 1)
    assert [(t.partition, t.fetch_offset, t.current_leader_epoch) for t in plan.targets] == [
        (1, 7, 3)
    ]


def test_epochs_must_follow_each_other_and_wrap_to_one(cache):
    session = open_session(cache, [target()])
    assert cache.plan(ask(session.session_id, 2), 0).error is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert cache.plan(ask(session.session_id, 1), 0).error is ErrorCode.NONE
    session.epoch = 2**31 - 1
    assert cache.plan(ask(session.session_id, 2**31 - 1), 0).error is ErrorCode.NONE
    assert session.epoch == 1


def test_an_unknown_session_and_mixing_ids_with_names_are_errors(cache):
    assert cache.plan(ask(99, 1), 0).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    session = open_session(cache, [target()])
    mixed = cache.plan(ask(session.session_id, 1, by_id=True), 0)
    assert mixed.error is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_final_epoch_closes_the_session(cache):
    session = open_session(cache, [target()])
    cache.plan(ask(session.session_id, -1), 0)
    assert len(cache) == 0


def test_forgetting_the_last_partition_ends_the_session(cache):
    session = open_session(cache, [target()])
    plan = cache.plan(ask(session.session_id, 1, forgotten=[("t", 0)]), 0)
    assert plan.targets == []
    assert plan.session is None
    assert len(cache) == 0


def test_topics_are_distinguished_by_id(cache):
    first, second = Uuid(b"a" * 16), Uuid(b"b" * 16)
    plan = cache.plan(
        FetchSessionRequest(
            0, 0, True, [SessionPartition(None, first, 0), SessionPartition(None, second, 0)]
        ),
        0,
    )
    session = cache.try_create(plan, privileged=False, now_ms=0)
    cache.plan(FetchSessionRequest(session.session_id, 1, True, [], [(first, 0)]), 0)
    assert list(session.targets) == [(second, 0)]


def test_a_partition_is_named_when_it_has_news_and_only_then(cache):
    session = open_session(cache, [target()])
    held = next(iter(session.targets.values()))
    assert session.has_news(held, news())
    assert not session.has_news(held, news())
    assert session.has_news(held, news(size=5))
    assert not session.has_news(held, news())
    assert session.has_news(held, news(high_watermark=11))
    assert session.has_news(held, news(high_watermark=11, log_start_offset=1))
    assert session.has_news(held, news(error=6, high_watermark=-1, log_start_offset=-1))
    assert session.has_news(held, news(high_watermark=11, log_start_offset=1))
    assert session.has_news(held, news(high_watermark=11, log_start_offset=1, redirected=True))


def test_partitions_that_got_data_go_to_the_end(cache):
    session = open_session(cache, [target(partition=n) for n in range(3)])
    session.has_news(session.targets["t", 0], news(size=1))
    assert [number for _, number in session.targets] == [1, 2, 0]


def test_slots_are_bounded_and_go_to_the_idle_longest(cache):
    first = open_session(cache, [target()], now_ms=0)
    second = open_session(cache, [target()], now_ms=10)
    assert open_session(cache, [target()], now_ms=20) is None
    cache.plan(ask(first.session_id, 1), 100_000)
    third = open_session(cache, [target()], now_ms=120_011)
    assert third is not None
    assert cache.plan(ask(second.session_id, 1), 120_011).error
    assert not cache.plan(ask(first.session_id, 2), 120_011).error


def test_a_follower_takes_a_consumers_slot(cache):
    open_session(cache, [target()])
    open_session(cache, [target()])
    assert open_session(cache, [target()], privileged=True) is not None
    assert open_session(cache, [target()], privileged=True) is not None
    assert open_session(cache, [target()], privileged=True) is None


def test_the_partitions_of_all_consumers_are_limited():
    cache = FetchSessionCache(itertools.count(1).__next__, max_partitions=5)
    first = open_session(cache, [target(partition=n) for n in range(3)])
    assert open_session(cache, [target("u", n) for n in range(3)]) is None
    second = open_session(cache, [target("u", n) for n in range(2)])
    assert cache.partitions == 5
    follower = open_session(cache, [target("v", n) for n in range(9)], privileged=True)
    assert follower is not None
    assert cache.partitions == 5
    grown = cache.plan(ask(second.session_id, 1, [target("u", 7)]), 0)
    assert grown.error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert cache.partitions == 3
    forgets = [("t", n) for n in range(3)]
    assert cache.plan(ask(first.session_id, 1, forgotten=forgets), 0).targets == []
    assert (cache.partitions, len(cache)) == (0, 1)
    cache.plan(ask(follower.session_id, -1), 0)
    assert (cache.partitions, len(cache)) == (0, 0)
