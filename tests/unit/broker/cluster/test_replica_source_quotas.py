"""The throttles of replication follow the configuration."""

import pytest

from barnabas.broker.cluster.replica_source import ReplicationQuotas
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.config_keys.topic import TOPIC_KEYS
from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition

TOPIC_PARTITION = TopicPartition("t", 0)


@pytest.fixture
def layers():
    return ConfigLayers(BrokerConfig.parse({}))


def held(throttle, topic_partition=TOPIC_PARTITION):
    throttle.record(topic_partition, 10**6, 0)
    return throttle.wait_ms(topic_partition, 0) > 0


def test_without_settings_nothing_is_throttled(layers):
    quotas = ReplicationQuotas(layers, 1)
    assert not quotas.leader.active
    assert not held(quotas.leader)


def test_each_side_has_its_own_rate_and_replicas(layers):
    layers.set_broker({"leader.replication.throttled.rate": "10"})
    layers.set_topic("t", {"leader.replication.throttled.replicas": "0:1"})
    quotas = ReplicationQuotas(layers, 1)
    assert held(quotas.leader)
    assert not held(quotas.leader, TOPIC_PARTITION._replace(partition=1))
    assert not held(quotas.follower)
    layers.set_default({"follower.replication.throttled.rate": "10"})
    layers.set_topic("t", {"follower.replication.throttled.replicas": "*"})
    quotas.forget(None)
    quotas.forget("t")
    assert held(quotas.follower)
    assert not held(quotas.leader)


def test_a_removed_rate_is_no_limit(layers):
    layers.set_broker({"leader.replication.throttled.rate": "10"})
    layers.set_topic("t", {"leader.replication.throttled.replicas": "*"})
    quotas = ReplicationQuotas(layers, 1)
    layers.set_broker({})
    quotas.forget(None)
    assert not held(quotas.leader)


@pytest.mark.parametrize("value", ["1", "1:2,x", "*,1:2", "1:2:3", "-1:2"])
def test_a_list_of_replicas_must_be_one(value):
    with pytest.raises(ConfigError):
        TOPIC_KEYS["leader.replication.throttled.replicas"].parse(value)
