"""Gives replication access to logs by partition; creates them with their topic's configuration."""

from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.storage.errors import storage_error
from barnabas.storage.log import Log
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_manager import LogManager


class LogStore:
    """A `replication.ports.LogSource`; owned by the broker's loop."""

    def __init__(self, logs: LogManager, layers: ConfigLayers) -> None:
        self._logs = logs
        self._layers = layers

    def get(self, topic_partition: TopicPartition) -> Log | None:
        return self._logs.get(topic_partition)

    def get_or_create(
        self, topic_partition: TopicPartition, topic_id: Uuid, *, is_new: bool
    ) -> Log:
        found = self._logs.get(topic_partition)
        offline = self._logs.dirs.offline
        if found is None and offline and not is_new:
            # The log may be in the offline directory: an empty log instead could become leader,
            # and acknowledged records would be lost (KIP-112).
            raise storage_error(f"{topic_partition} may be in {offline[0]}, which is offline")
        if found is not None and topic_id != ZERO_UUID and found.topic_id not in (None, topic_id):
            # The topic was deleted and created again while this broker was down: the log here
            # belongs to the deleted topic (KAFKA-12257).
            self._logs.delete(topic_partition)
        known_id = None if topic_id == ZERO_UUID else topic_id
        return self._logs.get_or_create(
            topic_partition, known_id, log_config(self._layers, topic_partition.topic)
        )

    def delete(self, topic_partition: TopicPartition) -> None:
        if self._logs.get(topic_partition) is not None:
            self._logs.delete(topic_partition)


def log_config(layers: ConfigLayers, topic: str) -> LogConfig:
    """Returns the log configuration of a topic."""
    return LogConfig.from_values(layers.topic_values(topic))
