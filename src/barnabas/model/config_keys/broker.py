"""Broker configuration: identity, network, topics, replication, ZooKeeper.

A key without effect has a `note` with the reason. The reference page and `DescribeConfigs` are
generated from this table. The keys of the log, of groups, of transactions and of security are
declared in their own modules and joined here.
"""

from barnabas.model.config import (
    ConfigKey,
    ConfigTable,
    ConfigType,
    address_limits_problem,
    at_least,
    between,
    one_of,
)
from barnabas.model.config_keys.coordinators import GROUP_KEYS, TRANSACTION_KEYS
from barnabas.model.config_keys.log import LOG_KEYS
from barnabas.model.config_keys.metrics import BROKER_METRICS_KEYS
from barnabas.model.config_keys.other_names import BROKER_ADVICE
from barnabas.model.config_keys.security import SECURITY_KEYS, ZOOKEEPER_SECURITY_KEYS

INT, LONG, SHORT = ConfigType.INT, ConfigType.LONG, ConfigType.SHORT
STRING, BOOLEAN, LIST = ConfigType.STRING, ConfigType.BOOLEAN, ConfigType.LIST

_ONE_LOOP = "Accepted for compatibility: one event loop does this work."

IDENTITY_KEYS = [
    ConfigKey("broker.id", INT, -1, "Id of this broker; with -1 the cluster generates one."),
    ConfigKey("node.id", INT, None, "Kafka's newer name of broker.id."),
    ConfigKey(
        "reserved.broker.max.id",
        INT,
        1000,
        "Generated broker ids are greater than this.",
        at_least(0),
    ),
    ConfigKey(
        "broker.id.generation.enable", BOOLEAN, True, "Whether a broker id may be generated."
    ),
    ConfigKey(
        "broker.rack", STRING, None, "Rack of this broker, for rack-aware replica placement."
    ),
    ConfigKey(
        "cluster.id",
        STRING,
        None,
        "Expected cluster id; the broker does not start in a cluster with another id.",
    ),
]

NETWORK_KEYS = [
    ConfigKey(
        "telemetry.max.bytes",
        INT,
        1024 * 1024,
        "Maximum bytes of one push of client metrics (KIP-714).",
        at_least(1),
    ),
    ConfigKey(
        "client.telemetry.interval.ms",
        INT,
        60_000,
        "Time between two pushes of client metrics; clients push only if http.listener is set.",
        at_least(100),
    ),
    ConfigKey(
        "group.lag.interval.ms",
        INT,
        10_000,
        "Time between two computations of the lag of groups, which runs only if http.listener or "
        "metric.reporters is set.",
        at_least(100),
    ),
    ConfigKey(
        "http.listener",
        STRING,
        None,
        "Address of the HTTP endpoints /metrics, /healthz, /readyz and /status: a port (on "
        "127.0.0.1), or host:port; unset: none.",
    ),
    ConfigKey("listeners", LIST, ["PLAINTEXT://:9092"], "Addresses on which the broker listens."),
    ConfigKey(
        "advertised.listeners",
        LIST,
        None,
        "Addresses that clients receive in metadata; unset: each client receives the address to "
        "which it connected, on a TLS listener with a host name that name.",
    ),
    ConfigKey(
        "advertised.host.name",
        STRING,
        None,
        "Host that clients receive in metadata when advertised.listeners is unset.",
    ),
    ConfigKey(
        "advertised.port",
        INT,
        None,
        "Port that clients receive with advertised.host.name; unset: the bound port.",
    ),
    ConfigKey("host.name", STRING, None, "Host to bind to when listeners is unset."),
    ConfigKey("port", INT, None, "Port to bind to when listeners is unset."),
    ConfigKey(
        "listener.security.protocol.map",
        LIST,
        ["PLAINTEXT:PLAINTEXT", "SSL:SSL", "SASL_PLAINTEXT:SASL_PLAINTEXT", "SASL_SSL:SASL_SSL"],
        "Security protocol of each listener name.",
    ),
    ConfigKey(
        "inter.broker.listener.name", STRING, None, "Listener for connections between brokers."
    ),
    ConfigKey(
        "socket.request.max.bytes",
        INT,
        104_857_600,
        "Largest request that the broker accepts, in bytes.",
        at_least(1),
    ),
    ConfigKey(
        "socket.send.buffer.bytes",
        INT,
        102_400,
        "Send buffer of a socket (SO_SNDBUF); -1: the default of the operating system.",
    ),
    ConfigKey(
        "socket.receive.buffer.bytes",
        INT,
        102_400,
        "Receive buffer of a socket (SO_RCVBUF); -1: the default of the operating system.",
    ),
    ConfigKey(
        "socket.listen.backlog.size",
        INT,
        50,
        "Length of the operating system's queue of pending connections.",
        at_least(1),
    ),
    ConfigKey(
        "max.connections",
        INT,
        2**31 - 1,
        "Maximum number of connections of the broker or, with the prefix "
        "`listener.name.<name>.`, of one listener; further connections wait.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "max.connections.per.ip",
        INT,
        2**31 - 1,
        "Maximum number of connections from one address; further connections are closed. 0: "
        "only addresses with an override may connect.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "max.connections.per.ip.overrides",
        STRING,
        "",
        "Other limits for single hosts or addresses, as host:count pairs.",
        address_limits_problem,
        dynamic=True,
    ),
    ConfigKey(
        "max.connection.creation.rate",
        INT,
        2**31 - 1,
        "Maximum number of new connections per second, of the broker or of one listener; "
        "further connections wait.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "connections.max.idle.ms",
        LONG,
        600_000,
        "Time after which the broker closes an idle connection.",
    ),
    ConfigKey(
        "queued.max.requests",
        INT,
        500,
        "Number of queued requests above which the broker stops reading.",
        at_least(1),
    ),
    ConfigKey(
        "queued.max.request.bytes",
        LONG,
        -1,
        "Bytes of queued requests above which the broker stops reading; -1: no limit.",
    ),
    ConfigKey(
        "num.network.threads",
        INT,
        3,
        "Number of network threads.",
        at_least(1),
        dynamic=True,
        note=_ONE_LOOP,
    ),
    ConfigKey(
        "num.io.threads",
        INT,
        8,
        "Number of request handler threads.",
        at_least(1),
        dynamic=True,
        note=_ONE_LOOP,
    ),
    ConfigKey(
        "background.threads",
        INT,
        10,
        "Number of threads for background tasks.",
        at_least(1),
        dynamic=True,
        note=_ONE_LOOP,
    ),
    ConfigKey(
        "request.timeout.ms",
        INT,
        30_000,
        "Longest time to wait for the response of another broker.",
    ),
    *BROKER_METRICS_KEYS,
]

