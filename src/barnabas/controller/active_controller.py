"""The reigning controller: its parts put together, and the order in which a reign begins.

On taking over: watch first, then read (so that nothing that happens in between is missed), then
tell all brokers who is alive and who leads, and only then change anything. Every step can be
repeated, which is also how an ambiguous write is recovered from.
"""

import logging
from collections.abc import Iterable

from barnabas.controller.broker_changes import BrokerChanges
from barnabas.controller.channels import Command
from barnabas.controller.leaderships import Leaderships
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.controller.preferred_leaders import PreferredLeaders
from barnabas.controller.reign import Reign
from barnabas.controller.topic_changes import TopicChanges
from barnabas.controller.topic_deletion import TopicDeletion
from barnabas.model.control import ControlReply, StopReplicaCommand
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp

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
        reign.listen_to_replies(self._on_reply)

    async def begin(self) -> None:
        """Take over, or, with an existing reign, start again from what the tree says."""
        reign = self._reign
        await self._clear_notifications((paths.ISR_CHANGES, paths.LOG_DIR_EVENTS))
        await self.brokers.load()
        await self.topics.load()
        context = reign.context
        context.leadership.update(await reign.states.read(context.partitions()))
        reign.batch.update_metadata(context.partitions())
        reign.flush()
        self._start_states()
        await self.brokers.replicas_came_online(context.replicas_on(context.brokers))
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

    async def _clear_notifications(self, roots: Iterable[str]) -> None:
        """Notifications from before: all state is read afresh anyway."""
        for root in roots:
            names = await self._reign.tree.children(root)
            if names:
                await self._reign.fenced.delete_all([DeleteOp(f"{root}/{n}") for n in names])

    def _on_reply(self, broker_id: BrokerId, command: Command, reply: ControlReply) -> None:
        if reply.error is not ErrorCode.NONE:
            name = type(command).__name__
            _log.warning("broker %d refused a %s: %s", broker_id, name, reply.error.name)
        if isinstance(command, StopReplicaCommand):
            self.deletion.on_replies(broker_id, command, reply)
