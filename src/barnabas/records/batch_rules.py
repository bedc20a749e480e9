"""The rules of a topic for produced batches, which `validation` and its compiled part apply."""

from dataclasses import dataclass

from barnabas.model.records import TimestampType

NO_LIMIT_MS = 2**63 - 1
# KIP-110: clients that produce with an older version cannot read zstd.
ZSTD_PRODUCE_VERSION = 7


@dataclass(frozen=True, slots=True)
class BatchRules:
    """Rules of a topic for batches; built once per topic configuration and request version."""

    produce_version: int = ZSTD_PRODUCE_VERSION
    max_message_bytes: int = 1048588
    compacted: bool = False
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    timestamp_before_max_ms: int = NO_LIMIT_MS
    timestamp_after_max_ms: int = NO_LIMIT_MS
    max_decompressed: int = 16 * 1024 * 1024
    deep: bool = True
    """Check the records even when no rule needs it."""

    @property
    def must_walk(self) -> bool:
        """Whether a rule needs the records: keys and the oldest timestamp are not in the header."""
        return (
            self.deep
            or self.compacted
            or (
                self.timestamp_type == TimestampType.CREATE_TIME
                and self.timestamp_before_max_ms != NO_LIMIT_MS
            )
        )


DEFAULT_RULES = BatchRules()
