"""All replicas of this broker; applies the controller's commands to them.

A command with a lower controller epoch (of a fenced controller) or a lower broker epoch (for an
earlier registration of this broker) is rejected as a whole. Within a command, every partition is
checked by its leader epoch and has its own error code. A `FollowerControl` owns the fetchers.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
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
from barnabas.replication.safety_rules import UncleanStartPolicy

logger = logging.getLogger(__name__)


class FollowerControl(Protocol):
    """Starts and stops fetching from leaders."""

    def follow(self, partition: Partition) -> None:
        """Fetches this partition from its current leader in its current epoch only."""
        ...

    def unfollow(self, topic_partition: TopicPartition) -> None: ...


class NoFollowers:
    """`FollowerControl` of a single broker without a cluster, and of tests of leaders."""

    __slots__ = ()

    def follow(self, partition: Partition) -> None:
        """Does nothing: there is no other broker."""

    def unfollow(self, topic_partition: TopicPartition) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class StartCondition:
    """Replicas that may have lost the end of their logs, and the policy for them."""

    doubtful: frozenset[TopicPartition] = frozenset()
    policy: UncleanStartPolicy = UncleanStartPolicy.DECLINE_ALONE


_CLEAN_START = StartCondition()


class ReplicaManager:
    """The broker's partitions by name and by topic id; owned by the event loop.

    `broker_epoch` returns the epoch of the current registration: commands with an older one were
    sent to an earlier registration (KIP-380). A newer one is accepted, because the controller may
    see a new registration before this broker does (KAFKA-9839). The broker must therefore register
    before it accepts commands.

    `declined` contains partitions that this broker declines to lead. While it is not empty, the
    broker periodically announces a log directory event, and the controller sends its commands
    again. `doubtful` starts as the set of the start condition and shrinks; the broker stores it
    across restarts.
    """

    def __init__(
        self,
        settings: ReplicaSettings,
        logs: LogSource,
        followers: FollowerControl,
        *,
        start: StartCondition = _CLEAN_START,
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
        self._replicated: dict[TopicPartition, Partition] = {}  # have followers
        self._topic_names: dict[Uuid, str] = {}
        # Only those with a replica on this broker.
        self._partitions_of_topic: dict[str, set[int]] = {}
        self._listeners: list[PartitionListener] = []

    # --- lookup ---

    def partition(self, topic_partition: TopicPartition) -> Partition | None:
        return self._partitions.get(topic_partition)

    def partition_by_id(self, topic_id: Uuid, partition: int) -> Partition | None:
        name = self._topic_names.get(topic_id)
        return None if name is None else self._partitions.get(TopicPartition(name, partition))

    def partitions(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def replicated_partitions(self) -> Iterator[Partition]:
        """Returns the partitions that this broker leads and that have followers.

        `tick` has nothing to do for the others. A partition that resigned may still be here.
        """
        return iter(self._replicated.values())

    @property
    def offline_count(self) -> int:
        """Number of replicas on failed log directories."""
        return len(self._failed)

    def leader_partitions(self) -> Iterator[Partition]:
        return (partition for partition in self._partitions.values() if partition.is_leader)

    def add_listener(self, listener: PartitionListener) -> None:
        """Registers a listener for all current and future partitions."""
        self._listeners.append(listener)
        for partition in self._partitions.values():
            partition.add_listener(listener)

    # --- commands ---

    def apply_leader_and_isr(self, command: LeaderAndIsrCommand) -> ControlReply:
        """Makes partitions leader or follower."""
        error = self._fence(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        return ControlReply(
            partitions={state.topic_partition: self._apply(state) for state in command.partitions}
        )

    def stop_replicas(self, command: StopReplicaCommand) -> ControlReply:
        """Stops replicas and deletes their logs if the command requests it."""
        error = self._fence(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        return ControlReply(
            partitions={item.topic_partition: self._stop(item) for item in command.partitions}
        )

    def fence_command(self, controller_epoch: int, broker_epoch: int) -> ErrorCode:
        """Checks the epochs of a command that another component applies (UpdateMetadata)."""
        return self._fence(controller_epoch, broker_epoch)

    def _fence(self, controller_epoch: int, broker_epoch: int) -> ErrorCode:
        # Two brokers may believe for a moment that they are the controller; the one with the lower
        # epoch has lost the election.
        if controller_epoch < self.controller_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        # The command was made for this broker before it restarted. Its roles may be outdated, and a
        # StopReplica could delete a log that was assigned again (KIP-380).
        if NO_BROKER_EPOCH < broker_epoch < self._broker_epoch():
            return ErrorCode.STALE_BROKER_EPOCH
        self.controller_epoch = controller_epoch
        return ErrorCode.NONE

    def _apply(self, state: PartitionState) -> ErrorCode:
        if state.topic_partition in self._failed:
            # With this code the controller treats the replica as offline.
            return ErrorCode.KAFKA_STORAGE_ERROR
        try:
            partition = self._partition_for(state)
            # A repeated command with the same epoch is applied; `Partition` recognizes that it has
            # nothing new.
            if state.leader_epoch < partition.leader_epoch:
                return ErrorCode.STALE_CONTROLLER_EPOCH
            if state.leader == self.settings.broker_id:
                return self._lead(partition, state)
            return self._follow(partition, state)
        except BrokerError as error:
            logger.warning("partition %s: cannot apply %s: %s", state.topic_partition, state, error)
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
            self._partitions_of_topic.setdefault(topic_partition.topic, set()).add(
                topic_partition.partition
            )
        elif ZERO_UUID not in (state.topic_id, partition.topic_id) and (
            state.topic_id != partition.topic_id
        ):
            # The topic was deleted and created again with the same name (KIP-516): the old log must
            # not take records of the new topic.
            raise BrokerError(ErrorCode.INCONSISTENT_TOPIC_ID)
        self._topic_names[state.topic_id] = topic_partition.topic
        return partition

    def _lead(self, partition: Partition, state: PartitionState) -> ErrorCode:
        if not partition.is_leader and not self._may_lead(state):
            return self._decline(partition.topic_partition)
        self.declined.discard(partition.topic_partition)
        # Before the role changes: a fetch response that is still in flight must not be appended to
        # the log of a leader.
        self._followers.unfollow(partition.topic_partition)
        partition.make_leader(state)
        self._note_followers(partition)
        self.doubtful.discard(partition.topic_partition)  # a leader's log is authoritative
        return ErrorCode.NONE

    def _note_followers(self, partition: Partition) -> None:
        leading = partition.leading
        if leading is not None and leading.followers:
            self._replicated[partition.topic_partition] = partition
        else:
            self._replicated.pop(partition.topic_partition, None)

    def _decline(self, topic_partition: TopicPartition) -> ErrorCode:
        """Declines leadership with the error code of a failed disk.

        The controller then treats the replica as offline and elects another one, or leaves the
        partition without a leader until an unclean election.
        """
        if topic_partition not in self.declined:
            logger.error(
                "partition %s: this machine lost power and may have lost acknowledged records, so "
                "this broker does not lead; run an unclean leader election to accept the loss",
                topic_partition,
            )
        self.declined.add(topic_partition)
        return ErrorCode.KAFKA_STORAGE_ERROR

    def _may_lead(self, state: PartitionState) -> bool:
        doubtful = state.topic_partition in self.doubtful
        return self.settings.rules.may_lead(state, self.settings.broker_id, doubtful, self._policy)

    def _follow(self, partition: Partition, state: PartitionState) -> ErrorCode:
        partition.make_follower(state)
        self._note_followers(partition)
        if self.settings.broker_id not in state.isr:
            # Outside the ISR: a leader adds this replica again only after it has caught up.
            self.doubtful.discard(partition.topic_partition)
        if state.leader < 0:
            self._followers.unfollow(partition.topic_partition)
            if set(state.isr) == {self.settings.broker_id} and not self._may_lead(state):
                return self._decline(partition.topic_partition)  # no other replica can be elected
        elif not partition.is_leader:
            self._followers.follow(partition)
        self.declined.discard(partition.topic_partition)
        return ErrorCode.NONE

    def _stop(self, item: StopReplicaPartition) -> ErrorCode:
        topic_partition = item.topic_partition
        partition = self._partitions.get(topic_partition)
        if partition is not None and _is_older(item.leader_epoch, partition.leader_epoch):
            return ErrorCode.FENCED_LEADER_EPOCH
        # Before the log is deleted: a fetcher must not write to it.
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
        self._replicated.pop(topic_partition, None)
        self.doubtful.discard(topic_partition)
        self.declined.discard(topic_partition)
        self._failed.discard(topic_partition)
        if partition is not None:
            numbers = self._partitions_of_topic[topic_partition.topic]
            numbers.discard(topic_partition.partition)
            if not numbers:
                del self._partitions_of_topic[topic_partition.topic]
                self._topic_names.pop(partition.topic_id, None)
        self._logs.delete(topic_partition)

    # --- periodic work and changes ---

    def tick(self, partitions: Iterable[Partition] | None = None) -> None:
        """Shrinks ISRs and repeats lost proposals; call at least every half of the allowed lag.

        Handles these partitions, or all of them.
        """
        now_ms = self.settings.clock.monotonic_ms()
        for partition in tuple(self.partitions() if partitions is None else partitions):
            partition.tick(now_ms)

    def trust(self, topic_partition: TopicPartition) -> None:
        """Records that a replica has caught up with a leader since the start and may lead again."""
        self.doubtful.discard(topic_partition)

    def change_min_insync(self, topic: str, value: int) -> None:
        """Applies a new `min.insync.replicas` of a topic."""
        for partition in self._partitions_of_topic.get(topic, ()):
            self._partitions[TopicPartition(topic, partition)].configured_min_insync = value

    def replace_log(self, topic_partition: TopicPartition, log: ReplicaLog) -> None:
        """Switches a replica to its log in another log directory."""
        partition = self._partitions.get(topic_partition)
        if partition is not None:
            partition.replace_log(log)

    def fail_partition(self, topic_partition: TopicPartition) -> None:
        """Stops a replica whose log directory has failed."""
        self._failed.add(topic_partition)
        self._followers.unfollow(topic_partition)
        partition = self._partitions.get(topic_partition)
        if partition is not None:
            partition.resign()


def _is_older(requested: int, current: int) -> bool:
    return requested not in (EPOCH_DURING_DELETE, -1) and requested < current
