"""Broker configuration of the group and transaction coordinators; part of the broker's table."""

from barnabas.model.config import (
    Alias,
    ConfigKey,
    ConfigTable,
    ConfigType,
    at_least,
    between,
    each_of,
    one_of,
)

_UNLIMITED_IN_KAFKA = "Kafka's default is 2147483647"

CLASSIC_GROUP_KEYS = (
    ConfigKey(
        "group.min.session.timeout.ms",
        ConfigType.INT,
        6_000,
        "Shortest session timeout that a member may request.",
    ),
    ConfigKey(
        "group.max.session.timeout.ms",
        ConfigType.INT,
        1_800_000,
        "Longest session timeout that a member may request.",
    ),
    ConfigKey(
        "group.initial.rebalance.delay.ms",
        ConfigType.INT,
        3_000,
        "Time that the first rebalance of an empty group waits for more members.",
    ),
    ConfigKey(
        "group.max.size",
        ConfigType.INT,
        5_000,
        "Maximum number of members of a classic group.",
        at_least(1),
        note=_UNLIMITED_IN_KAFKA,
    ),
    ConfigKey(
        "group.max.bytes",
        ConfigType.LONG,
        16 * 1024 * 1024,
        "Maximum memory, in bytes, that the members of one group may use at the coordinator: "
        "their protocols in a classic group, their subscriptions in a consumer group.",
        at_least(1),
        note="Kafka has no such key",
    ),
)

CONSUMER_GROUP_KEYS = (
    ConfigKey(
        "group.coordinator.rebalance.protocols",
        ConfigType.LIST,
        ["classic", "consumer"],
        "Enabled rebalance protocols: classic, and consumer (KIP-848).",
        each_of("classic", "consumer"),
    ),
    ConfigKey(
        "group.consumer.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "Time without a heartbeat after which a member of a consumer group is removed.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.min.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "Shortest session timeout that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.max.session.timeout.ms",
        ConfigType.INT,
        60_000,
        "Longest session timeout that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "Heartbeat interval of the members of consumer groups.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.min.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "Shortest heartbeat interval that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.max.heartbeat.interval.ms",
        ConfigType.INT,
        15_000,
        "Longest heartbeat interval that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.max.size",
        ConfigType.INT,
        5_000,
        "Maximum number of members of a consumer group.",
        at_least(1),
        note=_UNLIMITED_IN_KAFKA,
    ),
    ConfigKey(
        "group.consumer.assignors",
        ConfigType.LIST,
        ["uniform", "range"],
        "Server-side assignors; the first one is the default when no member names one.",
        each_of("uniform", "range"),
    ),
    ConfigKey(
        "group.consumer.migration.policy",
        ConfigType.STRING,
        "bidirectional",
        "Whether a live group may change between the classic and the consumer protocol.",
        one_of("disabled", "downgrade", "upgrade", "bidirectional"),
    ),
)

OFFSET_KEYS = (
    ConfigKey(
        "offset.metadata.max.bytes",
        ConfigType.INT,
        4096,
        "Maximum size of the metadata text of a committed offset.",
    ),
    ConfigKey(
        "offsets.retention.minutes",
        ConfigType.INT,
        7 * 24 * 60,
        "Retention time of the offsets of an empty group, and of topics to which the group is "
        "no longer subscribed.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.retention.check.interval.ms",
        ConfigType.LONG,
        600_000,
        "Interval between checks for expired offsets.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.commit.timeout.ms",
        ConfigType.INT,
        5_000,
        "Time that a commit waits for replication before it fails with a timeout.",
        at_least(1),
        aliases=(Alias("offset.commit.timeout.ms"),),
    ),
    ConfigKey(
        "offsets.topic.num.partitions",
        ConfigType.INT,
        50,
        "Number of partitions of __consumer_offsets; must not change after the topic is created.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.topic.replication.factor",
        ConfigType.SHORT,
        3,
        "Number of replicas of __consumer_offsets; fewer if fewer brokers are alive.",
        at_least(1),
        note="Kafka does not create the topic with fewer brokers",
    ),
    ConfigKey(
        "offsets.topic.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "Segment size of __consumer_offsets; small segments make compaction and loading faster.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.topic.compression.codec",
        ConfigType.INT,
        0,
        "Codec id of batches written to __consumer_offsets.",
        between(0, 4),
    ),
    ConfigKey(
        "offsets.load.buffer.size",
        ConfigType.INT,
        5_242_880,
        "Bytes per read while the coordinator loads a partition of __consumer_offsets.",
        at_least(1),
    ),
)

