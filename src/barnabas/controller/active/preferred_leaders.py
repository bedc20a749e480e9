"""Elections that somebody asks for: preferred and unclean ones by request, and the regular return
of leaders to their preferred brokers.
"""

import logging
from collections.abc import Collection, Iterable

from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.active.reign import Reign
from barnabas.controller.machines.election import ElectionKind
from barnabas.controller.machines.imbalance import leader_drift
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp, NoNodeError
from barnabas.zk.znodes import PartitionListNode

_log = logging.getLogger(__name__)


class PreferredLeaders:
    """The part of the controller that holds elections by request."""

    def __init__(self, reign: Reign, leaderships: Leaderships) -> None:
        self._reign = reign
        self._leaderships = leaderships

    async def elect(
        self, kind: ElectionKind, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ErrorCode]:
        """Elect where it is needed; a code for each partition. None means all that need it."""
        context = self._reign.context
        everything = partitions is None
        wanted = list(context.partitions()) if partitions is None else list(partitions)
        codes = {tp: self._precondition(tp, kind) for tp in wanted}
        eligible = [tp for tp, code in codes.items() if code is ErrorCode.NONE]
        codes |= await self._leaderships.elect(eligible, kind)
        self._reign.flush()
        if everything:
            return {tp: c for tp, c in codes.items() if c is not ErrorCode.ELECTION_NOT_NEEDED}
        return codes

    async def rebalance(self) -> None:
        """Move leaders back to brokers that have lost more than the allowed share of them."""
        context = self._reign.context
        leaders = {
            tp: (context.assignment(tp).replicas[0], context.leadership[tp].leader)
            for tp in context.leadership
            if not context.is_being_deleted(tp) and not context.assignment(tp).is_reassigning
        }
        limit = self._reign.config.leader_imbalance_per_broker_percentage
        for broker_id, drift in leader_drift(leaders).items():
            if broker_id in context.brokers and drift.percentage > limit:
                movable = self._movable(drift.away)
                _log.info("moving %d leaders back to broker %d", len(movable), broker_id)
                await self._leaderships.elect(movable, ElectionKind.PREFERRED)
        self._reign.flush()

    async def on_request_node(self) -> None:
        """/admin/preferred_replica_election: how older tools ask."""
        watch = self._reign.watch("preferred election", self.on_request_node)
        tree, path = self._reign.tree, paths.PREFERRED_REPLICA_ELECTION
        if await tree.exists(path, watch) is None:
            return
        try:
            data, stat = await tree.get(path)
        except NoNodeError:
            return
        await self.elect(ElectionKind.PREFERRED, PartitionListNode.decode(data).partitions)
        await self._reign.fenced.delete_all([DeleteOp(path, stat.version)])

    def _movable(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        context = self._reign.context
        return [
            tp
            for tp in partitions
            if context.assignment(tp).replicas[0] in context.leadership[tp].isr
            and context.is_online(tp, context.assignment(tp).replicas[0])
        ]

    def _precondition(self, tp: TopicPartition, kind: ElectionKind) -> ErrorCode:
        context = self._reign.context
        if not context.knows(tp) or context.is_being_deleted(tp):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if tp not in context.leadership:
            return ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        leader = context.leadership[tp].leader
        if kind is ElectionKind.PREFERRED:
            done = leader == context.assignment(tp).replicas[0]
        else:
            done = context.is_online(tp, leader)
        return ErrorCode.ELECTION_NOT_NEEDED if done else ErrorCode.NONE
