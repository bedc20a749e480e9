"""Composes the parts of the active controller and defines how a controller epoch starts.

On failover the controller first sets watches, then reads the tree (so that no change in between is
missed), then sends live brokers and leaders to all brokers, and only then changes anything. Every
step can be repeated; this is also the recovery from a write with an unknown outcome.
"""

import logging

from barnabas.controller.active.broker_changes import (
    BrokerChanges,
    ControlledShutdown,
    LogDirFailures,
)
from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.isr_changes import IsrChanges
from barnabas.controller.active.leaderships import Leaderships, PreferredLeaders
from barnabas.controller.active.reassignments import Reassignments
from barnabas.controller.active.topic_changes import TopicChanges, TopicDeletion
from barnabas.controller.channels import Command
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.control import ControlReply, LeaderAndIsrCommand, StopReplicaCommand
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.runtime.slices import in_slices

_log = logging.getLogger(__name__)


class ActiveController:
    """The parts of the controller during one controller epoch."""

    def __init__(self, epoch_state: ControllerEpochState) -> None:
        self._epoch_state = epoch_state
        self.leaderships = Leaderships(epoch_state)
        self.deletion = TopicDeletion(epoch_state)
        self.brokers = BrokerChanges(epoch_state, self.leaderships, self.deletion)
        self.topics = TopicChanges(epoch_state, self.leaderships)
        self.preferred = PreferredLeaders(epoch_state, self.leaderships)
        self.reassignments = Reassignments(epoch_state, self.leaderships)
        self.isr = IsrChanges(epoch_state, self.reassignments.on_isr_changed)
        self.shutdown = ControlledShutdown(epoch_state, self.leaderships)
        self.log_dirs = LogDirFailures(epoch_state, self.brokers)
        epoch_state.listen_to_replies(self._on_reply)

    async def begin(self) -> None:
        """Loads the cluster state from the tree and starts; also used to reload within an epoch."""
        epoch_state = self._epoch_state
        await self.brokers.load()
        await self.topics.load()
        context = epoch_state.context
        context.leadership.update(await epoch_state.states.read(context.partitions()))
        # Before any change: brokers learn the new controller epoch with this command and from then
        # on reject commands of the previous controller.
        await epoch_state.batch.full_metadata(context.brokers)
        epoch_state.flush()
        await self._start_states()
        # Before the replicas go online: the commands that follow must carry the new leader epochs.
        await self.leaderships.start_new_epochs(await self._restarted_members())
        await self.brokers.replicas_came_online(context.replicas_on(context.brokers))
        await self._remove_dead_isr_members()
        # Last, because requests in the tree (reassignments, deletions, elections) need partitions
        # that have a leader if they can have one.
        await self._resume_pending_requests()

    async def _remove_dead_isr_members(self) -> None:
        """Removes replicas on dead brokers from the ISRs, as `BrokerChanges` does for later deaths.

        A broker that died together with the previous controller, or was that controller, causes
        no event in this epoch. Its partitions' leaders are not informed of its death either.
        """
        context = self._epoch_state.context
        await self.leaderships.remove_from_isr(
            (topic_partition, member)
            for topic_partition, leadership in list(context.leadership.items())
            for member in leadership.isr
            if not context.is_online(topic_partition, member)
            and not context.is_being_deleted(topic_partition)
        )
        self._epoch_state.flush()

    async def _resume_pending_requests(self) -> None:
        """Processes requests stored in the tree; each call also sets the watch for the next one."""
        await self.isr.on_notifications()
        await self.log_dirs.on_notifications()
        await self.reassignments.resume()
        await self.reassignments.on_request_node()
        await self.deletion.on_marks_changed()
        await self.preferred.on_request_node()

    def end(self) -> None:
        self._epoch_state.end()

    async def _start_states(self) -> None:
        context = self._epoch_state.context
        async for topic_partition in in_slices(list(context.partitions())):
            led = context.has_online_leader(topic_partition)
            known = PartitionStatus.ONLINE if led else PartitionStatus.OFFLINE
            status = known if topic_partition in context.leadership else PartitionStatus.NEW
            context.start_partition(topic_partition, status)
            for broker_id in context.assignment(topic_partition).replicas:
                online = context.is_online(topic_partition, broker_id)
                found = ReplicaStatus.ONLINE if online else ReplicaStatus.OFFLINE
                context.start_replica((topic_partition, broker_id), found)

    async def _restarted_members(self) -> dict[TopicPartition, set[BrokerId]]:
        """Returns ISR members that registered after their partition state was last written.

        They restarted while there was no controller and may have lost the end of their log. If
        such a broker led again in the same leader epoch, it could write other records at offsets
        that its followers already have, and the epoch would not reveal the difference. Partitions
        with a single replica are left out because there is no follower to diverge from.
        """
        context, changed_at = self._epoch_state.context, self._epoch_state.states.changed_at
        returned: dict[TopicPartition, set[BrokerId]] = {}
        async for topic_partition, leadership in in_slices(list(context.leadership.items())):
            if len(context.assignment(topic_partition).replicas) == 1 or context.is_being_deleted(
                topic_partition
            ):
                continue
            for member in leadership.isr:
                broker = context.brokers.get(member)
                if broker is not None and broker.broker_epoch > changed_at[topic_partition]:
                    returned.setdefault(topic_partition, set()).add(member)
        return returned

    def _on_reply(self, broker_id: BrokerId, command: Command, reply: ControlReply) -> None:
        if reply.error is not ErrorCode.NONE:
            name = type(command).__name__
            _log.warning("broker %d rejected %s: %s", broker_id, name, reply.error.name)
        if isinstance(command, StopReplicaCommand):
            self.deletion.on_replies(broker_id, command, reply)
        elif isinstance(command, LeaderAndIsrCommand):
            self.log_dirs.on_replies(broker_id, command, reply)
