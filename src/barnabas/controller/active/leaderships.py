"""Carries out elections and changes of the in-sync set: decide, write, remember, tell brokers.

Decisions are `machines.election`'s. A write that was refused because the state had another version
than the controller knew is decided again from what the tree says, a few times at most (KAFKA-2729
was an endless loop on a stale version).
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Set

from barnabas.controller.active.context import Replica
from barnabas.controller.active.reign import Reign
from barnabas.controller.machines.election import (
    Ballot,
    Elected,
    ElectionKind,
    LeaderAndIsr,
    elect,
    elect_after_absence,
    elect_reassigned,
    first_leadership,
)
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.model.replica_assignment import Replicas
from barnabas.zk import paths
from barnabas.zk.config_znodes import ConfigNode
from barnabas.zk.tree import NoNodeError

_log = logging.getLogger(__name__)

_ATTEMPTS = 5
_Decisions = dict[TopicPartition, LeaderAndIsr]
_Errors = dict[TopicPartition, ErrorCode]


class Leaderships:
    """Commands are left in the reign's batch; the caller flushes."""

    def __init__(self, reign: Reign) -> None:
        self._reign = reign

    async def bring_online(self) -> None:
        """Give every partition that lacks a leader one, as far as possible."""
        context = self._reign.context
        wanted = [tp for tp in context.partitions() if not context.is_being_deleted(tp)]
        by_status: dict[PartitionStatus, list[TopicPartition]] = {}
        for tp in wanted:
            by_status.setdefault(context.partition_status(tp), []).append(tp)
        await self.initialize(by_status.get(PartitionStatus.NEW, ()))
        await self.elect(by_status.get(PartitionStatus.OFFLINE, ()), ElectionKind.OFFLINE)

    async def initialize(self, partitions: Collection[TopicPartition]) -> None:
        """The first leadership of new partitions; those without an online replica stay new."""
        context = self._reign.context
        first: _Decisions = {}
        for tp in partitions:
            replicas = context.assignment(tp).replicas
            leadership = first_leadership(replicas, context.online_replicas(tp))
            if leadership is None:
                _log.warning("%s has no live replica and gets no leader for now", tp)
            else:
                first[tp] = leadership
        if not first:
            return
        written = await self._reign.states.create(first)
        self._went_online(written.done, is_new=True)
        if written.refused:
            await self._take_over(await self._reign.states.read(written.refused))

    async def _take_over(self, found: _Decisions) -> None:
        """States that an earlier controller created before it was replaced."""
        context = self._reign.context
        led = {tp: found[tp] for tp in found if context.is_online(tp, found[tp].leader)}
        self._went_online(led, is_new=True)
        leaderless = [tp for tp in found if tp not in led]
        for tp in leaderless:
            context.leadership[tp] = found[tp]
            context.move_partition(tp, PartitionStatus.OFFLINE)
        await self.elect(leaderless, ElectionKind.OFFLINE)

    async def elect(self, partitions: Collection[TopicPartition], kind: ElectionKind) -> _Errors:
        """Elect leaders; returns why for those partitions that did not get one."""
        if not partitions:
            return {}
        unclean = await self._topics_that_allow_unclean(partitions, kind)
        errors: _Errors = {}

        def decide(tp: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            ballot = self._reign.context.ballot(tp, kind, unclean_allowed=tp.topic in unclean)
            outcome = elect(kind, ballot)
            if outcome is None:
                errors[tp] = _no_leader(kind)
                return None
            errors.pop(tp, None)
            return current.elected(outcome)

        done, conflicts = await self._change(partitions, decide)
        for tp, elected in done.items():
            self._reign.context.trust_again((tp, elected.leader))
        self._went_online(done)
        for tp in conflicts:
            errors[tp] = ErrorCode.INVALID_UPDATE_VERSION
        self._log_failures(errors, kind)
        return errors

    async def begin_anew(self, returned: Mapping[TopicPartition, Set[BrokerId]]) -> None:
        """New epochs for partitions whose named members restarted unseen."""
        context = self._reign.context

        def decide(tp: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            ballot = context.ballot(tp, ElectionKind.OFFLINE, unclean_allowed=False)
            outcome = elect_after_absence(ballot, current.leader, returned[tp])
            return None if outcome is None else current.elected(outcome)

        done, _ = await self._change(list(returned), decide)
        self._went_online(done)

    async def remove_from_isr(self, replicas: Iterable[Replica]) -> None:
        """Replicas went away: take them out of leadership and in-sync sets, move to OFFLINE."""
        by_broker: dict[BrokerId, list[TopicPartition]] = {}
        for tp, broker_id in replicas:
            by_broker.setdefault(broker_id, []).append(tp)
            self._reign.context.move_replica((tp, broker_id), ReplicaStatus.OFFLINE)
        for broker_id, partitions in by_broker.items():
            await self._remove_broker(broker_id, partitions)

    async def confine(self, partition: TopicPartition, keep: Replicas) -> bool:
        """Leadership within these replicas only, in a new epoch; False when none can lead."""
        online = self._reign.context.online_replicas(partition)

        def decide(tp: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            isr = tuple(r for r in current.isr if r in keep)
            if current.leader in online and current.leader in keep:
                return current.elected(Elected(current.leader, isr))
            outcome = elect_reassigned(Ballot(keep, isr, online))
            return None if outcome is None else current.elected(outcome)

        done, _ = await self._change([partition], decide)
        for tp in done:
            self._reign.context.move_partition(tp, PartitionStatus.ONLINE)
        return bool(done)

    async def _remove_broker(self, broker_id: BrokerId, partitions: list[TopicPartition]) -> None:
        context = self._reign.context

        def decide(tp: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            if broker_id not in current.isr or context.is_being_deleted(tp):
                return None
            changed = current.without(broker_id)
            same = changed.isr == current.isr and changed.leader == current.leader
            return None if same else changed

        done, _ = await self._change(partitions, decide)
        for tp in done:
            others = context.online_replicas(tp) - {broker_id}
            self._reign.batch.leader_and_isr(others, tp)

    async def _change(
        self,
        partitions: Collection[TopicPartition],
        decide: Callable[[TopicPartition, LeaderAndIsr], LeaderAndIsr | None],
    ) -> tuple[_Decisions, list[TopicPartition]]:
        """Write decisions conditionally, again from what the tree says where it refuses."""
        context, states = self._reign.context, self._reign.states
        pending = [tp for tp in partitions if tp in context.leadership]
        done: _Decisions = {}
        for _ in range(_ATTEMPTS):
            decisions = {tp: decide(tp, context.leadership[tp]) for tp in pending}
            written = await states.update({tp: new for tp, new in decisions.items() if new})
            context.leadership.update(written.done)
            done |= written.done
            if not written.refused:
                return done, []
            fresh = await states.read(written.refused)
            context.leadership.update(fresh)
            pending = list(fresh)
        return done, pending

    def _went_online(
        self, leaderships: Mapping[TopicPartition, LeaderAndIsr], *, is_new: bool = False
    ) -> None:
        context, batch = self._reign.context, self._reign.batch
        for tp, leadership in leaderships.items():
            context.leadership[tp] = leadership
            context.move_partition(tp, PartitionStatus.ONLINE)
            batch.leader_and_isr(context.online_replicas(tp), tp, is_new=is_new)

    async def _topics_that_allow_unclean(
        self, partitions: Collection[TopicPartition], kind: ElectionKind
    ) -> set[str]:
        """Looked up only for topics that have no in-sync replica left to elect."""
        if kind is not ElectionKind.OFFLINE:
            return set()
        context = self._reign.context
        stuck = {
            tp.topic
            for tp in partitions
            if tp in context.leadership
            and not context.online_replicas(tp) & set(context.leadership[tp].isr)
        }
        return {topic for topic in stuck if await self._allows_unclean(topic)}

    async def _allows_unclean(self, topic: str) -> bool:
        default = self._reign.config.unclean_leader_election_enable
        try:
            data, _ = await self._reign.tree.get(paths.config("topics", topic))
        except NoNodeError:
            return default
        value = ConfigNode.decode(data).values.get("unclean.leader.election.enable")
        return default if value is None else value.strip().lower() == "true"

    def _log_failures(self, errors: _Errors, kind: ElectionKind) -> None:
        if errors:
            named = ", ".join(str(tp) for tp in sorted(errors)[:10])
            _log.warning("no leader for %d partitions (%s): %s", len(errors), kind.value, named)


def _no_leader(kind: ElectionKind) -> ErrorCode:
    if kind is ElectionKind.PREFERRED:
        return ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    return ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
