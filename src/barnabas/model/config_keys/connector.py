"""Keys of the ZooKeeper high-level consumer, with the names and defaults of Kafka 0.8.

Connections and security are the shared keys; what 0.8 named otherwise goes by its old name:
`socket.timeout.ms` is the request time-out, `socket.receive.buffer.bytes` the receive buffer.
"""

import re

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, one_of
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.config_keys.other_names import ASSIGNORS

INT, LONG, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.STRING
BOOLEAN = ConfigType.BOOLEAN

_RENAMED = {"bootstrap.servers", "client.id", "request.timeout.ms", "receive.buffer.bytes"}
_LEGAL_NAME = re.compile(r"[A-Za-z0-9._-]+")


def _legal_name(value: str | None) -> str | None:
    """Names become part of a node's path."""
    if value is None or (_LEGAL_NAME.fullmatch(value) and value not in (".", "..")):
        return None
    return "must be made of letters, digits, '.', '_' and '-'"


ZOOKEEPER_KEYS = [
    ConfigKey(
        "zookeeper.connect",
        STRING,
        None,
        "host:port of the ensemble's servers, with a chroot at the end if there is one.",
        lambda value: None if value else "at least one host:port is needed",
        required=True,
    ),
    ConfigKey(
        "zookeeper.session.timeout.ms",
        INT,
        6_000,
        "Silence after which the group takes this consumer for dead.",
        at_least(1),
    ),
    ConfigKey(
        "zookeeper.connection.timeout.ms",
        INT,
        None,
        "Longest wait for a connection; unset: the session's time-out.",
    ),
    ConfigKey(
        "zookeeper.sync.time.ms",
        INT,
        2_000,
        "How far a server may be behind; the pause between rebalance attempts if that is unset.",
        at_least(0),
    ),
]

MEMBER_KEYS = [
    ConfigKey("group.id", STRING, None, "The group.", _legal_name, required=True),
    ConfigKey(
        "consumer.id",
        STRING,
        None,
        "Name of this consumer in its group; unset: host, time and a random part.",
        _legal_name,
    ),
    ConfigKey(
        "client.id", STRING, None, "Name in the broker's logs; unset: the group.", _legal_name
    ),
    ConfigKey("rebalance.max.retries", INT, 4, "Attempts before a rebalance fails.", at_least(1)),
    ConfigKey(
        "rebalance.backoff.ms",
        INT,
        None,
        "Longest pause between attempts; unset: zookeeper.sync.time.ms.",
    ),
    ConfigKey(
        "partition.assignment.strategy",
        STRING,
        "range",
        "How partitions are shared among the group's streams.",
        one_of("range", "roundrobin"),
        synonyms=ASSIGNORS,
    ),
    ConfigKey(
        "exclude.internal.topics", BOOLEAN, True, "Whether filters leave the system's topics out."
    ),
]

OFFSET_KEYS = [
    ConfigKey("auto.commit.enable", BOOLEAN, True, "Whether offsets are committed by themselves."),
    ConfigKey("auto.commit.interval.ms", INT, 60_000, "How often.", at_least(1)),
    ConfigKey(
        "auto.offset.reset",
        STRING,
        "largest",
        "Where to begin without a valid offset: smallest (earliest), largest (latest), none.",
        one_of("smallest", "largest", "earliest", "latest", "none"),
    ),
    ConfigKey(
        "offsets.storage",
        STRING,
        "zookeeper",
        "Where the group's offsets are.",
        one_of("zookeeper", "kafka"),
    ),
    ConfigKey(
        "dual.commit.enabled",
        BOOLEAN,
        None,
        "Whether offsets kept in Kafka go to ZooKeeper too; unset: they do.",
    ),
    ConfigKey("offsets.commit.max.retries", INT, 5, "Retries of a failed commit.", at_least(0)),
    ConfigKey(
        "offsets.channel.backoff.ms", INT, 1_000, "Pause between them, and of reads.", at_least(0)
    ),
    ConfigKey(
        "offsets.channel.socket.timeout.ms",
        INT,
        10_000,
        "Longest wait for the coordinator's answer.",
        at_least(1),
    ),
]

FETCH_KEYS = [
    ConfigKey("fetch.message.max.bytes", INT, 1024**2, "Bytes of one partition.", at_least(1)),
    ConfigKey("fetch.min.bytes", INT, 1, "Bytes a fetch waits for.", at_least(0)),
    ConfigKey("fetch.wait.max.ms", INT, 100, "How long it waits for them.", at_least(0)),
    ConfigKey(
        "num.consumer.fetchers", INT, 1, "Fetchers, and connections, per broker.", at_least(1)
    ),
    ConfigKey("queued.max.message.chunks", INT, 2, "Chunks buffered for one stream.", at_least(1)),
    ConfigKey(
        "refresh.leader.backoff.ms", INT, 200, "Pause between looks for a leader.", at_least(0)
    ),
    ConfigKey("socket.timeout.ms", INT, 30_000, "Longest wait for one answer.", at_least(1)),
    ConfigKey(
        "socket.receive.buffer.bytes",
        INT,
        -1,
        "Size of the socket's receive buffer (SO_RCVBUF). With -1 the system adapts it, which is"
        " faster than Kafka's default of 65536.",
        at_least(-1),
    ),
    ConfigKey(
        "consumer.timeout.ms",
        INT,
        -1,
        "Time without a record after which a stream raises; -1: it waits for ever.",
        at_least(-1),
    ),
    ConfigKey("check.crcs", BOOLEAN, True, "Whether batches are checked against their sums."),
    ConfigKey(
        "isolation.level",
        STRING,
        "read_uncommitted",
        "Whether records of open or aborted transactions are seen.",
        one_of("read_uncommitted", "read_committed"),
    ),
    ConfigKey(
        "max.decompressed.batch.bytes",
        INT,
        256 * 1024**2,
        "Largest size a batch may unpack to.",
        at_least(1024),
    ),
]

CONNECTOR_KEYS = ConfigTable(
    [
        *ZOOKEEPER_KEYS,
        *MEMBER_KEYS,
        *OFFSET_KEYS,
        *FETCH_KEYS,
        *(key for key in CLIENT_KEYS if key.name not in _RENAMED),
    ]
)
