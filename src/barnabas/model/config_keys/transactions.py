"""Broker keys of transactions and producer ids; part of the broker's table."""

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
        "Partitions of __transaction_state; fixed once the topic exists, for it places every "
        "transactional id.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.replication.factor",
        SHORT,
        3,
        "Replicas of __transaction_state; a smaller cluster uses as many as it has brokers.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.min.isr",
        INT,
        2,
        "In-sync replicas that must hold a change of a transaction before it counts.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.segment.bytes",
        INT,
        104_857_600,
        "Segment size of __transaction_state; small segments compact and load sooner.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.state.log.load.buffer.size",
        INT,
        5_242_880,
        "Bytes read at a time while a coordinator loads.",
        at_least(1),
    ),
]

COORDINATOR_KEYS = [
    ConfigKey(
        "transaction.max.timeout.ms",
        INT,
        15 * _MINUTE_MS,
        "Longest transaction timeout a producer may ask for.",
        at_least(1),
    ),
    ConfigKey(
        "transactional.id.expiration.ms",
        INT,
        7 * _DAY_MS,
        "Idle time after which a transactional id without an open transaction is forgotten.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        INT,
        10_000,
        "How often the coordinator looks for transactions past their timeout.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        INT,
        _HOUR_MS,
        "How often the coordinator looks for idle transactional ids.",
        at_least(1),
    ),
    ConfigKey(
        "transaction.version",
        SHORT,
        2,
        "Highest transaction.version told to clients: 1 verifies partitions before the first "
        "append, 2 also bumps the epoch with each transaction (KIP-890).",
        between(0, 2),
        note="Kafka keeps this level as a cluster feature; here it is a key of each broker.",
    ),
]

PRODUCER_STATE_KEYS = [
    ConfigKey(
        "transaction.partition.verification.enable",
        BOOLEAN,
        True,
        "Whether a partition leader asks the coordinator before a producer's first append in a "
        "transaction.",
        dynamic=True,
    ),
    ConfigKey(
        "producer.id.expiration.ms",
        INT,
        _DAY_MS,
        "Time since a producer's last write after which a partition forgets its sequence numbers.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "producer.id.expiration.check.interval.ms",
        INT,
        10 * _MINUTE_MS,
        "How often partitions look for producers to forget.",
        at_least(1),
    ),
]

TRANSACTION_KEYS = [*STATE_LOG_KEYS, *COORDINATOR_KEYS, *PRODUCER_STATE_KEYS]
