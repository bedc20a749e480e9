"""Reacts to brokers that join, fail, restart, stop, change their addresses, or lose a disk.

The broker epoch (KIP-380) identifies an incarnation of a broker. The same broker id with another
epoch means that the broker restarted, even if the controller never saw it missing.
"""

import asyncio
import logging
from collections.abc import Collection
from functools import partial

from barnabas.controller.active.context import Replica
from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.isr_changes import check_broker_epoch
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.active.topic_changes import TopicDeletion
from barnabas.controller.machines.leader_election import ElectionKind
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.control import ControlReply, LeaderAndIsrCommand, LiveBroker
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp
from barnabas.zk.znodes import BrokerNode, LogDirEventNode

_log = logging.getLogger(__name__)


class BrokerChanges:
    """Watches broker registrations and updates leadership when they change."""

    def __init__(
        self, epoch_state: ControllerEpochState, leaderships: Leaderships, deletion: TopicDeletion
    ) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships
        self._deletion = deletion

    async def load(self) -> None:
        """Loads all live brokers into the context at the start of an epoch."""
        self._admit(await self._read_all())

    async def on_children_changed(self) -> None:
        known = self._epoch_state.context.brokers
        current = await self._read_all()
        dead = [b for b in known if b not in current]
        # A broker that restarted between two reads is present in both, with a new registration. Its
        # replicas must go offline first, so that they leave their ISRs and get their roles again
        # (KIP-380).
        bounced = [
            b for b in known if b in current and current[b].broker_epoch != known[b].broker_epoch
        ]
        added = {b: current[b] for b in current if b not in known or b in bounced}
        # Deaths before arrivals: a restarted broker is in both lists.
        await self._on_deaths([*dead, *bounced])
        await self._on_arrivals(added)

    async def on_broker_changed(self, broker_id: BrokerId) -> None:
        """Updates the addresses of a broker whose registration has new data."""
        context = self._epoch_state.context
        broker = await self._read(broker_id)
        known = context.brokers.get(broker_id)
        if broker is None or known is None or broker == known:
            return
        if broker.broker_epoch == known.broker_epoch:
            context.brokers[broker_id] = broker
            self._epoch_state.batch.update_metadata([])
            self._epoch_state.flush()

    async def _on_arrivals(self, added: dict[BrokerId, LiveBroker]) -> None:
        if not added:
            return
        _log.info("brokers %s joined", sorted(added))
        context, batch = self._epoch_state.context, self._epoch_state.batch
        self._admit(added)
        # All brokers get the new list of live brokers; the added ones also get every partition.
        batch.update_metadata([])
        await batch.full_metadata(added)
        await self.replicas_came_online(context.replicas_on(added))
        waiting = {topic_partition.topic for topic_partition, _ in context.replicas_on(added)}
        await self._deletion.resume(waiting & context.blocked_deletions)

    async def replicas_came_online(self, replicas: Collection[Replica]) -> None:
        """Sends replicas their roles, then elects leaders where a candidate exists now."""
        context, batch = self._epoch_state.context, self._epoch_state.batch
        async for topic_partition, broker_id in in_slices(replicas):
            if context.is_being_deleted(topic_partition):
                continue
            context.move_replica((topic_partition, broker_id), ReplicaStatus.ONLINE)
            if topic_partition in context.leadership:
                batch.leader_and_isr([broker_id], topic_partition)
        await self._leaderships.bring_online()
        self._epoch_state.flush()

    async def _on_deaths(self, dead: Collection[BrokerId]) -> None:
        if not dead:
            return
        _log.info("brokers %s failed or left", sorted(dead))
        context = self._epoch_state.context
        for broker_id in dead:
            del context.brokers[broker_id]
            context.shutting_down.discard(broker_id)
            # Commands that wait for the dead broker are dropped; a restarted one gets its roles
            # again in full.
            self._epoch_state.outbox.remove_broker(broker_id)
        lost = context.replicas_on(dead)
        # A restart may have repaired the disk. The first LeaderAndIsr after it shows which replicas
        # still fail.
        context.failed_replicas -= set(lost)
        await self.replicas_went_offline(lost)

    async def replicas_went_offline(self, lost: Collection[Replica]) -> None:
        """Elects new leaders where lost replicas led; removes lost replicas from the other ISRs."""
        context = self._epoch_state.context
        leaderless: list[TopicPartition] = []
        async for topic_partition in in_slices({topic_partition for topic_partition, _ in lost}):
            if (
                context.partition_status(topic_partition) is PartitionStatus.ONLINE
                and not context.has_online_leader(topic_partition)
                and not context.is_being_deleted(topic_partition)
            ):
                context.move_partition(topic_partition, PartitionStatus.OFFLINE)
                leaderless.append(topic_partition)
        # Elections before ISR changes: partitions without a leader are unavailable, the others only
        # have a lagging member.
        await self._leaderships.bring_online()
        self._deletion.brokers_died(lost)
        await self._leaderships.remove_from_isr(
            (topic_partition, broker_id)
            for topic_partition, broker_id in lost
            if not context.is_being_deleted(topic_partition)
        )
        self._epoch_state.batch.update_metadata([])  # the list of live brokers has changed
        async for topic_partition in in_slices(leaderless):
            if not context.has_online_leader(topic_partition):
                self._epoch_state.batch.update_metadata([topic_partition])
        self._epoch_state.flush()

    def _admit(self, brokers: dict[BrokerId, LiveBroker]) -> None:
        for broker_id, broker in brokers.items():
            self._epoch_state.context.brokers[broker_id] = broker
            self._epoch_state.outbox.add_broker(broker_id)

    async def _read_all(self) -> dict[BrokerId, LiveBroker]:
        # The watch is set by the read itself, so a change between this read and the next event
        # cannot be missed. The same holds for every read with a watch here.
        watch = self._epoch_state.watch("brokers", self.on_children_changed)
        names = await self._epoch_state.tree.children(paths.BROKER_IDS, watch)
        found = await asyncio.gather(*(self._read(BrokerId(int(name))) for name in names))
        return {broker.broker_id: broker for broker in found if broker is not None}

    async def _read(self, broker_id: BrokerId) -> LiveBroker | None:
        on_changed = partial(self.on_broker_changed, broker_id)
        node = await self._epoch_state.read_node(
            f"broker {broker_id}", paths.broker(broker_id), on_changed
        )
        if node is None:
            return None
        data, stat = node
        return BrokerNode.decode(data).live(broker_id, stat.czxid)


