"""The reigning controller: its parts put together, and the order in which a reign begins.

On taking over: watch first, then read (so that nothing that happens in between is missed), then
tell all brokers who is alive and who leads, and only then change anything. Every step can be
repeated, which is also how an ambiguous write is recovered from.
"""

import logging

from barnabas.controller.active.broker_changes import BrokerChanges
from barnabas.controller.active.controlled_shutdown import ControlledShutdown
from barnabas.controller.active.isr_changes import IsrChanges
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.active.log_dir_failures import LogDirFailures
from barnabas.controller.active.preferred_leaders import PreferredLeaders
from barnabas.controller.active.reassignments import Reassignments
from barnabas.controller.active.reign import Reign
from barnabas.controller.active.topic_changes import TopicChanges
from barnabas.controller.active.topic_deletion import TopicDeletion
from barnabas.controller.channels import Command
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.control import ControlReply, LeaderAndIsrCommand, StopReplicaCommand
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition

_log = logging.getLogger(__name__)


class ActiveController:
    """The parts of a controller during one reign."""

    def __init__(self, reign: Reign) -> None:
        self._reign = reign
        self.leaderships = Leaderships(reign)
        self.deletion = TopicDeletion(reign)
        self.brokers = BrokerChanges(reign, self.leaderships, self.deletion)
        self.topics = TopicChanges(reign, self.leaderships)
        self.preferred = PreferredLeaders(reign, self.leaderships)
        self.reassignments = Reassignments(reign, self.leaderships)
        self.isr = IsrChanges(reign, self.reassignments.on_isr_changed)
        self.shutdown = ControlledShutdown(reign, self.leaderships)
        self.log_dirs = LogDirFailures(reign, self.brokers)
        reign.listen_to_replies(self._on_reply)

    async def begin(self) -> None:
        """Take over, or, with an existing reign, start again from what the tree says."""
        reign = self._reign
        await self.brokers.load()
        await self.topics.load()
        context = reign.context
        context.leadership.update(await reign.states.read(context.partitions()))
        reign.batch.full_metadata(context.brokers)
        reign.flush()
        self._start_states()
        await self.leaderships.begin_anew(self._returned_unseen())
        await self.brokers.replicas_came_online(context.replicas_on(context.brokers))
        await self._resume_what_was_asked_for()

    async def _resume_what_was_asked_for(self) -> None:
        """What waits in the tree; each of these also leaves the watch for the next request."""
        await self.isr.on_notifications()
        await self.log_dirs.on_notifications()
        await self.reassignments.resume()
        await self.reassignments.on_request_node()
        await self.deletion.on_marks_changed()
        await self.preferred.on_request_node()

    def end(self) -> None:
        self._reign.end()

    def _start_states(self) -> None:
        context = self._reign.context
        for tp in context.partitions():
            led = context.has_online_leader(tp)
            known = PartitionStatus.ONLINE if led else PartitionStatus.OFFLINE
            status = known if tp in context.leadership else PartitionStatus.NEW
            context.start_partition(tp, status)
            for broker_id in context.assignment(tp).replicas:
                online = context.is_online(tp, broker_id)
                found = ReplicaStatus.ONLINE if online else ReplicaStatus.OFFLINE
                context.start_replica((tp, broker_id), found)

    def _returned_unseen(self) -> dict[TopicPartition, set[BrokerId]]:
        """Members whose registration is younger than the state that calls them in sync.

        They restarted while nobody reigned, perhaps without the end of their logs. Leading again
        in the same epoch, such a broker could put other records where its followers have those it
        lost, and no epoch would tell them apart. A lone replica has nobody to disagree with.
        """
        context, changed_at = self._reign.context, self._reign.states.changed_at
        returned: dict[TopicPartition, set[BrokerId]] = {}
        for tp, leadership in context.leadership.items():
            if len(context.assignment(tp).replicas) == 1 or context.is_being_deleted(tp):
                continue
            for member in leadership.isr:
                broker = context.brokers.get(member)
                if broker is not None and broker.broker_epoch > changed_at[tp]:
                    returned.setdefault(tp, set()).add(member)
        return returned

    def _on_reply(self, broker_id: BrokerId, command: Command, reply: ControlReply) -> None:
        if reply.error is not ErrorCode.NONE:
            name = type(command).__name__
            _log.warning("broker %d refused a %s: %s", broker_id, name, reply.error.name)
        if isinstance(command, StopReplicaCommand):
            self.deletion.on_replies(broker_id, command, reply)
        elif isinstance(command, LeaderAndIsrCommand):
            self.log_dirs.on_replies(broker_id, command, reply)
