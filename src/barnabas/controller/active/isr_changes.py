"""Changes of in-sync sets that leaders ask for (AlterPartition) or, as older leaders do, have
written themselves and announced below /isr_change_notification.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence

from barnabas.controller.active.reign import Reign
from barnabas.controller.machines.election import LeaderAndIsr
from barnabas.controller.machines.isr_change import Electorate, judge
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, BrokerId, TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp, NoNodeError
from barnabas.zk.znodes import PartitionListNode

ChangeListener = Callable[[Collection[TopicPartition]], Awaitable[None]]
_Replies = dict[TopicPartition, AlterPartitionReply]


class IsrChanges:
    """The part of the controller that owns in-sync sets. `on_changed` runs after each change."""

    def __init__(self, reign: Reign, on_changed: ChangeListener) -> None:
        self._reign = reign
        self._on_changed = on_changed

    async def alter(
        self, broker_id: BrokerId, broker_epoch: int, changes: Sequence[AlterPartitionChange]
    ) -> _Replies:
        """Judge and write a leader's proposals; BrokerError when the sender itself is stale."""
        check_broker_epoch(self._reign, broker_id, broker_epoch)
        replies: _Replies = {}
        accepted: dict[TopicPartition, LeaderAndIsr] = {}
        for change in changes:
            tp = change.topic_partition
            error, new = self._judge(broker_id, change)
            if new is not None:
                accepted[tp] = new
            else:
                replies[tp] = self._reply(tp, error)
        replies |= await self._write(accepted)
        return replies

    async def on_notifications(self) -> None:
        """Read again what other leaders say they have changed."""
        watch = self._reign.watch("isr notifications", self.on_notifications)
        tree, context = self._reign.tree, self._reign.context
        names = await tree.children(paths.ISR_CHANGES, watch)
        changed: set[TopicPartition] = set()
        for name in names:
            try:
                data, _ = await tree.get(f"{paths.ISR_CHANGES}/{name}")
            except NoNodeError:
                continue
            changed.update(PartitionListNode.decode(data).partitions)
        known = [tp for tp in changed if context.knows(tp)]
        context.leadership.update(await self._reign.states.read(known))
        await self._announce(known)
        await self._reign.fenced.delete_all([DeleteOp(f"{paths.ISR_CHANGES}/{n}") for n in names])

    def _judge(
        self, sender: BrokerId, change: AlterPartitionChange
    ) -> tuple[ErrorCode, LeaderAndIsr | None]:
        context = self._reign.context
        tp = change.topic_partition
        if not context.knows(tp) or tp not in context.leadership or context.is_being_deleted(tp):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
        if change.topic_id not in (ZERO_UUID, context.topic_ids[tp.topic]):
            return ErrorCode.UNKNOWN_TOPIC_ID, None
        epochs = {b: broker.broker_epoch for b, broker in context.brokers.items()}
        electorate = Electorate(epochs, frozenset(context.shutting_down))
        return judge(sender, change, context.leadership[tp], electorate)

    async def _write(self, accepted: dict[TopicPartition, LeaderAndIsr]) -> _Replies:
        if not accepted:
            return {}
        states, context = self._reign.states, self._reign.context
        written = await states.update(accepted)
        context.leadership.update(written.done)
        if written.refused:
            context.leadership.update(await states.read(written.refused))
        replies = {tp: self._reply(tp, ErrorCode.NONE) for tp in written.done}
        for tp in written.refused:
            replies[tp] = AlterPartitionReply(ErrorCode.INVALID_UPDATE_VERSION)
        await self._announce(list(written.done))
        return replies

    async def _announce(self, changed: Collection[TopicPartition]) -> None:
        if changed:
            self._reign.batch.update_metadata(changed)
            self._reign.flush()
            await self._on_changed(changed)

    def _reply(self, tp: TopicPartition, error: ErrorCode) -> AlterPartitionReply:
        if error is not ErrorCode.NONE:
            return AlterPartitionReply(error)
        now = self._reign.context.leadership[tp]
        return AlterPartitionReply(
            ErrorCode.NONE,
            now.leader,
            now.leader_epoch,
            now.isr,
            now.partition_epoch,
            now.recovery,
        )


def check_broker_epoch(reign: Reign, broker_id: BrokerId, broker_epoch: int) -> None:
    """Refuse a request from an incarnation of a broker that is not the registered one."""
    broker = reign.context.brokers.get(broker_id)
    if broker is None:
        raise BrokerError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker_id} is not registered")
    if broker_epoch != broker.broker_epoch:
        text = f"epoch {broker_epoch} of broker {broker_id} is not {broker.broker_epoch}"
        raise BrokerError(ErrorCode.STALE_BROKER_EPOCH, text)
