"""The settings of the group coordinator as one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """Defaults are those of `model.config_keys.groups`."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 5_000
    max_bytes: int = 16 * 1024 * 1024
    offset_metadata_max_bytes: int = 4096
    offsets_retention_ms: int = 7 * 24 * 60 * 60_000
    rebalance_protocols: tuple[str, ...] = ("classic", "consumer")
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_max_size: int = 5_000
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """From parsed broker configuration, by Kafka's dotted names."""
        return cls(
            min_session_timeout_ms=values["group.min.session.timeout.ms"],
            max_session_timeout_ms=values["group.max.session.timeout.ms"],
            initial_rebalance_delay_ms=values["group.initial.rebalance.delay.ms"],
            max_size=values["group.max.size"],
            max_bytes=values["group.max.bytes"],
            offset_metadata_max_bytes=values["offset.metadata.max.bytes"],
            offsets_retention_ms=values["offsets.retention.minutes"] * 60_000,
            rebalance_protocols=tuple(values["group.coordinator.rebalance.protocols"]),
            consumer_session_timeout_ms=values["group.consumer.session.timeout.ms"],
            consumer_heartbeat_interval_ms=values["group.consumer.heartbeat.interval.ms"],
            consumer_max_size=values["group.consumer.max.size"],
            consumer_assignors=tuple(values["group.consumer.assignors"]),
            migration_policy=values["group.consumer.migration.policy"],
        )

    @property
    def upgrade_allowed(self) -> bool:
        """Whether a classic group may turn into a consumer group while it has members."""
        return self.migration_policy in ("upgrade", "bidirectional")

    @property
    def downgrade_allowed(self) -> bool:
        return self.migration_policy in ("downgrade", "bidirectional")
