"""Leader elections and partition reassignments."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from barnabas.admin.calls import AdminCalls
from barnabas.admin.errors import error_of
from barnabas.admin.results import Results
from barnabas.clients.core.apis.common import by_topic
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from barnabas.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

UNCLEAN_FROM = 1
"""First version of ElectLeaders that supports unclean elections."""


class ElectionType(enum.IntEnum):
    """PREFERRED elects the first replica; UNCLEAN accepts out-of-sync replicas, losing records."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A reassignment in progress."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class PlacementCalls(AdminCalls):
    """Calls on leaders and replicas."""

    async def elect_leaders(
        self,
        election: ElectionType,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Elect leaders of partitions (default: all).

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
        """Reassign partitions to brokers (first: preferred leader); None cancels a reassignment."""
        deadline = self._deadline("alter partition reassignments", timeout)
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=deadline.left_ms,
            topics=[
                ReassignableTopic(
                    name=topic,
                    partitions=[
                        _reassignable(number, replicas[TopicPartition(topic, number)])
                        for number in numbers
                    ],
                )
                for topic, numbers in by_topic(replicas).items()
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


def _reassignable(number: int, replicas: Sequence[int] | None) -> ReassignablePartition:
    return ReassignablePartition(
        partition_index=number, replicas=None if replicas is None else list(replicas)
    )
