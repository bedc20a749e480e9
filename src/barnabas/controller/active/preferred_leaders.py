"""Runs requested elections (preferred, unclean) and the periodic preferred leader rebalance."""

import logging
from collections.abc import Collection, Iterable

from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.machines.election import ElectionKind, leader_imbalances
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp, NoNodeError
from barnabas.zk.znodes import PartitionListNode

_log = logging.getLogger(__name__)


class PreferredLeaders:
    """Runs elections that an operator or the periodic rebalance requests."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def elect(
        self, kind: ElectionKind, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ErrorCode]:
        """Run elections and return an error code per partition; None selects all that need one."""
        context = self._epoch_state.context
        everything = partitions is None
        wanted = list(context.partitions()) if partitions is None else list(partitions)
        codes = {tp: self._precondition(tp, kind) for tp in wanted}
        eligible = [tp for tp, code in codes.items() if code is ErrorCode.NONE]
        codes |= await self._leaderships.elect(eligible, kind)
        self._epoch_state.flush()
        if everything:
            return {tp: c for tp, c in codes.items() if c is not ErrorCode.ELECTION_NOT_NEEDED}
        return codes

    async def rebalance(self) -> None:
        """Move leadership back to brokers whose leader imbalance exceeds the configured limit."""
        context = self._epoch_state.context
        leaders = {
            tp: (context.assignment(tp).replicas[0], context.leadership[tp].leader)
            for tp in context.leadership
            if not context.is_being_deleted(tp) and not context.assignment(tp).is_reassigning
        }
        limit = self._epoch_state.config.leader_imbalance_per_broker_percentage
        for broker_id, imbalance in leader_imbalances(leaders).items():
            if broker_id in context.brokers and imbalance.percentage > limit:
                movable = self._movable(imbalance.away)
                _log.info("moving %d leaders back to broker %d", len(movable), broker_id)
                await self._leaderships.elect(movable, ElectionKind.PREFERRED)
        self._epoch_state.flush()

    async def on_request_node(self) -> None:
        """Process /admin/preferred_replica_election, which older tools write."""
        watch = self._epoch_state.watch("preferred election", self.on_request_node)
        tree, path = self._epoch_state.tree, paths.PREFERRED_REPLICA_ELECTION
        if await tree.exists(path, watch) is None:
            return
        try:
            data, stat = await tree.get(path)
        except NoNodeError:
            return
        await self.elect(ElectionKind.PREFERRED, PartitionListNode.decode(data).partitions)
        await self._epoch_state.fenced.delete_all([DeleteOp(path, stat.version)])

    def _movable(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        context = self._epoch_state.context
        return [
            tp
            for tp in partitions
            if context.assignment(tp).replicas[0] in context.leadership[tp].isr
            and context.is_online(tp, context.assignment(tp).replicas[0])
        ]

    def _precondition(self, topic_partition: TopicPartition, kind: ElectionKind) -> ErrorCode:
        context = self._epoch_state.context
        if not context.knows(topic_partition) or context.is_being_deleted(topic_partition):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_partition not in context.leadership:
            return ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        leader = context.leadership[topic_partition].leader
        if kind is ElectionKind.PREFERRED:
            done = leader == context.assignment(topic_partition).replicas[0]
        else:
            done = context.is_online(topic_partition, leader)
        return ErrorCode.ELECTION_NOT_NEEDED if done else ErrorCode.NONE
