"""Replicas: leader elections, reassignments, and the log directories that hold them."""

from collections.abc import Iterable, Mapping, Sequence

from barnabas.admin.fan_out import Outcome, per_broker, per_item
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls
from barnabas.admin.topic_types import ElectionType, LogDir, Reassignment, Replica, ReplicaInfo
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, by_topic
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from barnabas.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResult,
)
from barnabas.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from barnabas.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

UNCLEAN_FROM = 1
"""First version of ElectLeaders that supports unclean elections."""


class PlacementCalls(AdminCalls):
    """Calls on leaders and replicas."""

    async def elect_leaders(
        self,
        election: ElectionType,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Elects leaders of partitions (default: all).

        Partitions that need no election have the error ELECTION_NOT_NEEDED.
        """
        deadline = self._deadline("elect leaders", timeout)
        topics = None
        if partitions is not None:
            topics = [
                TopicPartitions(topic=topic, partitions=numbers)
                for topic, numbers in by_topic(partitions).items()
            ]
        request = ElectLeadersRequest(
            election_type=int(election), topic_partitions=topics, timeout_ms=deadline.left_ms
        )
        if election is not ElectionType.PREFERRED:
            controller = await self._session.until(self._session.controller, deadline)
            what = "for unclean elections"
            await self._session.require(ElectLeadersRequest, UNCLEAN_FROM, what, controller)
        response = await self._session.to_controller(request, deadline)
        return Results(
            {
                TopicPartition(topic.topic, item.partition_id): error_of(item)
                for topic in response.replica_election_results
                for item in topic.partition_result
            }
        )

    async def alter_partition_reassignments(
        self,
        replicas: Mapping[TopicPartition, Sequence[int] | None],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Reassigns partitions to brokers, the preferred leader first; None cancels it."""
        deadline = self._deadline("alter partition reassignments", timeout)
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=deadline.left_ms,
            topics=[
                ReassignableTopic(
                    name=topic,
                    partitions=[
                        _reassignable(partition, replicas[TopicPartition(topic, partition)])
                        for partition in partitions
                    ],
                )
                for topic, partitions in by_topic(replicas).items()
            ],
        )
        response = await self._session.to_controller(request, deadline)
        return Results(
            {
                TopicPartition(topic.name, item.partition_index): error_of(item)
                for topic in response.responses
                for item in topic.partitions
            }
        )

    async def list_partition_reassignments(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        timeout: float | None = None,
    ) -> dict[TopicPartition, Reassignment]:
        """Returns the reassignments in progress (default: of all partitions)."""
        deadline = self._deadline("list partition reassignments", timeout)
        topics = None
        if partitions is not None:
            topics = [
                ListPartitionReassignmentsTopics(name=topic, partition_indexes=numbers)
                for topic, numbers in by_topic(partitions).items()
            ]
        request = ListPartitionReassignmentsRequest(timeout_ms=deadline.left_ms, topics=topics)
        response = await self._session.to_controller(request, deadline)
        return {
            TopicPartition(topic.name, item.partition_index): Reassignment(
                tuple(item.replicas), tuple(item.adding_replicas), tuple(item.removing_replicas)
            )
            for topic in response.topics
            for item in topic.partitions
        }


def _reassignable(partition: int, replicas: Sequence[int] | None) -> ReassignablePartition:
    return ReassignablePartition(
        partition_index=partition, replicas=None if replicas is None else list(replicas)
    )


class LogDirCalls(AdminCalls):
    """Calls on log directories."""

    async def describe_log_dirs(
        self,
        brokers: Iterable[int] | None = None,
        *,
        partitions: Iterable[TopicPartition] | None = None,
        timeout: float | None = None,
    ) -> Results[int, tuple[LogDir, ...]]:
        """Describes the log directories of brokers (default: all brokers)."""
        deadline = self._deadline("describe log dirs", timeout)
        topics = None
        if partitions is not None:
            topics = [
                DescribableLogDirTopic(topic=topic, partitions=numbers)
                for topic, numbers in by_topic(partitions).items()
            ]

        async def send(broker_id: int) -> tuple[LogDir, ...]:
            request = DescribeLogDirsRequest(topics=topics)
            response = await self._session.send_to_broker(broker_id, request)
            raise_error(response)
            return tuple(_log_dir(item) for item in response.results)

        chosen = await self._session.brokers(deadline) if brokers is None else brokers
        return await per_broker(self._session, send, chosen, deadline)

    async def alter_replica_log_dirs(
        self, moves: Mapping[Replica, str], *, timeout: float | None = None
    ) -> Results[Replica, None]:
        """Moves replicas to other log directories of the same broker."""
        deadline = self._deadline("alter replica log dirs", timeout)

        async def attempt(pending: list[Replica]) -> Outcome[Replica, None]:
            found: dict[Replica, BarnabasError | None] = {}
            for broker in sorted({replica.broker for replica in pending}):
                mine = {item: moves[item] for item in pending if item.broker == broker}
                response = await self._session.send_to_broker(broker, _moves(mine))
                for topic in response.results:
                    for item in topic.partitions:
                        replica = Replica(topic.topic_name, item.partition_index, broker)
                        found[replica] = error_of(item)
            return found

        return await per_item(self._session, moves, attempt, deadline)


def _log_dir(item: DescribeLogDirsResult) -> LogDir:
    return LogDir(
        item.log_dir,
        error_of(item),
        {
            TopicPartition(topic.name, part.partition_index): ReplicaInfo(
                part.partition_size, part.offset_lag, part.is_future_key
            )
            for topic in item.topics
            for part in topic.partitions
        },
        item.total_bytes if item.total_bytes >= 0 else None,
        item.usable_bytes if item.usable_bytes >= 0 else None,
    )


def _moves(moves: Mapping[Replica, str]) -> AlterReplicaLogDirsRequest:
    dirs: dict[str, list[TopicPartition]] = {}
    for replica, path in moves.items():
        dirs.setdefault(path, []).append(TopicPartition(replica.topic, replica.partition))
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirTopic(name=topic, partitions=partitions)
                    for topic, partitions in by_topic(topic_partitions).items()
                ],
            )
            for path, topic_partitions in dirs.items()
        ]
    )
