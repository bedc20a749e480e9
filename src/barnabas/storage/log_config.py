"""The settings of one log: a topic's effective configuration as typed attributes."""

from dataclasses import dataclass
from typing import Self

from barnabas.model.config import ConfigValues
from barnabas.model.config_keys.topic import TOPIC_KEYS


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Settings that the log itself uses; the broker handles those of validation and leadership."""

    segment_bytes: int
    segment_ms: int
    segment_jitter_ms: int
    index_interval_bytes: int
    max_index_bytes: int
    retention_ms: int
    retention_bytes: int
    file_delete_delay_ms: int
    flush_messages: int
    flush_ms: int
    compact: bool
    delete: bool
    delete_retention_ms: int
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    max_compaction_lag_ms: int
    log_append_time: bool

    @classmethod
    def from_values(cls, given: ConfigValues | None = None) -> Self:
        """Creates the settings from topic keys; ignores other keys, uses defaults for missing ones.

        >>> LogConfig.from_values({"cleanup.policy": "compact"}).compact
        True
        """
        known = {name: value for name, value in (given or {}).items() if name in TOPIC_KEYS}
        values = TOPIC_KEYS.parse(known)
        policy = values["cleanup.policy"]
        return cls(
            segment_bytes=values["segment.bytes"],
            segment_ms=values["segment.ms"],
            segment_jitter_ms=values["segment.jitter.ms"],
            index_interval_bytes=values["index.interval.bytes"],
            max_index_bytes=values["segment.index.bytes"],
            retention_ms=values["retention.ms"],
            retention_bytes=values["retention.bytes"],
            file_delete_delay_ms=values["file.delete.delay.ms"],
            flush_messages=values["flush.messages"],
            flush_ms=values["flush.ms"],
            compact="compact" in policy,
            delete="delete" in policy,
            delete_retention_ms=values["delete.retention.ms"],
            min_cleanable_dirty_ratio=values["min.cleanable.dirty.ratio"],
            min_compaction_lag_ms=values["min.compaction.lag.ms"],
            max_compaction_lag_ms=values["max.compaction.lag.ms"],
            log_append_time=values["message.timestamp.type"] == "LogAppendTime",
        )
