"""Settings, state and services of one controller epoch, shared by the parts of the controller.

The parts (`leaderships`, `broker_changes`, …) change its context, write through its fenced tree
and add commands to its batch. `flush` sends the batch.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, Self

from barnabas.controller.active.context import ControllerContext
from barnabas.controller.active.fenced_tree import FencedTree, PartitionStates
from barnabas.controller.channels import BrokerChannels, Command, Outbox, ReplyListener
from barnabas.model.config import ConfigValues
from barnabas.model.control import (
    EPOCH_DURING_DELETE,
    LeaderAndIsrCommand,
    LiveBroker,
    PartitionState,
    StopReplicaCommand,
    StopReplicaPartition,
    UpdateMetadataCommand,
)
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.runtime.metrics import Histogram
from barnabas.runtime.slices import in_slices
from barnabas.zk.tree import MetadataTree, NoNodeError, Stat, Watch, WatchEvent


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """Settings of the controller with Kafka's defaults."""

    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_s: float = 300
    leader_imbalance_per_broker_percentage: float = 10
    delete_topic_enable: bool = True
    unclean_leader_election_enable: bool = False
    retry_backoff_s: float = 0.1

    @classmethod
    def from_values(cls, values: ConfigValues) -> Self:
        """Builds from a parsed broker configuration; missing keys keep their defaults."""
        default = cls()
        return cls(
            values.get("auto.leader.rebalance.enable", default.auto_leader_rebalance_enable),
            values.get(
                "leader.imbalance.check.interval.seconds", default.leader_imbalance_check_interval_s
            ),
            values.get(
                "leader.imbalance.per.broker.percentage",
                default.leader_imbalance_per_broker_percentage,
            ),
            values.get("delete.topic.enable", default.delete_topic_enable),
            values.get("unclean.leader.election.enable", default.unclean_leader_election_enable),
        )


_States = dict[TopicPartition, PartitionState]


