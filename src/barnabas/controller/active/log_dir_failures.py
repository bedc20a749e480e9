"""Handles replicas whose disk failed while their broker is alive (KIP-112).

A broker announces a failed directory below /log_dir_event_notification. The controller then sends
it a LeaderAndIsr for all its partitions; the response contains KAFKA_STORAGE_ERROR for those it
cannot serve. A replica without an error in a later response is online again.
"""

import logging

from barnabas.controller.active.broker_changes import BrokerChanges
from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.model.control import ControlReply, LeaderAndIsrCommand
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp, NoNodeError
from barnabas.zk.znodes import LogDirEventNode

_log = logging.getLogger(__name__)


class LogDirFailures:
    """Tracks replicas on failed disks."""

    def __init__(self, epoch_state: ControllerEpochState, brokers: BrokerChanges) -> None:
        self._epoch_state = epoch_state
        self._brokers = brokers

    async def on_notifications(self) -> None:
        watch = self._epoch_state.watch("log dir events", self.on_notifications)
        tree = self._epoch_state.tree
        names = await tree.children(paths.LOG_DIR_EVENTS, watch)
        affected: set[BrokerId] = set()
        for name in names:
            try:
                data, _ = await tree.get(f"{paths.LOG_DIR_EVENTS}/{name}")
            except NoNodeError:
                continue
            affected.add(LogDirEventNode.decode(data).broker_id)
        self._ask(affected)
        ops = [DeleteOp(f"{paths.LOG_DIR_EVENTS}/{name}") for name in names]
        await self._epoch_state.fenced.delete_all(ops)

    def on_replies(
        self, broker_id: BrokerId, command: LeaderAndIsrCommand, reply: ControlReply
    ) -> None:
        """Find failed and recovered replicas in a LeaderAndIsr response."""
        if reply.error is not ErrorCode.NONE:
            return
        context = self._epoch_state.context
        failed = [
            tp for tp, code in reply.partitions.items() if code is ErrorCode.KAFKA_STORAGE_ERROR
        ]
        recovered = [
            state.topic_partition
            for state in command.partitions
            if (state.topic_partition, broker_id) in context.failed_replicas
            and state.topic_partition not in failed
        ]
        if failed or recovered:
            self._submit(broker_id, failed, recovered)

    def _submit(
        self, broker_id: BrokerId, failed: list[TopicPartition], recovered: list[TopicPartition]
    ) -> None:
        async def settle() -> None:
            context = self._epoch_state.context
            lost = [
                (tp, broker_id)
                for tp in failed
                if context.knows(tp) and (tp, broker_id) not in context.failed_replicas
            ]
            back = [(tp, broker_id) for tp in recovered if context.knows(tp)]
            context.failed_replicas.update(lost)
            context.failed_replicas.difference_update(back)
            if lost:
                _log.warning(
                    "broker %d: %d replicas are offline, disk failed", broker_id, len(lost)
                )
                await self._brokers.replicas_went_offline(lost)
            if back:
                await self._brokers.replicas_came_online(back)

        self._epoch_state.submit(f"log dirs of {broker_id} {failed} {recovered}", settle)

    def _ask(self, brokers: set[BrokerId]) -> None:
        context = self._epoch_state.context
        for tp, broker_id in context.replicas_on(brokers & context.brokers.keys()):
            if tp in context.leadership:
                self._epoch_state.batch.leader_and_isr([broker_id], tp)
        self._epoch_state.flush()
