"""All replicas of this broker: finds them, and applies the controller's commands to them.

Commands of a deposed controller (lower controller epoch) or for an earlier incarnation of this
broker (lower broker epoch) are refused whole; within a command each partition is judged by its
leader epoch and gets its own answer. Following is delegated to a `FollowerControl`, which owns
the fetchers.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.control import (
    EPOCH_DURING_DELETE,
    NO_BROKER_EPOCH,
    ControlReply,
    LeaderAndIsrCommand,
    PartitionState,
    StopReplicaCommand,
    StopReplicaPartition,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.replication.partition import Partition, PartitionListener, ReplicaSettings
from barnabas.replication.ports import LogSource, ReplicaLog
from barnabas.replication.unclean_start import UncleanStartPolicy

logger = logging.getLogger(__name__)


class FollowerControl(Protocol):
    """Starts and stops fetching from leaders."""

    def follow(self, partition: Partition) -> None:
        """Fetch this partition from its present leader and epoch, wherever it was fetched from."""
        ...

    def unfollow(self, topic_partition: TopicPartition) -> None: ...


class NoFollowers:
    """For a broker that is alone in its cluster, and for tests of leaders."""

    __slots__ = ()

    def follow(self, partition: Partition) -> None:
        """Nothing to fetch from."""

    def unfollow(self, topic_partition: TopicPartition) -> None:
        """Nothing was fetched."""


@dataclass(frozen=True, slots=True)
class StartCondition:
    """The replicas that may lack the end of their logs, and what this broker does about them."""

    doubtful: frozenset[TopicPartition] = frozenset()
    policy: UncleanStartPolicy = UncleanStartPolicy.DECLINE_ALONE


class ReplicaManager:
    """The broker's partitions by name and by topic id; owned by the broker's loop.

    `broker_epoch` asks for the epoch of the present registration: commands that name an older one
    were meant for an earlier incarnation (KIP-380). A newer one is accepted, for the controller
    may learn of a new registration before we do (KAFKA-9839). So no command may come in before
    the broker is registered: it could be one for the former incarnation.

    `declined` are partitions whose leadership was refused; while there are any, the broker
    announces a log directory event now and then, upon which the controller asks again and learns
    what can be followed. `doubtful` is the start condition's set as it shrinks; the broker keeps
    it over restarts.
    """

    def __init__(
        self,
        settings: ReplicaSettings,
        logs: LogSource,
        followers: FollowerControl,
        *,
        start: StartCondition = StartCondition(),  # noqa: B008 - frozen
        broker_epoch: Callable[[], int] = lambda: NO_BROKER_EPOCH,
    ) -> None:
        self.settings = settings
        self.controller_epoch = 0
        self.declined: set[TopicPartition] = set()
        self._failed: set[TopicPartition] = set()
        self._logs = logs
        self._followers = followers
        self.doubtful = set(start.doubtful)
        self._policy = start.policy
        self._broker_epoch = broker_epoch
        self._partitions: dict[TopicPartition, Partition] = {}
        self._topic_names: dict[Uuid, str] = {}
        self._listeners: list[PartitionListener] = []

    # --- finding ---

    def partition(self, topic_partition: TopicPartition) -> Partition | None:
        return self._partitions.get(topic_partition)

    def partition_by_id(self, topic_id: Uuid, partition: int) -> Partition | None:
        name = self._topic_names.get(topic_id)
        return None if name is None else self._partitions.get(TopicPartition(name, partition))

    def partitions(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def leader_partitions(self) -> Iterator[Partition]:
        return (partition for partition in self._partitions.values() if partition.is_leader)

    def add_listener(self, listener: PartitionListener) -> None:
        """Tell this listener of every partition, also of those that come later."""
        self._listeners.append(listener)
        for partition in self._partitions.values():
            partition.add_listener(listener)

    # --- commands ---

    def apply_leader_and_isr(self, command: LeaderAndIsrCommand) -> ControlReply:
        """Become leader or follower as told."""
        error = self._fence(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        return ControlReply(
            partitions={state.topic_partition: self._apply(state) for state in command.partitions}
        )

    def stop_replicas(self, command: StopReplicaCommand) -> ControlReply:
        """Give up replicas, with their logs when told to delete them."""
        error = self._fence(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        return ControlReply(
            partitions={item.topic_partition: self._stop(item) for item in command.partitions}
        )

    def fence_command(self, controller_epoch: int, broker_epoch: int) -> ErrorCode:
        """Judge the epochs of a command that somebody else applies (UpdateMetadata)."""
        return self._fence(controller_epoch, broker_epoch)

    def _fence(self, controller_epoch: int, broker_epoch: int) -> ErrorCode:
        if controller_epoch < self.controller_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        if NO_BROKER_EPOCH < broker_epoch < self._broker_epoch():
            return ErrorCode.STALE_BROKER_EPOCH
        self.controller_epoch = controller_epoch
        return ErrorCode.NONE

    def _apply(self, state: PartitionState) -> ErrorCode:
        if state.topic_partition in self._failed:
            return ErrorCode.KAFKA_STORAGE_ERROR  # upon which the controller counts us out
        try:
            partition = self._partition_for(state)
            if state.leader_epoch < partition.leader_epoch:
                return ErrorCode.STALE_CONTROLLER_EPOCH
            if state.leader == self.settings.broker_id:
                return self._lead(partition, state)
            return self._follow(partition, state)
        except BrokerError as error:
            logger.warning("%s: cannot apply %s: %s", state.topic_partition, state, error)
            return error.code

    def _partition_for(self, state: PartitionState) -> Partition:
        topic_partition = state.topic_partition
        partition = self._partitions.get(topic_partition)
        if partition is None:
            log = self._logs.get_or_create(topic_partition, state.topic_id, is_new=state.is_new)
            partition = Partition(topic_partition, log, self.settings)
            partition.topic_id = state.topic_id
            for listener in self._listeners:
                partition.add_listener(listener)
            self._partitions[topic_partition] = partition
        elif ZERO_UUID not in (state.topic_id, partition.topic_id) and (
            state.topic_id != partition.topic_id
        ):
            raise BrokerError(ErrorCode.INCONSISTENT_TOPIC_ID)
        self._topic_names[state.topic_id] = topic_partition.topic
        return partition

    def _lead(self, partition: Partition, state: PartitionState) -> ErrorCode:
        if not partition.is_leader and not self._may_lead(state):
            return self._decline(partition.topic_partition)
        self.declined.discard(partition.topic_partition)
        self._followers.unfollow(partition.topic_partition)
        partition.make_leader(state)
        self.doubtful.discard(partition.topic_partition)  # from now on it defines what is true
        return ErrorCode.NONE

    def _decline(self, topic_partition: TopicPartition) -> ErrorCode:
        """Refuse to lead as if the disk had failed.

        The controller then takes the replica for offline and looks for another, or leaves the
        partition without a leader until somebody elects one uncleanly.
        """
        if topic_partition not in self.declined:
            logger.error(
                "%s: this broker lost power and may lack acknowledged records: it does not lead;"
                " elect a leader uncleanly to accept the loss",
                topic_partition,
            )
        self.declined.add(topic_partition)
        return ErrorCode.KAFKA_STORAGE_ERROR

    def _may_lead(self, state: PartitionState) -> bool:
        doubtful = state.topic_partition in self.doubtful
        return self.settings.guards.may_lead(state, self.settings.broker_id, doubtful, self._policy)

    def _follow(self, partition: Partition, state: PartitionState) -> ErrorCode:
        partition.make_follower(state)
        if self.settings.broker_id not in state.isr:
            # Outside the set now, so whoever lets us in again has seen us catch up.
            self.doubtful.discard(partition.topic_partition)
        if state.leader < 0:
            self._followers.unfollow(partition.topic_partition)
            if set(state.isr) == {self.settings.broker_id} and not self._may_lead(state):
                return self._decline(partition.topic_partition)  # nobody but us could be elected
        elif not partition.is_leader:
            self._followers.follow(partition)
        self.declined.discard(partition.topic_partition)
        return ErrorCode.NONE

    def _stop(self, item: StopReplicaPartition) -> ErrorCode:
        topic_partition = item.topic_partition
        partition = self._partitions.get(topic_partition)
        if partition is not None and _is_older(item.leader_epoch, partition.leader_epoch):
            return ErrorCode.FENCED_LEADER_EPOCH
        self._followers.unfollow(topic_partition)
        if partition is not None:
            partition.resign()
        try:
            if item.delete:
                self._forget(topic_partition)
        except BrokerError as error:
            return error.code
        return ErrorCode.NONE

    def _forget(self, topic_partition: TopicPartition) -> None:
        partition = self._partitions.pop(topic_partition, None)
        self.doubtful.discard(topic_partition)
        self.declined.discard(topic_partition)
        self._failed.discard(topic_partition)
        if partition is not None and not any(
            other.topic == topic_partition.topic for other in self._partitions
        ):
            self._topic_names.pop(partition.topic_id, None)
        self._logs.delete(topic_partition)

    # --- periodic and occasional ---

    def tick(self) -> None:
        """Shrink in-sync sets and repeat lost proposals; every half of the allowed lag or less."""
        now_ms = self.settings.clock.monotonic_ms()
        for partition in list(self.leader_partitions()):
            partition.tick(now_ms)

    def trust(self, topic_partition: TopicPartition) -> None:
        """Note that a replica has caught up with a leader since the start: it may lead again."""
        self.doubtful.discard(topic_partition)

    def change_min_insync(self, topic: str, value: int) -> None:
        """Put a new `min.insync.replicas` of a topic into force."""
        for partition in self._partitions.values():
            if partition.topic_partition.topic == topic:
                partition.configured_min_insync = value

    def replace_log(self, topic_partition: TopicPartition, log: ReplicaLog) -> None:
        """A replica's log was moved to another directory."""
        partition = self._partitions.get(topic_partition)
        if partition is not None:
            partition.replace_log(log)

    def fail_partition(self, topic_partition: TopicPartition) -> None:
        """Take a replica out of service whose log directory has failed."""
        self._failed.add(topic_partition)
        self._followers.unfollow(topic_partition)
        partition = self._partitions.get(topic_partition)
        if partition is not None:
            partition.resign()


def _is_older(requested: int, current: int) -> bool:
    return requested not in (EPOCH_DURING_DELETE, -1) and requested < current
