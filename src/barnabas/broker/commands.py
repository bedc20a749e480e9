"""Receives the controller's commands for this broker and applies them.

For the local broker the controller's channel ends here in a direct call; commands to other brokers
go over the wire.
"""

from collections.abc import Callable

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
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import BrokerId
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
    ) -> None:
        self._replicas = replicas
        self._metadata = metadata
        self._configs = configs
        self._topics = topics
        self._metadata_changed = metadata_changed

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
        for topic in sorted(unknown):  # a log is made with its topic's settings
            await self._configs.load_topic(topic)
        return self._replicas.apply_leader_and_isr(command)

    def _update_metadata(self, command: UpdateMetadataCommand) -> ControlReply:
        error = self._replicas.fence_command(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        gone = self._metadata.apply(command)
        for topic in gone:
            self._configs.forget_topic(topic)
        self._metadata_changed(gone)
        self._topics.metadata_changed()
        return ControlReply()


class LocalChannels:
    """The controller's `BrokerChannels` in a cluster of one."""

    def __init__(self, broker_id: BrokerId, receiver: CommandReceiver) -> None:
        self._broker_id = broker_id
        self._receiver = receiver

    async def send(self, broker_id: BrokerId, command: Command) -> ControlReply:
        if broker_id != self._broker_id:
            raise UnavailableError(f"broker {broker_id} cannot be reached from an embedded one")
        return await self._receiver.apply(command)
