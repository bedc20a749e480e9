"""Calls the controller: directly if it runs in this broker, otherwise by a request."""

from collections.abc import Sequence

from barnabas.broker.cluster.links import BrokerLinks
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.controller.controller import Controller
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply, LeaderRecoveryState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, TopicPartition, Uuid
from barnabas.wire.messages import alter_partition as wire
from barnabas.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)

Replies = dict[TopicPartition, AlterPartitionReply]


class ControllerLink:
    """Owned by the broker's loop. Methods raise BarnabasError when the outcome is unknown."""

    def __init__(
        self,
        broker_id: BrokerId,
        controller: Controller,
        metadata: MetadataCache,
        links: BrokerLinks,
    ) -> None:
        self._broker_id = broker_id
        self._controller = controller
        self._metadata = metadata
        self._links = links

    async def alter_partition(
        self, broker_epoch: int, changes: Sequence[AlterPartitionChange]
    ) -> Replies:
        controller_id = self._find()
        if controller_id == self._broker_id:
            return await self._controller.alter_partition(self._broker_id, broker_epoch, changes)
        request = wire.AlterPartitionRequest(
            self._broker_id, broker_epoch, [_topic(change) for change in changes]
        )
        response: wire.AlterPartitionResponse = await self._links.to(controller_id).request(request)
        if response.error_code:
            raise BrokerError(ErrorCode.of(response.error_code))
        names = {change.topic_id: change.topic_partition.topic for change in changes}
        return _replies(response, names)

    async def controlled_shutdown(self, broker_epoch: int) -> list[TopicPartition]:
        """Moves leadership to other brokers; returns those that this broker still leads."""
        controller_id = self._find()
        if controller_id == self._broker_id:
            return await self._controller.controlled_shutdown(self._broker_id, broker_epoch)
        request = ControlledShutdownRequest(self._broker_id, broker_epoch)
        response: ControlledShutdownResponse = await self._links.to(controller_id).request(request)
        if response.error_code:
            raise BrokerError(ErrorCode.of(response.error_code))
        return [
            TopicPartition(item.topic_name, item.partition_index)
            for item in response.remaining_partitions
        ]

    def _find(self) -> BrokerId:
        # The metadata tree names a new controller before its first command arrives.
        for candidate in (self._controller.controller_id, self._metadata.controller_id):
            if candidate >= 0:
                return candidate
        raise BrokerError(ErrorCode.NOT_CONTROLLER, "no controller is elected")


def _topic(change: AlterPartitionChange) -> wire.TopicData:
    epochs = change.broker_epochs or (-1,) * len(change.new_isr)
    members = zip(change.new_isr, epochs, strict=True)
    return wire.TopicData(
        change.topic_partition.topic,
        change.topic_id,
        [
            wire.PartitionData(
                change.topic_partition.partition,
                change.leader_epoch,
                list(change.new_isr),
                [wire.BrokerState(member, epoch) for member, epoch in members],
                change.recovery,
                change.partition_epoch,
            )
        ],
    )


def _replies(response: wire.AlterPartitionResponse, names: dict[Uuid, str]) -> Replies:
    return {
        TopicPartition(names[topic.topic_id], item.partition_index): AlterPartitionReply(
            ErrorCode.of(item.error_code),
            BrokerId(item.leader_id),
            item.leader_epoch,
            tuple(BrokerId(member) for member in item.isr),
            item.partition_epoch,
            LeaderRecoveryState(1 if item.leader_recovery_state else 0),
        )
        for topic in response.topics
        if topic.topic_id in names
        for item in topic.partitions
    }
