"""Settings of the transaction coordinator, and protections that tests can disable."""

from collections import Counter
from dataclasses import dataclass
from typing import Self

from barnabas.model.config import ConfigValues


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
        """Returns the settings from the parsed values (`model.config_keys.transactions`)."""
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
