"""Periodic scans: transactions past their timeout, and transactional ids that expired.

Both scans go over all ids of a shard, at the intervals Kafka uses; between scans nothing is kept
per id, so an id costs no timer.
"""

from collections.abc import Iterable

from barnabas.transactions.config import TransactionConfig
from barnabas.transactions.metadata import (
    TransactionMetadata,
    Transition,
    prepare_dead,
    prepare_fence,
)
from barnabas.transactions.states import TransactionState

Planned = tuple[TransactionMetadata, Transition]


def timed_out(ids: Iterable[TransactionMetadata], now_ms: int) -> list[Planned]:
    """Open transactions past their timeout, with the abort that ends each.

    The abort bumps the epoch (KAFKA-6119): what the silent producer still has under way must not
    land in the next transaction.
    """
    return [
        (metadata, prepare_fence(metadata.current, _version_after_timeout(metadata), now_ms))
        for metadata in ids
        if metadata.pending is None
        and metadata.current.state is TransactionState.ONGOING
        and metadata.current.start_ms + metadata.current.timeout_ms < now_ms
    ]


def _version_after_timeout(metadata: TransactionMetadata) -> int:
    """Under version 2 the silent producer's own abort shall pass for a repetition, tell it the new
    epoch and let it go on; but the very last epoch is for fencing only, never for a client."""
    return 0 if metadata.current.exhausted else metadata.current.transaction_version


def expired(ids: Iterable[TransactionMetadata], expiration_ms: int, now_ms: int) -> list[Planned]:
    """Returns ids without an open transaction that were unused for `expiration_ms`."""
    return [
        (metadata, prepare_dead(metadata.current, now_ms))
        for metadata in ids
        if metadata.pending is None
        and metadata.current.state.is_idle
        and metadata.current.update_ms + expiration_ms <= now_ms
    ]


class ScanSchedule:
    """When the two scans are due. The first ones come one interval after loading."""

    __slots__ = ("_config", "next_abort_ms", "next_expiry_ms")

    def __init__(self, config: TransactionConfig, now_ms: int) -> None:
        self._config = config
        self.next_abort_ms = now_ms + config.abort_scan_interval_ms
        self.next_expiry_ms = now_ms + config.expiry_scan_interval_ms

    @property
    def wake_at_ms(self) -> int:
        return min(self.next_abort_ms, self.next_expiry_ms)

    def take_abort(self, now_ms: int) -> bool:
        """Whether the abort scan is due; if so, the next one is set."""
        if now_ms < self.next_abort_ms:
            return False
        self.next_abort_ms = now_ms + self._config.abort_scan_interval_ms
        return True

    def take_expiry(self, now_ms: int) -> bool:
        """The same for idle ids."""
        if now_ms < self.next_expiry_ms:
            return False
        self.next_expiry_ms = now_ms + self._config.expiry_scan_interval_ms
        return True
