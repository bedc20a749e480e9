"""Replication throttles of this broker, from the current configuration (KIP-73).

The rates are dynamic broker settings, the throttled replicas are topic settings;
`kafka-reassign-partitions --throttle` writes both. Leaders and followers have separate throttles.
"""

from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication.throttle import ReplicationThrottle, ThrottledReplicas


class ReplicationQuotas:
    """Caches values of the configuration; `forget` must be called after each change."""

    def __init__(self, layers: ConfigLayers, broker_id: BrokerId) -> None:
        self._layers = layers
        self._broker_id = broker_id
        self._leading: dict[str, ThrottledReplicas] = {}
        self._following: dict[str, ThrottledReplicas] = {}
        self.leader = ReplicationThrottle(self._throttled_as_leader)
        self.follower = ReplicationThrottle(self._throttled_as_follower)
        self.forget(None)

    @property
    def fetchers_per_source(self) -> int:
        """Number of fetchers per source broker; read when the broker starts."""
        return int(self._layers.broker_value("num.replica.fetchers"))

    def forget(self, topic: str | None) -> None:
        """Applies a change of a topic's settings, or of the broker's if `topic` is None."""
        if topic is None:
            self.leader.set_rate(self._layers.broker_value("leader.replication.throttled.rate"))
            self.follower.set_rate(self._layers.broker_value("follower.replication.throttled.rate"))
        else:
            self._leading.pop(topic, None)
            self._following.pop(topic, None)

    def _throttled_as_leader(self, topic_partition: TopicPartition) -> bool:
        key = "leader.replication.throttled.replicas"
        return self._is_throttled(self._leading, key, topic_partition)

    def _throttled_as_follower(self, topic_partition: TopicPartition) -> bool:
        key = "follower.replication.throttled.replicas"
        return self._is_throttled(self._following, key, topic_partition)

    def _is_throttled(
        self, cache: dict[str, ThrottledReplicas], key: str, topic_partition: TopicPartition
    ) -> bool:
        throttled = cache.get(topic_partition.topic)
        if throttled is None:
            entries = self._layers.topic_value(topic_partition.topic, key)
            throttled = cache[topic_partition.topic] = ThrottledReplicas(entries, self._broker_id)
        return topic_partition.partition in throttled
