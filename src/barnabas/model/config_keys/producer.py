"""Keys of the producer, with Kafka's names and defaults."""

from barnabas.model.config import (
    Alias,
    ConfigKey,
    ConfigTable,
    ConfigType,
    at_least,
    between,
    one_of,
    only_objects,
)
from barnabas.model.config_keys.client import CLIENT_KEYS, METRICS_KEYS, TRACING_KEY
from barnabas.model.config_keys.other_names import PARTITIONERS, PRODUCER_ADVICE, SERIALIZERS

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST
BOOLEAN, CLASS, SHORT = ConfigType.BOOLEAN, ConfigType.CLASS, ConfigType.SHORT

BATCHING_KEYS = [
    ConfigKey(
        "batch.size",
        INT,
        16_384,
        "Maximum size of a batch, in bytes. If it is not set, a batch is ready at this size and "
        "may grow up to 512 KB while it waits for earlier requests.",
        at_least(0),
    ),
    ConfigKey(
        "linger.ms",
        LONG,
        5,
        "Time that a batch waits for more records.",
        at_least(0),
        aliases=(Alias("queue.buffering.max.ms"),),
    ),
    ConfigKey(
        "buffer.memory",
        LONG,
        32 * 1024**2,
        "Bytes of unsent records above which send() blocks.",
        at_least(0),
        aliases=(Alias("queue.buffering.max.kbytes", 1024),),
    ),
    ConfigKey(
        "max.block.ms",
        LONG,
        60_000,
        "Longest time that send() waits for metadata or for free buffer memory.",
        at_least(0),
    ),
    ConfigKey(
        "max.request.size",
        INT,
        1_048_576,
        "Largest record and largest request, in bytes.",
        at_least(0),
        aliases=(Alias("message.max.bytes"),),
    ),
    ConfigKey(
        "compression.type",
        STRING,
        "none",
        "Codec of the batches.",
        one_of("none", "gzip", "snappy", "lz4", "zstd"),
        aliases=(Alias("compression.codec"),),
    ),
    ConfigKey("compression.gzip.level", INT, -1, "gzip level.", between(-1, 9)),
    ConfigKey(
        "compression.lz4.level",
        INT,
        9,
        "lz4 level; 9 is the fast compressor, as in Java.",
        between(1, 17),
    ),
    ConfigKey("compression.zstd.level", INT, 3, "zstd level.", between(-131_072, 22)),
]

DELIVERY_KEYS = [
    ConfigKey(
        "acks",
        STRING,
        "all",
        "Acknowledgements that a record needs: 0 none, 1 the leader, all every in-sync replica.",
        one_of("all", "-1", "0", "1"),
        aliases=(Alias("request.required.acks"),),
    ),
    ConfigKey(
        "retries",
        INT,
        2**31 - 1,
        "Number of retries after the first attempt.",
        between(0, 2**31 - 1),
        aliases=(Alias("message.send.max.retries"),),
    ),
    ConfigKey(
        "delivery.timeout.ms",
        INT,
        120_000,
        "Time after which a record without an acknowledgement fails.",
        at_least(0),
        aliases=(Alias("message.timeout.ms"),),
    ),
    ConfigKey(
        "max.in.flight.requests.per.connection",
        INT,
        5,
        "Maximum number of requests without a response; at most 5 with idempotence.",
        at_least(1),
        aliases=(Alias("max.in.flight"),),
    ),
    ConfigKey(
        "enable.idempotence", BOOLEAN, None, "Prevents duplicates and reordering caused by retries."
    ),
    ConfigKey("transactional.id", STRING, None, "Transactional id; enables transactions."),
    ConfigKey(
        "transaction.timeout.ms",
        INT,
        60_000,
        "Time after which the broker aborts an open transaction.",
        at_least(1),
    ),
]

PLUGIN_KEYS = [
    ConfigKey(
        "key.serializer",
        CLASS,
        None,
        "Serializer of keys: string, bytes, int, long, double, uuid, json; or callable(key) -> "
        "bytes; or an object with serialize(topic, data), its class, or the import path of the "
        "class. Keys that begin with key.serializer. are passed to its configure().",
        synonyms=SERIALIZERS,
    ),
    ConfigKey(
        "value.serializer",
        CLASS,
        None,
        "Serializer of values, with the same choices.",
        synonyms=SERIALIZERS,
    ),
    ConfigKey(
        "partitioner.class",
        CLASS,
        None,
        "Partitioner: 'murmur2' (default: hash of the key; records without a key use one "
        "partition per batch), 'hash_or_round_robin' (hash of the key; round robin without a "
        "key), 'round_robin', 'random', librdkafka's 'consistent' and 'consistent_random'; or "
        "callable(topic, key, value, count) -> partition; or an object with partition(topic, "
        "key, key_bytes, value, value_bytes, cluster), its class, or the import path of the "
        "class.",
        aliases=(Alias("partitioner"),),
        synonyms=PARTITIONERS,
    ),
    ConfigKey(
        "partitioner.ignore.keys",
        BOOLEAN,
        False,
        "Partition records with a key as if they had none.",
    ),
    ConfigKey(
        "partitioner.adaptive.partitioning.enable",
        BOOLEAN,
        True,
        "Send more of the records without a key to partitions of faster brokers.",
    ),
    ConfigKey(
        "partitioner.availability.timeout.ms",
        LONG,
        0,
        "Time after which records without a key avoid a broker that accepts no requests; 0: never.",
        at_least(0),
    ),
    ConfigKey(
        "metadata.max.idle.ms",
        LONG,
        300_000,
        "Time without a send after which the producer drops the metadata of a topic.",
        at_least(5000),
    ),
    ConfigKey(
        "interceptor.classes",
        LIST,
        [],
        "Objects with the methods on_send(record) and on_acknowledgement().",
        only_objects,
    ),
]

PRODUCER_KEYS = ConfigTable(
    [*CLIENT_KEYS, *METRICS_KEYS, TRACING_KEY, *BATCHING_KEYS, *DELIVERY_KEYS, *PLUGIN_KEYS],
    PRODUCER_ADVICE,
    ("key.serializer.", "value.serializer."),
)
