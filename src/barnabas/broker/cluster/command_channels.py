"""Delivers the controller's commands and applies those for this broker.

A controller in this broker calls the receiver directly; for other controllers the handlers of
LeaderAndIsr, UpdateMetadata and StopReplica call it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from barnabas.broker.cluster.control_messages import (
    leader_and_isr_reply,
    leader_and_isr_request,
    stop_replica_reply,
    stop_replica_request,
    update_metadata_reply,
    update_metadata_request,
)
from barnabas.broker.cluster.links import AddressBook, BrokerLink, BrokerLinks
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
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.slices import in_slices

_ReplicaCommand = TypeVar("_ReplicaCommand", LeaderAndIsrCommand, StopReplicaCommand)


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
                return await self._apply_in_slices(command, self._replicas.stop_replicas)

    async def _lead_and_follow(self, command: LeaderAndIsrCommand) -> ControlReply:
        unknown = {
            state.topic_partition.topic
            for state in command.partitions
            if self._replicas.partition(state.topic_partition) is None
        }
        for topic in sorted(unknown):  # a new log needs the settings of its topic
            await self._configs.load_topic(topic)
        self._book.update(command.live_brokers)
        return await self._apply_in_slices(command, self._replicas.apply_leader_and_isr)

    async def _apply_in_slices(
        self, command: _ReplicaCommand, apply: Callable[[_ReplicaCommand], ControlReply]
    ) -> ControlReply:
        """Applies the partitions one by one; serves other requests after some milliseconds.

        To create or delete a log may take a millisecond. If a newer controller sends a command
        between two slices, the rest of this command is rejected.
        """
        error = self._replicas.fence_command(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        results: dict[TopicPartition, ErrorCode] = {}
        async for item in in_slices(command.partitions):
            reply = apply(replace(command, partitions=(item,)))
            if reply.error is not ErrorCode.NONE:
                return reply
            results.update(reply.partitions)
        return ControlReply(partitions=results)

    def _update_metadata(self, command: UpdateMetadataCommand) -> ControlReply:
        error = self._replicas.fence_command(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        self._book.update(command.live_brokers)
        gone = self._metadata.apply(command)
        for topic in gone:
            self._configs.forget_topic(topic)
        self._metadata_changed(gone)
        self._topics.metadata_changed()
        return ControlReply()


class ClusterChannels:
    """The controller's `BrokerChannels`; owned by the broker's loop.

    The controller's outbox keeps the order and retries: it sends one command at a time to a broker.
    """

    def __init__(self, broker_id: BrokerId, receiver: CommandReceiver, links: BrokerLinks) -> None:
        self._broker_id = broker_id
        self._receiver = receiver
        self._links = links

    async def send(self, broker_id: BrokerId, command: Command) -> ControlReply:
        if not isinstance(command, StopReplicaCommand):
            # A newly elected controller has the addresses only from the metadata tree.
            self._links.book.update(command.live_brokers)
        if broker_id == self._broker_id:
            return await self._receiver.apply(command)
        return await self._send(self._links.to(broker_id), command)

    async def _send(self, link: BrokerLink, command: Command) -> ControlReply:
        match command:
            case LeaderAndIsrCommand():
                request = leader_and_isr_request(command, self._links.book.listener)
                return leader_and_isr_reply(await link.request(request), command)
            case UpdateMetadataCommand():
                return update_metadata_reply(await link.request(update_metadata_request(command)))
            case StopReplicaCommand():
                return stop_replica_reply(await link.request(stop_replica_request(command)))
