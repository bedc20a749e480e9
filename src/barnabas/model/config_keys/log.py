"""Broker keys of the log: directories, flushing, rolling, retention, compaction.

Those that set a default for topics are named in `topic.BROKER_SYNONYMS`; they are `dynamic`, a
change reaches every topic without an override of its own.
"""

from barnabas.model.config import ConfigKey, ConfigType, at_least, between, each_of, one_of
from barnabas.model.config_keys.topic import DAY_MS, MAX_LONG

INT, LONG, DOUBLE = ConfigType.INT, ConfigType.LONG, ConfigType.DOUBLE
STRING, BOOLEAN, LIST = ConfigType.STRING, ConfigType.BOOLEAN, ConfigType.LIST

DIRECTORY_KEYS = [
    ConfigKey("log.dir", STRING, "/tmp/barnabas-logs", "Directory of the data."),
    ConfigKey("log.dirs", LIST, None, "Directories of the data; log.dir is used when unset."),
    ConfigKey(
        "num.recovery.threads.per.data.dir",
        INT,
        1,
        "Threads that recover logs at start.",
        at_least(1),
        dynamic=True,
        note="Accepted for Kafka's sake: recovery reads one log after the other.",
    ),
    ConfigKey(
        "num.replica.alter.log.dirs.threads",
        INT,
        None,
        "Threads that move replicas between directories.",
        note="Accepted for Kafka's sake: moves take turns, a piece at a time.",
    ),
]

FLUSH_KEYS = [
    ConfigKey(
        "log.flush.interval.messages",
        LONG,
        MAX_LONG,
        "Records after which a log is forced to disk; 1 forces before each acknowledgement.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "log.flush.interval.ms",
        LONG,
        None,
        "Longest time a record stays unforced; log.flush.scheduler.interval.ms when unset.",
        dynamic=True,
    ),
    ConfigKey(
        "log.flush.scheduler.interval.ms",
        LONG,
        MAX_LONG,
        "How often logs are checked for a time-based flush.",
    ),
    ConfigKey(
        "log.flush.offset.checkpoint.interval.ms",
        INT,
        60_000,
        "How often the recovery points are written down.",
        at_least(0),
    ),
    ConfigKey(
        "log.flush.start.offset.checkpoint.interval.ms",
        INT,
        60_000,
        "How often the log start offsets are written down.",
        at_least(0),
    ),
    ConfigKey(
        "replica.high.watermark.checkpoint.interval.ms",
        LONG,
        5_000,
        "How often the high watermarks are written down.",
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
    ConfigKey("log.retention.hours", INT, 168, "Age in hours at which a segment goes."),
    ConfigKey(
        "log.retention.minutes", INT, None, "Age in minutes; log.retention.hours when unset."
    ),
    ConfigKey(
        "log.retention.ms",
        LONG,
        None,
        "Age in milliseconds; log.retention.minutes when unset, -1 for no limit.",
        dynamic=True,
    ),
    ConfigKey(
        "log.retention.check.interval.ms",
        LONG,
        300_000,
        "How often logs are checked for segments to delete.",
        at_least(1),
    ),
    ConfigKey(
        "log.segment.delete.delay.ms",
        LONG,
        60_000,
        "How long a deleted segment's files stay on disk.",
        at_least(0),
        dynamic=True,
    ),
]

SEGMENT_KEYS = [
    ConfigKey("log.roll.hours", INT, 168, "Age in hours at which a new segment begins."),
    ConfigKey("log.roll.ms", LONG, None, "Age in ms; log.roll.hours when unset.", dynamic=True),
    ConfigKey("log.roll.jitter.hours", INT, 0, "Random part taken off the roll age, in hours."),
    ConfigKey("log.roll.jitter.ms", LONG, None, "The same in milliseconds.", dynamic=True),
    ConfigKey("log.segment.bytes", INT, 1024**3, "Size of a segment.", at_least(14), dynamic=True),
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
        "Size at which a full index rolls the segment.",
        at_least(4),
        dynamic=True,
    ),
    ConfigKey(
        "log.preallocate",
        BOOLEAN,
        False,
        "Reserve a segment's space at once.",
        dynamic=True,
        note="Accepted for Kafka's sake: segments grow as they are written.",
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
        "How far ahead of the clock a timestamp may be.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.message.timestamp.before.max.ms",
        LONG,
        MAX_LONG,
        "How far behind the clock a timestamp may be.",
        at_least(0),
        dynamic=True,
    ),
]

CLEANER_KEYS = [
    ConfigKey("log.cleaner.enable", BOOLEAN, True, "Whether compacted topics are compacted."),
    ConfigKey(
        "log.cleaner.threads",
        INT,
        1,
        "Threads that compact.",
        at_least(0),
        dynamic=True,
        note="Accepted for Kafka's sake: one log is compacted at a time.",
    ),
    ConfigKey(
        "log.cleaner.backoff.ms",
        LONG,
        15_000,
        "Pause when nothing needs compaction.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.dedupe.buffer.size",
        LONG,
        128 * 1024**2,
        "Memory for the keys of one compaction pass.",
        at_least(1024**2),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.delete.retention.ms",
        LONG,
        DAY_MS,
        "How long tombstones stay readable.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.max.compaction.lag.ms",
        LONG,
        MAX_LONG,
        "Longest time a record stays uncompacted.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.compaction.lag.ms",
        LONG,
        0,
        "Shortest time a record stays uncompacted.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.cleanable.ratio",
        DOUBLE,
        0.5,
        "Share of dirty bytes at which a log is compacted.",
        between(0, 1),
        dynamic=True,
    ),
]

LOG_KEYS = [*DIRECTORY_KEYS, *FLUSH_KEYS, *RETENTION_KEYS, *SEGMENT_KEYS, *CLEANER_KEYS]
