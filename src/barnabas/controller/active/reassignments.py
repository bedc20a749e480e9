"""Moves partitions to other brokers, step by step (KIP-455).

What is under way is recorded in the topic nodes (`adding`, `removing`), so a new controller
carries on. A move advances when it is asked for, whenever an in-sync set changes, and when a reign
begins.
"""

import logging
from collections.abc import Collection, Mapping

from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.active.reign import Reign
from barnabas.controller.machines.reassignment import (
    abandoned,
    is_complete,
    reassign,
    target_problem,
)
from barnabas.controller.machines.states import ReplicaStatus
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.model.replica_assignment import ReplicaAssignment, Replicas
from barnabas.zk import paths
from barnabas.zk.tree import BadVersionError, DeleteOp, MultiError, NoNodeError, SetOp, Stat
from barnabas.zk.znodes import ReassignPartitionsNode, TopicNode

_log = logging.getLogger(__name__)


class Reassignments:
    """The part of the controller that changes assignments."""

    def __init__(self, reign: Reign, leaderships: Leaderships) -> None:
        self._reign = reign
        self._leaderships = leaderships

    async def alter(
        self, targets: Mapping[TopicPartition, Replicas | None]
    ) -> dict[TopicPartition, ErrorCode]:
        """Start, replace or (None) cancel moves; a code for each partition."""
        return {tp: await self._alter_one(tp, target) for tp, target in targets.items()}

    def under_way(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ReplicaAssignment]:
        context = self._reign.context
        moving = {tp: context.assignment(tp) for tp in context.reassigning()}
        return {tp: a for tp, a in moving.items() if partitions is None or tp in partitions}

    async def resume(self) -> None:
        """Carry on with what an earlier controller has begun."""
        context = self._reign.context
        for tp in context.reassigning():
            if tp in context.leadership:
                await self._advance(tp, ())

    async def on_isr_changed(self, partitions: Collection[TopicPartition]) -> None:
        context = self._reign.context
        for tp in partitions:
            if context.assignment(tp).is_reassigning and is_complete(
                context.assignment(tp), context.leadership[tp].isr
            ):
                await self._advance(tp, ())

    async def on_request_node(self) -> None:
        """/admin/reassign_partitions: how older tools ask."""
        watch = self._reign.watch("reassignment request", self.on_request_node)
        tree, path = self._reign.tree, paths.REASSIGN_PARTITIONS
        if await tree.exists(path, watch) is None:
            return
        try:
            data, stat = await tree.get(path)
        except NoNodeError:
            return
        codes = await self.alter(dict(ReassignPartitionsNode.decode(data).partitions))
        refused = {str(tp): c.name for tp, c in codes.items() if c is not ErrorCode.NONE}
        if refused:
            _log.warning("reassignments that were asked for in the tree are refused: %s", refused)
        await self._reign.fenced.delete_all([DeleteOp(path, stat.version)])

    async def _alter_one(self, tp: TopicPartition, target: Replicas | None) -> ErrorCode:
        context = self._reign.context
        if not context.knows(tp) or context.is_being_deleted(tp):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if tp not in context.leadership:
            return ErrorCode.LEADER_NOT_AVAILABLE
        current = context.assignment(tp)
        if target is None:
            if not current.is_reassigning:
                return ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
            target = current.origin
        problem = target_problem(current, target, context.brokers.keys())
        if problem is not None:
            return problem[0]
        following = reassign(current, target)
        if not set(following.replicas) & set(context.leadership[tp].isr):
            return ErrorCode.INVALID_REPLICA_ASSIGNMENT  # nobody in sync would be left
        context.assignments[tp.topic][tp.partition] = following
        await self._write_topic(tp.topic)
        await self._advance(tp, abandoned(current, following))
        return ErrorCode.NONE

    async def _advance(self, tp: TopicPartition, dropped: Replicas) -> None:
        """Finish the move if all targets are in sync, otherwise tell everybody to work on it."""
        context = self._reign.context
        assignment = context.assignment(tp)
        newcomers = self._admit_newcomers(tp, assignment)
        finished = is_complete(assignment, context.leadership[tp].isr)
        keep = assignment.target if finished else assignment.replicas
        if not await self._leaderships.confine(tp, keep):
            return
        if finished:
            dropped += assignment.removing
            context.assignments[tp.topic][tp.partition] = ReplicaAssignment(keep)
        self._tell(tp, newcomers, dropped)
        if finished and assignment.is_reassigning:
            await self._write_topic(tp.topic)
            _log.info("%s is now on brokers %s", tp, list(keep))

    def _admit_newcomers(self, tp: TopicPartition, assignment: ReplicaAssignment) -> set[BrokerId]:
        context = self._reign.context
        online = context.online_replicas(tp)
        newcomers = {
            broker_id
            for broker_id in assignment.replicas
            if context.replica_status((tp, broker_id)) is ReplicaStatus.NON_EXISTENT
        }
        for broker_id in newcomers:
            status = ReplicaStatus.ONLINE if broker_id in online else ReplicaStatus.OFFLINE
            context.move_replica((tp, broker_id), ReplicaStatus.NEW)
            context.move_replica((tp, broker_id), status)
        return newcomers

    def _tell(self, tp: TopicPartition, newcomers: set[BrokerId], dropped: Replicas) -> None:
        context, batch = self._reign.context, self._reign.batch
        online = context.online_replicas(tp)
        batch.leader_and_isr(online - newcomers, tp)
        batch.leader_and_isr(online & newcomers, tp, is_new=True)
        for broker_id in dropped:
            batch.stop_replica(broker_id, tp, delete=True)
            context.forget_replica((tp, broker_id))
        self._reign.flush()

    async def _write_topic(self, topic: str) -> None:
        """The assignments into the topic node, beside partitions that were added meanwhile.

        Those are not in the context yet: the watch on the node brings them in their turn.
        """
        context = self._reign.context
        path = paths.topic(topic)
        added: dict[int, ReplicaAssignment] = {}
        while True:
            partitions = {**added, **context.assignments[topic]}
            data = TopicNode(context.topic_ids[topic], partitions).encode()
            try:
                (stat,) = await self._reign.fenced.multi(
                    [SetOp(path, data, context.topic_versions[topic])]
                )
            except MultiError as error:
                if not isinstance(error.cause, BadVersionError):
                    raise error.cause from error
                found, stat = await self._reign.tree.get(path)
                added = dict(TopicNode.decode(found).partitions)
                context.topic_versions[topic] = stat.version
            else:
                assert isinstance(stat, Stat)
                context.topic_versions[topic] = stat.version
                return
