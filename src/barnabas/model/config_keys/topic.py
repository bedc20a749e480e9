"""Topic configuration: Kafka's names, types and defaults, and the broker key of each default.

The effective value of a topic key is looked up in layers: first the topic's override, then the
broker's dynamic or static value of a key in `BROKER_SYNONYMS`, then the default here. It is never
stored as a merged copy, because overrides were lost that way in Kafka (KAFKA-9254).
"""

import re

from barnabas.model.config import (
    ConfigKey,
    ConfigTable,
    ConfigType,
    at_least,
    between,
    each_of,
    one_of,
)

MAX_LONG = 2**63 - 1
DAY_MS = 24 * 60 * 60 * 1000

_REPLICA = re.compile(r"[0-9]+:[0-9]+")


def _throttled_replicas(value: list[str]) -> str | None:
    fits = value == ["*"] or all(_REPLICA.fullmatch(entry) for entry in value)
    return None if fits else "must be * or a list of partition:broker"


TOPIC_KEYS = ConfigTable(
    [
        ConfigKey(
            "cleanup.policy",
            ConfigType.LIST,
            ["delete"],
            "Treatment of old data: 'delete' by age or size, 'compact' to the newest value per "
            "key, or both.",
            validator=each_of("delete", "compact"),
        ),
        ConfigKey(
            "compression.gzip.level",
            ConfigType.INT,
            -1,
            "gzip level, when `compression.type` is gzip.",
            between(-1, 9),
        ),
        ConfigKey(
            "compression.lz4.level",
            ConfigType.INT,
            9,
            "lz4 level, when `compression.type` is lz4; 9 is the fast compressor, as in Java.",
            between(1, 17),
        ),
        ConfigKey(
            "compression.zstd.level",
            ConfigType.INT,
            3,
            "zstd level, when `compression.type` is zstd.",
            between(-131_072, 22),
        ),
        ConfigKey(
            "compression.type",
            ConfigType.STRING,
            "producer",
            "Codec of stored batches; 'producer' keeps the codec of the producer.",
            validator=one_of("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
        ),
        ConfigKey(
            "delete.retention.ms",
            ConfigType.LONG,
            DAY_MS,
            "Time that a tombstone remains readable after its first compaction.",
            validator=at_least(0),
        ),
        ConfigKey(
            "file.delete.delay.ms",
            ConfigType.LONG,
            60_000,
            "Time before the files of a deleted segment are removed from disk.",
            validator=at_least(0),
        ),
        ConfigKey(
            "flush.messages",
            ConfigType.LONG,
            MAX_LONG,
            "Number of records after which the log is flushed to disk; 1: before each "
            "acknowledgement.",
            validator=at_least(1),
        ),
        ConfigKey(
            "flush.ms",
            ConfigType.LONG,
            MAX_LONG,
            "Longest time before a record is flushed to disk.",
            validator=at_least(0),
        ),
        ConfigKey(
            "follower.replication.throttled.replicas",
            ConfigType.LIST,
            [],
            "Replicas that are throttled as followers: partition:broker pairs, or *.",
            validator=_throttled_replicas,
        ),
        ConfigKey(
            "index.interval.bytes",
            ConfigType.INT,
            4096,
            "Bytes of log between two entries of the offset index.",
            validator=at_least(0),
        ),
        ConfigKey(
            "leader.replication.throttled.replicas",
            ConfigType.LIST,
            [],
            "Replicas that are throttled as leaders: partition:broker pairs, or *.",
            validator=_throttled_replicas,
        ),
        ConfigKey(
            "max.compaction.lag.ms",
            ConfigType.LONG,
            MAX_LONG,
            "Longest time that a record may remain uncompacted.",
            validator=at_least(1),
        ),
        ConfigKey(
            "max.message.bytes",
            ConfigType.INT,
            1_048_588,
            "Largest record batch of the topic, in bytes.",
            validator=at_least(0),
        ),
        ConfigKey(
            "message.timestamp.after.max.ms",
            ConfigType.LONG,
            3_600_000,
            "How far the timestamp of a record may be ahead of the broker's clock.",
            validator=at_least(0),
        ),
        ConfigKey(
            "message.timestamp.before.max.ms",
            ConfigType.LONG,
            MAX_LONG,
            "How far the timestamp of a record may be behind the broker's clock.",
            validator=at_least(0),
        ),
        ConfigKey(
            "message.timestamp.type",
            ConfigType.STRING,
            "CreateTime",
            "Whether the producer (CreateTime) or the broker (LogAppendTime) sets timestamps.",
            validator=one_of("CreateTime", "LogAppendTime"),
        ),
        ConfigKey(
            "min.cleanable.dirty.ratio",
            ConfigType.DOUBLE,
            0.5,
            "Ratio of uncompacted bytes at which a log is compacted.",
            validator=between(0, 1),
        ),
        ConfigKey(
            "min.compaction.lag.ms",
            ConfigType.LONG,
            0,
            "Shortest time that a record remains uncompacted.",
            validator=at_least(0),
        ),
        ConfigKey(
            "min.insync.replicas",
            ConfigType.INT,
            1,
            "Number of in-sync replicas that a write with acks=all requires.",
            validator=at_least(1),
        ),
        ConfigKey(
            "preallocate",
            ConfigType.BOOLEAN,
            False,
            "Allocate the disk space of a new segment when it is created.",
            note="Accepted for compatibility: segments grow as they are written.",
        ),
        ConfigKey(
            "retention.bytes",
            ConfigType.LONG,
            -1,
            "Size of a partition above which its oldest segments are deleted; -1: no limit.",
        ),
        ConfigKey(
            "retention.ms",
            ConfigType.LONG,
            7 * DAY_MS,
            "Age at which a segment is deleted; -1: no limit.",
            validator=at_least(-1),
        ),
        ConfigKey(
            "segment.bytes",
            ConfigType.INT,
            1024**3,
            "Size at which a new segment starts.",
            validator=at_least(14),
        ),
        ConfigKey(
            "segment.index.bytes",
            ConfigType.INT,
            10 * 1024**2,
            "Maximum size of an index; a full index starts a new segment.",
            validator=at_least(4),
        ),
        ConfigKey(
            "segment.jitter.ms",
            ConfigType.LONG,
            0,
            "Maximum random reduction of segment.ms, so that partitions do not roll at the same "
            "time.",
            validator=at_least(0),
        ),
        ConfigKey(
            "segment.ms",
            ConfigType.LONG,
            7 * DAY_MS,
            "Age at which a new segment starts.",
            validator=at_least(1),
        ),
        ConfigKey(
            "unclean.leader.election.enable",
            ConfigType.BOOLEAN,
            False,
            "Whether a replica outside the ISR may become leader when no in-sync replica is alive; "
            "records may be lost.",
        ),
    ]
)

BROKER_SYNONYMS: dict[str, tuple[str, ...]] = {
    "cleanup.policy": ("log.cleanup.policy",),
    "compression.gzip.level": ("compression.gzip.level",),
    "compression.lz4.level": ("compression.lz4.level",),
    "compression.type": ("compression.type",),
    "compression.zstd.level": ("compression.zstd.level",),
    "delete.retention.ms": ("log.cleaner.delete.retention.ms",),
    "file.delete.delay.ms": ("log.segment.delete.delay.ms",),
    "flush.messages": ("log.flush.interval.messages",),
    "flush.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    "index.interval.bytes": ("log.index.interval.bytes",),
    "max.compaction.lag.ms": ("log.cleaner.max.compaction.lag.ms",),
    "max.message.bytes": ("message.max.bytes",),
    "message.timestamp.after.max.ms": ("log.message.timestamp.after.max.ms",),
    "message.timestamp.before.max.ms": ("log.message.timestamp.before.max.ms",),
    "message.timestamp.type": ("log.message.timestamp.type",),
    "min.cleanable.dirty.ratio": ("log.cleaner.min.cleanable.ratio",),
    "min.compaction.lag.ms": ("log.cleaner.min.compaction.lag.ms",),
    "min.insync.replicas": ("min.insync.replicas",),
    "preallocate": ("log.preallocate",),
    "retention.bytes": ("log.retention.bytes",),
    "retention.ms": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "segment.bytes": ("log.segment.bytes",),
    "segment.index.bytes": ("log.index.size.max.bytes",),
    "segment.jitter.ms": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    "segment.ms": ("log.roll.ms", "log.roll.hours"),
    "unclean.leader.election.enable": ("unclean.leader.election.enable",),
}
"""Broker keys that set the default of a topic key, highest precedence first."""

SYNONYM_FACTORS: dict[str, int] = {
    "log.retention.minutes": 60_000,
    "log.retention.hours": 3_600_000,
    "log.roll.hours": 3_600_000,
    "log.roll.jitter.hours": 3_600_000,
}
"""Factor that converts the value of a synonym to the unit of the topic key."""


def topic_defaults(broker_values: dict[str, object]) -> dict[str, object]:
    """Returns the topic defaults that result from a broker's configuration.

    >>> topic_defaults({"log.retention.hours": 2})["retention.ms"]
    7200000
    """
    return {key.name: _default_of(key, broker_values) for key in TOPIC_KEYS}


def _default_of(key: ConfigKey, broker_values: dict[str, object]) -> object:
    for synonym in BROKER_SYNONYMS.get(key.name, ()):
        value = broker_values.get(synonym)
        if value is None:
            continue
        factor = SYNONYM_FACTORS.get(synonym)
        return value * factor if factor is not None and isinstance(value, int) else value
    return key.default
