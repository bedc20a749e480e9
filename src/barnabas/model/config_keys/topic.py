"""Topic configuration: Kafka's names, types and defaults, and the broker key behind each.

A topic's effective value is a layered view, never a merged copy (KAFKA-9254 lost overrides that
way): the topic's own value, else the broker's dynamic or static value of the key named in
`BROKER_SYNONYMS`, else the default here.
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
            "What happens to old data: 'delete' by age or size, 'compact' to the newest value "
            "per key, or both.",
            validator=each_of("delete", "compact"),
        ),
        ConfigKey(
            "compression.gzip.level",
            ConfigType.INT,
            -1,
            "Level of gzip where `compression.type` asks for it.",
            between(-1, 9),
        ),
        ConfigKey(
            "compression.lz4.level",
            ConfigType.INT,
            9,
            "Level of lz4 where `compression.type` asks for it.",
            between(1, 17),
        ),
        ConfigKey(
            "compression.zstd.level",
            ConfigType.INT,
            3,
            "Level of zstd where `compression.type` asks for it.",
            between(-131_072, 22),
        ),
        ConfigKey(
            "compression.type",
            ConfigType.STRING,
            "producer",
            "Codec of stored batches; 'producer' keeps what the producer sent.",
            validator=one_of("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
        ),
        ConfigKey(
            "delete.retention.ms",
            ConfigType.LONG,
            DAY_MS,
            "How long a tombstone stays readable after compaction first met it.",
            validator=at_least(0),
        ),
        ConfigKey(
            "file.delete.delay.ms",
            ConfigType.LONG,
            60_000,
            "How long a deleted segment's files stay on disk.",
            validator=at_least(0),
        ),
        ConfigKey(
            "flush.messages",
            ConfigType.LONG,
            MAX_LONG,
            "Force data to disk after this many records; 1 means before each acknowledgement.",
            validator=at_least(1),
        ),
        ConfigKey(
            "flush.ms",
            ConfigType.LONG,
            MAX_LONG,
            "Force data to disk after this time.",
            validator=at_least(0),
        ),
        ConfigKey(
            "follower.replication.throttled.replicas",
            ConfigType.LIST,
            [],
            "Replicas whose follower side is throttled: partition:broker pairs, or *.",
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
            "Replicas whose leader side is throttled: partition:broker pairs, or *.",
            validator=_throttled_replicas,
        ),
        ConfigKey(
            "max.compaction.lag.ms",
            ConfigType.LONG,
            MAX_LONG,
            "Longest time a record may stay uncompacted.",
            validator=at_least(1),
        ),
        ConfigKey(
            "max.message.bytes",
            ConfigType.INT,
            1_048_588,
            "Largest record batch the topic takes.",
            validator=at_least(0),
        ),
        ConfigKey(
            "message.timestamp.after.max.ms",
            ConfigType.LONG,
            3_600_000,
            "How far ahead of the broker's clock a record's timestamp may be.",
            validator=at_least(0),
        ),
        ConfigKey(
            "message.timestamp.before.max.ms",
            ConfigType.LONG,
            MAX_LONG,
            "How far behind the broker's clock a record's timestamp may be.",
            validator=at_least(0),
        ),
        ConfigKey(
            "message.timestamp.type",
            ConfigType.STRING,
            "CreateTime",
            "Whether timestamps are the producer's or the broker's.",
            validator=one_of("CreateTime", "LogAppendTime"),
        ),
        ConfigKey(
            "min.cleanable.dirty.ratio",
            ConfigType.DOUBLE,
            0.5,
            "Share of uncompacted bytes at which a log is compacted.",
            validator=between(0, 1),
        ),
        ConfigKey(
            "min.compaction.lag.ms",
            ConfigType.LONG,
            0,
            "Shortest time a record stays uncompacted.",
            validator=at_least(0),
        ),
        ConfigKey(
            "min.insync.replicas",
            ConfigType.INT,
            1,
            "Replicas that must be in sync for acks=all to be accepted.",
            validator=at_least(1),
        ),
        ConfigKey(
            "preallocate",
            ConfigType.BOOLEAN,
            False,
            "Reserve a new segment's disk space at once.",
            note="Accepted for Kafka's sake: segments grow as they are written.",
        ),
        ConfigKey(
            "retention.bytes",
            ConfigType.LONG,
            -1,
            "Bytes a partition keeps before its oldest segments go; -1 for no limit.",
        ),
        ConfigKey(
            "retention.ms",
            ConfigType.LONG,
            7 * DAY_MS,
            "Age at which a segment goes; -1 for no limit.",
            validator=at_least(-1),
        ),
        ConfigKey(
            "segment.bytes",
            ConfigType.INT,
            1024**3,
            "Size at which a new segment begins.",
            validator=at_least(14),
        ),
        ConfigKey(
            "segment.index.bytes",
            ConfigType.INT,
            10 * 1024**2,
            "Size at which a full index begins a new segment.",
            validator=at_least(4),
        ),
        ConfigKey(
            "segment.jitter.ms",
            ConfigType.LONG,
            0,
            "Random part taken off segment.ms so that partitions do not roll at once.",
            validator=at_least(0),
        ),
        ConfigKey(
            "segment.ms",
            ConfigType.LONG,
            7 * DAY_MS,
            "Age at which a new segment begins.",
            validator=at_least(1),
        ),
        ConfigKey(
            "unclean.leader.election.enable",
            ConfigType.BOOLEAN,
            False,
            "Whether a replica that is not in sync may lead when no other is left: data is lost.",
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
"""Broker keys that set a topic key's default, strongest first."""

SYNONYM_FACTORS: dict[str, int] = {
    "log.retention.minutes": 60_000,
    "log.retention.hours": 3_600_000,
    "log.roll.hours": 3_600_000,
    "log.roll.jitter.hours": 3_600_000,
}
"""What a synonym's value is multiplied by to get the topic key's unit."""


def topic_defaults(broker_values: dict[str, object]) -> dict[str, object]:
    """The topic values a broker's configuration stands for, before any topic override.

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
