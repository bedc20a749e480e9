"""Keys of the ZooKeeper high-level consumer, with the names and defaults of Kafka 0.8.

Connections and security use the shared client keys, except for keys that have another name in 0.8:
`socket.timeout.ms` is the request timeout, `socket.receive.buffer.bytes` the receive buffer.
"""

import re

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, one_of
from barnabas.model.config_keys.client import CLIENT_KEYS, IGNORED_REPORTERS, RECORD_READING_KEYS
from barnabas.model.config_keys.other_names import ASSIGNORS
from barnabas.model.config_keys.security import ZOOKEEPER_SECURITY_KEYS

INT, LONG, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.STRING
BOOLEAN = ConfigType.BOOLEAN

_RENAMED = {"bootstrap.servers", "client.id", "request.timeout.ms", "receive.buffer.bytes"}
_LEGAL_NAME = re.compile(r"[A-Za-z0-9._-]+")


def _legal_name(value: str | None) -> str | None:
    """Validates a name that becomes part of a znode path."""
    if value is None or (_LEGAL_NAME.fullmatch(value) and value not in (".", "..")):
        return None
    return "must contain only letters, digits, '.', '_' and '-'"


ZOOKEEPER_KEYS = [
    ConfigKey(
        "zookeeper.connect",
        STRING,
        None,
        "host:port list of the ZooKeeper servers, with an optional chroot at the end.",
        lambda value: None if value else "at least one host:port is required",
        required=True,
    ),
    ConfigKey(
        "zookeeper.session.timeout.ms",
        INT,
        6_000,
        "Timeout of the ZooKeeper session; after it the group removes this consumer.",
        at_least(1),
    ),
    ConfigKey(
        "zookeeper.connection.timeout.ms",
        INT,
        None,
        "Longest time to wait for a connection; unset: the session timeout.",
    ),
    ConfigKey(
        "zookeeper.sync.time.ms",
        INT,
        2_000,
        "How far a ZooKeeper server may be behind the leader; also the default of "
        "rebalance.backoff.ms.",
        at_least(0),
    ),
    *ZOOKEEPER_SECURITY_KEYS,
]

MEMBER_KEYS = [
    ConfigKey("group.id", STRING, None, "Id of the consumer group.", _legal_name, required=True),
    ConfigKey(
        "consumer.id",
        STRING,
        None,
        "Name of this consumer in its group; unset: generated from host, time and a random part.",
        _legal_name,
    ),
    ConfigKey(
        "client.id",
        STRING,
        None,
        "Name of this client in the logs of the broker; unset: the group id.",
        _legal_name,
    ),
    ConfigKey(
        "rebalance.max.retries", INT, 4, "Number of attempts before a rebalance fails.", at_least(1)
    ),
    ConfigKey(
        "rebalance.backoff.ms",
        INT,
        None,
        "Longest time between two attempts; unset: zookeeper.sync.time.ms.",
    ),
    ConfigKey(
        "partition.assignment.strategy",
        STRING,
        "range",
        "How partitions are assigned to the streams of the group.",
        one_of("range", "roundrobin"),
        synonyms=ASSIGNORS,
    ),
    ConfigKey(
        "exclude.internal.topics",
        BOOLEAN,
        True,
        "Whether topic filters exclude the internal topics.",
    ),
]

OFFSET_KEYS = [
    ConfigKey(
        "auto.commit.enable", BOOLEAN, True, "Whether the consumer commits offsets automatically."
    ),
    ConfigKey(
        "auto.commit.interval.ms", INT, 60_000, "Interval between automatic commits.", at_least(1)
    ),
    ConfigKey(
        "auto.offset.reset",
        STRING,
        "largest",
        "Start position without a valid offset: smallest (earliest), largest (latest), none.",
        one_of("smallest", "largest", "earliest", "latest", "none"),
    ),
    ConfigKey(
        "offsets.storage",
        STRING,
        "zookeeper",
        "Where the offsets of the group are stored.",
        one_of("zookeeper", "kafka"),
    ),
    ConfigKey(
        "dual.commit.enabled",
        BOOLEAN,
        None,
        "Whether offsets stored in Kafka are also written to ZooKeeper; unset: true.",
    ),
    ConfigKey(
        "offsets.commit.max.retries", INT, 5, "Number of retries of a failed commit.", at_least(0)
    ),
    ConfigKey(
        "offsets.channel.backoff.ms",
        INT,
        1_000,
        "Time between retries of offset commits and offset fetches.",
        at_least(0),
    ),
    ConfigKey(
        "offsets.channel.socket.timeout.ms",
        INT,
        10_000,
        "Longest time to wait for a response of the coordinator.",
        at_least(1),
    ),
]

FETCH_KEYS = [
    ConfigKey(
        "fetch.message.max.bytes",
        INT,
        1024**2,
        "Maximum bytes per partition of a fetch.",
        at_least(1),
    ),
    ConfigKey(
        "fetch.min.bytes",
        INT,
        1,
        "Minimum bytes of a fetch response; the broker delays the response until it has them.",
        at_least(0),
    ),
    ConfigKey(
        "fetch.wait.max.ms",
        INT,
        100,
        "Longest time that the broker delays a fetch response.",
        at_least(0),
    ),
    ConfigKey(
        "num.consumer.fetchers",
        INT,
        1,
        "Number of fetchers, each with one connection, per broker.",
        at_least(1),
    ),
    ConfigKey(
        "queued.max.message.chunks",
        INT,
        2,
        "Maximum number of chunks in the buffer of a stream.",
        at_least(1),
    ),
    ConfigKey(
        "refresh.leader.backoff.ms",
        INT,
        200,
        "Time between two attempts to find the leader of a partition.",
        at_least(0),
    ),
    ConfigKey(
        "socket.timeout.ms", INT, 30_000, "Longest time to wait for a response.", at_least(1)
    ),
    ConfigKey(
        "socket.receive.buffer.bytes",
        INT,
        -1,
        "Size of the socket's receive buffer (SO_RCVBUF). With -1 the operating system adjusts "
        "it, which is faster than Kafka's default of 65536.",
        at_least(-1),
    ),
    ConfigKey(
        "consumer.timeout.ms",
        INT,
        -1,
        "Time without a record after which a stream raises; -1: no timeout.",
        at_least(-1),
    ),
    *RECORD_READING_KEYS,
]

CONNECTOR_KEYS = ConfigTable(
    [
        *ZOOKEEPER_KEYS,
        *MEMBER_KEYS,
        *OFFSET_KEYS,
        *FETCH_KEYS,
        *(key for key in CLIENT_KEYS if key.name not in _RENAMED),
        IGNORED_REPORTERS,
    ]
)
