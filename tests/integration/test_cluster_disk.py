"""A disk that fails under one broker of a cluster: others lead in its place, the broker stays."""

import errno

import pytest
from support.cluster.broker_app import members, until
from support.network.requests import batch, produce
from support.storage.bad_disk import BadFileSystem, Disk
from support.wire.peer import WirePeer

from barnabas import TopicPartition
from barnabas.broker.topics import TopicSpec
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


async def test_a_failed_disk_costs_its_leaderships(zookeeper, tmp_path):
    hosts, disk = f"{zookeeper.connect_string}/failed-disk", Disk()
    settings = {"min.insync.replicas": 1}
    filesystems = {1: BadFileSystem(disk)}
    async with members(2, hosts, tmp_path, filesystems, **settings) as (first, second):
        topic_partitions = [TopicPartition("t", 0), TopicPartition("t", 1)]
        assignment = dict.fromkeys((0, 1), (BrokerId(1), BrokerId(2)))
        await first.services.topics.create(TopicSpec("t", assignment=assignment))
        await until(
            lambda: all(first.is_leader(topic_partition) for topic_partition in topic_partitions)
        )
        peer = await WirePeer.connect(first.broker.port)
        disk.below, disk.error = "/1/one/", errno.EIO
        codes = [(await produce(peer, "t", batch(b"x"), partition=n)).error_code for n in (0, 1)]
        await peer.close()
        assert sorted(codes) == [0, ErrorCode.KAFKA_STORAGE_ERROR]
        failed, kept = topic_partitions if codes[0] else reversed(topic_partitions)
        await until(lambda: second.is_leader(failed))
        assert set(second.services.replicas.partition(failed).isr) == {2}
        assert first.is_leader(kept)
