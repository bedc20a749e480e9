"""Several controllers on one embedded tree, with brokers that only record the received commands."""

import asyncio
from collections.abc import Callable

from barnabas.controller.active.epoch_state import ControllerConfig
from barnabas.controller.controller import Controller
from barnabas.controller.registration import BrokerRegistration, ensure_roots
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.control import (
    LEADER_DURING_DELETE,
    ControlReply,
    Endpoint,
    LeaderAndIsrCommand,
    PartitionState,
    StopReplicaCommand,
    UpdateMetadataCommand,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import NoNodeError
from barnabas.zk.znodes import BrokerNode, PartitionStateNode, TopicNode

QUIET = ControllerConfig(auto_leader_rebalance_enable=False, retry_backoff_s=0.001)


class FakeBroker:
    """The commands that one incarnation of a broker received, with the fencing of a real broker."""

    def __init__(self, broker_id: BrokerId) -> None:
        self.broker_id = broker_id
        self.controller_epoch = 0
        self.roles: dict[TopicPartition, PartitionState] = {}
        self.metadata: dict[TopicPartition, PartitionState] = {}
        self.live: set[BrokerId] = set()
        self.deleted: list[TopicPartition] = []
        self.commands: list = []
        self.fenced = 0
        self.failing_disk: set[TopicPartition] = set()
        self.fail_deletes = False

    def receive(self, command) -> ControlReply:
        if command.controller_epoch < self.controller_epoch:
            self.fenced += 1
            return ControlReply(ErrorCode.STALE_CONTROLLER_EPOCH)
        self.controller_epoch = command.controller_epoch
        self.commands.append(command)
        match command:
            case LeaderAndIsrCommand():
                return self._roles(command)
            case UpdateMetadataCommand():
                self._metadata(command)
            case StopReplicaCommand():
                return self._stop(command)
        return ControlReply()

    def _roles(self, command: LeaderAndIsrCommand) -> ControlReply:
        codes = {}
        for state in command.partitions:
            topic_partition = state.topic_partition
            known = self.roles.get(topic_partition)
            if known is not None and state.leader_epoch < known.leader_epoch:
                codes[topic_partition] = ErrorCode.STALE_CONTROLLER_EPOCH
            elif topic_partition in self.failing_disk:
                codes[topic_partition] = ErrorCode.KAFKA_STORAGE_ERROR
            else:
                self.roles[topic_partition] = state
                codes[topic_partition] = ErrorCode.NONE
        return ControlReply(ErrorCode.NONE, codes)

    def _metadata(self, command: UpdateMetadataCommand) -> None:
        self.live = {broker.broker_id for broker in command.live_brokers}
        if command.is_full:
            self.metadata.clear()
        for state in command.partitions:
            if state.leader == LEADER_DURING_DELETE:
                self.metadata.pop(state.topic_partition, None)
            else:
                self.metadata[state.topic_partition] = state

    def _stop(self, command: StopReplicaCommand) -> ControlReply:
        codes = {}
        for entry in command.partitions:
            codes[entry.topic_partition] = ErrorCode.NONE
            if entry.delete and self.fail_deletes:
                codes[entry.topic_partition] = ErrorCode.KAFKA_STORAGE_ERROR
            elif entry.delete:
                self.deleted.append(entry.topic_partition)
            self.roles.pop(entry.topic_partition, None)
        return ControlReply(ErrorCode.NONE, codes)


class FakeChannels:
    """Reaches every broker that is not `cut` off."""

    def __init__(self) -> None:
        self.brokers: dict[BrokerId, FakeBroker] = {}
        self.cut: set[BrokerId] = set()

    async def send(self, broker_id, command) -> ControlReply:
        await asyncio.sleep(0)
        if broker_id in self.cut or broker_id not in self.brokers:
            raise UnavailableError(f"broker {broker_id} does not answer")
        return self.brokers[broker_id].receive(command)


class Node:
    """One broker process: session, registration, controller."""

    def __init__(
        self, cluster: "ControllerCluster", tree, broker_id: BrokerId, rack: str | None
    ) -> None:
        self.broker_id = broker_id
        self.tree = tree
        endpoint = Endpoint("PLAINTEXT", f"host-{broker_id}", 9092)
        node = BrokerNode((endpoint,), rack)
        self.registration = BrokerRegistration(self.tree, broker_id, lambda: node, wait_s=5)
        self.controller = Controller(
            self.tree,
            broker_id,
            cluster.channels,
            SystemClock(),
            cluster.config,
            self.registration,
        )

    async def start(self) -> None:
        await self.registration.register()
        await self.controller.start()


class ControllerCluster:
    """Brokers start and stop; `wait` waits for a condition.

    On an embedded tree of its own, unless `connect` opens sessions elsewhere.
    """

    def __init__(self, config: ControllerConfig = QUIET, connect: Callable | None = None):
        self.config = config
        self.store = EmbeddedStore(SystemClock())
        self._connect = connect
        self.channels = FakeChannels()
        self.nodes: dict[BrokerId, Node] = {}

    async def open_session(self):
        return await self._connect() if self._connect else self.store.session()

    async def start(self, *broker_ids: int, racks: dict[int, str] | None = None) -> None:
        self.tree = await self.open_session()
        self.admin = TopicAdmin(self.tree)
        await ensure_roots(self.tree)
        for broker_id in broker_ids:
            await self.add(broker_id, (racks or {}).get(broker_id))

    async def add(self, broker_id: int, rack: str | None = None, failing_disk=()) -> Node:
        self.channels.brokers[broker_id] = FakeBroker(broker_id)
        self.broker(broker_id).failing_disk.update(failing_disk)
        node = Node(self, await self.open_session(), broker_id, rack)
        self.nodes[broker_id] = node
        await node.start()
        return node

    async def kill(self, broker_id: int) -> None:
        """Simulates kill -9: the session expires on the server."""
        node = self.nodes.pop(broker_id)
        del self.channels.brokers[broker_id]
        await node.controller.stop()
        await node.tree.close()

    async def close(self) -> None:
        for node in self.nodes.values():
            await node.controller.stop()
            await node.tree.close()
        await self.tree.close()
        await self.store.close()

    def broker(self, broker_id: int) -> FakeBroker:
        return self.channels.brokers[broker_id]

    @property
    def active(self) -> Node | None:
        found = [node for node in self.nodes.values() if node.controller.is_active]
        return found[0] if len(found) == 1 else None

    async def wait(self, condition: Callable[[], object], timeout_s: float = 5) -> None:
        """Waits until `condition` (plain or async) is true."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while True:
            outcome = condition()
            if asyncio.iscoroutine(outcome):
                outcome = await outcome
            if outcome:
                return
            assert asyncio.get_running_loop().time() < deadline, "the condition never came true"
            await asyncio.sleep(0.001)

    async def state(self, topic: str, partition: int = 0) -> PartitionStateNode | None:
        path = paths.partition_state(TopicPartition(topic, partition))
        try:
            data, _ = await self.tree.get(path)
        except NoNodeError:
            return None
        return PartitionStateNode.decode(data)

    async def topic(self, name: str) -> TopicNode:
        return TopicNode.decode((await self.tree.get(paths.topic(name)))[0])

    async def wait_for_leader(self, topic: str, leader: int, partition: int = 0) -> None:
        """Waits until the tree and the metadata of every live broker have the same leader."""
        topic_partition = TopicPartition(topic, partition)

        async def agreed() -> bool:
            state = await self.state(topic, partition)
            if state is None or state.leader != leader:
                return False
            return all(
                topic_partition in broker.metadata
                and broker.metadata[topic_partition].leader == leader
                and broker.metadata[topic_partition].leader_epoch == state.leader_epoch
                for broker in self.channels.brokers.values()
            )

        await self.wait(agreed)
