"""Moves of replicas under a throttle: slow while it holds, done soon after it is lifted."""

import threading
import time

import pytest
from support.cluster.throttles import set_rate, throttle, throttled_replicas
from support.cluster.workload import leaders, replicas_differ, wait_until

from barnabas import TopicPartition

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

RECORDS, RECORD_BYTES = 50, 100_000
RATE = 50_000
ONE_FETCH = 1024 * 1024  # which may be more than the rate: nothing could be copied otherwise
LOOK_SECONDS = 3.0  # the rate of the copy is the subject


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_a_throttled_move_is_slow_and_then_completes(cluster, topic_name, side):
    cluster.admin.create_topic(topic_name, 1, 2, configs=throttled_replicas(side))
    for _ in range(RECORDS):
        cluster.produce(topic_name, b"x" * RECORD_BYTES)
    before = leaders(cluster, topic_name)[0].replicas
    spare = ({1, 2, 3} - set(before)).pop()
    topic_partition, target = TopicPartition(topic_name, 0), (spare, before[1])
    with throttle(cluster, RATE):
        started = time.monotonic()
        cluster.admin.alter_partition_reassignments({topic_partition: target})
        wait_until(lambda: size(cluster, spare, topic_name) > 0, what="the first records")
        threading.Event().wait(LOOK_SECONDS)
        copied, seconds = size(cluster, spare, topic_name), time.monotonic() - started
        # Replicas in sync are not held back, or this would not be acknowledged.
        cluster.produce(topic_name, b"y")
        assert topic_partition in cluster.admin.list_partition_reassignments()
        set_rate(cluster, None)
        lifted = time.monotonic()
        wait_until(
            lambda: topic_partition not in cluster.admin.list_partition_reassignments(),
            what="the end",
        )
    rest = time.monotonic() - lifted
    print(f"{side}: {copied} bytes in {seconds:.1f} s at {RATE} B/s, the rest in {rest:.2f} s")
    assert copied <= RATE * (seconds + 1) + ONE_FETCH
    assert copied < RECORDS * RECORD_BYTES / 2
    wait_until(lambda: leaders(cluster, topic_name)[0].replicas == target)
    assert replicas_differ(cluster, topic_name, 1, brokers=target) == []
    assert len(cluster.records(topic_name, at_least=RECORDS + 1)) == RECORDS + 1


def size(cluster, broker, topic):
    directory = cluster.brokers[broker].data_dir / f"{topic}-0"
    return sum(file.stat().st_size for file in directory.glob("*.log"))
