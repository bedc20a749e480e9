"""One transactional id: its states, its fields, and the changes that can be made to it.

A `Transition` contains all fields of the id after a change, as they will be written to the log. The
`prepare_*` functions compute one and change nothing. The shard calls `TransactionMetadata.apply`
only after the record is committed, so that a failed write does not consume an epoch (KAFKA-9666,
KAFKA-14880).

Epochs run from 0 to 32766. 32767 is reserved, so that a producer at the last epoch can be fenced.

Records of `__transaction_state` hold a `Transition`. Key: int16 version 0, transactional id. Value:
int16 version, then `TransactionLogValue`; version 1 (flexible, with the tags of KIP-890) is written
once transaction.version is 1 or more, else 0. Keys of unknown versions are skipped, as a newer
broker may have written them. The partitions are null, not an empty list, in state EMPTY, as Kafka
writes them and its tools expect.
"""

import enum
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace

from barnabas.model.errors import ProtocolError
from barnabas.model.ids import NO_PRODUCER_ID, TopicPartition
from barnabas.model.records import NO_EPOCH
from barnabas.wire.messages.transaction_log_key import TransactionLogKey
from barnabas.wire.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from barnabas.wire.primitives import Part, join_parts

# The largest int16; the coordinator keeps it to fence, so producers get at most one less.
MAX_EPOCH = 32767
NO_TIMESTAMP = -1
KEY_VERSION = 0
_VERSION = struct.Struct(">h")


