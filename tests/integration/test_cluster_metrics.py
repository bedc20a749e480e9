"""Metrics of replicas and of the controller move in a cluster of three brokers."""

import pytest
from support.cluster.workload import leaders, wait_until
from support.network.scrape import Scrape

from barnabas.model.ids import TopicPartition
from barnabas.testing import Cluster
from barnabas.zk import paths
from barnabas.zk.znodes import encode_offset

pytestmark = pytest.mark.integration


def total(cluster, name, **labels):
    readings = [
        Scrape(broker.http_url)(name, **labels)
        for broker in cluster.brokers.values()
        if broker.running
    ]
    return sum(value for value in readings if value is not None)


def waits(cluster, name, wanted, **labels):
    wait_until(lambda: wanted(total(cluster, name, **labels)), what=name)


def test_replicas_and_elections():
    config = {"http.listener": "0", "auto.leader.rebalance.enable": "false"}
    with Cluster(3, config, zookeeper=False) as cluster:
        topic = cluster.topic("orders", partitions=3, config={"min.insync.replicas": "2"})
        cluster.produce(topic, *["x"] * 30)
        wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic).values()))
        waits(cluster, "kafka_server_brokertopicmetrics_replicationbytesin_total", bool)
        waits(cluster, "kafka_server_brokertopicmetrics_replicationbytesout_total", bool)
        assert total(cluster, "kafka_controller_kafkacontroller_activebrokercount") == 3
        requests = "kafka_network_requestmetrics_requests_total"
        waits(cluster, requests, bool, request="FetchFollower")
        waits(cluster, "kafka_server_replicafetchermanager_maxlag", lambda lag: lag == 0)
        cluster.stop(3)
        waits(cluster, "kafka_server_replicamanager_underreplicatedpartitions", bool)
        waits(cluster, "kafka_server_replicamanager_atminisrpartitioncount", bool)
        assert total(cluster, "kafka_server_replicamanager_underminisrpartitioncount") == 0
        assert total(cluster, "kafka_server_replicamanager_failedisrupdates_total") == 0
        assert total(cluster, "kafka_controller_controllerstats_leaderelectionrateandtimems_count")
        name = "kafka_controller_kafkacontroller_preferredreplicaimbalancecount"
        waits(cluster, name, bool)
        cluster.start(3)
        waits(cluster, "kafka_server_replicamanager_isrexpands_total", bool)
        assert total(cluster, "kafka_server_replicamanager_isrshrinks_total") >= 0
        assert total(cluster, "kafka_server_replicamanager_offlinereplicacount") == 0
        assert total(cluster, "kafka_server_replicamanager_reassigningpartitions") == 0
        cluster.admin.alter_partition_reassignments({TopicPartition(topic, 0): [2, 3]})
        cluster.admin.delete_topics([topic])
        name = "kafka_controller_kafkacontroller_topicstodeletecount"
        waits(cluster, name, lambda count: count == 0)
        controllers = (Scrape(broker.http_url) for broker in cluster.brokers.values())
        name = "kafka_controller_controllerchannelmanager_totalqueuesize"
        assert all(reading(name) is not None for reading in controllers)


def test_the_lag_of_groups_whose_partitions_are_on_other_brokers():
    config = {
        "http.listener": "0",
        "group.lag.interval.ms": 100,
        "default.replication.factor": 1,
        "min.insync.replicas": 1,
    }
    with Cluster(3, config, zookeeper=False) as cluster:
        topic = cluster.topic("orders", partitions=3)
        for partition in range(3):
            cluster.produce(topic, "first", "second", partition=partition)
            cluster.produce(topic, "x" * 100_000, partition=partition)
        partitions = [TopicPartition(topic, n) for n in range(3)]
        cluster.admin.alter_group_offsets("kafka", dict.fromkeys(partitions, 1))
        store_in_tree(cluster, "zookeeper", dict.fromkeys(partitions, 2))
        name = "kafka_consumergroup_lag"
        waits(cluster, name, lambda lag: lag == 6, group="kafka")
        waits(cluster, name, lambda lag: lag == 3, group="zookeeper")
        for group in ("kafka", "zookeeper"):
            count = Readings(cluster, "kafka_consumergroup_lag_seconds", group=group).count
            wait_until(lambda count=count: count() == 3, what=f"the seconds of {group}")
        # A group that commits to both stores during a migration is reported once.
        store_in_tree(cluster, "kafka", dict.fromkeys(partitions, 2))
        waits(cluster, name, lambda lag: lag == 3, group="kafka")
        name = "barnabas_consumergroup_lag_change_per_second"
        waits(cluster, name, lambda change: change < 0, group="kafka")
        assert total(cluster, "barnabas_consumergroup_catch_up_seconds", group="kafka") > 0


class Readings:
    """The samples of one metric on all brokers."""

    def __init__(self, cluster, name, **labels):
        self._cluster, self._name, self._labels = cluster, name, labels.items()

    def count(self):
        return sum(
            sample.name == self._name and self._labels <= sample.labels.items()
            for broker in self._cluster.brokers.values()
            for sample in Scrape(broker.http_url).samples
        )


def store_in_tree(cluster, group, offsets):
    """Stores offsets as the ZooKeeper high-level consumer does."""

    async def store():
        session = cluster._threads.store.session()
        for topic_partition, offset in offsets.items():
            path = paths.consumer_offset(group, topic_partition)
            await session.ensure_path(path)
            await session.set(path, encode_offset(offset))
        await session.close()

    cluster._threads.run(store(), 10)
