"""Transactions on the side of the partition leader: verification and markers (KIP-890).

Before the first batch of a producer's transaction is appended to a partition, its leader verifies
with the coordinator that the partition is part of the open transaction. `decide_marker` decides
whether the leader appends, skips or rejects the marker that ends the transaction.
"""

import enum
from dataclasses import dataclass

from barnabas.model.error_codes import ErrorCode

_SEQUENCE_RANGE = 2**31


class VerificationToken:
    """Identifies a started verification; compared by identity."""

    __slots__ = ("begun_under",)

    def __init__(self, begun_under: "VerificationStates") -> None:
        self.begun_under = begun_under


class _PendingVerification:
    __slots__ = ("begun_ms", "lowest_sequence", "producer_epoch", "token")

    def __init__(
        self, token: VerificationToken, producer_epoch: int, sequence: int, now_ms: int
    ) -> None:
        self.token = token
        self.producer_epoch = producer_epoch
        self.lowest_sequence = sequence
        self.begun_ms = now_ms

    def see(self, producer_epoch: int, sequence: int) -> None:
        """Stores the lowest sequence of the highest epoch (KAFKA-14920)."""
        if producer_epoch > self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.lowest_sequence = sequence
        elif producer_epoch == self.producer_epoch and _precedes(sequence, self.lowest_sequence):
            self.lowest_sequence = sequence


def _precedes(first: int, second: int) -> bool:
    """Whether `first` precedes `second`; sequences continue with 0 after 2^31-1."""
    return 0 < (second - first) % _SEQUENCE_RANGE < _SEQUENCE_RANGE // 2


class VerificationStates:
    """The verifications in progress on one partition.

    Order of calls for a transactional batch: `begin`; if it returns a token, a request to the
    coordinator; then, in one callback of the loop, `check_append`, the append, `appended`. After a
    marker was written, or was already in the log, `marker_written`.

    The response of the coordinator takes time, in which the transaction may end. So each
    verification has a token, which is checked at the append, and a marker invalidates the tokens of
    the transaction that it ends (KAFKA-14884). It does not invalidate those of a later epoch: the
    producer may have begun its next transaction, and a coordinator that missed a response repeats
    its markers.

    Without verification, a late produce request would open a transaction that is never completed,
    and the last stable offset would not advance any more (KAFKA-12671).

    One per partition, on the loop that owns it. Not persisted: a new leader starts empty and
    verifies again.
    """

    __slots__ = ("_enabled", "_entries")

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._entries: dict[int, _PendingVerification] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def begin(
        self,
        producer_id: int,
        producer_epoch: int,
        sequence: int,
        *,
        transaction_open: bool,
        now_ms: int,
    ) -> VerificationToken | None:
        """Returns a token if the coordinator must verify the batch first, otherwise None.

        `transaction_open`: the log contains an open transaction of this producer id with the same
        epoch, which was verified when it was opened.
        """
        if transaction_open or not self._enabled:
            return None
        # A retry gets the token of the first attempt: the response to either request is valid as
        # long as no marker was written in between.
        entry = self._entries.get(producer_id)
        if entry is None:
            token = VerificationToken(self)
            entry = self._entries[producer_id] = _PendingVerification(
                token, producer_epoch, sequence, now_ms
            )
        entry.see(producer_epoch, sequence)
        return entry.token

    def check_append(
        self,
        producer_id: int,
        producer_epoch: int,
        sequence: int,
        token: VerificationToken | None,
        *,
        transaction_open: bool,
    ) -> ErrorCode:
        """Returns NONE if the batch may be appended now, otherwise the error.

        A higher sequence must wait until the lowest known one is in the log. Otherwise every
        retry of the lower one would be rejected as out of order.
        """
        if transaction_open or not self._enabled:
            return ErrorCode.NONE
        entry = self._entries.get(producer_id)
        if entry is None or token is not entry.token:
            return ErrorCode.INVALID_TXN_STATE
        if producer_epoch == entry.producer_epoch and _precedes(entry.lowest_sequence, sequence):
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return ErrorCode.NONE

    def appended(self, producer_id: int) -> None:
        """Ends the verification: a batch of the producer is in the log."""
        self._entries.pop(producer_id, None)

    def marker_written(self, producer_id: int, ended_epoch: int) -> None:
        """Invalidates the verifications of the ended transaction and of earlier ones."""
        entry = self._entries.get(producer_id)
        if entry is not None and entry.producer_epoch <= ended_epoch:
            del self._entries[producer_id]

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Removes verifications whose producer did not send the batch again."""
        stale = [pid for pid, e in self._entries.items() if e.begun_ms + expiration_ms <= now_ms]
        for producer_id in stale:
            del self._entries[producer_id]


class MarkerAction(enum.Enum):
    """The action for a marker; `error` is the response if the action succeeds."""

    APPEND = ErrorCode.NONE
    SKIP = "already written"
    """Responds with success, invalidates the verifications of the ended transaction, and raises the
    coordinator epoch of the producer in memory, so that an older coordinator stays fenced."""
    FENCED_COORDINATOR = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    FENCED_PRODUCER = ErrorCode.INVALID_PRODUCER_EPOCH

    @property
    def error(self) -> ErrorCode:
        return ErrorCode.NONE if self is MarkerAction.SKIP else ErrorCode(self.value)


@dataclass(frozen=True, slots=True)
class ProducerView:
    """The state of the producer id in the partition."""

    producer_epoch: int
    coordinator_epoch: int
    transaction_open: bool


@dataclass(frozen=True, slots=True)
class Marker:
    """The fields of a WriteTxnMarkers request that decide the action."""

    producer_epoch: int
    coordinator_epoch: int
    transaction_version: int = 0

    @property
    def ended_epoch(self) -> int:
        """The epoch of the ended transaction; with version 2 the marker has the next epoch."""
        return self.producer_epoch - 1 if self.transaction_version >= 2 else self.producer_epoch


def decide_marker(producer: ProducerView | None, marker: Marker) -> MarkerAction:
    """Returns the action; `producer` is None if the partition has no state of the producer id.

    Coordinators repeat markers whose response they missed, and a new coordinator repeats those of
    the previous one. A repeated marker must not be written again, and must not end a later
    transaction of the same producer. With transaction version 2 the marker has the epoch after the
    transaction's epoch, so a partition that already has this epoch has the marker (KIP-1228).
    Before version 2 the epoch is the same, and only an open transaction shows that the marker is
    missing.
    """
    # Nothing shows whether the marker is in the log. A marker without a transaction is harmless, a
    # missing one is not.
    if producer is None:
        return MarkerAction.APPEND
    if marker.coordinator_epoch < producer.coordinator_epoch:
        return MarkerAction.FENCED_COORDINATOR
    if marker.producer_epoch < producer.producer_epoch:
        return MarkerAction.FENCED_PRODUCER
    strict = marker.transaction_version >= 2
    if marker.producer_epoch == producer.producer_epoch and (
        strict or not producer.transaction_open
    ):
        return MarkerAction.SKIP
    return MarkerAction.APPEND
