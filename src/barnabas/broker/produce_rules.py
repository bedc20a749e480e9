"""Rules of each topic for produced batches, and the validation of compressed batches by them.

The rules are cached until the configuration changes.

A batch of 60 kB may decompress to 60 MB, which takes a quarter of a second. So a compressed batch
is decompressed on the loop up to `LOOP_BYTES` only. If it is larger, or if the broker must compress
it again for its topic, a thread validates it, which releases the interpreter while it decompresses.
One thread serves all connections, so there is one decompressed batch at a time. The request waits
for the thread, and its connection for the request: records of one producer stay in order.

Uncompressed batches are validated by the produce handler when they are appended.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.config import ConfigValues
from barnabas.model.config_keys.topic import TOPIC_KEYS
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.records import Codec, TimestampType
from barnabas.records.batch import CODEC_MASK, HEADER_SIZE, BatchHeader
from barnabas.records.batch_rules import BatchRules
from barnabas.records.rewrite import recompress
from barnabas.records.validation import OversizedBatchError, validate_batch

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
LOOP_COMPRESSION_BYTES = 1 << 16
"""Batches up to this size are compressed again on the loop."""
_ATTRIBUTES_LOW_BYTE = 22
ValidBatch = tuple[memoryview | bytearray, BatchHeader]
"""The batch in its stored form, and its header."""
Outcome = ValidBatch | BrokerError | CorruptRecordError
Validate = Callable[[], Outcome]
_T = TypeVar("_T")


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


def _level(values: ConfigValues, codec: Codec | None) -> int | None:
    """Returns the compression level if it is configured."""
    if codec not in (Codec.GZIP, Codec.LZ4, Codec.ZSTD):
        return None
    key = TOPIC_KEYS[f"compression.{codec.name.lower()}.level"]
    level: int = values[key.name]
    return None if level == key.default else level


def may_need_thread(records: memoryview) -> bool:
    """Whether the batch is compressed, or large enough that compressing it takes long."""
    if len(records) < HEADER_SIZE:
        return False
    is_compressed = records[_ATTRIBUTES_LOW_BYTE] & CODEC_MASK != 0
    return is_compressed or len(records) > LOOP_COMPRESSION_BYTES


def validated(
    rules: TopicRules, version: int, records: memoryview, now_ms: int, *, on_loop: bool = False
) -> ValidBatch:
    """Returns the valid batch, compressed as its topic demands; raises BrokerError.

    With `on_loop`, raises OversizedBatchError for a batch that a thread should validate.
    """
    accepted = rules.of_version(version, on_loop=on_loop)
    header = validate_batch(records, accepted, now_ms=now_ms)
    if rules.codec is None or rules.codec == header.codec:
        return records, header
    if on_loop and len(records) > LOOP_COMPRESSION_BYTES:
        raise OversizedBatchError(f"{len(records)} bytes are compressed again")
    packed = recompress(
        records, rules.codec, rules.level, max_decompressed=accepted.max_decompressed
    )
    return packed, validate_batch(packed, rules.repacked)


def outcome_of(validate: Callable[[], ValidBatch]) -> Outcome:
    """Returns the batch, or the error that the client gets.

    The error has no traceback: the traceback refers to the decompressed bytes, and to the calls
    whose variables refer to the error. This reference cycle would keep the bytes in memory until a
    garbage collection.
    """
    try:
        return validate()
    except (BrokerError, CorruptRecordError) as error:
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)


class ValidationThread:
    """Runs functions that decompress batches, one after the other; owned by the broker's loop."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], _T]) -> _T:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="barnabas-batch-validation")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
