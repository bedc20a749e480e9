"""A broker of the simulation: real controller, registration, replicas and fetchers, no sockets.

What the broker package does with the wire is done here with `Network` calls; everything that
decides anything is the production code.
"""

import asyncio
from contextlib import suppress

from support.simulation.flaky_tree import FlakyTree
from support.simulation.network import CLIENT
from support.simulation.replica_host import ReplicaHost, Stop

from barnabas.controller.active.epoch_state import ControllerConfig
from barnabas.controller.controller import Controller
from barnabas.controller.machines.leader_election import ElectionKind
from barnabas.controller.registration import BrokerRegistration
from barnabas.model.control import (
    AlterPartitionReply,
    ControlReply,
    Endpoint,
    LeaderAndIsrCommand,
    StopReplicaCommand,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.model.records import LATEST_TIMESTAMP
from barnabas.replication import partition_reader
from barnabas.replication.fetcher_pool import FetcherPool
from barnabas.replication.partition_reader import list_offset
from barnabas.replication.ports import (
    FetchedPartition,
    FetchSpec,
    LeaderOffsets,
    ReplicaFetchLimits,
)
from barnabas.zk import paths
from barnabas.zk.tree import TreeError
from barnabas.zk.znodes import BrokerNode, LogDirEventNode

LIMITS = ReplicaFetchLimits(max_wait_ms=100, backoff_ms=200)
ACK_TIMEOUT_S = 2.0
BATCH = 4


class SimBroker:
    """One broker over all its incarnations; `world` has the brokers, network, store and dice."""

    def __init__(self, broker_id, world, **host_settings):
        self.broker_id = broker_id
        self.world = world
        self.host = ReplicaHost(broker_id, world.clock, **host_settings)
        self.tree = None
        self.controller = None
        self.pool = None
        self._registration = None
        self._tasks = set()

    @property
    def is_up(self):
        return self.host.is_up

    # --- life ---

    async def start(self):
        """Registers, loads the replicas from the disk, takes part in the controller election."""
        world = self.world
        self.tree = FlakyTree(
            world.store, world.dice, session_timeout_s=world.plan.session_timeout_s
        )
        self._registration = BrokerRegistration(self.tree, self.broker_id, self._describe)
        self.pool = FetcherPool(
            lambda source: RemoteLeader(self, source), world.clock, LIMITS, self._trust
        )
        self.host.start(self, self.pool, lambda: self._registration.broker_epoch)
        self.host.manager.add_listener(world.checker)
        self.spawn_task(self._come_up())
        self.spawn_task(self._tick())

    async def _come_up(self):
        while True:
            try:
                await self._registration.register()
                break
            except BarnabasError:
                await asyncio.sleep(0.2)
        config = ControllerConfig(auto_leader_rebalance_enable=False)
        self.controller = Controller(
            self.tree, self.broker_id, self, self.world.clock, config, self._registration
        )
        with suppress(TreeError):  # cut off meanwhile; it starts over when it is let in again
            await self.controller.start()

    async def stop(self, how):
        """Stops at once; requests in progress are aborted."""
        controller, self.controller = self.controller, None
        tasks, self._tasks = self._tasks, set()
        pool, self.pool = self.pool, None
        self.world.checker.forget(self)
        self.host.stop(how)
        self.tree.abandon()
        for task in tasks:
            task.cancel()
        if controller is not None:
            await controller.stop()
        await pool.close()

    def _describe(self):
        return BrokerNode((Endpoint("PLAINTEXT", f"b{self.broker_id}", 9092),))

    def _trust(self, topic_partition):
        if self.host.manager is not None:
            self.host.manager.trust(topic_partition)

    async def _tick(self):
        while True:
            await asyncio.sleep(self.world.dice.uniform(0.2, 0.4))
            self.host.manager.tick()
            if self.host.manager.declined and self.world.dice.random() < 0.2:
                await self._announce_declined()

    async def _announce_declined(self):
        node = LogDirEventNode(self.broker_id)
        with suppress(TreeError):
            await self.tree.create(paths.LOG_DIR_EVENT_PREFIX, node.encode(), sequential=True)

    # --- requests from others ---

    def spawn_task(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def spawn(self, request):
        """Serves a duplicate request, for whose response no caller waits."""
        if self.is_up and self._registration.broker_epoch >= 0:
            self.spawn_task(self._serve_unheard(request))

    async def _serve_unheard(self, request):
        with suppress(BarnabasError):
            await request(self)

    async def serve(self, request):
        """Serves a request until this incarnation ends."""
        if not self.is_up or self._registration.broker_epoch < 0:
            # Before it is registered a broker does not listen: what the controller sent to its
            # former incarnation must not reach this one.
            await asyncio.sleep(0.01)
            raise UnavailableError("connection refused")
        task = self.spawn_task(request(self))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise UnavailableError("connection reset") from None
            raise

    async def apply(self, command):
        manager = self.host.manager
        if isinstance(command, LeaderAndIsrCommand):
            return manager.apply_leader_and_isr(command)
        if isinstance(command, StopReplicaCommand):
            return manager.stop_replicas(command)
        return ControlReply(manager.fence_command(command.controller_epoch, command.broker_epoch))

    async def alter(self, broker_id, broker_epoch, change):
        if self.controller is None:
            return AlterPartitionReply(ErrorCode.NOT_CONTROLLER)
        try:
            replies = await self.controller.alter_partition(broker_id, broker_epoch, [change])
            return replies[change.topic_partition]
        except BrokerError as error:
            return AlterPartitionReply(error.code)
        except TreeError:
            return AlterPartitionReply(ErrorCode.REQUEST_TIMED_OUT)  # it may have been written

    async def elect_preferred(self):
        """Requests of an operator, or of the balancer, to the controller."""
        if self.controller is not None and self.controller.is_active:
            with suppress(BarnabasError, TimeoutError):
                await asyncio.wait_for(self.controller.elect_leaders(ElectionKind.PREFERRED), 1)

    async def reassign(self, topic_partition, target):
        if self.controller is not None and self.controller.is_active:
            with suppress(BarnabasError, TimeoutError):
                await asyncio.wait_for(
                    self.controller.alter_reassignments({topic_partition: target}), 1
                )

    async def shut_down_in_order(self):
        """Ask the controller to move the leaders away, then stop."""
        epoch = self._registration.broker_epoch
        for broker in self.world.brokers.values():
            if broker.controller is not None and broker.controller.is_active:
                with suppress(BarnabasError, TimeoutError):
                    await asyncio.wait_for(
                        broker.controller.controlled_shutdown(self.broker_id, epoch), 1
                    )
                break
        if self.is_up:
            await self.stop(Stop.CLEAN)

    def leads(self, topic_partition):
        partition = self.host.partition(topic_partition)
        return partition is not None and partition.is_leader

    def cut_from_tree(self):
        if self.is_up:
            self.tree.cut()

    def mend_tree(self):
        if self.is_up:
            self.tree.mend()

    async def produce(self, topic_partition, value):
        """acks=all; returns the offset or raises BrokerError, REQUEST_TIMED_OUT when unknown."""
        partition = self.host.partition(topic_partition)
        if partition is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        info = partition.append_to_leader([value], None, acks=-1, now_ms=0, origin=None)
        epoch, required = partition.leader_epoch, info.last_offset + 1
        deadline = self.world.loop.time() + ACK_TIMEOUT_S
        while (status := partition.ack_status(required, -1, epoch)) is None:
            if self.world.loop.time() > deadline:
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT)
            await self.world.checker.progress(partition, 0.05)
        if status is not ErrorCode.NONE:
            raise BrokerError(status)
        self.world.checker.on_acknowledged(self, partition, info.last_offset, value)
        return info.last_offset

    async def fetch(self, follower, follower_epoch, plan):
        answers = [self._read(follower, follower_epoch, item) for item in plan.partitions]
        if not any(a.error or len(a.records) or a.diverging_epoch for a in answers):
            await asyncio.sleep(self.world.dice.uniform(0.01, 0.1))
            answers = [self._read(follower, follower_epoch, item) for item in plan.partitions]
        return answers

    def _read(self, follower, follower_epoch, item):
        topic_partition = item.topic_partition
        partition = self.host.partition(topic_partition)
        if partition is None:
            return FetchedPartition(topic_partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        spec = FetchSpec(
            item.offset, BATCH, current_leader_epoch=item.leader_epoch, replica_id=follower,
            last_fetched_epoch=item.last_fetched_epoch, log_start_offset=item.log_start_offset,
            replica_epoch=follower_epoch,
        )  # fmt: skip
        try:
            read = partition_reader.read(partition, spec)
        except BrokerError as error:
            return FetchedPartition(topic_partition, error.code)
        return FetchedPartition(
            topic_partition, ErrorCode.NONE, read.high_watermark, read.log_start_offset,
            list(read.slice or ()), read.diverging_epoch,
        )  # fmt: skip

    async def bounds(self, plan):
        return [self._bounds_of(item) for item in plan.partitions]

    def _bounds_of(self, item):
        topic_partition = item.topic_partition
        partition = self.host.partition(topic_partition)
        try:
            end = list_offset(
                partition, LATEST_TIMESTAMP, isolation=None, current_leader_epoch=item.leader_epoch
            ).offset
        except (BrokerError, AttributeError):
            return LeaderOffsets(topic_partition, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return LeaderOffsets(topic_partition, ErrorCode.NONE, partition.log.log_start_offset, end)

    # --- requests to others ---

    async def send(self, broker_id, command):
        """As the controller's BrokerChannels."""
        if broker_id == self.broker_id:
            return await self.apply(command)
        target = self.world.brokers[broker_id]
        return await self.world.network.call(
            self.broker_id, target, lambda broker: broker.apply(command)
        )

    def alter_partition(self, change, on_reply):
        """As IsrChannel."""
        self.spawn_task(self._alter_remotely(change, on_reply))

    async def _alter_remotely(self, change, on_reply):
        controller_id = self.controller.controller_id if self.controller is not None else -1
        target = self.world.brokers.get(controller_id)
        epoch = self._registration.broker_epoch
        reply = AlterPartitionReply(ErrorCode.REQUEST_TIMED_OUT)
        if target is not None:
            with suppress(UnavailableError):
                reply = await self.world.network.call(
                    self.broker_id,
                    target,
                    lambda b: b.alter(self.broker_id, epoch, change),
                    timeout_s=0.5,
                )
        on_reply(reply)


class RemoteLeader:
    """A ReplicaSource over the simulated network."""

    def __init__(self, follower, source):
        self._follower = follower
        self._source = source

    async def fetch(self, plan):
        follower = self._follower
        epoch = follower._registration.broker_epoch
        return await self._call(lambda broker: broker.fetch(follower.broker_id, epoch, plan))

    async def leader_offsets(self, plan):
        return await self._call(lambda broker: broker.bounds(plan))

    async def _call(self, request):
        world = self._follower.world
        target = world.brokers[self._source]
        return await world.network.call(self._follower.broker_id, target, request)

    async def close(self):
        pass


async def client_call(world, broker, request):
    """A client's request to a broker."""
    return await world.network.call(CLIENT, broker, request)


__all__ = ["SimBroker", "Stop", "client_call"]
