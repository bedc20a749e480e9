"""Applies metadata changes to the topics in use: new partitions, leaders, recreated topics.

The sending threads read the number of partitions, and those with a leader, from the appender of a
topic. `TopicTracker` updates the appenders when the metadata has changed, and drops topics to which
no record was sent for metadata.max.idle.ms.
"""

from collections.abc import Callable

from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.cluster_metadata import Node, TopicInfo
from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.partitioners import PartitionChooser
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.ids import TopicPartition


class TopicTracker:
    """Updates the appenders from metadata. Owned by the sender's loop."""

    def __init__(
        self,
        settings: ProducerSettings,
        client: KafkaClient,
        accumulator: Accumulator,
        chooser: PartitionChooser,
    ) -> None:
        self.on_removed: Callable[[TopicPartition], None] = lambda _: None
        """Called for each partition that a recreated topic does not have."""
        self._settings = settings
        self._client = client
        self._accumulator = accumulator
        self._chooser = chooser
        self._applied: dict[str, TopicInfo] = {}
        self._brokers: dict[int, Node] = {}
        self._seen = -1  # generation of the metadata that was applied to the appenders
        self._slow_nodes: frozenset[int] = frozenset()

    def appender(self, topic: str, now: int) -> TopicAppender:
        """Returns the appender of a topic in the metadata; creates it if necessary."""
        info = self._client.metadata.topics[topic]
        appender = self._accumulator.topic(topic, max(info.partitions) + 1, now)
        self._apply(topic, info, appender)
        return appender

    def sync(self, slow_nodes: frozenset[int] = frozenset()) -> None:
        """Updates the appenders if the metadata or the set of slow brokers has changed."""
        generation = self._client.metadata.generation
        if generation == self._seen and slow_nodes == self._slow_nodes:
            return
        brokers = self._client.metadata.brokers
        all_topics = brokers != self._brokers or slow_nodes != self._slow_nodes
        self._seen, self._slow_nodes, self._brokers = generation, slow_nodes, brokers
        for topic, appender in list(self._accumulator.topics.items()):
            info = self._client.metadata.topics.get(topic)
            if info is None or not info.partitions:
                continue
            # A new topic changes the metadata too: the partitions of the others are not visited.
            if all_topics or info is not self._applied.get(topic):
                self._apply(topic, info, appender)

    def drop_idle(self, now: int) -> None:
        """Removes topics that were not used for metadata.max.idle.ms."""
        idle = self._accumulator.drop_idle(now - self._settings.metadata_max_idle_ms)
        for topic in idle:
            self._applied.pop(topic, None)
        if idle:
            self._client.forget(idle)

    def _apply(self, topic: str, info: TopicInfo, appender: TopicAppender) -> None:
        count = max(info.partitions) + 1
        known = self._applied.get(topic)
        self._applied[topic] = info
        if count > appender.count:
            appender.resize(count)
        elif count < appender.count and (known is None or known.topic_id != info.topic_id):
            # Partitions are never removed: a smaller count under the same id is old metadata.
            removed = range(count, appender.count)
            appender.resize(count)
            for partition in removed:
                self.on_removed(TopicPartition(topic, partition))
        appender.available = tuple(n for n in sorted(info.partitions) if self._takes(info, n))
        if appender.available and appender.sticky not in appender.available:
            self._chooser.next_sticky(topic, appender)

    def _takes(self, info: TopicInfo, partition: int) -> bool:
        leader = info.partitions[partition].leader
        return leader in self._client.metadata.brokers and leader not in self._slow_nodes
