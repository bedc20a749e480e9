"""Decides whether a partition leader appends, skips or rejects a transaction marker.

Coordinators repeat markers whose answer they missed, and a new coordinator repeats those of the
old one. A repeated marker must not be written again, and above all must not end a later
transaction of the same producer. Under transaction version 2 the marker carries the epoch after
the transaction's own, so a partition that already knows that epoch has the marker (KIP-1228).
Before version 2 the epoch is the same, and only an open transaction tells that it is missing.
"""

import enum
from dataclasses import dataclass

from barnabas.model.error_codes import ErrorCode


class MarkerAction(enum.Enum):
    """What to do with the marker; `error` is the answer when nothing goes wrong afterwards."""

    APPEND = ErrorCode.NONE
    SKIP = "already written"
    """Answer success; void the verifications for what it has ended, and raise the producer's
    coordinator epoch in memory, so that an older coordinator stays fenced."""
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
    """The part of a WriteTxnMarkers request that matters here."""

    producer_epoch: int
    coordinator_epoch: int
    transaction_version: int = 0

    @property
    def ended_epoch(self) -> int:
        """The epoch of the transaction that it ends; from version 2 on its own is the next's."""
        return self.producer_epoch - 1 if self.transaction_version >= 2 else self.producer_epoch


def decide_marker(producer: ProducerView | None, marker: Marker) -> MarkerAction:
    """`producer` is None when the partition has no state for the producer id."""
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
