"""Collects the commands of one controller step, so that each broker gets few requests.

Each broker gets at most one LeaderAndIsr, one UpdateMetadata and one StopReplica per batch, in
that order. A broker must know its role before metadata directs clients to it, and may delete a
replica only after metadata no longer directs clients to it.
"""

from collections.abc import Iterable

from barnabas.controller.active.context import ControllerContext
from barnabas.controller.channels import Command
from barnabas.model.control import (
    EPOCH_DURING_DELETE,
    LeaderAndIsrCommand,
    LiveBroker,
    PartitionState,
    StopReplicaCommand,
    StopReplicaPartition,
    UpdateMetadataCommand,
)
from barnabas.model.ids import BrokerId, TopicPartition

_States = dict[TopicPartition, PartitionState]


class CommandBatch:
    """Copies partition states from the context when they are added, not when they are sent."""

    def __init__(self, context: ControllerContext, controller_id: BrokerId) -> None:
        self._context = context
        self._controller_id = controller_id
        self._leader_and_isr: dict[BrokerId, _States] = {}
        self._metadata: dict[BrokerId, _States] = {}
        self._full: set[BrokerId] = set()
        self._stop: dict[BrokerId, dict[TopicPartition, StopReplicaPartition]] = {}

    def leader_and_isr(
        self, brokers: Iterable[BrokerId], topic_partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Send a partition's roles to `brokers` and its new metadata to all brokers."""
        state = self._context.partition_state(topic_partition, is_new=is_new)
        for broker_id in brokers:
            self._leader_and_isr.setdefault(broker_id, {})[topic_partition] = state
        self.update_metadata([topic_partition])

    def update_metadata(
        self, partitions: Iterable[TopicPartition], brokers: Iterable[BrokerId] | None = None
    ) -> None:
        """Send partition metadata and the live brokers to `brokers` (default: all brokers)."""
        states = {tp: self._context.partition_state(tp) for tp in partitions}
        for broker_id in self._context.brokers if brokers is None else brokers:
            self._metadata.setdefault(broker_id, {}).update(states)

    def full_metadata(self, brokers: Iterable[BrokerId]) -> None:
        """Send the complete metadata; receivers drop every partition that it does not contain."""
        receivers = list(brokers)
        self.update_metadata(self._context.partitions(), receivers)
        self._full.update(receivers)

    def stop_replica(
        self, broker_id: BrokerId, topic_partition: TopicPartition, *, delete: bool
    ) -> None:
        leadership = self._context.leadership.get(topic_partition)
        deleted = delete and self._context.is_being_deleted(topic_partition)
        known = leadership is not None and not deleted
        epoch = leadership.leader_epoch if leadership and known else EPOCH_DURING_DELETE
        entry = StopReplicaPartition(topic_partition, epoch, delete)
        self._stop.setdefault(broker_id, {})[topic_partition] = entry

    def build(self) -> dict[BrokerId, list[Command]]:
        """Returns the commands for each live broker, in sending order."""
        live = tuple(self._context.brokers.values())
        built: dict[BrokerId, list[Command]] = {}
        for broker in live:
            commands = self._commands_for(broker, live)
            if commands:
                built[broker.broker_id] = commands
        return built

    def _commands_for(self, broker: LiveBroker, live: tuple[LiveBroker, ...]) -> list[Command]:
        head = (self._controller_id, self._context.epoch, broker.broker_epoch)
        commands: list[Command] = []
        roles = self._leader_and_isr.get(broker.broker_id)
        if roles:
            commands.append(LeaderAndIsrCommand(*head, tuple(roles.values()), live))
        metadata = self._metadata.get(broker.broker_id)
        if metadata is not None:
            ids = {tp.topic: state.topic_id for tp, state in metadata.items()}
            states = tuple(metadata.values())
            full = broker.broker_id in self._full
            commands.append(UpdateMetadataCommand(*head, states, live, ids, full))
        stops = self._stop.get(broker.broker_id)
        if stops:
            commands.append(StopReplicaCommand(*head, tuple(stops.values())))
        return commands
