"""What the coordinator needs to know of the broker's configuration, and the test-only guards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


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
    """When a marker request without an answer is given up; drivers should answer long before."""
    expiry_batch_size: int = 1000
    """Most tombstones in one append, so that a mass expiry stays below the batch size limit."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Take the parsed values of the broker's table (`model.config_keys.transactions`)."""
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


@dataclass(frozen=True, slots=True)
class TransactionGuards:
    """Switches off one protection each, so that a test can show what it prevents.

    Only tests pass anything but the defaults.
    """

    end_txn_bound_to_epoch: bool = True
    """KAFKA-17754: EndTxn decides only the transaction of its own epoch."""
    marker_results_bound_to_transaction: bool = True
    """KAFKA-9777, 10080, 16352: a marker result counts only for the transaction it was sent for."""
    change_only_after_append: bool = True
    """KAFKA-9666, 14880: a failed append leaves state and epoch as they were."""
