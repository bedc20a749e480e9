"""The limit on replication traffic."""

import pytest
from support.cluster.replicas import TP

from barnabas.replication.throttle import ReplicationThrottle, ThrottledReplicas

OTHER = TP._replace(partition=9)


def throttle(rate):
    made = ReplicationThrottle(lambda topic_partition: topic_partition == TP)
    made.set_rate(rate)
    return made


def test_without_a_rate_nothing_waits():
    free = throttle(None)
    free.record(TP, 10**9, 0)
    assert free.wait_ms(TP, 0) == 0


def test_a_seconds_worth_is_free_and_the_rest_is_waited_for():
    limited = throttle(1000)
    limited.record(TP, 1000, 0)
    assert limited.wait_ms(TP, 0) == 0
    limited.record(TP, 500, 0)
    assert limited.wait_ms(TP, 0) == 501
    assert limited.wait_ms(TP, 501) == 0


def test_others_are_neither_counted_nor_held():
    limited = throttle(1000)
    limited.record(OTHER, 10_000, 0)
    assert limited.wait_ms(TP, 0) == 0
    limited.record(TP, 10_000, 0)
    assert limited.wait_ms(OTHER, 0) == 0


def test_over_time_the_rate_is_kept():
    limited, now, copied = throttle(1000), 0, 0
    while now < 60_000:
        wait = limited.wait_ms(TP, now)
        now += wait or 1
        if not wait:
            limited.record(TP, 300, now)
            copied += 300
    assert 59_000 <= copied <= 62_000


def test_a_new_rate_starts_afresh():
    limited = throttle(10)
    limited.record(TP, 10_000, 0)
    limited.set_rate(10_000)
    assert limited.wait_ms(TP, 0) == 0


def test_the_rate_in_force_goes_on():
    limited = throttle(10)
    limited.record(TP, 10_000, 0)
    limited.set_rate(10)
    assert limited.wait_ms(TP, 0) > 0


def test_a_rate_of_nothing_lets_nothing_pass():
    limited = throttle(0)
    assert limited.wait_ms(TP, 0) > 0
    limited.record(TP, 1, 0)
    assert limited.wait_ms(TP, 10**9) > 0


def test_no_wait_outlasts_a_change_of_the_rate_by_much():
    limited = throttle(1)
    limited.record(TP, 10**9, 0)
    assert limited.wait_ms(TP, 0) == 1000


@pytest.mark.parametrize(
    ("entries", "held"),
    [([], ""), (["*"], "0123"), (["0:1", "2:1", "3:2"], "02"), (["1:11"], "")],
)
def test_replicas_are_named_by_partition_and_broker(entries, held):
    throttled = ThrottledReplicas(entries, 1)
    assert [n for n in range(4) if n in throttled] == [int(n) for n in held]
