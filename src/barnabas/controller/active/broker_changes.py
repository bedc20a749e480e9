"""Brokers that come, go, come back, or change their addresses.

An incarnation of a broker is its registration's creation number (broker epoch, KIP-380): the same
id with another number is a broker that died and came back, even if its absence was never seen.
"""

import asyncio
import logging
from collections.abc import Collection

from barnabas.controller.active.context import Replica
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.active.reign import Reign
from barnabas.controller.active.topic_deletion import TopicDeletion
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.control import LiveBroker
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.tree import NoNodeError
from barnabas.zk.znodes import BrokerNode

_log = logging.getLogger(__name__)


class BrokerChanges:
    """The part of the controller that follows broker registrations."""

    def __init__(self, reign: Reign, leaderships: Leaderships, deletion: TopicDeletion) -> None:
        self._reign = reign
        self._leaderships = leaderships
        self._deletion = deletion

    async def load(self) -> None:
        """All live brokers into the context, when a reign begins."""
        self._admit(await self._read_all())

    async def on_children_changed(self) -> None:
        known = self._reign.context.brokers
        current = await self._read_all()
        dead = [b for b in known if b not in current]
        bounced = [
            b for b in known if b in current and current[b].broker_epoch != known[b].broker_epoch
        ]
        added = {b: current[b] for b in current if b not in known or b in bounced}
        await self._on_deaths([*dead, *bounced])
        await self._on_arrivals(added)

    async def on_broker_changed(self, broker_id: BrokerId) -> None:
        """A registration has new data: addresses have changed."""
        context = self._reign.context
        broker = await self._read(broker_id)
        known = context.brokers.get(broker_id)
        if broker is None or known is None or broker == known:
            return
        if broker.broker_epoch == known.broker_epoch:
            context.brokers[broker_id] = broker
            self._reign.batch.update_metadata([])
            self._reign.flush()

    async def _on_arrivals(self, added: dict[BrokerId, LiveBroker]) -> None:
        if not added:
            return
        _log.info("brokers %s are up", sorted(added))
        context, batch = self._reign.context, self._reign.batch
        self._admit(added)
        batch.update_metadata([])
        batch.full_metadata(added)
        await self.replicas_came_online(context.replicas_on(added))
        waiting = {tp.topic for tp, _ in context.replicas_on(added)}
        await self._deletion.resume(waiting & context.blocked_deletions)

    async def replicas_came_online(self, replicas: Collection[Replica]) -> None:
        """Tell replicas their roles, then find leaders for whatever they make possible."""
        context, batch = self._reign.context, self._reign.batch
        for tp, broker_id in replicas:
            if context.is_being_deleted(tp):
                continue
            context.move_replica((tp, broker_id), ReplicaStatus.ONLINE)
            if tp in context.leadership:
                batch.leader_and_isr([broker_id], tp)
        await self._leaderships.bring_online()
        self._reign.flush()

    async def _on_deaths(self, dead: Collection[BrokerId]) -> None:
        if not dead:
            return
        _log.info("brokers %s are gone", sorted(dead))
        context = self._reign.context
        for broker_id in dead:
            del context.brokers[broker_id]
            context.shutting_down.discard(broker_id)
            self._reign.outbox.remove_broker(broker_id)
        lost = context.replicas_on(dead)
        context.failed_replicas -= set(lost)
        await self.replicas_went_offline(lost)

    async def replicas_went_offline(self, lost: Collection[Replica]) -> None:
        """New leaders where the lost replicas led, smaller in-sync sets elsewhere."""
        context = self._reign.context
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
        self._reign.batch.update_metadata(still_leaderless)
        self._reign.flush()

    def _admit(self, brokers: dict[BrokerId, LiveBroker]) -> None:
        for broker_id, broker in brokers.items():
            self._reign.context.brokers[broker_id] = broker
            self._reign.outbox.add_broker(broker_id)

    async def _read_all(self) -> dict[BrokerId, LiveBroker]:
        watch = self._reign.watch("brokers", self.on_children_changed)
        names = await self._reign.tree.children(paths.BROKER_IDS, watch)
        found = await asyncio.gather(*(self._read(BrokerId(int(name))) for name in names))
        return {broker.broker_id: broker for broker in found if broker is not None}

    async def _read(self, broker_id: BrokerId) -> LiveBroker | None:
        async def changed() -> None:
            await self.on_broker_changed(broker_id)

        watch = self._reign.watch(f"broker {broker_id}", changed)
        try:
            data, stat = await self._reign.tree.get(paths.broker(broker_id), watch)
        except NoNodeError:
            return None
        return BrokerNode.decode(data).live(broker_id, stat.czxid)
