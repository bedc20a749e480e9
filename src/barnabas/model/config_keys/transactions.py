"""Broker configuration of transactions and producer ids; part of the broker's table."""

from barnabas.model.config import ConfigKey, ConfigType, at_least, between

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
