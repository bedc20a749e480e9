"""A partition leader's half of KIP-890: no transactional append that the coordinator has not seen.

Before the first batch of a producer's transaction reaches a partition, its leader asks the
coordinator whether the partition is in the open transaction (AddPartitionsToTxn verify-only, or
the addition itself under transaction version 2). The answer takes time, in which the transaction
may end: so each question has a token, the token is checked at the append, and a marker makes the
tokens of what it ends void (KAFKA-14884). Not those of a later epoch: the producer may be at its
next transaction already, and a coordinator that missed an answer repeats its markers.

Without this a late produce opens a transaction that nobody will ever close, and the last stable
offset stays behind it for good (KAFKA-12671).

One `VerificationStates` per partition, on the loop that owns it; not persisted, a new leader
starts empty and asks again.
"""

from barnabas.model.error_codes import ErrorCode

_SEQUENCE_RANGE = 2**31


class VerificationToken:
    """Proof that a verification was begun; compared by identity."""

    __slots__ = ("begun_under",)

    def __init__(self, begun_under: "VerificationStates") -> None:
        self.begun_under = begun_under


class _Entry:
    __slots__ = ("begun_ms", "lowest_sequence", "producer_epoch", "token")

    def __init__(
        self, token: VerificationToken, producer_epoch: int, sequence: int, now_ms: int
    ) -> None:
        self.token = token
        self.producer_epoch = producer_epoch
        self.lowest_sequence = sequence
        self.begun_ms = now_ms

    def see(self, producer_epoch: int, sequence: int) -> None:
        """Remember the lowest sequence of the highest epoch (KAFKA-14920)."""
        if producer_epoch > self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.lowest_sequence = sequence
        elif producer_epoch == self.producer_epoch and _precedes(sequence, self.lowest_sequence):
            self.lowest_sequence = sequence


def _precedes(first: int, second: int) -> bool:
    """Whether `first` comes before `second`, with sequences that wrap to 0 after 2^31-1."""
    return 0 < (second - first) % _SEQUENCE_RANGE < _SEQUENCE_RANGE // 2


class VerificationStates:
    """The verifications under way on one partition.

    Order of calls for a transactional batch: `begin`; if it returns a token, ask the coordinator;
    then in one step on the loop `check_append`, append, `appended`. When a marker has been written
    (or found to be there already), `marker_written`.
    """

    __slots__ = ("_enabled", "_entries")

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._entries: dict[int, _Entry] = {}

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
        """A token if the coordinator must be asked first.

        `transaction_open` says whether the log holds an open transaction of this producer id at
        this very epoch: then the question was answered when it was opened.
        """
        if transaction_open or not self._enabled:
            return None
        entry = self._entries.get(producer_id)
        if entry is None:
            token = VerificationToken(self)
            entry = self._entries[producer_id] = _Entry(token, producer_epoch, sequence, now_ms)
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
        """NONE if the batch may be appended now.

        A higher sequence waits until the lowest one seen is in the log: were it appended first,
        the lower one would be out of order for ever.
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
        """A batch of this producer is in the log: its transaction is open there."""
        self._entries.pop(producer_id, None)

    def marker_written(self, producer_id: int, ended_epoch: int) -> None:
        """A transaction ended: whatever was verified for it, or for an earlier one, is void."""
        entry = self._entries.get(producer_id)
        if entry is not None and entry.producer_epoch <= ended_epoch:
            del self._entries[producer_id]

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget verifications whose producer never came back."""
        stale = [pid for pid, e in self._entries.items() if e.begun_ms + expiration_ms <= now_ms]
        for producer_id in stale:
            del self._entries[producer_id]
