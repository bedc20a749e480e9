"""Reacts to brokers that join, fail, restart, or change their addresses.

The broker epoch (KIP-380) identifies an incarnation of a broker. The same broker id with another
epoch means that the broker restarted, even if the controller never saw it missing.
"""

import asyncio
import logging
from collections.abc import Collection

from barnabas.controller.active.context import Replica
from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.active.topic_deletion import TopicDeletion
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.control import LiveBroker
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.tree import NoNodeError
from barnabas.zk.znodes import BrokerNode

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
        """Load all live brokers into the context at the start of an epoch."""
        self._admit(await self._read_all())

    async def on_children_changed(self) -> None:
        known = self._epoch_state.context.brokers
        current = await self._read_all()
        dead = [b for b in known if b not in current]
        bounced = [
            b for b in known if b in current and current[b].broker_epoch != known[b].broker_epoch
        ]
        added = {b: current[b] for b in current if b not in known or b in bounced}
        await self._on_deaths([*dead, *bounced])
        await self._on_arrivals(added)

    async def on_broker_changed(self, broker_id: BrokerId) -> None:
        """Update the addresses of a broker whose registration has new data."""
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
        batch.update_metadata([])
        batch.full_metadata(added)
        await self.replicas_came_online(context.replicas_on(added))
        waiting = {tp.topic for tp, _ in context.replicas_on(added)}
        await self._deletion.resume(waiting & context.blocked_deletions)

    async def replicas_came_online(self, replicas: Collection[Replica]) -> None:
        """Send replicas their roles, then elect leaders where a candidate exists now."""
        context, batch = self._epoch_state.context, self._epoch_state.batch
        for tp, broker_id in replicas:
            if context.is_being_deleted(tp):
                continue
            context.move_replica((tp, broker_id), ReplicaStatus.ONLINE)
            if tp in context.leadership:
                batch.leader_and_isr([broker_id], tp)
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
            self._epoch_state.outbox.remove_broker(broker_id)
        lost = context.replicas_on(dead)
        context.failed_replicas -= set(lost)
        await self.replicas_went_offline(lost)

    async def replicas_went_offline(self, lost: Collection[Replica]) -> None:
        """Elect new leaders where lost replicas led; remove lost replicas from the other ISRs."""
        context = self._epoch_state.context
        leaderless = [
            tp
            for tp in {tp for tp, _ in lost}
            if context.partition_status(tp) is PartitionStatus.ONLINE
            and not context.has_online_leader(tp)
            and not context.is_being_deleted(tp)
        ]
        for tp in leaderless:
            context.move_partition(tp, PartitionStatus.OFFLINE)
        await self._leaderships.bring_online()
        self._deletion.brokers_died(lost)
        await self._leaderships.remove_from_isr(
            (tp, broker_id) for tp, broker_id in lost if not context.is_being_deleted(tp)
        )
        still_leaderless = (tp for tp in leaderless if not context.has_online_leader(tp))
        self._epoch_state.batch.update_metadata(still_leaderless)
        self._epoch_state.flush()

    def _admit(self, brokers: dict[BrokerId, LiveBroker]) -> None:
        for broker_id, broker in brokers.items():
            self._epoch_state.context.brokers[broker_id] = broker
            self._epoch_state.outbox.add_broker(broker_id)

    async def _read_all(self) -> dict[BrokerId, LiveBroker]:
        watch = self._epoch_state.watch("brokers", self.on_children_changed)
        names = await self._epoch_state.tree.children(paths.BROKER_IDS, watch)
        found = await asyncio.gather(*(self._read(BrokerId(int(name))) for name in names))
        return {broker.broker_id: broker for broker in found if broker is not None}

    async def _read(self, broker_id: BrokerId) -> LiveBroker | None:
        async def changed() -> None:
            await self.on_broker_changed(broker_id)

        watch = self._epoch_state.watch(f"broker {broker_id}", changed)
        try:
            data, stat = await self._epoch_state.tree.get(paths.broker(broker_id), watch)
        except NoNodeError:
            return None
        return BrokerNode.decode(data).live(broker_id, stat.czxid)