class CommandBatch:
    """Copies partition states from the context when they are added, not when they are sent.

    Each broker gets at most one LeaderAndIsr, one UpdateMetadata and one StopReplica per batch, in
    that order. A broker must know its role before metadata directs clients to it, and may delete a
    replica only after metadata no longer directs clients to it.
    """

    def __init__(self, context: ControllerContext, controller_id: BrokerId) -> None:
        self._context = context
        self._controller_id = controller_id
        self._leader_and_isr: dict[BrokerId, _States] = {}
        self._metadata: dict[BrokerId, _States] = {}
        self._full: set[BrokerId] = set()
        self._stop: dict[BrokerId, dict[TopicPartition, StopReplicaPartition]] = {}

    def leader_and_isr(
        self, brokers: Iterable[BrokerId], topic_partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Sends a partition's roles to `brokers` and its new metadata to all brokers."""
        state = self._context.partition_state(topic_partition, is_new=is_new)
        for broker_id in brokers:
            self._leader_and_isr.setdefault(broker_id, {})[topic_partition] = state
        self.update_metadata([topic_partition])

    def update_metadata(
        self, partitions: Iterable[TopicPartition], brokers: Iterable[BrokerId] | None = None
    ) -> None:
        """Sends partition metadata and the live brokers to `brokers` (default: all brokers)."""
        states = {
            topic_partition: self._context.partition_state(topic_partition)
            for topic_partition in partitions
        }
        for broker_id in self._context.brokers if brokers is None else brokers:
            self._metadata.setdefault(broker_id, {}).update(states)

    async def full_metadata(self, brokers: Iterable[BrokerId]) -> None:
        """Sends the complete metadata; receivers drop every partition that it does not contain."""
        receivers = list(brokers)
        self.update_metadata([], receivers)
        async for topic_partition in in_slices(list(self._context.partitions())):
            self.update_metadata([topic_partition], receivers)
        self._full.update(receivers)

    def stop_replica(
        self, broker_id: BrokerId, topic_partition: TopicPartition, *, delete: bool
    ) -> None:
        leadership = self._context.leadership.get(topic_partition)
        deleted = delete and self._context.is_being_deleted(topic_partition)
        known = leadership is not None and not deleted
        # A deleted topic may be created again under the same name. The special epoch makes the
        # broker delete its replica in any case, also one with a higher leader epoch.
        epoch = leadership.leader_epoch if leadership and known else EPOCH_DURING_DELETE
        entry = StopReplicaPartition(topic_partition, epoch, delete)
        self._stop.setdefault(broker_id, {})[topic_partition] = entry

    def build(self) -> dict[BrokerId, list[Command]]:
        """Returns the commands for each live broker, in sending order."""
        live = tuple(self._context.brokers.values())
        built: dict[BrokerId, list[Command]] = {}
        for broker in live:
            commands = self._commands_for(broker, live)
            if commands:
                built[broker.broker_id] = commands
        return built

    def _commands_for(self, broker: LiveBroker, live: tuple[LiveBroker, ...]) -> list[Command]:
        head = (self._controller_id, self._context.epoch, broker.broker_epoch)
        commands: list[Command] = []
        roles = self._leader_and_isr.get(broker.broker_id)
        if roles:
            commands.append(LeaderAndIsrCommand(*head, tuple(roles.values()), live))
        metadata = self._metadata.get(broker.broker_id)
        if metadata is not None:
            ids = {
                topic_partition.topic: state.topic_id for topic_partition, state in metadata.items()
            }
            states = tuple(metadata.values())
            full = broker.broker_id in self._full
            commands.append(UpdateMetadataCommand(*head, states, live, ids, full))
        stops = self._stop.get(broker.broker_id)
        if stops:
            commands.append(StopReplicaCommand(*head, tuple(stops.values())))
        return commands


class ControllerStats:
    """Numbers of a broker's controller for its metrics; they outlive its epochs.

    Attributes:
        elections: Nanoseconds of each call that elected leaders.
        unclean_elections: Leaders that were elected outside the ISR.
        queue_time: Nanoseconds that events waited in the queue.
        event_times: Nanoseconds of the events, by kind.
        running: Kind of the event that is being processed; None while the queue is empty.
    """

    def __init__(self) -> None:
        self.elections = Histogram()
        self.unclean_elections = 0
        self.queue_time = Histogram()
        self.event_times: dict[str, Histogram] = {}
        self.running: str | None = None

    def processed(self, kind: str, duration_ns: int) -> None:
        """Records an event that has ended."""
        self.running = None
        if kind not in self.event_times:
            self.event_times[kind] = Histogram()
        self.event_times[kind].record(duration_ns)


class EventSink(Protocol):
    """Accepts work for the controller's event loop from watches and replies."""

    def put(self, key: str, run: Callable[[], Awaitable[None]]) -> None:
        """Queues `run` unless work with the same key is already queued."""
        ...


@dataclass(frozen=True, slots=True)
class ControllerEpoch:
    """A won election: broker, epoch, and the version of /controller_epoch that fences writes."""

    broker_id: BrokerId
    epoch: int
    epoch_version: int


class ControllerEpochState:
    """Settings, state and services of one controller epoch.

    Owned by the controller's event loop; valid until `end` is called.
    """

    def __init__(
        self,
        controller_epoch: ControllerEpoch,
        tree: MetadataTree,
        channels: BrokerChannels,
        config: ControllerConfig,
        events: EventSink,
        stats: ControllerStats | None = None,
    ) -> None:
        self.controller_epoch = controller_epoch
        self.stats = stats or ControllerStats()
        self.tree = tree
        self.config = config
        # Every write of this epoch checks the version of /controller_epoch. A successor increments
        # it, so a controller that has not noticed its end cannot write (KAFKA-6082).
        self.fenced = FencedTree(tree, controller_epoch.epoch_version)
        self.states = PartitionStates(tree, self.fenced, controller_epoch.epoch)
        self._channels = channels
        self._events = events
        self._ended = False
        self._reply_listener: ReplyListener = lambda broker, command, reply: None
        self.outbox = self._new_outbox()
        self.context = ControllerContext(controller_epoch.epoch)
        self.batch = CommandBatch(self.context, controller_epoch.broker_id)

    def start_over(self) -> None:
        """Resets the context so that it can be reloaded after a write with an unknown outcome."""
        self.outbox.close()
        self.outbox = self._new_outbox()
        self.context = ControllerContext(self.controller_epoch.epoch)
        self.batch = CommandBatch(self.context, self.controller_epoch.broker_id)

    def end(self) -> None:
        self._ended = True
        self.outbox.close()

    def listen_to_replies(self, listener: ReplyListener) -> None:
        self._reply_listener = listener

    def submit(self, key: str, run: Callable[[], Awaitable[None]]) -> None:
        """Queues work of this epoch; the work is dropped if the epoch has ended before it runs."""

        async def unless_ended() -> None:
            if not self._ended:
                await run()

        if not self._ended:
            # The key contains the epoch: queued work of an earlier epoch must not suppress this.
            self._events.put(f"{key} in {self.controller_epoch.epoch}", unless_ended)

    def watch(self, key: str, run: Callable[[], Awaitable[None]]) -> Watch:
        """Returns a watch callback that queues `run`."""

        def fired(event: WatchEvent) -> None:
            self.submit(key, run)

        return fired

    async def read_node(
        self, key: str, path: str, run: Callable[[], Awaitable[None]]
    ) -> tuple[bytes, Stat] | None:
        """Returns a node, None if it does not exist. Queues `run` when the node changes next."""
        try:
            return await self.tree.get(path, self.watch(key, run))
        except NoNodeError:
            return None

    async def read_request(
        self, key: str, path: str, run: Callable[[], Awaitable[None]]
    ) -> tuple[bytes, Stat] | None:
        """Returns a node that an older tool writes to request an operation; None without a request.

        Queues `run` when the node is written next.
        """
        if await self.tree.exists(path, self.watch(key, run)) is None:
            return None
        try:
            return await self.tree.get(path)
        except NoNodeError:
            return None

    async def read_notifications(
        self, key: str, path: str, run: Callable[[], Awaitable[None]]
    ) -> dict[str, bytes]:
        """Returns the notification nodes below a path: their paths and their data.

        Queues `run` when nodes are added or deleted next.
        """
        found: dict[str, bytes] = {}
        for name in await self.tree.children(path, self.watch(key, run)):
            try:
                found[f"{path}/{name}"], _ = await self.tree.get(f"{path}/{name}")
            except NoNodeError:
                continue  # deleted meanwhile
        return found

    def flush(self) -> None:
        """Sends the collected commands."""
        commands = self.batch.build()
        self.batch = CommandBatch(self.context, self.controller_epoch.broker_id)
        for broker_id, for_broker in commands.items():
            self.outbox.send(broker_id, for_broker)

    def _new_outbox(self) -> Outbox:
        return Outbox(
            self._channels,
            lambda broker, command, reply: self._reply_listener(broker, command, reply),
            backoff_s=self.config.retry_backoff_s,
        )
