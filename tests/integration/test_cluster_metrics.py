"""Metrics of replicas and of the controller move in a cluster of three brokers."""

import pytest
from support.cluster.workload import leaders, wait_until
from support.network.scrape import Scrape

from barnabas.model.ids import TopicPartition
from barnabas.testing import Cluster

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
