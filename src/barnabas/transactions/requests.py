"""Requests and replies of the transaction coordinator, independent of wire versions.

The broker's handlers translate wire messages to these and back, check authorization, and replace
errors that old clients do not support (`errors`). `failed` returns the reply after the append of
the change has failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import NO_PRODUCER_ID, TopicPartition
from barnabas.model.records import NO_EPOCH
from barnabas.transactions.metadata import TransactionState


class Reply(Protocol):
    """Base of the replies."""

    def failed(self, error: ErrorCode) -> Self:
        """Returns this reply with `error`: the request had no effect."""
        ...


@dataclass(frozen=True, slots=True)
class InitProducerId:
    """InitProducerId with a transactional id; without one, any broker allocates an id.

    `producer_id` and `producer_epoch` are the current ones of the producer (KIP-360), -1 for a new
    producer.
    """

    transactional_id: str
    transaction_timeout_ms: int
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH


@dataclass(frozen=True, slots=True)
class InitProducerIdReply:
    error: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH

    def failed(self, error: ErrorCode) -> Self:
        return type(self)(error)


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """AddPartitionsToTxn for one transactional id.

    A client's request (v0-v3) is one of these; a broker's (v4+) is one per transaction it lists.
    With `verify_only` the coordinator checks that the transaction contains the partitions.
    `transaction_version` is 2 for v5+ requests, sent by a partition leader that got Produce v12+.

    AddOffsetsToTxn is the same request with the partition of `__consumer_offsets` that owns the
    group; so is the implicit addition by TxnOffsetCommit v5+.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: frozenset[TopicPartition]
    verify_only: bool = False
    transaction_version: int = 0


@dataclass(frozen=True, slots=True)
class AddPartitionsReply:
    """One error per partition; `error` is the common one, or NONE if they differ."""

    error: ErrorCode
    partitions: Mapping[TopicPartition, ErrorCode]

    def failed(self, error: ErrorCode) -> Self:
        return type(self)(error, dict.fromkeys(self.partitions, error))


@dataclass(frozen=True, slots=True)
class EndTxn:
    """EndTxn; `transaction_version` is 2 for v5+ requests, else 0."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    commit: bool
    transaction_version: int = 0


@dataclass(frozen=True, slots=True)
class EndTxnReply:
    """Producer id and epoch of the next transaction; only EndTxn v5+ returns them."""

    error: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH

    def failed(self, error: ErrorCode) -> Self:
        return type(self)(error)


@dataclass(frozen=True, slots=True)
class ListTransactions:
    """ListTransactions; an empty filter and a negative duration match every id."""

    states: frozenset[str] = frozenset()
    producer_ids: frozenset[int] = frozenset()
    duration_ms: int = -1
    transactional_id_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ListedTransaction:
    transactional_id: str
    producer_id: int
    state: TransactionState


@dataclass(frozen=True, slots=True)
class ListTransactionsReply:
    error: ErrorCode
    unknown_states: tuple[str, ...] = ()
    transactions: tuple[ListedTransaction, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeTransactionReply:
    error: ErrorCode
    transactional_id: str
    state: TransactionState | None = None
    timeout_ms: int = 0
    start_ms: int = -1
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH
    partitions: tuple[TopicPartition, ...] = ()
