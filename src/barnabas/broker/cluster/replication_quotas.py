"""The throttles of this broker's replication, as the configuration in force has them (KIP-73).

Rates are dynamic settings of the broker, the replicas they hold for are settings of topics;
`kafka-reassign-partitions --throttle` writes both. Leading and following have a throttle each.
"""

from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication.throttle import ReplicationThrottle, ThrottledReplicas


class ReplicationQuotas:
    """A cache over the configuration; whoever changes the configuration calls `forget`."""

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
        """How many fetchers follow one broker; read when the broker starts."""
        return int(self._layers.broker_value("num.replica.fetchers"))

    def forget(self, topic: str | None) -> None:
        """Something about this topic, or about the broker, has changed."""
        if topic is None:
            self.leader.set_rate(self._layers.broker_value("leader.replication.throttled.rate"))
            self.follower.set_rate(self._layers.broker_value("follower.replication.throttled.rate"))
        else:
            self._leading.pop(topic, None)
            self._following.pop(topic, None)

    def _throttled_as_leader(self, place: TopicPartition) -> bool:
        key = "leader.replication.throttled.replicas"
        return self._is_throttled(self._leading, key, place)

    def _throttled_as_follower(self, place: TopicPartition) -> bool:
        key = "follower.replication.throttled.replicas"
        return self._is_throttled(self._following, key, place)

    def _is_throttled(
        self, cache: dict[str, ThrottledReplicas], key: str, place: TopicPartition
    ) -> bool:
        throttled = cache.get(place.topic)
        if throttled is None:
            entries = self._layers.topic_value(place.topic, key)
            throttled = cache[place.topic] = ThrottledReplicas(entries, self._broker_id)
        return place.partition in throttled
