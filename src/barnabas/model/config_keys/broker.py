"""Broker configuration: identity, network, topics, replication, ZooKeeper.

Every key either takes effect or carries a `note` that says why it cannot; the reference page and
`DescribeConfigs` are made from this table. Keys of the log, of groups and of transactions are
declared beside their subjects and joined here.
"""

from barnabas.model.address_limits import address_limits_problem
from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, between, one_of
from barnabas.model.config_keys.groups import GROUP_KEYS
from barnabas.model.config_keys.log import LOG_KEYS
from barnabas.model.config_keys.other_names import BROKER_ADVICE
from barnabas.model.config_keys.security import SECURITY_KEYS
from barnabas.model.config_keys.transactions import TRANSACTION_KEYS

INT, LONG, SHORT = ConfigType.INT, ConfigType.LONG, ConfigType.SHORT
STRING, BOOLEAN, LIST = ConfigType.STRING, ConfigType.BOOLEAN, ConfigType.LIST

_ONE_LOOP = "Accepted for Kafka's sake: one event loop does this work."

IDENTITY_KEYS = [
    ConfigKey("broker.id", INT, -1, "The broker's number; -1 takes the next free one."),
    ConfigKey("node.id", INT, None, "Newer name of broker.id."),
    ConfigKey("reserved.broker.max.id", INT, 1000, "Generated ids start above this.", at_least(0)),
    ConfigKey("broker.id.generation.enable", BOOLEAN, True, "Whether ids may be generated."),
    ConfigKey("broker.rack", STRING, None, "The rack of this broker, for replica placement."),
    ConfigKey("cluster.id", STRING, None, "Refuse to start in a cluster of another id."),
]

