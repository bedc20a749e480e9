"""Reassigns partitions to other brokers, step by step (KIP-455).

Reassignments in progress are stored in the topic nodes (`adding`, `removing`), so a new controller
continues them. A reassignment advances when it is requested, when the ISR of its partition
changes, and at the start of a controller epoch.
"""

import logging
from collections.abc import Collection, Mapping

from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.machines.assignment import (
    abandoned,
    is_complete,
    reassign,
    target_problem,
)
from barnabas.controller.machines.states import ReplicaStatus
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, ReplicaAssignment, Replicas, TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.zk import paths
from barnabas.zk.tree import BadVersionError, DeleteOp, MultiError, SetOp, Stat
from barnabas.zk.znodes import ReassignPartitionsNode, TopicNode

_log = logging.getLogger(__name__)


class Reassignments:
    """Starts, continues, cancels and lists reassignments."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def alter(
        self, targets: Mapping[TopicPartition, Replicas | None]
    ) -> dict[TopicPartition, ErrorCode]:
        """Starts, replaces or (None) cancels reassignments; returns an error code per partition."""
        codes: dict[TopicPartition, ErrorCode] = {}
        topics: dict[str, list[TopicPartition]] = {}
        for topic_partition in targets:
            topics.setdefault(topic_partition.topic, []).append(topic_partition)
        for topic, partitions in topics.items():
            planned: dict[TopicPartition, Replicas] = {}
            async for topic_partition in in_slices(partitions):
                outcome = self._plan(topic_partition, targets[topic_partition])
                if isinstance(outcome, ErrorCode):
                    codes[topic_partition] = outcome
                else:
                    codes[topic_partition] = ErrorCode.NONE
                    planned[topic_partition] = outcome
            await self._start(topic, planned)
        return codes

    async def _start(self, topic: str, planned: Mapping[TopicPartition, Replicas]) -> None:
        """Starts planned reassignments of a topic; writes its node once, not for each partition."""
        if planned:
            await self._write_topic(topic)
            # After the targets are in the tree: a new controller must be able to continue, and no
            # broker may get a replica that the tree does not list.
            await self._advance_all(planned)

    def in_progress(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ReplicaAssignment]:
        context = self._epoch_state.context
        moving = {
            topic_partition: context.assignment(topic_partition)
            for topic_partition in context.reassigning()
        }
        return {
            topic_partition: a
            for topic_partition, a in moving.items()
            if partitions is None or topic_partition in partitions
        }

    async def resume(self) -> None:
        """Continues the reassignments that an earlier controller started."""
        context = self._epoch_state.context
        await self._advance_all(
            {
                topic_partition: ()
                for topic_partition in context.reassigning()
                if topic_partition in context.leadership
            }
        )

    async def on_isr_changed(self, partitions: Collection[TopicPartition]) -> None:
        context = self._epoch_state.context
        await self._advance_all(
            {
                topic_partition: ()
                for topic_partition in partitions
                if context.assignment(topic_partition).is_reassigning
                and is_complete(
                    context.assignment(topic_partition), context.leadership[topic_partition].isr
                )
            }
        )

    async def on_request_node(self) -> None:
        """Processes /admin/reassign_partitions, which older tools write."""
        path = paths.REASSIGN_PARTITIONS
        request = await self._epoch_state.read_request(
            "reassignment request", path, self.on_request_node
        )
        if request is None:
            return
        data, stat = request
        codes = await self.alter(dict(ReassignPartitionsNode.decode(data).partitions))
        rejected = {
            str(topic_partition): c.name
            for topic_partition, c in codes.items()
            if c is not ErrorCode.NONE
        }
        if rejected:
            _log.warning("rejected reassignments in %s: %s", path, rejected)
        await self._epoch_state.fenced.delete_all([DeleteOp(path, stat.version)])

    def _plan(
        self, topic_partition: TopicPartition, target: Replicas | None
    ) -> Replicas | ErrorCode:
        """Puts the new assignment into the context; returns the replicas that it abandons."""
        context = self._epoch_state.context
        if not context.knows(topic_partition) or context.is_being_deleted(topic_partition):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_partition not in context.leadership:
            return ErrorCode.LEADER_NOT_AVAILABLE
        current = context.assignment(topic_partition)
        if target is None:
            if not current.is_reassigning:
                return ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
            target = current.origin
        problem = target_problem(current, target, context.brokers.keys())
        if problem is not None:
            return problem[0]
        following = reassign(current, target)
        if not set(following.replicas) & set(context.leadership[topic_partition].isr):
            return ErrorCode.INVALID_REPLICA_ASSIGNMENT  # the ISR would become empty
        context.assignments[topic_partition.topic][topic_partition.partition] = following
        return abandoned(current, following)

    async def _advance_all(self, partitions: Mapping[TopicPartition, Replicas]) -> None:
        """Takes the next step of these reassignments; writes each topic with a finished one once.

        The values are the replicas that a new reassignment abandons.
        """
        finished: dict[str, None] = {}
        async for topic_partition, dropped in in_slices(partitions.items()):
            if await self._advance(topic_partition, dropped):
                finished[topic_partition.topic] = None
        for topic in finished:
            await self._write_topic(topic)

    async def _advance(self, topic_partition: TopicPartition, dropped: Replicas) -> bool:
        """Finishes the reassignment if all targets are in sync; otherwise sends the new roles.

        Returns whether it is finished, so that the topic must be written.
        """
        context = self._epoch_state.context
        assignment = context.assignment(topic_partition)
        added_replicas = self._admit_added_replicas(topic_partition, assignment)
        finished = is_complete(assignment, context.leadership[topic_partition].isr)
        keep = assignment.target if finished else assignment.replicas
        if not await self._leaderships.restrict_leadership(topic_partition, keep):
            return False
        if finished:
            dropped += assignment.removing
            context.assignments[topic_partition.topic][topic_partition.partition] = (
                ReplicaAssignment(keep)
            )
        # After the steps above: leadership is restricted to `keep`, in a new leader epoch, before
        # any replica gets the command to delete its log.
        self._send_commands(topic_partition, added_replicas, dropped)
        if not (finished and assignment.is_reassigning):
            return False
        _log.info("partition %s: reassigned to brokers %s", topic_partition, list(keep))
        return True

    def _admit_added_replicas(
        self, topic_partition: TopicPartition, assignment: ReplicaAssignment
    ) -> set[BrokerId]:
        context = self._epoch_state.context
        online = context.online_replicas(topic_partition)
        added_replicas = {
            broker_id
            for broker_id in assignment.replicas
            if context.replica_status((topic_partition, broker_id)) is ReplicaStatus.NON_EXISTENT
        }
        for broker_id in added_replicas:
            status = ReplicaStatus.ONLINE if broker_id in online else ReplicaStatus.OFFLINE
            context.move_replica((topic_partition, broker_id), ReplicaStatus.NEW)
            context.move_replica((topic_partition, broker_id), status)
        return added_replicas

    def _send_commands(
        self, topic_partition: TopicPartition, added_replicas: set[BrokerId], dropped: Replicas
    ) -> None:
        context, batch = self._epoch_state.context, self._epoch_state.batch
        online = context.online_replicas(topic_partition)
        batch.leader_and_isr(online - added_replicas, topic_partition)
        batch.leader_and_isr(online & added_replicas, topic_partition, is_new=True)
        for broker_id in dropped:
            batch.stop_replica(broker_id, topic_partition, delete=True)
            context.forget_replica((topic_partition, broker_id))
        self._epoch_state.flush()

    async def _write_topic(self, topic: str) -> None:
        """Writes the assignments to the topic node; keeps partitions that were added concurrently.

        Added partitions are not in the context yet; the watch on the node loads them later.
        """
        context = self._epoch_state.context
        path = paths.topic(topic)
        added: dict[int, ReplicaAssignment] = {}
        while True:
            partitions = {**added, **context.assignments[topic]}
            # The write is conditional on the version: CreatePartitions may have changed the node
            # meanwhile, and its partitions must not be lost.
            data = TopicNode(context.topic_ids[topic], partitions).encode()
            try:
                (stat,) = await self._epoch_state.fenced.multi(
                    [SetOp(path, data, context.topic_versions[topic])]
                )
            except MultiError as error:
                if not isinstance(error.cause, BadVersionError):
                    raise error.cause from error
                found, stat = await self._epoch_state.tree.get(path)
                added = dict(TopicNode.decode(found).partitions)
                context.topic_versions[topic] = stat.version
            else:
                assert isinstance(stat, Stat)
                context.topic_versions[topic] = stat.version
                return
