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
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.config_keys.other_names import (
    ASSIGNORS,
    CONSUMER_ADVICE,
    DESERIALIZERS,
    RESETS,
)

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST
BOOLEAN, CLASS = ConfigType.BOOLEAN, ConfigType.CLASS

FETCH_KEYS = [
    ConfigKey("fetch.min.bytes", INT, 1, "Bytes a fetch waits for.", at_least(0)),
    ConfigKey(
        "fetch.max.wait.ms",
        INT,
        500,
        "How long it waits for them on the broker.",
        at_least(0),
        aliases=(Alias("fetch.wait.max.ms"),),
    ),
    ConfigKey("fetch.max.bytes", INT, 50 * 1024**2, "Bytes of one fetch response.", at_least(0)),
    ConfigKey(
        "max.partition.fetch.bytes",
        INT,
        1024**2,
        "Bytes of one partition in it; the first batch comes whole all the same.",
        at_least(0),
        aliases=(Alias("fetch.message.max.bytes"),),
    ),
    ConfigKey("max.poll.records", INT, 500, "Records one poll() returns at most.", at_least(1)),
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
    ConfigKey("allow.auto.create.topics", BOOLEAN, True, "Whether asking for a topic makes it."),
    ConfigKey(
        "exclude.internal.topics", BOOLEAN, True, "Whether patterns leave the system's topics out."
    ),
    ConfigKey(
        "key.deserializer",
        CLASS,
        None,
        "string, bytes, int, long, double, uuid, json; or callable(bytes) -> key.",
        synonyms=DESERIALIZERS,
    ),
    ConfigKey("value.deserializer", CLASS, None, "The same for values.", synonyms=DESERIALIZERS),
    ConfigKey(
        "interceptor.classes",
        LIST,
        [],
        "Objects with on_consume(records) and on_commit().",
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
        "Where to begin without a committed offset: earliest, latest, none, by_duration:<ISO>.",
        _reset_problem,
        synonyms=RESETS,
    ),
    ConfigKey(
        "auto.offset.reset.out.of.range",
        STRING,
        None,
        "Where to go on when the position is not in the log any more, with the same values; "
        "unset: as auto.offset.reset.",
        lambda value: None if value is None else _reset_problem(value),
        synonyms=RESETS,
    ),
    ConfigKey(
        "enable.auto.commit",
        BOOLEAN,
        True,
        "Whether offsets are committed by themselves.",
        aliases=(Alias("auto.commit.enable"),),
    ),
    ConfigKey(
        "auto.commit.interval.ms", INT, 5_000, "How often, while poll() is called.", at_least(0)
    ),
    ConfigKey(
        "default.api.timeout.ms", INT, 60_000, "Longest time of a call without one.", at_least(0)
    ),
]

GROUP_MEMBER_KEYS = [
    ConfigKey(
        "bootstrap.timeout.ms",
        LONG,
        60_000,
        "A consumer that has never reached a broker for so long raises the reason from poll(); "
        "0: it tries for ever.",
        at_least(0),
    ),
    ConfigKey("group.id", STRING, None, "The group; needed by subscribe() and commit()."),
    ConfigKey("group.instance.id", STRING, None, "Makes the member static (KIP-345)."),
    ConfigKey(
        "group.protocol",
        STRING,
        "classic",
        "How partitions are shared: 'classic', or 'consumer' (KIP-848).",
        one_of("classic", "consumer"),
    ),
    ConfigKey("group.remote.assignor", STRING, None, "Assignor the broker uses (KIP-848)."),
    ConfigKey("session.timeout.ms", INT, 45_000, "Silence after which a member is gone."),
    ConfigKey("heartbeat.interval.ms", INT, 3_000, "How often a member is heard.", at_least(1)),
    ConfigKey(
        "max.poll.interval.ms",
        INT,
        300_000,
        "Longest time between two poll()s of a member.",
        at_least(1),
    ),
    ConfigKey(
        "partition.assignment.strategy",
        LIST,
        ["range", "cooperative-sticky"],
        "Assignors by name: range, roundrobin, sticky, cooperative-sticky; or objects.",
        synonyms=ASSIGNORS,
    ),
]

CONSUMER_KEYS = ConfigTable(
    [*CLIENT_KEYS, *FETCH_KEYS, *OFFSET_KEYS, *GROUP_MEMBER_KEYS], CONSUMER_ADVICE
)
