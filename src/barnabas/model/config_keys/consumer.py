"""Keys of the group consumer, with Kafka's names and defaults."""

from barnabas.model.config import (
    Alias,
    ConfigKey,
    ConfigTable,
    ConfigType,
    at_least,
    one_of,
    only_objects,
)
from barnabas.model.config_keys.client import (
    CLIENT_KEYS,
    METRICS_KEYS,
    RECORD_READING_KEYS,
    TRACING_KEY,
)
from barnabas.model.config_keys.other_names import (
    ASSIGNORS,
    CONSUMER_ADVICE,
    DESERIALIZERS,
    RESETS,
)

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST
BOOLEAN, CLASS = ConfigType.BOOLEAN, ConfigType.CLASS

FETCH_KEYS = [
    ConfigKey(
        "fetch.min.bytes",
        INT,
        1,
        "Minimum bytes of a fetch response; the broker delays the response until it has them.",
        at_least(0),
    ),
    ConfigKey(
        "fetch.max.wait.ms",
        INT,
        500,
        "Longest time that the broker delays a fetch response.",
        at_least(0),
        aliases=(Alias("fetch.wait.max.ms"),),
    ),
    ConfigKey(
        "fetch.max.bytes",
        INT,
        50 * 1024**2,
        "Maximum bytes of a fetch response, and of fetched records that wait in the consumer. If "
        "neither it nor max.partition.fetch.bytes is set, the consumer uses 8 MiB, or 64 KiB for "
        "each partition if that is more.",
        at_least(0),
    ),
    ConfigKey(
        "max.partition.fetch.bytes",
        INT,
        1024**2,
        "Maximum bytes per partition of a fetch response; the first batch is returned even if "
        "it is larger. If it is not set, a partition with a backlog is fetched with up to four "
        "times the default.",
        at_least(0),
        aliases=(Alias("fetch.message.max.bytes"),),
    ),
    ConfigKey(
        "max.poll.records",
        INT,
        500,
        "Maximum number of records that one poll() returns.",
        at_least(1),
    ),
    *RECORD_READING_KEYS,
    ConfigKey(
        "allow.auto.create.topics",
        BOOLEAN,
        True,
        "Whether a metadata request may create a missing topic.",
    ),
    ConfigKey(
        "exclude.internal.topics",
        BOOLEAN,
        True,
        "Whether topic patterns exclude the internal topics.",
    ),
    ConfigKey(
        "key.deserializer",
        CLASS,
        None,
        "Deserializer of keys: string, bytes, int, long, double, uuid, json; or callable(bytes) "
        "-> key; or an object with deserialize(topic, data), its class, or the import path of the "
        "class. Keys that begin with key.deserializer. are passed to its configure().",
        synonyms=DESERIALIZERS,
    ),
    ConfigKey(
        "value.deserializer",
        CLASS,
        None,
        "Deserializer of values, with the same choices.",
        synonyms=DESERIALIZERS,
    ),
    ConfigKey(
        "interceptor.classes",
        LIST,
        [],
        "Objects with the methods on_consume(records) and on_commit().",
        only_objects,
    ),
]


def _reset_problem(value: str) -> str | None:
    if value in ("earliest", "latest", "none") or value.startswith("by_duration:"):
        return None
    return "must be earliest, latest, none or by_duration:<ISO 8601 duration>"


OFFSET_KEYS = [
    ConfigKey(
        "auto.offset.reset",
        STRING,
        "latest",
        "Start position without a committed offset: earliest, latest, none, by_duration:<ISO "
        "8601 duration>.",
        _reset_problem,
        synonyms=RESETS,
    ),
    ConfigKey(
        "auto.offset.reset.out.of.range",
        STRING,
        None,
        "Next position when the current position is outside the log, with the same values; "
        "unset: the value of auto.offset.reset.",
        lambda value: None if value is None else _reset_problem(value),
        synonyms=RESETS,
    ),
    ConfigKey(
        "enable.auto.commit",
        BOOLEAN,
        True,
        "Whether the consumer commits offsets automatically.",
        aliases=(Alias("auto.commit.enable"),),
    ),
    ConfigKey(
        "auto.commit.interval.ms",
        INT,
        5_000,
        "Interval between automatic commits while the application calls poll().",
        at_least(0),
    ),
    ConfigKey(
        "default.api.timeout.ms",
        INT,
        60_000,
        "Timeout of a call that has no timeout argument.",
        at_least(0),
    ),
]

GROUP_MEMBER_KEYS = [
    ConfigKey(
        "bootstrap.timeout.ms",
        LONG,
        60_000,
        "If the consumer has not reached any broker within this time, poll() raises the cause; "
        "0: no limit.",
        at_least(0),
    ),
    ConfigKey(
        "group.id", STRING, None, "Id of the consumer group; required for subscribe() and commit()."
    ),
    ConfigKey(
        "group.instance.id", STRING, None, "Id that makes this consumer a static member (KIP-345)."
    ),
    ConfigKey(
        "group.protocol",
        STRING,
        "classic",
        "Rebalance protocol: 'classic', or 'consumer' (KIP-848).",
        one_of("classic", "consumer"),
    ),
    ConfigKey(
        "group.remote.assignor",
        STRING,
        None,
        "Assignor that the broker uses for the group (KIP-848).",
    ),
    ConfigKey(
        "session.timeout.ms",
        INT,
        45_000,
        "Time without a heartbeat after which the coordinator removes a member.",
    ),
    ConfigKey(
        "heartbeat.interval.ms",
        INT,
        3_000,
        "Interval between two heartbeats of a member.",
        at_least(1),
    ),
    ConfigKey(
        "max.poll.interval.ms",
        INT,
        300_000,
        "Longest time between two calls of poll(); after it the member leaves the group.",
        at_least(1),
    ),
    ConfigKey(
        "partition.assignment.strategy",
        LIST,
        ["range", "cooperative-sticky"],
        "Assignors by name (range, roundrobin, sticky, cooperative-sticky), or assignor objects.",
        synonyms=ASSIGNORS,
    ),
]

CONSUMER_KEYS = ConfigTable(
    [*CLIENT_KEYS, *METRICS_KEYS, TRACING_KEY, *FETCH_KEYS, *OFFSET_KEYS, *GROUP_MEMBER_KEYS],
    CONSUMER_ADVICE,
    ("key.deserializer.", "value.deserializer."),
)
