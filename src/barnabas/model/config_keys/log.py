"""Broker keys of the log: directories, flushing, rolling, retention, compaction.

`topic.BROKER_SYNONYMS` lists the keys that set a default for topics. They are `dynamic`: a change
applies to every topic that does not override the key.
"""

from barnabas.model.config import ConfigKey, ConfigType, at_least, between, each_of, one_of
from barnabas.model.config_keys.topic import DAY_MS, MAX_LONG

INT, LONG, DOUBLE = ConfigType.INT, ConfigType.LONG, ConfigType.DOUBLE
STRING, BOOLEAN, LIST = ConfigType.STRING, ConfigType.BOOLEAN, ConfigType.LIST

DIRECTORY_KEYS = [
    ConfigKey("log.dir", STRING, "/tmp/barnabas-logs", "Directory of the log data."),
    ConfigKey("log.dirs", LIST, None, "Directories of the log data; unset: log.dir."),
    ConfigKey(
        "num.recovery.threads.per.data.dir",
        INT,
        1,
        "Number of threads that recover logs at start.",
        at_least(1),
        dynamic=True,
        note="Accepted for compatibility: recovery reads one log after the other.",
    ),
    ConfigKey(
        "num.replica.alter.log.dirs.threads",
        INT,
        None,
        "Number of threads that move replicas between log directories.",
        note="Accepted for compatibility: one task copies all moves in small pieces.",
    ),
]

FLUSH_KEYS = [
    ConfigKey(
        "log.flush.interval.messages",
        LONG,
        MAX_LONG,
        "Number of records after which a log is flushed to disk; 1: before each acknowledgement.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "log.flush.interval.ms",
        LONG,
        None,
        "Longest time before a record is flushed to disk; unset: log.flush.scheduler.interval.ms.",
        dynamic=True,
    ),
    ConfigKey(
        "log.flush.scheduler.interval.ms",
        LONG,
        MAX_LONG,
        "Interval between checks for logs whose flush interval has passed.",
    ),
    ConfigKey(
        "log.flush.offset.checkpoint.interval.ms",
        INT,
        60_000,
        "Interval between checkpoints of the recovery points.",
        at_least(0),
    ),
    ConfigKey(
        "log.flush.start.offset.checkpoint.interval.ms",
        INT,
        60_000,
        "Interval between checkpoints of the log start offsets.",
        at_least(0),
    ),
    ConfigKey(
        "replica.high.watermark.checkpoint.interval.ms",
        LONG,
        5_000,
        "Interval between checkpoints of the high watermarks.",
    ),
]

RETENTION_KEYS = [
    ConfigKey(
        "log.cleanup.policy",
        LIST,
        ["delete"],
        "Default cleanup.policy of topics.",
        each_of("delete", "compact"),
        dynamic=True,
    ),
    ConfigKey("log.retention.bytes", LONG, -1, "Default retention.bytes of topics.", dynamic=True),
    ConfigKey("log.retention.hours", INT, 168, "Age, in hours, at which a segment is deleted."),
    ConfigKey(
        "log.retention.minutes", INT, None, "The same age in minutes; unset: log.retention.hours."
    ),
    ConfigKey(
        "log.retention.ms",
        LONG,
        None,
        "The same age in milliseconds; unset: log.retention.minutes; -1: no limit.",
        dynamic=True,
    ),
    ConfigKey(
        "log.retention.check.interval.ms",
        LONG,
        300_000,
        "Interval between checks for segments to delete.",
        at_least(1),
    ),
    ConfigKey(
        "log.segment.delete.delay.ms",
        LONG,
        60_000,
        "Time before the files of a deleted segment are removed from disk.",
        at_least(0),
        dynamic=True,
    ),
]

SEGMENT_KEYS = [
    ConfigKey("log.roll.hours", INT, 168, "Age, in hours, at which a new segment starts."),
    ConfigKey(
        "log.roll.ms",
        LONG,
        None,
        "The same age in milliseconds; unset: log.roll.hours.",
        dynamic=True,
    ),
    ConfigKey(
        "log.roll.jitter.hours", INT, 0, "Maximum random reduction of the roll age, in hours."
    ),
    ConfigKey(
        "log.roll.jitter.ms",
        LONG,
        None,
        "The same in milliseconds; unset: log.roll.jitter.hours.",
        dynamic=True,
    ),
    ConfigKey(
        "log.segment.bytes", INT, 1024**3, "Maximum size of a segment.", at_least(14), dynamic=True
    ),
    ConfigKey(
        "log.index.interval.bytes",
        INT,
        4096,
        "Bytes of log between two index entries.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.index.size.max.bytes",
        INT,
        10 * 1024**2,
        "Maximum size of an index; a full index starts a new segment.",
        at_least(4),
        dynamic=True,
    ),
    ConfigKey(
        "log.preallocate",
        BOOLEAN,
        False,
        "Allocate the disk space of a new segment when it is created.",
        dynamic=True,
        note="Accepted for compatibility: segments grow as they are written.",
    ),
    ConfigKey(
        "log.message.timestamp.type",
        STRING,
        "CreateTime",
        "Default message.timestamp.type of topics.",
        one_of("CreateTime", "LogAppendTime"),
        dynamic=True,
    ),
    ConfigKey(
        "log.message.timestamp.after.max.ms",
        LONG,
        3_600_000,
        "How far a timestamp may be ahead of the broker's clock.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.message.timestamp.before.max.ms",
        LONG,
        MAX_LONG,
        "How far a timestamp may be behind the broker's clock.",
        at_least(0),
        dynamic=True,
    ),
]

CLEANER_KEYS = [
    ConfigKey(
        "log.cleaner.enable",
        BOOLEAN,
        True,
        "Whether the log cleaner runs; without it compacted topics are not compacted.",
    ),
    ConfigKey(
        "log.cleaner.threads",
        INT,
        1,
        "Number of log cleaner threads.",
        at_least(0),
        dynamic=True,
        note="Accepted for compatibility: one log is compacted at a time.",
    ),
    ConfigKey(
        "log.cleaner.backoff.ms",
        LONG,
        15_000,
        "Time that the cleaner waits when no log needs compaction.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.dedupe.buffer.size",
        LONG,
        128 * 1024**2,
        "Memory for the keys of one compaction pass, in bytes.",
        at_least(1024**2),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.delete.retention.ms",
        LONG,
        DAY_MS,
        "Time that tombstones remain readable after compaction.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.max.compaction.lag.ms",
        LONG,
        MAX_LONG,
        "Longest time that a record may remain uncompacted.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.compaction.lag.ms",
        LONG,
        0,
        "Shortest time that a record remains uncompacted.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.cleanable.ratio",
        DOUBLE,
        0.5,
        "Ratio of uncompacted bytes at which a log is compacted.",
        between(0, 1),
        dynamic=True,
    ),
]

LOG_KEYS = [*DIRECTORY_KEYS, *FLUSH_KEYS, *RETENTION_KEYS, *SEGMENT_KEYS, *CLEANER_KEYS]
