"""Offsets of partitions (earliest, latest, by timestamp); deletion of records before an offset."""

from collections.abc import Mapping

from barnabas.admin.fan_out import Outcome, per_leader
from barnabas.admin.results import Results, error_of
from barnabas.admin.session import AdminCalls
from barnabas.admin.topic_types import (
    EARLIEST_LOCAL,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    ListedOffset,
    OffsetSpec,
)
from barnabas.clients.core.apis import list_offsets as api
from barnabas.clients.core.apis.common import by_topic
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from barnabas.wire.messages.list_offsets import ListOffsetsRequest

_NEEDED = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""First version of ListOffsets that supports each constant; older ones read it as a time."""


class OffsetCalls(AdminCalls):
    """Calls on the offsets of partitions."""

    async def list_offsets(
        self,
        specs: Mapping[TopicPartition, OffsetSpec],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Results[TopicPartition, ListedOffset]:
        """Returns one offset per partition.

        Args:
            specs: for each partition EARLIEST, LATEST, MAX_TIMESTAMP or `OffsetSpec.at(time)`.
            isolation: with READ_COMMITTED, LATEST is the last stable offset.
        """
        deadline = self._deadline("list offsets", timeout)

        async def ask(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, ListedOffset]:
            queries = {
                topic_partition: api.OffsetQuery(specs[topic_partition].timestamp)
                for topic_partition in partitions
            }
            request = api.list_offsets_request(queries, isolation, deadline.left_ms)
            needed = max(_NEEDED.get(specs[topic_partition], 0) for topic_partition in partitions)
            what = "for one of these offsets"
            await self._session.require(ListOffsetsRequest, needed, what, leader)
            response = await self._session.client.send(leader, request)
            return {
                topic_partition: _listed(found)
                for topic_partition, found in api.read_list_offsets(response).items()
            }

        return await per_leader(self._session, specs, ask, deadline)


def _listed(
    found: api.OffsetAndTimestamp | BarnabasError,
) -> ListedOffset | BarnabasError:
    if isinstance(found, BarnabasError):
        return found
    return ListedOffset(_known(found.offset), _known(found.timestamp), _known(found.leader_epoch))


def _known(number: int) -> int | None:
    return number if number >= 0 else None


class RecordCalls(AdminCalls):
    """Calls on records."""

    async def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, int]:
        """Delete the records before an offset; returns the new log start offset per partition."""
        deadline = self._deadline("delete records", timeout)

        async def ask(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, int]:
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(
                                partition_index=number,
                                offset=before[TopicPartition(topic, number)],
                            )
                            for number in numbers
                        ],
                    )
                    for topic, numbers in by_topic(partitions).items()
                ],
                timeout_ms=deadline.left_ms,
            )
            response = await self._session.client.send(leader, request)
            return {
                TopicPartition(topic.name, item.partition_index): error_of(item)
                or item.low_watermark
                for topic in response.topics
                for item in topic.partitions
            }

        return await per_leader(self._session, before, ask, deadline)
