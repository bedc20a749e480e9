"""Receives the controller's commands for this broker and applies them.

A controller in this broker calls it directly; for other controllers the handlers of LeaderAndIsr,
UpdateMetadata and StopReplica call it.
"""

from collections.abc import Callable

from barnabas.broker.cluster.links import AddressBook
from barnabas.broker.config_watch import ConfigWatch
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.topics import Topics
from barnabas.controller.channels import Command
from barnabas.model.control import (
    ControlReply,
    LeaderAndIsrCommand,
    StopReplicaCommand,
    UpdateMetadataCommand,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.replication.replica_manager import ReplicaManager


class CommandReceiver:
    """Applies commands; owned by the broker's loop."""

    def __init__(
        self,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        configs: ConfigWatch,
        topics: Topics,
        metadata_changed: Callable[[frozenset[str]], None],
        book: AddressBook,
    ) -> None:
        self._replicas = replicas
        self._metadata = metadata
        self._configs = configs
        self._topics = topics
        self._metadata_changed = metadata_changed
        self._book = book

    async def apply(self, command: Command) -> ControlReply:
        match command:
            case LeaderAndIsrCommand():
                return await self._lead_and_follow(command)
            case UpdateMetadataCommand():
                return self._update_metadata(command)
            case StopReplicaCommand():
                return self._replicas.stop_replicas(command)

    async def _lead_and_follow(self, command: LeaderAndIsrCommand) -> ControlReply:
        unknown = {
            state.topic_partition.topic
            for state in command.partitions
            if self._replicas.partition(state.topic_partition) is None
        }
        for topic in sorted(unknown):  # a new log needs the settings of its topic
            await self._configs.load_topic(topic)
        self._book.learn(command.live_brokers)
        return self._replicas.apply_leader_and_isr(command)

    def _update_metadata(self, command: UpdateMetadataCommand) -> ControlReply:
        error = self._replicas.fence_command(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        self._book.learn(command.live_brokers)
        gone = self._metadata.apply(command)
        for topic in gone:
            self._configs.forget_topic(topic)
        self._metadata_changed(gone)
        self._topics.metadata_changed()
        return ControlReply()
