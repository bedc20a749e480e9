"""Records: delete everything before an offset."""

from collections.abc import Mapping

from barnabas.admin.calls import AdminCalls
from barnabas.admin.errors import error_of
from barnabas.admin.fan_out import Outcome, per_leader
from barnabas.admin.results import Results
from barnabas.clients.core.apis.common import by_topic
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

HIGH_WATERMARK = -1
"""Used as offset: delete all records up to the high watermark."""


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