class TransactionState(enum.Enum):
    """A state of a transactional id, with the number that the log stores.

    =================== ========================================================================
    State               ends when
    =================== ========================================================================
    EMPTY               partitions or offsets are added; an abort without a transaction
                        (transaction version 2); the id expires
    ONGOING             EndTxn; the timeout passes; another producer takes the transactional id
    PREPARE_COMMIT      every partition has its COMMIT marker
    PREPARE_ABORT       every partition has its ABORT marker
    COMPLETE_COMMIT     the next transaction starts; InitProducerId; the id expires
    COMPLETE_ABORT      as COMPLETE_COMMIT
    DEAD                never: the id is removed when its tombstone is written
    PREPARE_EPOCH_FENCE never stored: fencing and the decision to abort are one record here, so
                        that a failed write leaves the epoch unchanged (KAFKA-9666)
    =================== ========================================================================

    Every state that waits has a timer: ONGOING the timeout of the transaction, PREPARE_* the retry
    of markers, the others the expiry of ids.
    """

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """Kafka's spelling in the admin APIs, for example `PrepareCommit`."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome is decided and markers are missing."""
        return self in _PREPARED

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open: the id may expire or get a new producer at once."""
        return self in _IDLE

    def may_become(self, target: "TransactionState") -> bool:
        """Whether `TRANSITIONS` allows this change."""
        return target in TRANSITIONS[self]


_S = TransactionState
_PREPARED = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
_IDLE = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})

# An idle id may change to PREPARE_ABORT: with transaction version 2 a producer that aborts cannot
# find out whether its first partition was added, so an abort without partitions must succeed and
# bump the epoch.
_FROM_IDLE = frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT, _S.DEAD})

TRANSITIONS: dict[TransactionState, frozenset[TransactionState]] = {
    _S.EMPTY: _FROM_IDLE,
    _S.ONGOING: frozenset({_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT}),
    _S.PREPARE_COMMIT: frozenset({_S.COMPLETE_COMMIT}),
    _S.PREPARE_ABORT: frozenset({_S.COMPLETE_ABORT}),
    _S.COMPLETE_COMMIT: _FROM_IDLE,
    _S.COMPLETE_ABORT: _FROM_IDLE,
    _S.DEAD: frozenset(),
    _S.PREPARE_EPOCH_FENCE: frozenset(),
}

STATE_LABELS: dict[str, TransactionState] = {state.label: state for state in TransactionState}


def epoch_exhausted(epoch: int) -> bool:
    """Whether no higher epoch of the same producer id may be given to a client."""
    return epoch >= MAX_EPOCH - 1


@dataclass(frozen=True, slots=True)
class Transition:
    """All fields of a transactional id after a change, as stored in the log.

    `last_producer_epoch` recognizes a repeated InitProducerId (KIP-360) and is not in Kafka's
    record: after a reload such a repetition gets PRODUCER_FENCED, as in Kafka.
    `previous_producer_id` and `next_producer_id` carry the change of producer id when epochs run
    out (KIP-890); `transaction_version` is that of the client in this transaction.
    """

    state: TransactionState
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    update_ms: int
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIMESTAMP
    last_producer_epoch: int = NO_EPOCH
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    transaction_version: int = 0

    @property
    def exhausted(self) -> bool:
        return epoch_exhausted(self.producer_epoch)

    @property
    def bumps_epoch(self) -> bool:
        """Whether the transaction has version 2, in which each transaction has a separate epoch."""
        return self.transaction_version >= 2


class TransactionMetadata:
    """The current state of one transactional id, and the pending change.

    Owned by one shard, changed on its loop only. At most one change is pending; while it is, no
    other may be prepared.
    """

    __slots__ = ("current", "pending", "persisted", "transactional_id")

    def __init__(self, transactional_id: str, current: Transition, *, persisted: bool) -> None:
        self.transactional_id = transactional_id
        self.current = current
        self.pending: Transition | None = None
        self.persisted = persisted
        """False until the first record is committed; such an id is removed if its append fails."""

    def begin(self, target: Transition) -> None:
        """Stores `target` as the pending change."""
        if self.pending is not None:
            raise AssertionError(f"{self.transactional_id}: a change is pending already")
        if not self.current.state.may_become(target.state):
            raise AssertionError(
                f"{self.transactional_id}: {self.current.state} cannot become {target.state}"
            )
        self.pending = target

    def complete(self) -> None:
        """Makes the pending change, which is committed, the current state."""
        if self.pending is None:
            raise AssertionError(f"{self.transactional_id}: no change is pending")
        self.current, self.pending, self.persisted = self.pending, None, True

    def cancel(self) -> None:
        """Drops the pending change, which was not written."""
        self.pending = None


def new_producer(producer_id: int, timeout_ms: int, now_ms: int) -> Transition:
    """Returns a new transactional id; its first InitProducerId sets the epoch to 0."""
    return Transition(TransactionState.EMPTY, producer_id, NO_EPOCH, timeout_ms, update_ms=now_ms)


def prepare_epoch_bump(
    current: Transition, timeout_ms: int, last_epoch: int, now_ms: int
) -> Transition:
    """Returns the id with the next epoch, which fences the previous producer (InitProducerId)."""
    return Transition(
        TransactionState.EMPTY,
        current.producer_id,
        current.producer_epoch + 1,
        timeout_ms,
        now_ms,
        last_producer_epoch=last_epoch,
        previous_producer_id=current.previous_producer_id,
    )


def prepare_rotation(
    current: Transition, new_producer_id: int, timeout_ms: int, last_epoch: int, now_ms: int
) -> Transition:
    """Returns the id with a new producer id at epoch 0, after the epochs are exhausted."""
    return Transition(
        TransactionState.EMPTY,
        new_producer_id,
        0,
        timeout_ms,
        now_ms,
        last_producer_epoch=last_epoch,
        previous_producer_id=current.producer_id,
    )


def prepare_repeat(current: Transition, timeout_ms: int, now_ms: int) -> Transition:
    """Returns the id with its epoch, for a repeated InitProducerId of the same producer."""
    return replace(
        current,
        state=TransactionState.EMPTY,
        timeout_ms=timeout_ms,
        update_ms=now_ms,
        start_ms=NO_TIMESTAMP,
    )


def prepare_add_partitions(
    current: Transition,
    partitions: frozenset[TopicPartition],
    transaction_version: int,
    now_ms: int,
) -> Transition:
    """Returns the id with more partitions; opens a transaction if there is none."""
    opens = current.state is not TransactionState.ONGOING
    return replace(
        current,
        state=TransactionState.ONGOING,
        partitions=current.partitions | partitions,
        start_ms=now_ms if opens else current.start_ms,
        update_ms=now_ms,
        transaction_version=transaction_version,
    )


def prepare_end(
    current: Transition,
    commit: bool,
    transaction_version: int,
    next_producer_id: int,
    now_ms: int,
) -> Transition:
    """Returns the id with the decision of EndTxn.

    With version 2 the decision bumps the epoch, so that a late EndTxn or produce request with the
    old epoch cannot change the next transaction (KIP-890).
    """
    ended = replace(
        current,
        state=TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT,
        start_ms=current.start_ms if current.state is TransactionState.ONGOING else now_ms,
        update_ms=now_ms,
        transaction_version=transaction_version,
    )
    if not ended.bumps_epoch:
        return ended
    return replace(
        ended,
        producer_epoch=current.producer_epoch + 1,
        last_producer_epoch=current.producer_epoch,
        next_producer_id=next_producer_id,
    )


def prepare_fence(current: Transition, transaction_version: int, now_ms: int) -> Transition:
    """Returns the id with an abort under the next epoch, which fences the producer (KAFKA-6119).

    Fencing and aborting are one record, so that a failed write changes neither.
    """
    return replace(
        current,
        state=TransactionState.PREPARE_ABORT,
        producer_epoch=current.producer_epoch + 1,
        last_producer_epoch=NO_EPOCH,
        update_ms=now_ms,
        transaction_version=transaction_version,
    )


def prepare_complete(current: Transition, now_ms: int) -> Transition:
    """Returns the id after all markers are written; a new producer id takes effect."""
    commit = current.state is TransactionState.PREPARE_COMMIT
    done = replace(
        current,
        state=TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT,
        partitions=frozenset(),
        update_ms=now_ms,
    )
    if current.next_producer_id == NO_PRODUCER_ID:
        return done
    return replace(
        done,
        producer_id=current.next_producer_id,
        producer_epoch=0,
        previous_producer_id=current.producer_id,
        next_producer_id=NO_PRODUCER_ID,
    )


def prepare_dead(current: Transition, now_ms: int) -> Transition:
    """Returns the id in state DEAD, after it expired."""
    return replace(current, state=TransactionState.DEAD, update_ms=now_ms)


def encode_key(transactional_id: str) -> bytes:
    return _with_version(KEY_VERSION, TransactionLogKey(transactional_id).encode(KEY_VERSION))


def decode_key(key: bytes) -> str | None:
    """Returns the transactional id, or None for a key of an unknown version."""
    version = _version_of(key)
    if version != KEY_VERSION:
        return None
    return TransactionLogKey.decode(memoryview(key), version, _VERSION.size).transactional_id


def encode_value(transition: Transition, transaction_version: int) -> bytes | None:
    """Returns the value for the broker's `transaction_version`; None (a tombstone) for DEAD."""
    if transition.state is TransactionState.DEAD:
        return None
    version = 1 if transaction_version >= 1 else 0
    empty = transition.state is TransactionState.EMPTY
    value = TransactionLogValue(
        producer_id=transition.producer_id,
        producer_epoch=transition.producer_epoch,
        transaction_timeout_ms=transition.timeout_ms,
        transaction_status=transition.state.value,
        transaction_partitions=None if empty else _by_topic(transition.partitions),
        transaction_last_update_timestamp_ms=transition.update_ms,
        transaction_start_timestamp_ms=transition.start_ms,
    )
    if version >= 1:
        value.previous_producer_id = transition.previous_producer_id
        value.next_producer_id = transition.next_producer_id
        value.client_transaction_version = transition.transaction_version
    return _with_version(version, value.encode(version))