NETWORK_KEYS = [
    ConfigKey("listeners", LIST, ["PLAINTEXT://:9092"], "Addresses to listen on."),
    ConfigKey(
        "advertised.listeners",
        LIST,
        None,
        "Addresses told to clients; unset answers each client the address it connected to.",
    ),
    ConfigKey(
        "advertised.host.name",
        STRING,
        None,
        "Host told to clients when advertised.listeners is unset.",
    ),
    ConfigKey("advertised.port", INT, None, "Port told to clients when it is not the bound one."),
    ConfigKey("host.name", STRING, None, "Host to bind when listeners is unset."),
    ConfigKey("port", INT, None, "Port to bind when listeners is unset."),
    ConfigKey(
        "listener.security.protocol.map",
        LIST,
        ["PLAINTEXT:PLAINTEXT", "SSL:SSL", "SASL_PLAINTEXT:SASL_PLAINTEXT", "SASL_SSL:SASL_SSL"],
        "Security protocol of each listener name.",
    ),
    ConfigKey("inter.broker.listener.name", STRING, None, "Listener that brokers use."),
    ConfigKey(
        "socket.request.max.bytes", INT, 104_857_600, "Largest request accepted.", at_least(1)
    ),
    ConfigKey("socket.send.buffer.bytes", INT, 102_400, "SO_SNDBUF; -1 leaves the system's."),
    ConfigKey("socket.receive.buffer.bytes", INT, 102_400, "SO_RCVBUF; -1 leaves the system's."),
    ConfigKey("socket.listen.backlog.size", INT, 50, "Connections the system queues.", at_least(1)),
    ConfigKey(
        "max.connections",
        INT,
        2**31 - 1,
        "Connections in all, or with `listener.name.<name>.` before it of a listener; more wait.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "max.connections.per.ip",
        INT,
        2**31 - 1,
        "Connections of one address; more are closed. 0: only of those with an override.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "max.connections.per.ip.overrides",
        STRING,
        "",
        "Other limits for single hosts or addresses.",
        address_limits_problem,
        dynamic=True,
    ),
    ConfigKey(
        "max.connection.creation.rate",
        INT,
        2**31 - 1,
        "Connections per second that are served, in all or of a listener; those beyond wait.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey("connections.max.idle.ms", LONG, 600_000, "Idle time after which one is closed."),
    ConfigKey("queued.max.requests", INT, 500, "Requests held before reading pauses.", at_least(1)),
    ConfigKey("queued.max.request.bytes", LONG, -1, "Bytes held before reading pauses."),
    ConfigKey(
        "num.network.threads", INT, 3, "Network threads.", at_least(1), dynamic=True, note=_ONE_LOOP
    ),
    ConfigKey(
        "num.io.threads", INT, 8, "Request threads.", at_least(1), dynamic=True, note=_ONE_LOOP
    ),
    ConfigKey(
        "background.threads",
        INT,
        10,
        "Background threads.",
        at_least(1),
        dynamic=True,
        note=_ONE_LOOP,
    ),
    ConfigKey("request.timeout.ms", INT, 30_000, "Longest wait for another broker's answer."),
    ConfigKey(
        "metric.reporters",
        LIST,
        [],
        "Classes that report metrics.",
        dynamic=True,
        note="Accepted for Kafka's sake, without effect: Java classes cannot be loaded",
    ),
]

TOPIC_DEFAULT_KEYS = [
    ConfigKey("auto.create.topics.enable", BOOLEAN, True, "Create a topic on first use."),
    ConfigKey("delete.topic.enable", BOOLEAN, True, "Whether topics can be deleted."),
    ConfigKey("num.partitions", INT, 1, "Partitions of a new topic.", at_least(1)),
    ConfigKey("default.replication.factor", INT, 1, "Replicas of a new topic.", at_least(1)),
    ConfigKey(
        "compression.gzip.level",
        INT,
        -1,
        "Level of gzip where `compression.type` asks for it.",
        between(-1, 9),
        dynamic=True,
    ),
    ConfigKey(
        "compression.lz4.level",
        INT,
        9,
        "Level of lz4 where `compression.type` asks for it.",
        between(1, 17),
        dynamic=True,
    ),
    ConfigKey(
        "compression.zstd.level",
        INT,
        3,
        "Level of zstd where `compression.type` asks for it.",
        between(-131_072, 22),
        dynamic=True,
    ),
    ConfigKey(
        "compression.type",
        STRING,
        "producer",
        "Codec of stored batches; 'producer' keeps what was sent.",
        one_of("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
        dynamic=True,
    ),
    ConfigKey(
        "message.max.bytes", INT, 1_048_588, "Largest record batch.", at_least(0), dynamic=True
    ),
    ConfigKey(
        "max.decompressed.batch.bytes",
        INT,
        64 * 1024**2,
        "Largest size a produced batch may unpack to; a larger one is refused.",
        at_least(1024),
    ),
    ConfigKey(
        "record.validation.enable",
        BOOLEAN,
        True,
        "Check every record of a produced batch: count, lengths, offsets, compression. Without it "
        "only header and checksum are checked, and consumers stop at a batch with invalid records; "
        "for clusters whose producers are all trusted.",
        dynamic=True,
    ),
    ConfigKey(
        "min.insync.replicas", INT, 1, "In-sync replicas acks=all needs.", at_least(1), dynamic=True
    ),
    ConfigKey(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        "Let a replica that is not in sync lead when no other is left.",
        dynamic=True,
    ),
    ConfigKey(
        "fsync.before.ack",
        BOOLEAN,
        False,
        "Force each produced batch to disk before acknowledging it.",
    ),
]

REPLICATION_KEYS = [
    ConfigKey("auto.leader.rebalance.enable", BOOLEAN, True, "Give leadership back by itself."),
    ConfigKey(
        "leader.imbalance.check.interval.seconds", LONG, 300, "How often balance is checked."
    ),
    ConfigKey(
        "leader.imbalance.per.broker.percentage", INT, 10, "Imbalance that is put right, percent."
    ),
    ConfigKey("controlled.shutdown.enable", BOOLEAN, True, "Move leaders away before stopping."),
    ConfigKey("controlled.shutdown.max.retries", INT, 3, "Tries to move leaders away."),
    ConfigKey("controlled.shutdown.retry.backoff.ms", LONG, 5000, "Pause between such tries."),
    ConfigKey(
        "num.replica.fetchers",
        INT,
        1,
        "Fetchers per source broker.",
        at_least(1),
        dynamic=True,
        note="A dynamic change takes effect when the broker starts again.",
    ),
    ConfigKey("replica.fetch.min.bytes", INT, 1, "Bytes a follower's fetch waits for."),
    ConfigKey("replica.fetch.max.bytes", INT, 1024**2, "Bytes per partition of such a fetch."),
    ConfigKey("replica.fetch.wait.max.ms", INT, 500, "Longest wait of such a fetch."),
    ConfigKey("replica.fetch.backoff.ms", INT, 1000, "Pause after a failed fetch."),
    ConfigKey("replica.fetch.response.max.bytes", INT, 10 * 1024**2, "Bytes of its response."),
    ConfigKey("replica.lag.time.max.ms", LONG, 30_000, "Lag that drops a follower from the ISR."),
    ConfigKey("replica.socket.timeout.ms", INT, 30_000, "Network timeout of a follower's fetch."),
    ConfigKey(
        "leader.replication.throttled.rate",
        LONG,
        None,
        "Bytes per second that throttled replicas copy from this broker; unset: no limit.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "follower.replication.throttled.rate",
        LONG,
        None,
        "Bytes per second that throttled replicas of this broker copy; unset: no limit.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        None,
        "Bytes per second of moves between log directories; unset: no limit.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "replica.selector.class",
        STRING,
        None,
        "Which replica serves which consumer.",
        note="Accepted for Kafka's sake: a consumer that names its rack reads from it.",
    ),
    ConfigKey("fetch.max.bytes", INT, 55 * 1024**2, "Bytes of one fetch response.", at_least(1024)),
    ConfigKey("max.incremental.fetch.session.cache.slots", INT, 1000, "Fetch sessions kept."),
]

ZOOKEEPER_KEYS = [
    ConfigKey("zookeeper.connect", STRING, None, "host:port list and chroot; unset: embedded."),
    ConfigKey("zookeeper.session.timeout.ms", INT, 18_000, "Session time-out."),
    ConfigKey("zookeeper.connection.timeout.ms", INT, None, "Longest wait for a connection."),
    ConfigKey(
        "zookeeper.max.in.flight.requests",
        INT,
        10,
        "Requests sent before the first answer.",
        at_least(1),
    ),
]

BROKER_KEYS = ConfigTable(
    [
        *IDENTITY_KEYS,
        *NETWORK_KEYS,
        *SECURITY_KEYS,
        *TOPIC_DEFAULT_KEYS,
        *LOG_KEYS,
        *REPLICATION_KEYS,
        *GROUP_KEYS,
        *TRANSACTION_KEYS,
        *ZOOKEEPER_KEYS,
    ],
    BROKER_ADVICE,
)
