"""Runs elections and ISR changes: decide, write to the tree, update the context, add commands.

`machines.leader_election` makes the decisions. If the tree rejects a write because the partition
state has another version, the state is read and decided again, a limited number of times
(KAFKA-2729 was an endless loop on a stale version).
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from time import perf_counter_ns

from barnabas.controller.active.context import Replica
from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.machines.leader_election import (
    Elected,
    ElectionInput,
    ElectionKind,
    LeaderAndIsr,
    elect,
    elect_after_restart,
    elect_reassigned,
    first_leadership,
    leader_imbalances,
)
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, Replicas, TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.zk import paths
from barnabas.zk.config_znodes import ConfigNode
from barnabas.zk.tree import DeleteOp, NoNodeError
from barnabas.zk.znodes import PartitionListNode

_log = logging.getLogger(__name__)
# A leader may change the ISR at the same time; each attempt decides from the new state.
_ATTEMPTS = 5
_Decisions = dict[TopicPartition, LeaderAndIsr]
_Errors = dict[TopicPartition, ErrorCode]


class Leaderships:
    """Changes leadership. Commands are added to the epoch's batch; the caller flushes it."""

    def __init__(self, epoch_state: ControllerEpochState) -> None:
        self._epoch_state = epoch_state

    async def bring_online(self) -> None:
        """Elects a leader for every partition without one, where a candidate exists."""
        context = self._epoch_state.context
        by_status: dict[PartitionStatus, list[TopicPartition]] = {}
        async for topic_partition in in_slices(list(context.partitions())):
            if not context.is_being_deleted(topic_partition):
                status = context.partition_status(topic_partition)
                by_status.setdefault(status, []).append(topic_partition)
        await self.initialize(by_status.get(PartitionStatus.NEW, ()))
        await self.elect(by_status.get(PartitionStatus.OFFLINE, ()), ElectionKind.OFFLINE)

    async def initialize(self, partitions: Collection[TopicPartition]) -> None:
        """Creates the first leadership of new partitions that have an online replica."""
        context = self._epoch_state.context
        first: _Decisions = {}
        async for topic_partition in in_slices(partitions):
            replicas = context.assignment(topic_partition).replicas
            leadership = first_leadership(replicas, context.online_replicas(topic_partition))
            if leadership is None:
                _log.warning(
                    "partition %s has no live replica, so it has no leader", topic_partition
                )
            else:
                first[topic_partition] = leadership
        if not first:
            return
        # The tree first, the brokers second, here and in every change: a leader that the tree does
        # not know could not be fenced by a successor of this controller.
        written = await self._epoch_state.states.create(first)
        await self._went_online(written.done, is_new=True)
        if written.conflicts:
            await self._take_over(await self._epoch_state.states.read(written.conflicts))

    async def _take_over(self, found: _Decisions) -> None:
        """Adopts partition states that an earlier controller created."""
        context = self._epoch_state.context
        led = {
            topic_partition: found[topic_partition]
            for topic_partition in found
            if context.is_online(topic_partition, found[topic_partition].leader)
        }
        await self._went_online(led, is_new=True)
        leaderless = [topic_partition for topic_partition in found if topic_partition not in led]
        for topic_partition in leaderless:
            context.leadership[topic_partition] = found[topic_partition]
            context.move_partition(topic_partition, PartitionStatus.OFFLINE)
        await self.elect(leaderless, ElectionKind.OFFLINE)

    async def elect(self, partitions: Collection[TopicPartition], kind: ElectionKind) -> _Errors:
        """Elects leaders; returns why for those partitions that did not get one."""
        if not partitions:
            return {}
        started_ns = perf_counter_ns()
        unclean = await self._topics_that_allow_unclean(partitions, kind)
        errors: _Errors = {}
        outside_isr: set[TopicPartition] = set()

        def decide(topic_partition: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            election_input = self._epoch_state.context.election_input(
                topic_partition, kind, unclean_allowed=topic_partition.topic in unclean
            )
            outcome = elect(kind, election_input)
            if outcome is None:
                errors[topic_partition] = _no_leader(kind)
                return None
            errors.pop(topic_partition, None)
            if outcome.leader not in current.isr:
                outside_isr.add(topic_partition)
            return current.elected(outcome)

        done, conflicts = await self._change(partitions, decide)
        async for topic_partition, elected in in_slices(done.items()):
            # An unclean election may choose a replica that declined before; it must receive the
            # command.
            self._epoch_state.context.retry_failed_replica((topic_partition, elected.leader))
        await self._went_online(done)
        for topic_partition in conflicts:
            errors[topic_partition] = ErrorCode.INVALID_UPDATE_VERSION
        if done:
            self._epoch_state.stats.elections.record(perf_counter_ns() - started_ns)
            self._epoch_state.stats.unclean_elections += len(outside_isr & done.keys())
        self._log_failures(errors, kind)
        return errors

    async def start_new_epochs(self, returned: Mapping[TopicPartition, Set[BrokerId]]) -> None:
        """Starts new leader epochs for partitions whose members restarted without a controller."""
        context = self._epoch_state.context

        def decide(topic_partition: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            election_input = context.election_input(
                topic_partition, ElectionKind.OFFLINE, unclean_allowed=False
            )
            outcome = elect_after_restart(election_input, current.leader, returned[topic_partition])
            return None if outcome is None else current.elected(outcome)

        done, _ = await self._change(list(returned), decide)
        await self._went_online(done)

    async def remove_from_isr(self, replicas: Iterable[Replica]) -> None:
        """Sets replicas to OFFLINE and removes them from leadership and ISRs."""
        by_broker: dict[BrokerId, list[TopicPartition]] = {}
        async for topic_partition, broker_id in in_slices(replicas):
            by_broker.setdefault(broker_id, []).append(topic_partition)
            self._epoch_state.context.move_replica(
                (topic_partition, broker_id), ReplicaStatus.OFFLINE
            )
        for broker_id, partitions in by_broker.items():
            await self._remove_broker(broker_id, partitions)

    async def restrict_leadership(self, topic_partition: TopicPartition, keep: Replicas) -> bool:
        """Restrict leadership to `keep` in a new leader epoch; returns False if none can lead."""
        online = self._epoch_state.context.online_replicas(topic_partition)

        def decide(topic_partition: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            isr = tuple(r for r in current.isr if r in keep)
            if current.leader in online and current.leader in keep:
                return current.elected(Elected(current.leader, isr))
            outcome = elect_reassigned(ElectionInput(keep, isr, online))
            return None if outcome is None else current.elected(outcome)

        done, _ = await self._change([topic_partition], decide)
        for topic_partition in done:
            self._epoch_state.context.move_partition(topic_partition, PartitionStatus.ONLINE)
        return bool(done)

    async def _remove_broker(self, broker_id: BrokerId, partitions: list[TopicPartition]) -> None:
        context = self._epoch_state.context

        def decide(topic_partition: TopicPartition, current: LeaderAndIsr) -> LeaderAndIsr | None:
            if broker_id not in current.isr or context.is_being_deleted(topic_partition):
                return None
            changed = current.without(broker_id)
            same = changed.isr == current.isr and changed.leader == current.leader
            return None if same else changed

        done, _ = await self._change(partitions, decide)
        async for topic_partition in in_slices(done):
            others = context.online_replicas(topic_partition) - {broker_id}
            self._epoch_state.batch.leader_and_isr(others, topic_partition)

    async def _change(
        self,
        partitions: Collection[TopicPartition],
        decide: Callable[[TopicPartition, LeaderAndIsr], LeaderAndIsr | None],
    ) -> tuple[_Decisions, list[TopicPartition]]:
        """Writes decisions conditionally; decides again from the tree's state after a conflict."""
        context, states = self._epoch_state.context, self._epoch_state.states
        pending = [
            topic_partition
            for topic_partition in partitions
            if topic_partition in context.leadership
        ]
        done: _Decisions = {}
        for _ in range(_ATTEMPTS):
            decisions: _Decisions = {}
            async for topic_partition in in_slices(pending):
                new = decide(topic_partition, context.leadership[topic_partition])
                if new is not None:
                    decisions[topic_partition] = new
            written = await states.update(decisions)
            context.leadership.update(written.done)
            done |= written.done
            if not written.conflicts:
                return done, []
            # The version differs, for example after a write whose response was lost. Decide again
            # from the stored state.
            fresh = await states.read(written.conflicts)
            context.leadership.update(fresh)
            pending = list(fresh)
        return done, pending

    async def _went_online(
        self, leaderships: Mapping[TopicPartition, LeaderAndIsr], *, is_new: bool = False
    ) -> None:
        context, batch = self._epoch_state.context, self._epoch_state.batch
        async for topic_partition, leadership in in_slices(leaderships.items()):
            context.leadership[topic_partition] = leadership
            context.move_partition(topic_partition, PartitionStatus.ONLINE)
            batch.leader_and_isr(
                context.online_replicas(topic_partition), topic_partition, is_new=is_new
            )

    async def _topics_that_allow_unclean(
        self, partitions: Collection[TopicPartition], kind: ElectionKind
    ) -> set[str]:
        """Returns topics that allow unclean elections, among those without an online ISR member."""
        if kind is not ElectionKind.OFFLINE:
            return set()
        context = self._epoch_state.context
        stuck: set[str] = set()
        async for topic_partition in in_slices(partitions):
            leadership = context.leadership.get(topic_partition)
            if leadership is not None and not (
                context.online_replicas(topic_partition) & set(leadership.isr)
            ):
                stuck.add(topic_partition.topic)
        return {topic for topic in stuck if await self._allows_unclean(topic)}

    async def _allows_unclean(self, topic: str) -> bool:
        default = self._epoch_state.config.unclean_leader_election_enable
        try:
            data, _ = await self._epoch_state.tree.get(paths.config("topics", topic))
        except NoNodeError:
            return default
        value = ConfigNode.decode(data).values.get("unclean.leader.election.enable")
        return default if value is None else value.strip().lower() == "true"

    def _log_failures(self, errors: _Errors, kind: ElectionKind) -> None:
        if errors:
            named = ", ".join(str(topic_partition) for topic_partition in sorted(errors)[:10])
            _log.warning("no leader for %d partitions (%s): %s", len(errors), kind.value, named)


def _no_leader(kind: ElectionKind) -> ErrorCode:
    if kind is ElectionKind.PREFERRED:
        return ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    return ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE


class PreferredLeaders:
    """Runs elections that an operator or the periodic rebalance requests."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def elect(
        self, kind: ElectionKind, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ErrorCode]:
        """Runs elections; returns an error code per partition. None selects all that need one."""
        context = self._epoch_state.context
        everything = partitions is None
        wanted = list(context.partitions()) if partitions is None else list(partitions)
        codes: dict[TopicPartition, ErrorCode] = {}
        async for topic_partition in in_slices(wanted):
            codes[topic_partition] = self._precondition(topic_partition, kind)
        eligible = [
            topic_partition for topic_partition, code in codes.items() if code is ErrorCode.NONE
        ]
        codes |= await self._leaderships.elect(eligible, kind)
        self._epoch_state.flush()
        if everything:
            return {
                topic_partition: c
                for topic_partition, c in codes.items()
                if c is not ErrorCode.ELECTION_NOT_NEEDED
            }
        return codes

    async def rebalance(self) -> None:
        """Moves leadership back to brokers whose leader imbalance exceeds the configured limit."""
        context = self._epoch_state.context
        leaders: dict[TopicPartition, tuple[BrokerId, BrokerId]] = {}
        async for topic_partition, leadership in in_slices(list(context.leadership.items())):
            assignment = context.assignment(topic_partition)
            if not (context.is_being_deleted(topic_partition) or assignment.is_reassigning):
                leaders[topic_partition] = assignment.replicas[0], leadership.leader
        limit = self._epoch_state.config.leader_imbalance_per_broker_percentage
        for broker_id, imbalance in leader_imbalances(leaders).items():
            if broker_id in context.brokers and imbalance.percentage > limit:
                movable = self._movable(imbalance.away)
                _log.info("moving %d leaders back to broker %d", len(movable), broker_id)
                await self._leaderships.elect(movable, ElectionKind.PREFERRED)
        self._epoch_state.flush()

    async def on_request_node(self) -> None:
        """Processes /admin/preferred_replica_election, which older tools write."""
        path = paths.PREFERRED_REPLICA_ELECTION
        request = await self._epoch_state.read_request(
            "preferred election", path, self.on_request_node
        )
        if request is None:
            return
        data, stat = request
        await self.elect(ElectionKind.PREFERRED, PartitionListNode.decode(data).partitions)
        await self._epoch_state.fenced.delete_all([DeleteOp(path, stat.version)])

    def _movable(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        context = self._epoch_state.context
        return [
            topic_partition
            for topic_partition in partitions
            if context.assignment(topic_partition).replicas[0]
            in context.leadership[topic_partition].isr
            and context.is_online(topic_partition, context.assignment(topic_partition).replicas[0])
        ]

    def _precondition(self, topic_partition: TopicPartition, kind: ElectionKind) -> ErrorCode:
        context = self._epoch_state.context
        if not context.knows(topic_partition) or context.is_being_deleted(topic_partition):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_partition not in context.leadership:
            return ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        leader = context.leadership[topic_partition].leader
        if kind is ElectionKind.PREFERRED:
            done = leader == context.assignment(topic_partition).replicas[0]
        else:
            done = context.is_online(topic_partition, leader)
        return ErrorCode.ELECTION_NOT_NEEDED if done else ErrorCode.NONE
