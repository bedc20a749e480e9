"""Replicas on disks that failed while their broker lives on.

A broker announces a failed directory below /log_dir_event_notification. The controller then asks
it about all its partitions with a LeaderAndIsr; the answer names those that it cannot serve
(KIP-112). Replicas whose disk is back answer without an error and count as online again.
"""

import logging

from barnabas.controller.active.broker_changes import BrokerChanges
from barnabas.controller.active.reign import Reign
from barnabas.model.control import ControlReply, LeaderAndIsrCommand
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp, NoNodeError
from barnabas.zk.znodes import LogDirEventNode

_log = logging.getLogger(__name__)


class LogDirFailures:
    """The part of the controller that follows failing disks."""

    def __init__(self, reign: Reign, brokers: BrokerChanges) -> None:
        self._reign = reign
        self._brokers = brokers

    async def on_notifications(self) -> None:
        watch = self._reign.watch("log dir events", self.on_notifications)
        tree = self._reign.tree
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
        await self._reign.fenced.delete_all(ops)

    def on_replies(
        self, broker_id: BrokerId, command: LeaderAndIsrCommand, reply: ControlReply
    ) -> None:
        """Look for failed replicas in the answer to any LeaderAndIsr."""
        if reply.error is not ErrorCode.NONE:
            return
        context = self._reign.context
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
            context = self._reign.context
            lost = [
                (tp, broker_id)
                for tp in failed
                if context.knows(tp) and (tp, broker_id) not in context.failed_replicas
            ]
            back = [(tp, broker_id) for tp in recovered if context.knows(tp)]
            context.failed_replicas.update(lost)
            context.failed_replicas.difference_update(back)
            if lost:
                _log.warning("broker %d cannot serve %d partitions", broker_id, len(lost))
                await self._brokers.replicas_went_offline(lost)
            if back:
                await self._brokers.replicas_came_online(back)

        self._reign.submit(f"log dirs of {broker_id} {failed} {recovered}", settle)

    def _ask(self, brokers: set[BrokerId]) -> None:
        context = self._reign.context
        for tp, broker_id in context.replicas_on(brokers & context.brokers.keys()):
            if tp in context.leadership:
                self._reign.batch.leader_and_isr([broker_id], tp)
        self._reign.flush()
