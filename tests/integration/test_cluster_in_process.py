"""A cluster without ZooKeeper, in the test's own process."""

import pytest
from support.cluster.workload import leaders, replicas_differ, wait_until

from barnabas.model.errors import LocalError
from barnabas.testing import Cluster
from barnabas.testing.cluster import wait_until_known

pytestmark = pytest.mark.integration


def test_three_brokers_in_one_process():
    with Cluster(3, zookeeper=False) as cluster:
        topic = cluster.topic("orders", partitions=3)
        addresses = [broker.address for broker in cluster.brokers.values()]
        assert [wait_until_known(address, topic, 0) for address in addresses] == [True] * 3
        assert not wait_until_known(addresses[0], "never made", 0)
        cluster.produce(topic, *(b"%d" % n for n in range(100)))
        wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic).values()))
        assert cluster.stop(1) == 0
        cluster.produce(topic, b"without broker 1")
        assert {p.leader for p in leaders(cluster, topic).values()} == {2, 3}
        cluster.start(1)
        wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic).values()))
        assert len(cluster.records(topic, at_least=101)) == 101
        assert replicas_differ(cluster, topic, 3) == []
        with pytest.raises(LocalError, match="killed"):
            cluster.kill(2)


def test_leaders_come_back_by_themselves():
    with Cluster(3, {"leader.imbalance.check.interval.seconds": 1}, zookeeper=False) as cluster:
        topic = cluster.topic("orders", partitions=3)
        wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic).values()))
        for broker_id in (1, 2, 3):
            cluster.stop(broker_id)
            cluster.start(broker_id)
        wait_until(
            lambda: all(p.leader == p.replicas[0] for p in leaders(cluster, topic).values()),
            what="every preferred leader",
        )
