"""Controllers and registrations on a real ZooKeeper."""

import asyncio
import uuid

import pytest
from support.cluster.controller_cluster import QUIET, ControllerCluster
from support.cluster.zookeeper import expire_session, running_ensemble

from barnabas.controller.registration import cluster_id, generate_broker_id
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.kazoo_tree import connect

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


@pytest.fixture
def hosts(zookeeper):
    return f"{zookeeper.connect_string}/{uuid.uuid4().hex}"


@pytest.fixture
async def cluster(hosts):
    running = ControllerCluster(QUIET, lambda: connect(hosts, session_timeout_s=4))
    yield running
    await running.close()


async def test_topic_life_over_three_brokers(cluster):
    """Passes when each wait for a leader or a deletion ends in time."""
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {p: (1 + p % 3, 1 + (p + 1) % 3) for p in range(12)})
    for p in range(12):
        await cluster.wait_for_leader("t", 1 + p % 3, p)
    await cluster.kill(2)
    await cluster.wait_for_leader("t", 3, 1)
    await cluster.admin.delete_topic("t")
    await cluster.wait(lambda: TopicPartition("t", 0) in cluster.broker(1).deleted)
    await cluster.add(2)

    async def gone() -> bool:
        return await cluster.tree.exists(paths.topic("t")) is None

    await cluster.wait(gone)


async def test_killed_controller_is_replaced(cluster):
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {0: (1, 2, 3)})
    await cluster.wait_for_leader("t", 1)
    await cluster.kill(1)
    await cluster.wait(lambda: cluster.active)
    assert cluster.active.controller.controller_epoch == 2
    await cluster.wait_for_leader("t", 2)


async def test_forced_expiry_of_the_controller(cluster, hosts):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (1, 2)})
    await cluster.wait_for_leader("t", 1)
    before = cluster.nodes[1].registration.broker_epoch
    await expire_session(cluster.nodes[1].tree, hosts)
    await cluster.wait(lambda: cluster.nodes[1].registration.broker_epoch > before, 10)
    await cluster.wait(lambda: cluster.active, 10)
    await cluster.wait_for_leader("t", 2)
    stat = await cluster.tree.exists(paths.broker(1))
    assert stat.ephemeral_owner == cluster.nodes[1].tree.session_id
    await cluster.admin.create_topic("u", {0: (1,)})
    await cluster.wait_for_leader("u", 1)


async def test_thousand_partitions(cluster):
    """Passes when all partitions have a live leader before the timeouts."""
    await cluster.start(1, 2, 3)
    replicas = {p: (1 + p % 3, 1 + (p + 1) % 3, 1 + (p + 2) % 3) for p in range(1000)}
    async with asyncio.timeout(90):
        await cluster.admin.create_topic("t", replicas)
        await cluster.wait(lambda: len(cluster.broker(3).roles) == 1000, 60)
        await cluster.kill(1)
        await cluster.wait(lambda: cluster.active, 60)
        await cluster.wait(
            lambda: all(s.leader in (2, 3) for s in cluster.broker(2).metadata.values()), 20
        )


async def test_cluster_and_broker_ids(hosts):
    one, two = await connect(hosts), await connect(hosts)
    ids = await asyncio.gather(cluster_id(one), cluster_id(two))
    assert ids[0] == ids[1]
    numbers = await asyncio.gather(*(generate_broker_id(tree) for tree in (one, two, one)))
    assert sorted(numbers) == [1001, 1002, 1003]
    await one.close()
    await two.close()


async def test_ensemble_survives_one_member(tmp_path):
    async with running_ensemble(tmp_path) as servers:
        tree = await connect(",".join(s.connect_string for s in servers), session_timeout_s=4)
        await tree.create("/a", b"kept")
        await servers[2].stop()
        await tree.set("/a", b"goes on")
        assert (await tree.get("/a"))[0] == b"goes on"
        await tree.close()
