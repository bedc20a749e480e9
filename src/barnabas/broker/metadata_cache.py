"""Cluster metadata of this broker: live brokers, leaders, replicas, topic ids.

Only the controller's commands change it. A command replaces the partitions that it contains, so a
change of one partition does not need to contain the whole cluster.
"""

from collections.abc import Iterable, Mapping

from barnabas.model.control import LEADER_DURING_DELETE, LiveBroker, PartitionState
from barnabas.model.control import UpdateMetadataCommand as Command
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition, Uuid


class MetadataCache:
    """The cluster metadata that this broker serves to clients.

    Owned by the broker's loop; read by handlers, written by `apply`.
    """

    def __init__(self) -> None:
        self.controller_id: BrokerId = NO_BROKER
        self._brokers: dict[BrokerId, LiveBroker] = {}
        self._topics: dict[str, dict[int, PartitionState]] = {}
        self._topic_ids: dict[str, Uuid] = {}
        self._topic_names: dict[Uuid, str] = {}

    def apply(self, command: Command) -> frozenset[str]:
        """Applies a command; returns the topics that it deletes."""
        self.controller_id = command.controller_id
        self._brokers = {broker.broker_id: broker for broker in command.live_brokers}
        gone = self._forget_unnamed(command) if command.is_full else set()
        current: str | None = None
        partitions: dict[int, PartitionState] = {}
        for state in command.partitions:
            topic, number = state.topic_partition
            if state.leader == LEADER_DURING_DELETE:
                current = None
                self._forget(state.topic_partition)
                if topic not in self._topics:
                    gone.add(topic)
                continue
            if topic != current:  # once for each topic: a full command names all partitions
                current = topic
                partitions = self._topics.setdefault(topic, {})
                if any(state.topic_id):
                    self._name(topic, state.topic_id)
            partitions[number] = state
        for name, topic_id in command.topic_ids.items():
            if name in self._topics:
                self._name(name, topic_id)
        return frozenset(gone)

    # --- brokers -----------------------------------------------------------------------------

    def brokers(self) -> Iterable[LiveBroker]:
        return self._brokers.values()

    def broker(self, broker_id: BrokerId) -> LiveBroker | None:
        return self._brokers.get(broker_id)

    def is_alive(self, broker_id: BrokerId) -> bool:
        return broker_id in self._brokers

    def rack_of(self, broker_id: BrokerId) -> str | None:
        broker = self._brokers.get(broker_id)
        return broker.rack if broker is not None else None

    # --- topics ------------------------------------------------------------------------------

    def topics(self) -> Iterable[str]:
        return self._topics

    def has_topic(self, topic: str) -> bool:
        return topic in self._topics

    def partitions(self, topic: str) -> Mapping[int, PartitionState] | None:
        """Returns the partitions of a topic by number, or None if it does not exist."""
        return self._topics.get(topic)

    def partition(self, topic_partition: TopicPartition) -> PartitionState | None:
        partitions = self._topics.get(topic_partition.topic)
        return partitions.get(topic_partition.partition) if partitions is not None else None

    def topic_id(self, topic: str) -> Uuid | None:
        return self._topic_ids.get(topic)

    def topic_name(self, topic_id: Uuid) -> str | None:
        return self._topic_names.get(topic_id)

    def _forget_unnamed(self, command: Command) -> set[str]:
        """Removes topics that a full command does not contain: they were deleted meanwhile."""
        named = {state.topic_partition for state in command.partitions}
        known = [TopicPartition(t, p) for t, partitions in self._topics.items() for p in partitions]
        before = set(self._topics)
        for topic_partition in known:
            if topic_partition not in named:
                self._forget(topic_partition)
        return before - self._topics.keys()

    def _forget(self, topic_partition: TopicPartition) -> None:
        partitions = self._topics.get(topic_partition.topic)
        if partitions is None:
            return
        partitions.pop(topic_partition.partition, None)
        if not partitions:
            del self._topics[topic_partition.topic]
            topic_id = self._topic_ids.pop(topic_partition.topic, None)
            if topic_id is not None:
                self._topic_names.pop(topic_id, None)

    def _name(self, topic: str, topic_id: Uuid) -> None:
        old = self._topic_ids.get(topic)
        if old == topic_id:
            return
        if old is not None:  # deleted and created again
            self._topic_names.pop(old, None)
        self._topic_ids[topic] = topic_id
        self._topic_names[topic_id] = topic
