"""The states of a transactional id and the moves between them, as data.

This module decides no request. It names the states as Kafka stores and prints them, and holds the
one table of legal moves; `metadata.TransactionMetadata` refuses every other move.

State              leaves when
EMPTY              partitions or offsets are added; an abort of nothing (transaction version 2);
                   idle too long
ONGOING            EndTxn; the timeout passes; another producer takes the transactional id
PREPARE_COMMIT     every partition has its COMMIT marker
PREPARE_ABORT      every partition has its ABORT marker
COMPLETE_COMMIT    the next transaction; InitProducerId; idle too long
COMPLETE_ABORT     the same
DEAD               never: the id is removed as its tombstone is written
PREPARE_EPOCH_FENCE  never stored: fencing and the decision to abort are one record here, so that a
                   failed write leaves the epoch as it was (KAFKA-9666). The number stays known
                   because Kafka gives it a name.

Every state that waits has a timer: ONGOING the transaction's timeout, PREPARE_* the marker retry,
the rest the expiry of idle ids.
"""

import enum


class TransactionState(enum.Enum):
    """A state with the number that the log stores; `label` is what the admin APIs print."""

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
        """Kafka's spelling, as in `PrepareCommit`."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome is decided and markers are on their way."""
        return self in _PREPARED

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open, so that the id may expire or be taken over at once."""
        return self in _IDLE

    def may_become(self, target: "TransactionState") -> bool:
        """Whether the table allows the move."""
        return target in TRANSITIONS[self]


_S = TransactionState
_PREPARED = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
_IDLE = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})

# An idle id may go to PREPARE_ABORT: with transaction version 2 a producer that aborts cannot know
# whether its first partition was ever added, so the abort of nothing must work and bump the epoch.
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