TOPIC_DEFAULT_KEYS = [
    ConfigKey(
        "auto.create.topics.enable", BOOLEAN, True, "Create a topic when a client first uses it."
    ),
    ConfigKey("delete.topic.enable", BOOLEAN, True, "Whether topics may be deleted."),
    ConfigKey(
        "num.partitions", INT, 1, "Default number of partitions of a new topic.", at_least(1)
    ),
    ConfigKey(
        "default.replication.factor",
        INT,
        1,
        "Default number of replicas of a new topic's partitions.",
        at_least(1),
    ),
    ConfigKey(
        "compression.gzip.level",
        INT,
        -1,
        "gzip level, when `compression.type` is gzip.",
        between(-1, 9),
        dynamic=True,
    ),
    ConfigKey(
        "compression.lz4.level",
        INT,
        9,
        "lz4 level, when `compression.type` is lz4; 9 is the fast compressor, as in Java.",
        between(1, 17),
        dynamic=True,
    ),
    ConfigKey(
        "compression.zstd.level",
        INT,
        3,
        "zstd level, when `compression.type` is zstd.",
        between(-131_072, 22),
        dynamic=True,
    ),
    ConfigKey(
        "compression.type",
        STRING,
        "producer",
        "Codec of stored batches; 'producer' keeps the codec of the producer.",
        one_of("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
        dynamic=True,
    ),
    ConfigKey(
        "message.max.bytes",
        INT,
        1_048_588,
        "Largest record batch, in bytes.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "max.decompressed.batch.bytes",
        INT,
        64 * 1024**2,
        "Largest decompressed size of a produced batch; the broker rejects a larger one.",
        at_least(1024),
    ),
    ConfigKey(
        "record.validation.enable",
        BOOLEAN,
        True,
        "Check every record of a produced batch: count, lengths, offsets, compression. If "
        "false, the broker checks only the header and the checksum, and consumers stop at a "
        "batch with invalid records; meant for clusters in which every producer is trusted.",
        dynamic=True,
    ),
    ConfigKey(
        "min.insync.replicas",
        INT,
        1,
        "Number of in-sync replicas that a write with acks=all requires.",
        at_least(1),
        dynamic=True,
    ),
    ConfigKey(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        "Whether a replica outside the ISR may become leader when no in-sync replica is alive.",
        dynamic=True,
    ),
    ConfigKey(
        "fsync.before.ack",
        BOOLEAN,
        False,
        "Flush each produced batch to disk before it is acknowledged.",
    ),
]

REPLICATION_KEYS = [
    ConfigKey(
        "auto.leader.rebalance.enable",
        BOOLEAN,
        True,
        "Return leadership to the preferred replicas automatically.",
    ),
    ConfigKey(
        "leader.imbalance.check.interval.seconds",
        LONG,
        300,
        "Interval between checks of the leader imbalance.",
    ),
    ConfigKey(
        "leader.imbalance.per.broker.percentage",
        INT,
        10,
        "Percentage of imbalance above which leadership is rebalanced.",
    ),
    ConfigKey(
        "controlled.shutdown.enable",
        BOOLEAN,
        True,
        "Move leadership to other brokers before this broker stops.",
    ),
    ConfigKey(
        "controlled.shutdown.max.retries",
        INT,
        3,
        "Number of attempts to move leadership before the broker stops.",
    ),
    ConfigKey(
        "controlled.shutdown.retry.backoff.ms", LONG, 5000, "Time between two such attempts."
    ),
    ConfigKey(
        "num.replica.fetchers",
        INT,
        1,
        "Number of fetchers per source broker.",
        at_least(1),
        dynamic=True,
        note="A dynamic change takes effect at the next start of the broker.",
    ),
    ConfigKey(
        "replica.fetch.min.bytes", INT, 1, "Minimum bytes of a response to a follower's fetch."
    ),
    ConfigKey(
        "replica.fetch.max.bytes",
        INT,
        1024**2,
        "Maximum bytes per partition of a follower's fetch.",
    ),
    ConfigKey(
        "replica.fetch.wait.max.ms",
        INT,
        500,
        "Longest time that the leader delays the response to a follower's fetch.",
    ),
    ConfigKey(
        "replica.fetch.backoff.ms", INT, 1000, "Time before a follower retries a failed fetch."
    ),
    ConfigKey(
        "replica.fetch.response.max.bytes",
        INT,
        10 * 1024**2,
        "Maximum bytes of a response to a follower's fetch.",
    ),
    ConfigKey(
        "replica.lag.time.max.ms",
        LONG,
        30_000,
        "Lag after which the leader removes a follower from the ISR.",
    ),
    ConfigKey("replica.socket.timeout.ms", INT, 30_000, "Network timeout of a follower's fetch."),
    ConfigKey(
        "leader.replication.throttled.rate",
        LONG,
        None,
        "Maximum bytes per second that throttled replicas fetch from this broker; unset: no limit.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "follower.replication.throttled.rate",
        LONG,
        None,
        "Maximum bytes per second that throttled replicas on this broker fetch; unset: no limit.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        None,
        "Maximum bytes per second for moves between log directories; unset: no limit.",
        at_least(0),
        dynamic=True,
    ),
    ConfigKey(
        "replica.selector.class",
        STRING,
        None,
        "Class that selects the replica from which a consumer reads.",
        note="Accepted for compatibility: consumers with client.rack read from that rack.",
    ),
    ConfigKey(
        "fetch.max.bytes", INT, 55 * 1024**2, "Maximum bytes of a fetch response.", at_least(1024)
    ),
    ConfigKey(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1000,
        "Maximum number of fetch sessions in the cache.",
    ),
]

ZOOKEEPER_KEYS = [
    ConfigKey(
        "zookeeper.connect",
        STRING,
        None,
        "host:port list with an optional chroot; unset: the broker uses the embedded metadata "
        "tree.",
    ),
    ConfigKey("zookeeper.session.timeout.ms", INT, 18_000, "Timeout of the ZooKeeper session."),
    ConfigKey(
        "zookeeper.connection.timeout.ms",
        INT,
        None,
        "Longest time to wait for a connection to ZooKeeper.",
    ),
    ConfigKey(
        "zookeeper.max.in.flight.requests",
        INT,
        10,
        "Maximum number of requests to ZooKeeper without a response.",
        at_least(1),
    ),
    ConfigKey(
        "zookeeper.set.acl",
        BOOLEAN,
        False,
        "Whether nodes are created with ACLs: only the brokers' user may write, and read secrets.",
    ),
    *ZOOKEEPER_SECURITY_KEYS,
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
    ("metric.reporters.",),
)
