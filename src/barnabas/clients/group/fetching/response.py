"""What a fetch answer means for each partition. Pure: returns what to do, changes nothing."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from barnabas.clients.core.apis.fetch import fetched_partitions
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.messages.fetch import FetchResponse, PartitionData

LOOK_AGAIN = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    }
)
"""Answers after which the metadata is looked up again."""


class Verdict(enum.Enum):
    """What to do about one partition of an answer."""

    DATA = "take the records in"
    REDIRECTED = "read from another replica from now on"
    LOOK_AGAIN = "find the leader, then try again"
    RETRY = "try again after a pause"
    OUT_OF_RANGE = "the offset is not in the log"
    FAILED = "tell the application"


@dataclass(frozen=True, slots=True)
class PartitionAnswer:
    """One partition of an answer, judged."""

    partition: TopicPartition
    verdict: Verdict
    code: ErrorCode
    data: PartitionData


def read_answers(response: FetchResponse, names: Mapping[Uuid, str]) -> Iterator[PartitionAnswer]:
    """Every partition in the answer that can be named."""
    for topic_partition, data in fetched_partitions(response, names):
        code = ErrorCode.of(data.error_code)
        yield PartitionAnswer(topic_partition, _judge(code, data), code, data)


def _judge(code: ErrorCode, data: PartitionData) -> Verdict:
    if code is ErrorCode.NONE:
        return Verdict.REDIRECTED if data.preferred_read_replica >= 0 else Verdict.DATA
    if code is ErrorCode.OFFSET_OUT_OF_RANGE:
        return Verdict.OUT_OF_RANGE
    if code in LOOK_AGAIN:
        return Verdict.LOOK_AGAIN
    if code.retriable and code is not ErrorCode.CORRUPT_MESSAGE:
        return Verdict.RETRY
    return Verdict.FAILED
