"""Problems in plain words, and rates from two samples."""

import asyncio

from barnabas.admin import ClusterDescription, LogDir, Node, PartitionDescription, TopicDescription
from barnabas.console.services.overview import problems_of
from barnabas.console.services.rates import OffsetSample, RateSampler, rate_point, topic_rates
from barnabas.console.services.snapshots import ClusterSnapshot
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError
from barnabas.model.ids import ZERO_UUID, TopicPartition


def snapshot(partitions=(), controller=1, log_dirs=None):
    nodes = (Node(1, "a", 1, None), Node(2, "b", 1, None))
    topic = TopicDescription("orders", ZERO_UUID, False, tuple(partitions))
    cluster = ClusterDescription("id", controller, nodes)
    return ClusterSnapshot(0.0, cluster, {"orders": topic}, log_dirs or {}, {})


def texts(found):
    return [(item.severity, item.text) for item in problems_of(found)]


def test_a_healthy_cluster_has_no_problems():
    assert texts(snapshot([PartitionDescription(0, 1, 0, (1, 2), (1, 2))])) == []


def test_missing_brokers_offline_partitions_and_replicas_out_of_sync_are_named():
    found = snapshot(
        [
            PartitionDescription(0, None, 0, (3,), (3,)),
            PartitionDescription(1, 1, 0, (1, 2), (1,)),
        ],
        controller=None,
    )
    assert texts(found) == [
        (
            "error",
            "There is no controller: leaders cannot be elected and topics cannot be changed.",
        ),
        ("error", "1 partition has no leader and cannot be used: orders."),
        ("error", "Broker 3 is down or unreachable; it has replicas of 1 partition."),
        ("warning", "1 partition has replicas that are not in sync: orders."),
    ]


def test_disks_that_failed_or_are_full_are_named():
    offline = LogDir("/a", BrokerError(ErrorCode.KAFKA_STORAGE_ERROR), {})
    full = LogDir("/b", None, {}, total_bytes=100, usable_bytes=4)
    assert texts(snapshot(log_dirs={1: (offline, full)})) == [
        ("error", "Log directory /a of broker 1 is offline."),
        ("warning", "Log directory /b of broker 1 is on a disk that is 96% full."),
    ]


def test_rates_are_differences_of_two_samples():
    topic_partition = TopicPartition("orders", 0)
    before = OffsetSample(10.0, 0, {topic_partition: 100}, {"g": {topic_partition: 50}})
    after = OffsetSample(12.0, 2000, {topic_partition: 140}, {"g": {topic_partition: 60}}, 7)
    rate = topic_rates(before, after)["orders"]
    assert (rate.records_per_second, rate.groups, rate.lag) == (20.0, 1, 80)
    point = rate_point(before, after)
    assert (point.records_in, point.records_out, point.lag) == (20.0, 5.0, 80)


def test_a_topic_that_was_created_again_has_no_negative_rate():
    topic_partition = TopicPartition("orders", 0)
    before = OffsetSample(0.0, 0, {topic_partition: 100}, {"g": {topic_partition: 90}})
    after = OffsetSample(1.0, 0, {topic_partition: 3}, {"g": {topic_partition: 1}})
    assert topic_rates(before, after)["orders"].records_per_second == 0
    assert rate_point(before, after).records_out == 0


class ClosedCluster:
    """Counts the samples that are taken of a cluster whose clients are closed."""

    def __init__(self):
        self.samples = 0
        self.admin = None

    async def current(self):
        self.samples += 1
        raise LocalError("the client is closed")


async def test_a_closed_sampler_takes_no_sample_for_a_late_request():
    cluster = ClosedCluster()
    sampler = RateSampler(cluster, cluster, now=lambda: 0.0, time_ms=lambda: 0)
    await sampler.close()
    sampler.touch()
    for _ in range(3):
        await asyncio.sleep(0)
    assert cluster.samples == 0
