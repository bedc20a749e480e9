"""Requests, replies and settings of the transaction coordinator, independent of wire versions.

The broker's handlers translate wire messages to these and back and check authorization. `failed`
returns the reply after the append of the change has failed. The coordinator returns the newest
error codes; the handlers pass every error through `client_error` or `verification_error` with the
version of the request, because old clients do not know all codes.

A produce request whose result is unknown must never get UNKNOWN_SERVER_ERROR (KAFKA-14034). A
producer treats that code as a definite failure and reuses the sequence numbers or bumps its epoch;
if the batch was written after all, the next one becomes a duplicate. Therefore `ack_status` of a
partition returns retriable codes only, and the dispatcher closes the connection when serving a
produce fails unexpectedly. In both cases the producer sends the same batch again, and the partition
recognizes it.

`TransactionGuards` are protections that tests can disable to replay historical defects.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from barnabas.model.config import ConfigValues
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
class _ProducerIdReply:
    error: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH

    def failed(self, error: ErrorCode) -> Self:
        return type(self)(error)


@dataclass(frozen=True, slots=True)
class InitProducerIdReply(_ProducerIdReply):
    """Producer id and epoch that the producer uses from now on."""


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
class EndTxnReply(_ProducerIdReply):
    """Producer id and epoch of the next transaction; only EndTxn v5+ returns them."""


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


# --- Error codes for clients ----------------------------------------------------------------------


_E = ErrorCode

_FENCED_SINCE = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""The first version of each API whose clients know PRODUCER_FENCED (KIP-588)."""

_COORDINATOR_UNAVAILABLE = frozenset(
    {
        _E.NETWORK_EXCEPTION,
        _E.REQUEST_TIMED_OUT,
        _E.COORDINATOR_LOAD_IN_PROGRESS,
        _E.COORDINATOR_NOT_AVAILABLE,
        _E.NOT_COORDINATOR,
        _E.UNKNOWN_SERVER_ERROR,
    }
)

ABORTABLE_SINCE = {"Produce": 11, "TxnOffsetCommit": 4}
"""The first versions whose clients know TRANSACTION_ABORTABLE."""
IMPLICIT_ADD_SINCE = {"Produce": 12, "TxnOffsetCommit": 5}
"""The first versions of transaction version 2, in which the request itself adds its partitions."""


def client_error(api: str, version: int, error: ErrorCode) -> ErrorCode:
    """Returns `error` for a client that sent `api` (Kafka's name) at `version`.

    >>> client_error("EndTxn", 1, ErrorCode.PRODUCER_FENCED).name
    'INVALID_PRODUCER_EPOCH'
    """
    if error is _E.PRODUCER_FENCED and version < _FENCED_SINCE.get(api, 0):
        return _E.INVALID_PRODUCER_EPOCH
    return error


def verification_error(api: str, version: int, error: ErrorCode) -> ErrorCode:
    """Returns the coordinator's error for one partition, for Produce or TxnOffsetCommit clients."""
    if error is _E.PRODUCER_FENCED:
        return _E.INVALID_PRODUCER_EPOCH
    if error is _E.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE[api]:
        return _E.INVALID_TXN_STATE
    busy = error is _E.CONCURRENT_TRANSACTIONS and version < IMPLICIT_ADD_SINCE[api]
    if busy or error in _COORDINATOR_UNAVAILABLE:
        # Retriable errors: a producer does not look for another leader after the first, nor for
        # another coordinator after the second.
        return _E.NOT_ENOUGH_REPLICAS if api == "Produce" else _E.COORDINATOR_LOAD_IN_PROGRESS
    return error


@dataclass(frozen=True, slots=True)
class TransactionConfig:
    """The coordinator's settings; defaults are Kafka's."""

    max_timeout_ms: int = 900_000
    id_expiration_ms: int = 604_800_000
    abort_scan_interval_ms: int = 10_000
    expiry_scan_interval_ms: int = 3_600_000
    transaction_version: int = 2
    """The highest `transaction.version` this broker serves: 0, 1 (verification), 2 (epoch bump)."""
    marker_retry_backoff_ms: int = 100
    marker_timeout_ms: int = 60_000
    """Timeout of a marker request; drivers report a result long before."""
    expiry_batch_size: int = 1000
    """Maximum of tombstones in one append, so that it stays below the batch size limit."""

    @classmethod
    def from_values(cls, values: ConfigValues) -> Self:
        """Returns the settings from the parsed values (`model.config_keys.coordinators`)."""
        return cls(
            max_timeout_ms=values["transaction.max.timeout.ms"],
            id_expiration_ms=values["transactional.id.expiration.ms"],
            abort_scan_interval_ms=values[
                "transaction.abort.timed.out.transaction.cleanup.interval.ms"
            ],
            expiry_scan_interval_ms=values[
                "transaction.remove.expired.transaction.cleanup.interval.ms"
            ],
            transaction_version=values["transaction.version"],
        )


class TransactionStats:
    """Numbers of a transaction coordinator for its metrics; they outlive its shards."""

    def __init__(self) -> None:
        self.commits = 0
        self.aborts: Counter[str] = Counter()
        """Aborts by cause: `client`, `timeout`, or `new producer` (InitProducerId)."""


@dataclass(frozen=True, slots=True)
class TransactionGuards:
    """Disables single protections, so that a test can show the failure that each prevents.

    Only tests set other values than the defaults.
    """

    end_txn_bound_to_epoch: bool = True
    """KAFKA-17754: EndTxn ends only the transaction of the epoch in the request."""
    marker_results_bound_to_transaction: bool = True
    """KAFKA-9777, 10080, 16352: a marker result counts only for the transaction it was sent for."""
    change_only_after_append: bool = True
    """KAFKA-9666, 14880: a failed append leaves state and epoch as they were."""
