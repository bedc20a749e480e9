"""Broker keys of the group coordinator; part of the broker's table."""

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
        "Shortest session timeout a member may ask for.",
    ),
    ConfigKey(
        "group.max.session.timeout.ms",
        ConfigType.INT,
        1_800_000,
        "Longest session timeout a member may ask for.",
    ),
    ConfigKey(
        "group.initial.rebalance.delay.ms",
        ConfigType.INT,
        3_000,
        "How long the first rebalance of an empty group waits for more members.",
    ),
    ConfigKey(
        "group.max.size",
        ConfigType.INT,
        5_000,
        "Most members one classic group may have.",
        at_least(1),
        note=_UNLIMITED_IN_KAFKA,
    ),
    ConfigKey(
        "group.max.bytes",
        ConfigType.LONG,
        16 * 1024 * 1024,
        "Most memory that the members of one group may take at the coordinator, in bytes: their "
        "protocols in a classic group, their subscriptions in a consumer group.",
        at_least(1),
        note="Kafka has no such key",
    ),
)

CONSUMER_GROUP_KEYS = (
    ConfigKey(
        "group.coordinator.rebalance.protocols",
        ConfigType.LIST,
        ["classic", "consumer"],
        "Rebalance protocols served: classic, and consumer (KIP-848).",
        each_of("classic", "consumer"),
    ),
    ConfigKey(
        "group.consumer.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "Silence after which a member of a consumer group is removed.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.min.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "Least session timeout that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.max.session.timeout.ms",
        ConfigType.INT,
        60_000,
        "Greatest session timeout that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "Heartbeat interval given to members of consumer groups.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.min.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "Least heartbeat interval that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.max.heartbeat.interval.ms",
        ConfigType.INT,
        15_000,
        "Greatest heartbeat interval that may be set for one consumer group.",
        at_least(1),
    ),
    ConfigKey(
        "group.consumer.max.size",
        ConfigType.INT,
        5_000,
        "Most members one consumer group may have.",
        at_least(1),
        note=_UNLIMITED_IN_KAFKA,
    ),
    ConfigKey(
        "group.consumer.assignors",
        ConfigType.LIST,
        ["uniform", "range"],
        "Server-side assignors; the first is used when members ask for none.",
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
        "Longest metadata text a committed offset may carry.",
    ),
    ConfigKey(
        "offsets.retention.minutes",
        ConfigType.INT,
        7 * 24 * 60,
        "How long offsets of an empty group, or of topics no longer subscribed, are kept.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.retention.check.interval.ms",
        ConfigType.LONG,
        600_000,
        "How often expired offsets are looked for.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.commit.timeout.ms",
        ConfigType.INT,
        5_000,
        "How long a commit waits for replication before it is answered with a time-out.",
        at_least(1),
        aliases=(Alias("offset.commit.timeout.ms"),),
    ),
    ConfigKey(
        "offsets.topic.num.partitions",
        ConfigType.INT,
        50,
        "Partitions of __consumer_offsets; must not change once the topic exists.",
        at_least(1),
    ),
    ConfigKey(
        "offsets.topic.replication.factor",
        ConfigType.SHORT,
        3,
        "Replicas of __consumer_offsets; fewer are used while fewer brokers live.",
        at_least(1),
        note="Kafka refuses to create the topic below this many brokers; an embedded broker is one",
    ),
    ConfigKey(
        "offsets.topic.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "Segment size of __consumer_offsets, small so that compaction and loading stay quick.",
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
        "Bytes read at a time while a partition of __consumer_offsets is loaded.",
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
            "Silence after which a member of this consumer group is removed.",
            at_least(1),
            dynamic=True,
        ),
        ConfigKey(
            "consumer.heartbeat.interval.ms",
            ConfigType.INT,
            5_000,
            "Heartbeat interval given to members of this consumer group.",
            at_least(1),
            dynamic=True,
        ),
    ),
)
"""What can be set for one group (KIP-848), each below `group.` for all groups."""