GROUP_KEYS = CLASSIC_GROUP_KEYS + CONSUMER_GROUP_KEYS + OFFSET_KEYS

GROUP_RESOURCE_KEYS = ConfigTable(
    (
        ConfigKey(
            "consumer.session.timeout.ms",
            ConfigType.INT,
            45_000,
            "Time without a heartbeat after which a member of this consumer group is removed.",
            at_least(1),
            dynamic=True,
        ),
        ConfigKey(
            "consumer.heartbeat.interval.ms",
            ConfigType.INT,
            5_000,
            "Heartbeat interval of the members of this consumer group.",
            at_least(1),
            dynamic=True,
        ),
    ),
)
"""Keys of one group (KIP-848); the broker key `group.<key>` is the default for all groups."""


# --- Transactions and producer ids ----------------------------------------------------------------


INT, SHORT, BOOLEAN = ConfigType.INT, ConfigType.SHORT, ConfigType.BOOLEAN

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_DAY_MS = 24 * _HOUR_MS

STATE_LOG_KEYS = [
    ConfigKey(
        "transaction.state.log.num.partitions",
        INT,
        50,
        "Number of partitions of __transaction_state; must not change after the topic is "
        "created, because it determines the coordinator of each transactional id.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.replication.factor",
        SHORT,
        3,
        "Number of replicas of __transaction_state; a smaller cluster has one replica per broker.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.min.isr",
        INT,
        2,
        "Number of in-sync replicas that must store a transaction state change before it takes "
        "effect.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.segment.bytes",
        INT,
        104_857_600,
        "Segment size of __transaction_state; small segments make compaction and loading faster.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.load.buffer.size",
        INT,
        5_242_880,
        "Bytes per read while a coordinator loads a partition of __transaction_state.",
        at_least(1),
    ),
]

COORDINATOR_KEYS = [
    ConfigKey(
        "transaction.max.timeout.ms",
        INT,
        15 * _MINUTE_MS,
        "Longest transaction timeout that a producer may request.",
        at_least(1),
    ),
    ConfigKey(
        "transactional.id.expiration.ms",
        INT,
        7 * _DAY_MS,
        "Idle time after which a transactional id without an open transaction expires.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        INT,
        10_000,
        "Interval between checks for transactions that exceeded their timeout.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        INT,
        _HOUR_MS,
        "Interval between checks for expired transactional ids.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.version",
        SHORT,
        2,
        "Highest transaction.version that the broker advertises: 1 verifies partitions before "
        "the first append, 2 also increments the producer epoch with each transaction "
        "(KIP-890).",
        between(0, 2),
        note="In Kafka this is a feature level of the cluster; here it is a key of each broker.",
    ),
]

PRODUCER_STATE_KEYS = [
    ConfigKey(
        "transaction.partition.verification.enable",
        BOOLEAN,
        True,
        "Whether a partition leader verifies a transaction with the coordinator before the "
        "producer's first append.",
        dynamic=True,
    ),
    ConfigKey(
        "add.partitions.to.txn.retry.backoff.ms",
        INT,
        20,
        "Interval after which a partition leader asks the coordinator again whether it may append "
        "to a transaction whose predecessor is still being completed.",
        at_least(1),
    ),
    ConfigKey(
        "add.partitions.to.txn.retry.backoff.max.ms",
        INT,
        100,
        "Time for which a partition leader asks again before it returns CONCURRENT_TRANSACTIONS to "
        "the producer, which then waits for its own retry backoff.",
        at_least(0),
    ),
    ConfigKey(
        "producer.id.expiration.ms",
        INT,
        _DAY_MS,
        "Time since the last write of a producer after which a partition drops its sequence "
        "numbers.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "producer.id.expiration.check.interval.ms",
        INT,
        10 * _MINUTE_MS,
        "Interval between checks for expired producer ids.",
        at_least(1),
    ),
]

TRANSACTION_KEYS = [*STATE_LOG_KEYS, *COORDINATOR_KEYS, *PRODUCER_STATE_KEYS]
