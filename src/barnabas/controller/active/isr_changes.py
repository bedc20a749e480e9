"""Processes ISR changes of partition leaders.

Current brokers send AlterPartition (KIP-497). Older brokers write the partition state themselves
and announce the change below /isr_change_notification.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence

from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.machines.leader_election import (
    EligibleBrokers,
    LeaderAndIsr,
    validate_isr_change,
)
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, BrokerId, TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp
from barnabas.zk.znodes import PartitionListNode

ChangeListener = Callable[[Collection[TopicPartition]], Awaitable[None]]
_Replies = dict[TopicPartition, AlterPartitionReply]


class IsrChanges:
    """Validates and writes ISR changes; calls `on_changed` after each change."""

    def __init__(self, epoch_state: ControllerEpochState, on_changed: ChangeListener) -> None:
        self._epoch_state = epoch_state
        self._on_changed = on_changed

    async def alter(
        self, broker_id: BrokerId, broker_epoch: int, changes: Sequence[AlterPartitionChange]
    ) -> _Replies:
        """Validates and writes a leader's proposals; raises BrokerError for a stale sender."""
        check_broker_epoch(self._epoch_state, broker_id, broker_epoch)
        replies: _Replies = {}
        accepted: dict[TopicPartition, LeaderAndIsr] = {}
        async for change in in_slices(changes):
            topic_partition = change.topic_partition
            error, new = self._validate(broker_id, change)
            if new is not None:
                accepted[topic_partition] = new
            else:
                replies[topic_partition] = self._reply(topic_partition, error)
        replies |= await self._write(accepted)
        return replies

    async def on_notifications(self) -> None:
        """Reads the partition states that older leaders announced as changed."""
        context = self._epoch_state.context
        notifications = await self._epoch_state.read_notifications(
            "isr notifications", paths.ISR_CHANGES, self.on_notifications
        )
        changed: set[TopicPartition] = set()
        for data in notifications.values():
            changed.update(PartitionListNode.decode(data).partitions)
        known = [topic_partition for topic_partition in changed if context.knows(topic_partition)]
        context.leadership.update(await self._epoch_state.states.read(known))
        # Before the nodes are deleted, so that a successor repeats the announcement if this
        # controller fails here.
        await self._announce(known)
        await self._epoch_state.fenced.delete_all([DeleteOp(path) for path in notifications])

    def _validate(
        self, sender: BrokerId, change: AlterPartitionChange
    ) -> tuple[ErrorCode, LeaderAndIsr | None]:
        context = self._epoch_state.context
        topic_partition = change.topic_partition
        if (
            not context.knows(topic_partition)
            or topic_partition not in context.leadership
            or context.is_being_deleted(topic_partition)
        ):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
        if change.topic_id not in (ZERO_UUID, context.topic_ids[topic_partition.topic]):
            return ErrorCode.UNKNOWN_TOPIC_ID, None
        epochs = {b: broker.broker_epoch for b, broker in context.brokers.items()}
        eligible = EligibleBrokers(epochs, frozenset(context.shutting_down))
        return validate_isr_change(sender, change, context.leadership[topic_partition], eligible)

    async def _write(self, accepted: dict[TopicPartition, LeaderAndIsr]) -> _Replies:
        if not accepted:
            return {}
        states, context = self._epoch_state.states, self._epoch_state.context
        written = await states.update(accepted)
        # The context follows the tree: it changes only after the write succeeded, with the new
        # version, which the next conditional write needs.
        context.leadership.update(written.done)
        if written.conflicts:
            context.leadership.update(await states.read(written.conflicts))
        replies = {
            topic_partition: self._reply(topic_partition, ErrorCode.NONE)
            for topic_partition in written.done
        }
        for topic_partition in written.conflicts:
            replies[topic_partition] = AlterPartitionReply(ErrorCode.INVALID_UPDATE_VERSION)
        await self._announce(list(written.done))
        return replies

    async def _announce(self, changed: Collection[TopicPartition]) -> None:
        if changed:
            self._epoch_state.batch.update_metadata(changed)
            self._epoch_state.flush()
            await self._on_changed(changed)

    def _reply(self, topic_partition: TopicPartition, error: ErrorCode) -> AlterPartitionReply:
        if error is not ErrorCode.NONE:
            return AlterPartitionReply(error)
        now = self._epoch_state.context.leadership[topic_partition]
        return AlterPartitionReply(
            ErrorCode.NONE,
            now.leader,
            now.leader_epoch,
            now.isr,
            now.partition_epoch,
            now.recovery,
        )


def check_broker_epoch(
    epoch_state: ControllerEpochState, broker_id: BrokerId, broker_epoch: int
) -> None:
    """Raises BrokerError if the request comes from an earlier incarnation of the broker."""
    broker = epoch_state.context.brokers.get(broker_id)
    if broker is None:
        raise BrokerError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker_id} is not registered")
    if broker_epoch != broker.broker_epoch:
        text = f"broker {broker_id} has epoch {broker.broker_epoch}, not {broker_epoch}"
        raise BrokerError(ErrorCode.STALE_BROKER_EPOCH, text)
