"""What a produce answer means for a batch: done, again, smaller, or over. Pure."""

import enum
from dataclasses import dataclass

from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.error_codes import ErrorCode

LEADER_MOVED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.REPLICA_NOT_AVAILABLE,
    }
)
"""Answers after which the metadata is looked up again."""


class Verdict(enum.Enum):
    """What to do with a batch that was answered."""

    STORED = "the records are in the log"
    RETRY = "send it again, unchanged"
    SPLIT = "send its records again in smaller batches"
    FAILED = "tell the caller"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the rules look at beside the code."""

    idempotent: bool
    transactional: bool
    next_in_sequence: bool
    tries_left: bool


def verdict(batch: ProducerBatch, code: ErrorCode, about: Circumstances) -> Verdict:
    """The rule for one answer.

    UNKNOWN_SERVER_ERROR is not retried: the outcome is unknown, and a retry under a new sequence
    would store the records twice (KAFKA-14034).
    """
    if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
        return Verdict.STORED
    if code is ErrorCode.MESSAGE_TOO_LARGE and batch.count > 1:
        return Verdict.SPLIT
    if not about.tries_left:
        return Verdict.FAILED
    if code.retriable:
        return Verdict.RETRY
    if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and about.idempotent:
        # A broker that misses an earlier batch takes this one once that has come again.
        return Verdict.FAILED if about.next_in_sequence else Verdict.RETRY
    return Verdict.FAILED