class ControlledShutdown:
    """Moves leadership away from a broker that shuts down."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def shut_down(self, broker_id: BrokerId, broker_epoch: int) -> list[TopicPartition]:
        """Moves leaderships to other replicas; returns the partitions that the broker still leads.

        Partitions with a single replica stay where they are and do not count.
        """
        check_broker_epoch(self._epoch_state, broker_id, broker_epoch)
        context = self._epoch_state.context
        # Before the elections, so that they do not choose this broker again.
        context.shutting_down.add(broker_id)
        replicated = [
            topic_partition
            for topic_partition, _ in context.replicas_on([broker_id])
            if len(context.assignment(topic_partition).replicas) > 1
            and topic_partition in context.leadership
            and not context.is_being_deleted(topic_partition)
        ]
        led = [
            topic_partition
            for topic_partition in replicated
            if context.leadership[topic_partition].leader == broker_id
        ]
        await self._leaderships.elect(led, ElectionKind.CONTROLLED_SHUTDOWN)
        remaining = [
            topic_partition
            for topic_partition in led
            if context.leadership[topic_partition].leader == broker_id
        ]
        kept = set(remaining)
        followed = [
            topic_partition for topic_partition in replicated if topic_partition not in kept
        ]
        # Stopped first: a replica that continues to fetch would join the ISR again.
        async for topic_partition in in_slices(followed):
            self._epoch_state.batch.stop_replica(broker_id, topic_partition, delete=False)
        await self._leaderships.remove_from_isr(
            (topic_partition, broker_id) for topic_partition in followed
        )
        self._epoch_state.flush()
        _log.info("broker %d shuts down, still leads %d partitions", broker_id, len(remaining))
        return remaining


class LogDirFailures:
    """Tracks replicas on failed disks.

    A broker announces a failed directory below /log_dir_event_notification. The controller then
    sends it a LeaderAndIsr for all its partitions; the response contains KAFKA_STORAGE_ERROR for
    those it cannot serve. A replica without an error in a later response is online again.
    """

    def __init__(self, epoch_state: ControllerEpochState, brokers: BrokerChanges) -> None:
        self._epoch_state = epoch_state
        self._brokers = brokers

    async def on_notifications(self) -> None:
        events = await self._epoch_state.read_notifications(
            "log dir events", paths.LOG_DIR_EVENTS, self.on_notifications
        )
        await self._send_states(
            {LogDirEventNode.decode(data).broker_id for data in events.values()}
        )
        # Deleted last: if this controller fails before, its successor reads the events again.
        await self._epoch_state.fenced.delete_all([DeleteOp(path) for path in events])

    def on_replies(
        self, broker_id: BrokerId, command: LeaderAndIsrCommand, reply: ControlReply
    ) -> None:
        """Finds failed and recovered replicas in a LeaderAndIsr response."""
        # The broker rejected the whole command, so the response says nothing about its replicas.
        if reply.error is not ErrorCode.NONE:
            return
        context = self._epoch_state.context
        failed = [
            topic_partition
            for topic_partition, code in reply.partitions.items()
            if code is ErrorCode.KAFKA_STORAGE_ERROR
        ]
        recovered = []
        if context.failed_replicas:
            still_failed = set(failed)
            recovered = [
                state.topic_partition
                for state in command.partitions
                if (state.topic_partition, broker_id) in context.failed_replicas
                and state.topic_partition not in still_failed
            ]
        if failed or recovered:
            self._submit(broker_id, failed, recovered)

    def _submit(
        self, broker_id: BrokerId, failed: list[TopicPartition], recovered: list[TopicPartition]
    ) -> None:
        async def settle() -> None:
            context = self._epoch_state.context
            lost = [
                (topic_partition, broker_id)
                for topic_partition in failed
                if context.knows(topic_partition)
                and (topic_partition, broker_id) not in context.failed_replicas
            ]
            back = [
                (topic_partition, broker_id)
                for topic_partition in recovered
                if context.knows(topic_partition)
            ]
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

    async def _send_states(self, brokers: set[BrokerId]) -> None:
        context = self._epoch_state.context
        replicas = context.replicas_on(brokers & context.brokers.keys())
        async for topic_partition, broker_id in in_slices(replicas):
            if topic_partition in context.leadership:
                self._epoch_state.batch.leader_and_isr([broker_id], topic_partition)
        self._epoch_state.flush()
