"""Random histories of brokers, sessions, topics and requests against what must always hold.

After each step, once the cluster is quiet: at most one controller; leaders are alive and in sync;
in-sync sets are not empty and within the assignment; leader epochs never fall; every live broker's
metadata says what the tree says; deleted topics leave nothing.
"""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.cluster.controller_cluster import ControllerCluster

from barnabas.controller.machines.leader_election import ElectionKind
from barnabas.model.control import AlterPartitionChange
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import NoNodeError

BROKERS = (1, 2, 3, 4)
TOPICS = ("a", "b")

broker = st.sampled_from(BROKERS)
topic = st.sampled_from(TOPICS)
replicas = st.lists(broker, min_size=1, max_size=3, unique=True).map(tuple)
steps = st.one_of(
    st.tuples(st.just("kill"), broker),
    st.tuples(st.just("start"), broker),
    st.tuples(st.just("expire"), broker),
    st.tuples(st.just("blink"), broker),
    st.tuples(st.just("create"), topic, replicas),
    st.tuples(st.just("delete"), topic),
    st.tuples(st.just("grow"), topic, replicas),
    st.tuples(st.just("reassign"), topic, replicas),
    st.tuples(st.just("shrink"), topic),
    st.tuples(st.just("catch up"), topic),
    st.tuples(st.just("prefer")),
    st.tuples(st.just("shut down"), broker),
)


class History:
    """Applies steps; what a step cannot do in the present state it leaves undone."""

    def __init__(self) -> None:
        self.cluster = ControllerCluster()
        self.epochs: dict[tuple[TopicPartition, bytes], int] = {}

    async def apply(self, step) -> None:
        name, *arguments = step
        try:
            await getattr(self, "_" + name.replace(" ", "_"))(*arguments)
        except (BrokerError, NoNodeError):
            return  # an answer, or a topic that was deleted meanwhile: not a failure

    async def _kill(self, broker_id) -> None:
        if broker_id in self.cluster.nodes:
            await self.cluster.kill(broker_id)

    async def _start(self, broker_id) -> None:
        if broker_id not in self.cluster.nodes:
            await self.cluster.add(broker_id)

    async def _expire(self, broker_id) -> None:
        if broker_id in self.cluster.nodes:
            await self.cluster.nodes[broker_id].tree.expire()

    async def _blink(self, broker_id) -> None:
        if broker_id in self.cluster.nodes:
            self.cluster.nodes[broker_id].tree.suspend()
            await asyncio.sleep(0)
            self.cluster.nodes[broker_id].tree.resume()

    async def _create(self, topic, replicas) -> None:
        await self.cluster.admin.create_topic(topic, {0: replicas})

    async def _delete(self, topic) -> None:
        await self.cluster.admin.delete_topic(topic)

    async def _grow(self, topic, replicas) -> None:
        count = len(await self.cluster.admin.partitions_of(topic))
        if count < 3:
            await self.cluster.admin.add_partitions(topic, {count: replicas})

    async def _reassign(self, topic, replicas) -> None:
        if self.cluster.active:
            targets = {TopicPartition(topic, 0): replicas}
            await self.cluster.active.controller.alter_reassignments(targets)

    async def _shrink(self, topic) -> None:
        await self._alter(topic, lambda state, node: (state.leader,))

    async def _catch_up(self, topic) -> None:
        live = self.cluster.nodes

        def all_live(state, node):
            return tuple(r for r in node.replicas if r in live)

        await self._alter(topic, all_live)

    async def _alter(self, topic, choose) -> None:
        state = await self.cluster.state(topic)
        if self.cluster.active is None or state is None or state.leader not in self.cluster.nodes:
            return
        topic_partition = TopicPartition(topic, 0)
        stat = await self.cluster.tree.exists(paths.partition_state(topic_partition))
        isr = choose(state, (await self.cluster.topic(topic)).partitions[0])
        change = AlterPartitionChange(
            topic_partition, ZERO_UUID, state.leader_epoch, stat.version, isr
        )
        epoch = self.cluster.nodes[state.leader].registration.broker_epoch
        controller = self.cluster.active.controller
        await controller.alter_partition(state.leader, epoch, [change])

    async def _prefer(self) -> None:
        if self.cluster.active:
            await self.cluster.active.controller.elect_leaders(ElectionKind.PREFERRED)

    async def _shut_down(self, broker_id) -> None:
        if self.cluster.active and broker_id in self.cluster.nodes:
            epoch = self.cluster.nodes[broker_id].registration.broker_epoch
            await self.cluster.active.controller.controlled_shutdown(broker_id, epoch)

    async def check(self) -> None:
        await self.cluster.wait(self._is_settled, timeout_s=10)

    async def _is_settled(self) -> bool:
        """Asserts the safety properties after every change; waits for the liveness properties."""
        for name in await self.cluster.tree.children(paths.BROKER_TOPICS):
            for partition in (await self.cluster.topic(name)).partitions:
                await self._check_safety(TopicPartition(name, partition))
        if not self.cluster.nodes:
            return True
        if self.cluster.active is None:
            return False
        return await self._metadata_agrees() and await self._leaders_where_possible()

    async def _check_safety(self, topic_partition) -> None:
        state = await self.cluster.state(topic_partition.topic, topic_partition.partition)
        if state is None:
            return
        node = await self.cluster.topic(topic_partition.topic)
        assert state.isr, f"{topic_partition} has an empty in-sync set"
        assert len(set(state.isr)) == len(state.isr)
        assert state.leader == -1 or state.leader in state.isr
        key = (topic_partition, node.topic_id)
        assert state.leader_epoch >= self.epochs.get(key, 0)
        self.epochs[key] = state.leader_epoch

    async def _metadata_agrees(self) -> bool:
        expected = {}
        for name in await self.cluster.tree.children(paths.BROKER_TOPICS):
            if await self.cluster.tree.exists(paths.delete_topic(name)):
                continue
            for partition in (await self.cluster.topic(name)).partitions:
                state = await self.cluster.state(name, partition)
                if state is not None:
                    topic_partition = TopicPartition(name, partition)
                    expected[topic_partition] = (state.leader, state.leader_epoch, state.isr)
        live = set(self.cluster.nodes)
        for broker_ in self.cluster.channels.brokers.values():
            known = {
                topic_partition: (s.leader, s.leader_epoch, s.isr)
                for topic_partition, s in broker_.metadata.items()
                if s.leader_epoch >= 0
            }
            if known != expected or broker_.live != live:
                return False
        return True

    async def _leaders_where_possible(self) -> bool:
        live = set(self.cluster.nodes)
        for name in await self.cluster.tree.children(paths.BROKER_TOPICS):
            if await self.cluster.tree.exists(paths.delete_topic(name)):
                continue
            node = await self.cluster.topic(name)
            for partition, assignment in node.partitions.items():
                state = await self.cluster.state(name, partition)
                if state is None:
                    if set(assignment.replicas) & live:
                        return False
                elif state.leader not in live and set(state.isr) & live:
                    return False
        return True


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(steps, min_size=1, max_size=14), st.booleans())
def test_any_history_keeps_the_invariants_and_settles(history, hurried):
    """Hurried histories do not wait for the cluster to settle between steps."""

    async def run() -> None:
        world = History()
        await world.cluster.start(1, 2, 3)
        try:
            for step in history:
                await world.apply(step)
                if not hurried:
                    await world.check()
            await world.check()
        finally:
            await world.cluster.close()

    asyncio.run(run())