def decode_value(data: bytes) -> Transition:
    """Returns the decoded value; raises ProtocolError for an invalid or unknown one."""
    version = _version_of(data)
    if version not in (0, 1):
        raise ProtocolError(f"transaction state record of unknown version {version}")
    value = TransactionLogValue.decode(memoryview(data), version, _VERSION.size)
    return Transition(
        state=_state_of(value.transaction_status),
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        update_ms=value.transaction_last_update_timestamp_ms,
        partitions=_flatten(value.transaction_partitions or []),
        start_ms=value.transaction_start_timestamp_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        transaction_version=value.client_transaction_version,
    )


def _state_of(number: int) -> TransactionState:
    try:
        return TransactionState(number)
    except ValueError:
        raise ProtocolError(f"no transaction state has the number {number}") from None


def _version_of(data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise ProtocolError("a record of the transaction state is too short for its version")
    return int(_VERSION.unpack_from(data)[0])


def _with_version(version: int, parts: Iterable[Part]) -> bytes:
    return _VERSION.pack(version) + join_parts(parts)


def _by_topic(partitions: frozenset[TopicPartition]) -> list[PartitionsSchema]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic, numbers) for topic, numbers in topics.items()]


def _flatten(topics: list[PartitionsSchema]) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic, partition)
        for topic in topics
        for partition in topic.partition_ids
    )
