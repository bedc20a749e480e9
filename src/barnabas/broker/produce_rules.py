"""Rules of each topic for produced batches, cached until the configuration changes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.config_keys.topic import TOPIC_KEYS
from barnabas.model.records import Codec, TimestampType
from barnabas.records.batch_rules import BatchRules

_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
_ZSTD_VERSION = 7
LOOP_BYTES = 1 << 21
"""Bytes that are decompressed on the loop: up to ten milliseconds with gzip."""


@dataclass(frozen=True, slots=True)
class TopicRules:
    """Rules for clients with and without zstd support; `codec` None keeps the producer's codec.

    `repacked` applies to batches that the broker has checked and compressed again.
    """

    current: BatchRules
    before_zstd: BatchRules
    repacked: BatchRules
    codec: Codec | None
    level: int | None
    current_on_loop: BatchRules
    before_zstd_on_loop: BatchRules

    def of_version(self, produce_version: int, *, on_loop: bool = False) -> BatchRules:
        """Returns the rules for a client; `on_loop` limits the decompressed size further."""
        if produce_version >= _ZSTD_VERSION:
            return self.current_on_loop if on_loop else self.current
        return self.before_zstd_on_loop if on_loop else self.before_zstd


class ProduceRules:
    """Caches the rules; code that changes the configuration calls `forget`."""

    def __init__(self, layers: ConfigLayers) -> None:
        self._layers = layers
        self._rules: dict[str, TopicRules] = {}

    def of(self, topic: str) -> TopicRules:
        rules = self._rules.get(topic)
        if rules is None:
            rules = self._rules[topic] = self._make(topic)
        return rules

    def forget(self, topic: str | None = None) -> None:
        """Removes the cached rules of a topic, or of all topics."""
        if topic is None:
            self._rules.clear()
        else:
            self._rules.pop(topic, None)

    def _make(self, topic: str) -> TopicRules:
        values = self._layers.topic_values(topic)
        log_append_time = values["message.timestamp.type"] == "LogAppendTime"

        def rules(produce_version: int) -> BatchRules:
            return BatchRules(
                produce_version=produce_version,
                max_message_bytes=values["max.message.bytes"],
                compacted="compact" in values["cleanup.policy"],
                timestamp_type=TimestampType.LOG_APPEND_TIME
                if log_append_time
                else TimestampType.CREATE_TIME,
                timestamp_before_max_ms=values["message.timestamp.before.max.ms"],
                timestamp_after_max_ms=values["message.timestamp.after.max.ms"],
                max_decompressed=self._layers.broker_value("max.decompressed.batch.bytes"),
                deep=self._layers.broker_value("record.validation.enable"),
            )

        codec = _CODECS.get(values["compression.type"])
        level = _level(values, codec)
        current = rules(_ZSTD_VERSION)
        before_zstd = rules(_ZSTD_VERSION - 1)
        repacked = BatchRules(max_message_bytes=current.max_message_bytes, deep=False)
        return TopicRules(
            current,
            before_zstd,
            repacked,
            codec,
            level,
            current_on_loop=_on_loop(current),
            before_zstd_on_loop=_on_loop(before_zstd),
        )


def _on_loop(rules: BatchRules) -> BatchRules:
    return replace(rules, max_decompressed=min(rules.max_decompressed, LOOP_BYTES))


def _level(values: Mapping[str, Any], codec: Codec | None) -> int | None:
    """Returns the compression level if it is configured."""
    if codec not in (Codec.GZIP, Codec.LZ4, Codec.ZSTD):
        return None
    key = TOPIC_KEYS[f"compression.{codec.name.lower()}.level"]
    level: int = values[key.name]
    return None if level == key.default else level
